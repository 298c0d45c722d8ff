"""A subject that is added as folders alone is found everywhere: nothing has to be registered."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    "theory/toy/__init__.py": '''
"""Toys: the double of a number."""

from theory.core.arguments import checked

__all__ = ["double"]


@checked
def double(x: float) -> float:
    """Compute twice the number x.

    >>> double(2)
    5.0
    """
    return 2 * x
''',
    "simulate/toy/__init__.py": '''
"""Measures the double of a number."""

__all__ = ["doubled"]


def doubled(x: float) -> float:
    """Measure twice the number x."""
    return x + x
''',
    "figures/toy/__init__.py": '"""Figures of toys."""\n',
    "figures/toy/toy_doubles.py": '''
"""Doubles lie on a line."""

from figures.core import Experiment
from theory.toy import double

EXPERIMENT = Experiment(title="Doubles", curves={"double": float}, theory=double, line=(1, 2))
''',
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project's code and pages with one more subject."""
    folder = tmp_path_factory.mktemp("checkout")
    nothing = shutil.ignore_patterns("*.nb[ci]", "output", "gallery", "_build", ".*")  # compiled sources stay compiled
    for part in ("theory", "simulate", "figures", "docs"):
        shutil.copytree(ROOT / part, folder / part, ignore=nothing)
    (folder / "tests").mkdir()
    for name in ("setup.cfg", "tests/test_docstrings.py"):
        shutil.copy(ROOT / name, folder / name)
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text.lstrip(), encoding="utf-8")
    (folder / "figures" / "gallery").mkdir()
    (folder / "figures" / "gallery" / "toy_doubles.png").write_bytes(b"")
    return folder


def said(checkout: Path, *command: str) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(checkout), str(checkout / "docs" / "_ext")])}
    done = subprocess.run([sys.executable, *command], cwd=checkout, env=environment, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_the_package_the_shell_the_reference_and_the_gallery_have_it(checkout: Path) -> None:
    program = """
import theory, generated_parts
from figures.core.gallery import render_page
assert theory.toy.double(2) == 4 and "toy" in theory.__all__
generated_parts.write_missing_pages(None)
page = (generated_parts.DOCS / "api" / "toy.md").read_text()
assert page.startswith("# Toys") and "reference theory.toy" in page and "reference simulate.toy" in page
assert "- [Toys](toy.md)" in generated_parts.reference_pages("")
assert ".. autofunction:: double" in generated_parts.reference("theory.toy")
assert "## Toys" in generated_parts.gallery("") and "toy_doubles" in generated_parts.gallery("")
assert "## Toys" in render_page() and "Doubles lie on a line." in render_page()
print("found", flush=True)
from theory.command_line import main
main(["toy.double", "x=3"])
from figures.command_line import main
main(["list"])
"""
    shown = said(checkout, "-c", program)  # of one process: to load all experiments takes seconds
    assert shown.startswith("found\n"), shown
    assert "value  6" in shown
    assert "toy_doubles" in shown.split("value  6")[1]


def test_the_tests_of_docstrings_have_it(checkout: Path) -> None:
    """Its example is wrong on purpose."""
    shown = said(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_docstrings.py", "-k", "toy")
    assert "FAILED tests/test_docstrings.py::test_examples_run[theory.toy]" in shown
    assert "1 failed, 3 passed" in shown
