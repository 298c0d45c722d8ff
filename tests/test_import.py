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


# Each name is asked of a process of its own that has loaded nothing of theory: a copy of one that has loaded the
# libraries, since starting Python and loading these would take longer than all that is tested.
IN_COPIES = """
import os, sys
import numpy, scipy.integrate, scipy.linalg, scipy.optimize, scipy.special
assert not [name for name in sys.modules if name.split(".")[0] == "theory"]
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        import theory
        try:
            assert name in dir(theory) and name not in vars(theory)
            found = eval(f"theory.{name}")
            assert found is getattr(theory, name)
            exec(f"from theory import {name} as imported")
            assert imported is found and name in vars(theory)
            print(name, found.__name__, flush=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
"""


def test_every_name_is_found_in_a_fresh_process_in_three_ways():
    command = [sys.executable, "-c", IN_COPIES, *theory.__all__]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = dict(line.split() for line in shown.stdout.splitlines())
    assert list(found) == list(theory.__all__), shown.stderr
    assert [name.split(".")[-1] for name in found.values()] == list(theory.__all__)


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
