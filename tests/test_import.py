"""Importing `theory` loads no subject before it is used, and yet all names are there."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import figures
import simulate
import theory
from theory.core.errors import MaskedSSLError

ROOT = Path(__file__).resolve().parents[1]


def run(program):
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_import_alone_loads_no_library_and_no_subject():
    loaded = "import sys, theory; print(*[name for name in sys.modules if name.startswith('theory.')])"
    assert run(loaded).split() == []
    assert run("import sys, theory; print({'numpy', 'scipy', 'numba'} & set(sys.modules))").strip() == "set()"


def test_a_subject_loads_no_other_one():
    loaded = run("import sys, theory; theory.trees; print(*[name for name in sys.modules if name.count('.') == 1])")
    assert "theory.trees" in loaded.split()
    assert "theory.glm" not in loaded.split()


@pytest.mark.parametrize("name", theory.__all__)
def test_every_name_is_found_in_a_fresh_process_in_three_ways(name):
    program = f"""
import theory
assert {name!r} in dir(theory)
assert theory.{name} is getattr(theory, {name!r})
from theory import {name}
assert {name} is theory.{name} and {name!r} in vars(theory)
print({name}.__name__)
"""
    assert run(program).strip().split(".")[-1] == name


def test_a_star_brings_all_names():
    assert set(run("from theory import *; print(*dir())").split()) >= set(theory.__all__)


def test_the_errors_are_those_that_solvers_raise():
    assert theory.MaskedSSLError is MaskedSSLError
    assert issubclass(theory.ConvergenceError, theory.MaskedSSLError)
    assert issubclass(theory.ReplicaSymmetryError, theory.MaskedSSLError)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match=r"module 'theory' has no attribute 'maskd'"):
        theory.maskd  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'maskd'"):
        from theory import maskd  # noqa: F401


@pytest.mark.parametrize("wing", [theory, simulate, figures], ids=lambda wing: wing.__name__)
def test_every_module_can_be_imported(wing):
    found = [each.name for each in pkgutil.walk_packages(wing.__path__, f"{wing.__name__}.")]
    modules = [importlib.import_module(name) for name in found if not name.endswith("__main__")]
    files = [path for path in (ROOT / wing.__name__).rglob("*.py") if "output" not in path.parts]
    assert (
        len(modules) == len([path for path in files if path.name != "__main__.py"]) - 1
    )  # the wing itself is not listed


def test_the_version_stands_in_one_place_and_loads_nothing():
    assert theory.__version__ == simulate.__version__ == figures.__version__
    for package in ("simulate", "figures"):
        loaded = "{'numpy', 'scipy', 'numba'} & set(sys.modules)"
        program = f"import sys, {package}; print({package}.__version__, {loaded})"
        assert run(program).strip() == f"{theory.__version__} set()"
    with pytest.raises(AttributeError, match=r"module 'simulate' has no attribute 'maskd'"):
        simulate.maskd  # noqa: B018
