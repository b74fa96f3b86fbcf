"""What tests of files share."""

import pytest


@pytest.fixture
def write(tmp_path):
    """Writes a URDF file and gives its path."""

    def write(text, name="robot.urdf"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
