"""The version, from one place: of the package, of what files say they were made by, and of the distribution."""

__version__ = "0.2.0"
