"""Public names of the Potts packages: all there, typed, each from one room, none hidden by a room of the same name."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import simulate.potts
import simulate.potts.inference
from theory import potts
from theory.core.errors import MaskedSSLError
from theory.core.results import Result

PACKAGES = [potts, simulate.potts, simulate.potts.inference]


def imported(package):
    """Names that the package binds by plain import statements, which every type checker follows."""
    statements = ast.parse(inspect.getsource(package)).body
    return [alias.name for each in statements if isinstance(each, ast.ImportFrom) for alias in each.names]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_is_there_and_of_our_own(package):
    for name in package.__all__:
        found = getattr(package, name)
        assert callable(found)
        assert found.__module__.startswith((package.__name__, "simulate.", "theory.core.errors"))


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_imported_in_plain_sight(package):
    """A name that a module's `__getattr__` supplies is `Any` to a type checker."""
    assert sorted(imported(package)) == package.__all__ == sorted(set(package.__all__))
    assert not hasattr(package, "__getattr__")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_is_also_a_room(package):
    """Loading a room would then hide the function."""
    rooms = {path.stem for path in Path(package.__file__).parent.iterdir()}
    assert not set(package.__all__) & rooms


def test_every_answer_is_a_result():
    """Records that are given to functions, and errors, are none."""
    inputs = {"AttentionLayer", "TemperedDynamics", "Chains"}
    classes = {name: getattr(package, name) for package in PACKAGES for name in package.__all__ if name[0].isupper()}
    answers = [one for name, one in classes.items() if name not in inputs and not issubclass(one, Exception)]
    assert len(answers) >= 17
    assert [one for one in answers if not issubclass(one, Result)] == []


def test_every_failure_is_one_of_ours():
    assert issubclass(simulate.potts.FitError, MaskedSSLError)
    assert issubclass(simulate.potts.MixingError, MaskedSSLError)
    with pytest.raises(MaskedSSLError, match="did not reach tol") as failure:
        simulate.potts.pseudo_likelihood([[0, 1], [1, 0], [1, 1]], 2, max_iter=1, tol=1e-12)
    assert not failure.value.fit.converged


def test_a_result_shows_its_numbers_and_evidence():
    shown = repr(potts.maximum_entropy_clone(np.full((2, 2), 0.25), 1))
    assert shown.startswith("MaximumEntropyClone(order=1, kl_divergence=0, tol=1e-12, residual=")
    assert shown.endswith("iterations=0, converged=True)")
    frame = potts.cylinder(3, 2, 0.5).to_frame()
    assert frame[["circumference", "n_colors", "converged"]].values.tolist() == [[3, 2, True]]


@pytest.mark.slow
def test_public_names_have_types(tmp_path):
    program = tmp_path / "program.py"
    lines = [f"reveal_type({package.__name__}.{name})" for package in PACKAGES for name in package.__all__]
    program.write_text("\n".join([*(f"import {each.__name__}" for each in PACKAGES), *lines]))
    command = [sys.executable, "-m", "mypy", "--config-file", "setup.cfg", str(program)]
    root = Path(__file__).resolve().parents[2]
    found = subprocess.run(command, cwd=root, capture_output=True, text=True).stdout
    revealed = [line for line in found.splitlines() if "Revealed type is" in line]
    assert len(revealed) == len(lines), found
    assert not [line for line in revealed if line.endswith('is "Any"')]
