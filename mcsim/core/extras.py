"""The packages of the extras: what needs one says how to get it."""

from typing import Any


def require_matplotlib() -> None:
    """Raises ImportError with the line to type if Matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401 (whether it is there)
    except ImportError:
        raise ImportError("pictures need Matplotlib: pip install 'mcsim-physics[plot]'") from None


def require_viser() -> None:
    """Raises ImportError with the line to type if viser is missing."""
    try:
        import viser  # noqa: F401 (whether it is there)
    except ImportError:
        raise ImportError("pages in the browser need viser: pip install 'mcsim-physics[view]'") from None


def require_pandas() -> None:
    """Raises ImportError with the line to type if pandas is missing."""
    try:
        import pandas  # noqa: F401 (whether it is there)
    except ImportError:
        raise ImportError("data frames need pandas: pip install 'mcsim-physics[pandas]'") from None


def require_mujoco() -> Any:
    """MuJoCo's module; raises ImportError with the line to type if it is missing."""
    try:
        import mujoco
    except ImportError:
        raise ImportError("MJCF files need MuJoCo's compiler: pip install 'mcsim-physics[mjcf]'") from None
    return mujoco


def require_gymnasium() -> None:
    """Raises ImportError with the line to type if Gymnasium is missing."""
    try:
        import gymnasium  # noqa: F401 (whether it is there)
    except ImportError:
        raise ImportError("environments to learn in need Gymnasium: pip install 'mcsim-physics[gym]'") from None


def require_distributed() -> Any:
    """The module dask.distributed; raises ImportError with the line to type if it is missing."""
    try:
        import distributed
    except ImportError:
        raise ImportError("clusters need dask.distributed: pip install 'mcsim-physics[sweep]'") from None
    return distributed
