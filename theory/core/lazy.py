"""Packages whose names are loaded when they are first used, so that importing one costs little."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from theory.core.former import former


def names_on_use(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that writes its imports under `if TYPE_CHECKING:`.

    Its source says where each name is from, as type checkers read it, and no list has to be kept beside that. A name is
    imported when it is first used; the next access finds it in the package. A name that the package had before version
    1.0 raises an AttributeError that says what to write instead. Where a function is called as the module that holds it
    (`theory.masked.solve`), the package offers the function, whichever of the two is imported first.
    """
    here = sys.modules[package]
    origins = _origins(Path(str(here.__file__)).read_bytes())
    missing = former(package)

    class Package(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            """Keep a name of the package where the import of a module would put the module in its place."""
            if isinstance(value, ModuleType) and origins.get(name) == value.__name__:
                value = getattr(value, name)
            super().__setattr__(name, value)

        def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
            """Pickle the package by its name: of modules, only those of Python's own class are known to picklers."""
            return import_module, (package,)

    here.__class__ = Package

    def found(name: str) -> object:
        origin = origins.get(name)
        if origin is None and (name.startswith("_") or find_spec(f"{package}.{name}") is None):
            return missing(name)
        # Modules of the package are found as well, as where all of them are imported at once.
        is_module = origin in (None, package)
        value = import_module(f"{package}.{name}") if is_module else getattr(import_module(str(origin)), name)
        setattr(here, name, value)
        return value

    return found, lambda: sorted({*vars(here), *origins})


def _origins(source: bytes) -> dict[str, str]:
    """Return the module that each name is imported from under `if TYPE_CHECKING:`."""
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [
        node
        for block in blocks
        if isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
    ]
    return {alias.asname or alias.name: str(node.module) for node in imports for alias in node.names}
