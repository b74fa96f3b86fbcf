"""Scripts that are in no package, as tests import them."""

import importlib.util


def script_at(path):
    """The module that the file is. Each time another one."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
