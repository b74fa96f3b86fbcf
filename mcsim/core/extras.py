"""The packages of the extras: what needs one says how to get it."""


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
