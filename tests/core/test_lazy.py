"""Packages load a name when it is first used, and offer what they would offer if all were loaded at once."""

import ast
import copy
import importlib
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from theory.core.lazy import names_on_use

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [
    ".".join(path.parent.relative_to(ROOT).parts)
    for path in sorted((ROOT / "theory").rglob("__init__.py"))
    if "names_on_use(" in path.read_text(encoding="utf-8")
]


def run(program):
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A package whose function `solve` is called as its module, beside a class of another module and a module."""
    folder = tmp_path / "lazytoy"
    folder.mkdir()
    (folder / "solve.py").write_text("from lazytoy.record import Record\ndef solve():\n    return Record()\n")
    (folder / "record.py").write_text("class Record:\n    pass\n")
    (folder / "tables.py").write_text("rows = 3\n")
    (folder / "room.py").write_text("colors = 4\n")
    (folder / "__init__.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from theory.core.lazy import names_on_use\n"
        "if TYPE_CHECKING:\n"
        "    from lazytoy import tables\n"
        "    from lazytoy.record import Record\n"
        "    from lazytoy.solve import solve\n"
        "__all__ = ['Record', 'solve', 'tables']\n"
        "if not TYPE_CHECKING:\n"
        "    __getattr__, __dir__ = names_on_use(__name__)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("lazytoy")
    for name in [name for name in sys.modules if name.split(".")[0] == "lazytoy"]:
        del sys.modules[name]


def test_a_name_is_loaded_when_it_is_used_and_found_again(toy):
    assert {name for name in sys.modules if name.startswith("lazytoy.")} == set()
    assert "Record" not in vars(toy)
    assert toy.Record is sys.modules["lazytoy.record"].Record
    assert vars(toy)["Record"] is toy.Record
    assert "lazytoy.solve" not in sys.modules
    assert isinstance(toy.tables, ModuleType)
    assert toy.tables.rows == 3
    assert toy.room.colors == 4  # a module without a name of its own in the package
    assert {"Record", "solve", "tables", "__all__"} <= set(dir(toy))
    with pytest.raises(AttributeError, match="module 'lazytoy' has no attribute 'other'"):
        toy.other  # noqa: B018


@pytest.mark.parametrize("first", ["module", "function"])
def test_a_function_that_is_called_as_its_module(toy, first):
    """The import of a module puts it into its package, where the function of that name has to stay."""
    if first == "module":
        importlib.import_module("lazytoy.solve")
    assert type(toy.solve()).__name__ == "Record"
    importlib.import_module("lazytoy.solve")
    from lazytoy.solve import solve  # type: ignore[import-not-found]  # made by the fixture

    assert toy.solve is solve
    toy.solve = other = lambda: 0  # as a test or a user may do, for anything that is not the module
    assert toy.solve is other


def test_packages_can_be_copied_and_pickled_as_modules_in_closures_are(toy):
    assert pickle.loads(pickle.dumps(toy)) is toy
    assert copy.deepcopy({"package": toy})["package"] is toy
    cloudpickle = pytest.importorskip("cloudpickle")
    assert cloudpickle.loads(cloudpickle.dumps(lambda: toy.tables.rows))() == 3


@pytest.mark.parametrize("package", PACKAGES)
def test_all_names_are_declared_and_are_those_of_their_modules(package):
    here = importlib.import_module(package)
    tree = ast.parse(Path(str(here.__file__)).read_bytes())
    under = [node for block in tree.body if isinstance(block, ast.If) for node in block.body]
    declared = {
        alias.name: str(node.module) for node in under if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert sorted(declared) == sorted(here.__all__)
    for name, module in declared.items():
        if module == package:
            assert getattr(here, name) is importlib.import_module(f"{package}.{name}")
        else:
            assert getattr(here, name) is getattr(importlib.import_module(module), name)
    # Every module that holds a name of the package, or is called as one, has now been imported.
    for name in here.__all__:
        assert not isinstance(getattr(here, name), ModuleType) or declared[name] == package


def test_heavy_modules_wait_until_they_are_used():
    """Each takes a tenth of a second or more, and the import of a subject needs none of them."""
    heavy = "print(*{'numba', 'scipy', 'sympy', 'mpmath', 'pandas', 'matplotlib', 'joblib'} & set(sys.modules))"
    ours = "print(sum(name.startswith('theory.') for name in sys.modules))"
    for package in ("theory.masked", "theory.models", "theory.random_matrix"):
        libraries, modules = run(f"import sys, {package}\n{heavy}\n{ours}").split("\n")[:2]
        assert libraries == ""
        assert int(modules) < 20
    parts = "{'scipy.optimize', 'scipy.interpolate', 'scipy.integrate', 'scipy.sparse', 'scipy.stats'}"
    one_point = (
        "from theory.masked import solve\nfrom theory.models import AR1, MaskedRidge\n"
        f"solve(MaskedRidge(AR1(20, 0.5), alpha=2.0, lam=0.1))\nimport sys\nprint(*{parts} & set(sys.modules))"
    )
    assert run(one_point).strip() == ""


def test_a_package_that_is_not_imported_has_no_names():
    with pytest.raises(KeyError):
        names_on_use("lazytoy_that_is_nowhere")
