"""Whether the kernels were compiled, for this Python."""

import importlib
import sys
from pathlib import Path


def require_kernels() -> None:
    """Raises ImportError with what to do if the kernels are missing, as they are in sources that stand in the way of an
    installed mcsim."""
    try:
        importlib.import_module("mcsim.core._trig")
    except ModuleNotFoundError as error:
        if error.name != "mcsim.core._trig":
            raise
    else:
        return
    folder = Path(__file__).resolve().parent.parent
    others = sorted(path.name.split(".")[1] for path in (folder / "core").glob("_trig.*") if path.suffix in (".so", ".pyd"))
    reason = f"they are for {', '.join(others)}, and this is {sys.implementation.cache_tag}" if others else "none is there"
    raise ImportError(
        f"mcsim is imported from {folder}, where its kernels are not compiled ({reason}). To use mcsim from there, compile "
        f"them: {Path(sys.executable).name} -m pip install -e {folder.parent}. If mcsim is also installed elsewhere, run "
        "Python from another folder: it looks in its own first."
    )
