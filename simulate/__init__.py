"""Measurements that could refute the theory: `core` holds streams, estimates and sweeps, other packages one subject."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> object:
        """Return the version, which stands in the package that is installed together with this one."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module("theory").__version__
