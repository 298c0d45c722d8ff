"""Finds what a table and its picture depend on: the modules that they import, read from the sources.

A change in any of these makes the result old, and a change elsewhere does not. A package's `__init__` re-exports names
from many modules; a name taken from it leads on to the one module that defines it, so that a comment in one solver
makes only those tables old that use this solver.
"""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from figures.core.places import ROOT, WINGS

COMPUTING = ("figures/core/compute.py", "figures/core/table.py")  # make the rows of every table, and its file
DRAWING = ("figures/core/plot.py", "figures/core/captions.py")


class SourceTree:
    """The import graph of the checkout `root` as its files are now; what was read once is not read again."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._imported: dict[Path, frozenset[Path]] = {}
        self._texts: dict[Path, _Text] = {}
        self._digests: dict[Path, str] = {}
        self._places: dict[str, Path | None] = {}

    def table_sources(self, experiment: Path) -> list[Path]:
        """Return the files that the table of the experiment in this file is computed from, sorted."""
        return self.closure(experiment, *(self.root / name for name in COMPUTING))

    def picture_sources(self, experiment: Path) -> list[Path]:
        """Return the files, beside the table, from which the picture is drawn and its caption is written."""
        return self.closure(experiment, *(self.root / name for name in DRAWING))

    def closure(self, *files: Path) -> list[Path]:
        """Return the files and all that they import, directly or not, with the data files that they name."""
        found: set[Path] = set()
        pending = [file for file in files if file.is_file()]
        while pending:
            file = pending.pop()
            if file not in found:
                found.add(file)
                pending += self.imported(file)
        return sorted(found)

    def imported(self, file: Path) -> frozenset[Path]:
        """Return the files of ours that this one imports where it runs, and the data files that it names."""
        if file not in self._imported:
            # A module that is being read imports nothing yet: so a circle of re-exports ends.
            self._imported[file] = frozenset()
            self._imported[file] = frozenset(self._read(file)) if file.suffix == ".py" else frozenset()
        return self._imported[file]

    def digest(self, files: list[Path], *parameters: object) -> str:
        """Compute the SHA-256 of the names and contents of the files and of the parameters."""
        state = hashlib.sha256(repr(parameters).encode())
        for file in files:
            if file not in self._digests:
                self._digests[file] = hashlib.sha256(file.read_bytes()).hexdigest()
            name = file.relative_to(self.root) if file.is_relative_to(self.root) else file.name
            state.update(f"\n{name} {self._digests[file]}".encode())
        return state.hexdigest()

    def _read(self, file: Path) -> Iterator[Path]:
        text = self._text(file)
        for module in text.modules:
            yield from self._whole(module)
        for module, name, local in text.names:
            yield from self._name(self._absolute(module, file), name, text.uses(local))
        for name in text.data_names:
            place = file.parent / name
            yield from [place] if place.is_file() else [data for data in place.glob("*") if data.is_file()]

    def _text(self, file: Path) -> "_Text":
        if file not in self._texts:
            try:
                self._texts[file] = _read(file.read_bytes())
            except SyntaxError as error:
                error.filename = str(file)
                raise
        return self._texts[file]

    def _absolute(self, module: str, file: Path) -> str:
        """Return the module that the text of `file` means: `.a` is one beside it, `..a` one beside its folder."""
        level = len(module) - len(module.lstrip("."))
        if not level or not file.is_relative_to(self.root):
            return module
        above = file.relative_to(self.root).parts[:-level]
        return ".".join([*above, module[level:]] if module[level:] else above)

    def _name(self, module: str, name: str, uses: frozenset[str] | None = None) -> Iterator[Path]:
        """Return the files that hold `name` of a module or package; of a package, those of its names in use."""
        place = self._place(module)
        if place is None:  # a folder without an `__init__`, or not ours
            yield from self._whole(f"{module}.{name}")
            return
        if place.name != "__init__.py":
            yield place
            return
        yield from self._effects(place)
        inner = self._place(f"{module}.{name}")
        package = self._text(place)
        origin = package.reexports.get(name)
        origin = origin and (self._absolute(origin[0], place), origin[1])
        if inner is not None and inner.name == "__init__.py":
            if uses is None:
                yield from self._whole(f"{module}.{name}")
            for used in uses or ():
                yield from self._name(f"{module}.{name}", used)
        elif origin is not None and origin != (module, name):
            yield from self._name(*origin)
        elif inner is not None:
            yield inner
        elif name in package.defined:
            yield place
        else:  # loaded by a function of the package when first used: from where such a name is defined
            rooms = list(place.parent.rglob("*.py"))
            yield from [room for room in rooms if name in self._text(room).defined] or rooms

    def _effects(self, init: Path) -> list[Path]:
        """Modules that a package imports as such: to run them, as where each registers a solver."""
        names = [(self._absolute(module, init), name) for module, name, _ in self._text(init).names]
        places = [self._place(f"{module}.{name}") for module, name in names if not self._is_reexport(module, name)]
        return [place for place in places if place is not None and place.name != "__init__.py"]

    def _is_reexport(self, module: str, name: str) -> bool:
        """Say whether `name` is what a package takes from elsewhere, even if a module beside it has the same name."""
        place = self._place(module)
        origin = None if place is None else self._text(place).reexports.get(name)
        return (
            place is not None and origin is not None and (self._absolute(origin[0], place), origin[1]) != (module, name)
        )

    def _whole(self, module: str) -> Iterator[Path]:
        """Return a module, or everything in a package that is used as a whole."""
        place = self._place(module)
        if place is not None:
            yield from place.parent.rglob("*.py") if place.name == "__init__.py" else [place]

    def _place(self, module: str) -> Path | None:
        """Return the file of a module of ours, the `__init__` of a package; None for anything else."""
        if module not in self._places:
            folder = self.root.joinpath(*module.split("."))
            files = (folder / "__init__.py", folder.with_suffix(".py")) if module.split(".")[0] in WINGS else ()
            self._places[module] = next((file for file in files if file.is_file()), None)
        return self._places[module]


@dataclass(frozen=True)
class _Text:
    """What the text of one module says about imports."""

    modules: list[str]  # `import a.b`
    names: list[tuple[str, str, str]]  # `from module import name as local`, where it runs; dots before are kept
    reexports: dict[str, tuple[str, str]]  # local: (module, name), also those for types alone
    defined: frozenset[str]  # functions, classes and variables at its top level
    attributes: list[tuple[str, str]]  # `local.attribute`
    loaded: Counter[str]  # how often each name is read, alone or before a dot
    data_names: list[str]  # strings that may name files beside it

    def uses(self, local: str) -> frozenset[str] | None:
        """Return the attributes that are taken of a name; None where the object itself is handed on as well."""
        taken = [attribute for name, attribute in self.attributes if name == local]
        return frozenset(taken) if len(taken) == self.loaded[local] else None


@cache
def _read(content: bytes) -> _Text:
    tree = ast.parse(content)
    text = _Text([], [], {}, frozenset(_defined(tree)), [], Counter(), [])
    pending: list[tuple[ast.AST, bool]] = [(tree, True)]
    while pending:
        node, runs = pending.pop()
        if isinstance(node, ast.Name):  # with constants half of all nodes, and nothing of ours lies below either
            text.loaded[node.id] += 1
            continue
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and _may_be_a_file(node.value):
                text.data_names.append(node.value)
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            text.attributes.append((node.value.id, node.attr))
        elif isinstance(node, ast.Import) and runs:
            text.modules.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                text.reexports[alias.asname or alias.name] = (module, alias.name)
                if runs:
                    text.names.append((module, alias.name, alias.asname or alias.name))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            runs = False
        pending += [(child, runs) for child in ast.iter_child_nodes(node)]
    if b"__file__" not in content:
        text.data_names.clear()
    return text


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def _may_be_a_file(text: str) -> bool:
    return 0 < len(text) < 100 and not set("/\n\0") & set(text)
