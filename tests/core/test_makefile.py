"""make: its environment is checked, a second call does nothing, and what changed is made again."""

import configparser
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from figures.core.extras import ALONE

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENT = """
from figures.core import Experiment

EXPERIMENT = Experiment(title="t", curves={"a": lambda x: x}, theory=float, line=(1, 2, 3))
"""
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout in a path with spaces whose environment is this interpreter's."""
    folder = tmp_path_factory.mktemp("with a space") / "check out"
    kernels = shutil.ignore_patterns("*.nb[ci]")  # compiled sources stay compiled
    shutil.copytree(ROOT / "figures" / "core", folder / "figures" / "core", ignore=kernels)
    figures = ("__init__.py", "__main__.py", "command_line.py", "command_options.py", "start.py")
    for name in (*(f"figures/{each}" for each in figures), "Makefile", "setup.cfg", "setup.py"):
        shutil.copy2(ROOT / name, folder / name)
    for wing in ("theory", "simulate"):
        shutil.copytree(ROOT / wing, folder / wing, ignore=kernels)
    for name in ("one", "two"):
        path = folder / "figures" / "toy" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(EXPERIMENT)
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (folder / ".venv" / ".installed").touch()
    return folder


def make(folder, *arguments, **variables):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTHON"))
    } | variables
    environment["PYTHONPATH"] = str(folder)
    return subprocess.run(["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def times(folder):
    return {path.name: path.stat().st_mtime_ns for path in (folder / "figures" / "output").glob("[!.]*")}


def test_help_is_the_default(checkout):
    result = make(checkout)
    assert result.returncode == 0
    for target in (
        "figures",
        "tables",
        "analyse",
        "gallery",
        "docs",
        "test",
        "test-fast",
        "test-wheel",
        "test-pythons",
        "test-oldest",
        "verify",
        "bench",
        "lint",
        "clean",
    ):
        assert f"make {target}" in result.stdout


@pytest.mark.slow
def test_figures_are_made_once(checkout):
    first = make(checkout, "figures", "-j4", QUALITY="draft")
    assert first.returncode == 0, first.stderr
    made = times(checkout)
    assert set(made) == {f"{name}.{suffix}" for name in ("one", "two") for suffix in ("csv", "pdf", "png", "md")}

    second = make(checkout, "figures", QUALITY="draft")
    assert second.stdout == (
        "2 made (figure as PDF and PNG, table as CSV, caption as MD: figures/output/), 0 skipped\n"
    )
    assert times(checkout) == made

    for lost in ("one.png", "two.pdf"):
        (checkout / "figures" / "output" / lost).unlink()
        assert make(checkout, "figures", QUALITY="draft").returncode == 0
        assert set(times(checkout)) == set(made)

    table = checkout / "figures" / "output" / "one.csv"
    whole = table.read_bytes()
    for junk in ("junk", ""):
        time.sleep(0.02)
        table.write_text(junk)
        repaired = make(checkout, "figures", QUALITY="draft")
        assert repaired.returncode == 0, repaired.stderr
        assert table.read_bytes() == whole
    made = times(checkout)

    with (checkout / "figures" / "core" / "paper.mplstyle").open("a") as style:
        style.write("\n# a comment\n")
    assert make(checkout, "figures", QUALITY="draft").returncode == 0
    styled = times(checkout)
    assert {name for name in made if styled[name] == made[name]} == {"one.csv", "two.csv"}  # no number again

    (checkout / "figures" / "toy" / "two.py").write_text(EXPERIMENT.replace('"t"', '"new"'))
    assert make(checkout, "figures/output/two.pdf", QUALITY="draft").returncode == 0
    changed = times(checkout)
    assert {name for name in styled if changed[name] != styled[name]} == {"two.csv", "two.pdf", "two.png", "two.md"}
    assert make(checkout, "figures/output/two.csv", QUALITY="draft").returncode == 0
    assert times(checkout) == changed

    with (checkout / "figures" / "core" / "rows.py").open("a") as shared:
        shared.write("\n# a comment\n")
    assert make(checkout, "figures/output/one.csv", QUALITY="draft").stderr.count("one: ") == 1  # the old one again
    assert make(checkout, "figures", QUALITY="paper").returncode == 0
    paper = times(checkout)
    assert {name for name in changed if paper[name] != changed[name]} >= {"one.csv", "two.csv"}


@pytest.mark.slow
def test_tables_in_every_format(checkout):
    result = make(checkout, "tables", "FORMAT=markdown", QUALITY="draft")
    assert result.stdout.count("| curve | x | kind | theory |") == 2


def test_an_unknown_figure_names_the_close_ones(checkout):
    result = make(checkout, "figures/output/tow.pdf")
    assert result.returncode != 0
    assert "no experiment is called 'tow'; did you mean: two" in result.stderr


def test_analyse_needs_a_file(checkout):
    result = make(checkout, "analyse")
    assert result.returncode != 0
    assert "make analyse DATA=my_matrix.csv" in result.stderr


@pytest.mark.parametrize("name", ["w$ei.csv", "a 'quoted' \"name\".csv", "$(shell touch made).csv", "a`b`;c.csv"])
def test_any_name_of_a_file_reaches_the_program(checkout, name):
    room = checkout / "figures" / "analyse"
    room.mkdir()
    (room / "command.py").write_text("main = lambda argv, prog: print(argv)")
    for given in (make(checkout, "analyse", f"DATA={name}", "KIND=matrix"), make(checkout, "analyse", DATA=name)):
        assert given.returncode == 0, given.stderr
        assert repr(name) in given.stdout
    assert not (checkout / "made").exists()
    shutil.rmtree(room)


def test_an_unknown_quality_is_refused(checkout):
    for quality in ("bogus", "draft paper"):
        result = make(checkout, "figures", QUALITY=quality)
        assert result.returncode != 0
        assert f"QUALITY must be one of draft, default, paper, got '{quality}'" in result.stderr
        assert result.stderr.count("\n") == 1
    assert make(checkout, "-n", "figures", QUALITY="").returncode == 0


def test_extras_are_installed_only_when_asked_for(bare):
    interpreter(bare, "chosen", VENV)
    python = str(bare / "bin" / "chosen")
    assert make(bare, "figures", PYTHON=python).returncode == 0
    assert "nets" not in (bare / "pip.log").read_text()
    for _ in range(2):  # once
        assert make(bare, "figures", "EXTRAS=nets", PYTHON=python).returncode == 0
    assert (bare / "pip.log").read_text().count("-e .[nets]") == 1
    refused = make(bare, "figures", "EXTRAS=nets torch")
    assert refused.returncode != 0
    assert (
        "EXTRAS must be some of: nets text images encoder formats tables dask samplers; got 'nets torch'"
        in refused.stderr
    )


def test_the_weights_of_the_encoder_are_installed_alone(bare):
    interpreter(bare, "chosen", VENV)
    assert make(bare, "figures", "EXTRAS=encoder", PYTHON=str(bare / "bin" / "chosen")).returncode == 0
    calls = (bare / "pip.log").read_text().splitlines()
    extra = next(k for k, call in enumerate(calls) if "-e .[encoder]" in call)
    assert calls[extra + 1].endswith(f"--no-deps {ALONE['encoder']}")
    assert sum("--no-deps" in call for call in calls) == len(ALONE) == 1
    declared = (ROOT / "setup.cfg").read_text()
    assert f"pip install --no-deps {ALONE['encoder']}" in declared


def test_every_extra_that_no_target_installs_can_be_asked_for():
    declared = configparser.ConfigParser()
    declared.read(ROOT / "setup.cfg")
    by_targets = {"figures", "dev", "docs", "bench", "peers"}
    wanted = set(declared["options.extras_require"]) - by_targets
    makefile = (ROOT / "Makefile").read_text()
    known = re.search("^KNOWN_EXTRAS := (.*)$", makefile, re.MULTILINE)
    assert known is not None
    assert set(known[1].split()) == wanted
    explained = makefile.partition("Variables:")[2].partition("ALIGNMENTS=")[0]
    assert all(extra in explained for extra in wanted)


def test_ci_only_calls_make():
    lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line and not line.startswith("#")]
    assert lines == ["set -eu", 'cd "$(dirname "$0")/.."', "exec make test-pythons"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_fast_part_has_a_file_of_every_room():
    fast = re.search(r"^FAST := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert fast is not None
    files = [Path(name) for name in fast[1].replace("\\", "").split()]
    assert all((ROOT / file).is_file() for file in files)
    rooms = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")} - {"benchmarks"}
    assert {file.parent.name for file in files} - {"tests"} == rooms


@pytest.fixture
def bare(tmp_path):
    """A checkout without an environment, and a folder of interpreters that stand for those of a machine."""
    for name in ("Makefile", "setup.cfg", "setup.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    return tmp_path


def interpreter(bare, name, body):
    path = bare / "bin" / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_no_python_is_new_enough(bare):
    interpreter(bare, "python3", 'echo "is version 3.9" >&2; exit 1')
    interpreter(bare, "python3.11", "echo \"ModuleNotFoundError: No module named 'ensurepip'\" >&2; exit 1")
    for name in ("python3.12", "python3.13"):
        interpreter(bare, name, "exit 127")
    result = make(bare, ".venv/.installed", PATH=f"{bare}/bin:/usr/bin:/bin", PYENV_ROOT=str(bare / "none"))
    assert result.returncode != 0
    assert "need Python >= 3.11 with its venv module" in result.stderr
    assert "python3: is version 3.9" in result.stderr
    assert "python3.11: ModuleNotFoundError: No module named 'ensurepip'" in result.stderr
    assert not (bare / ".venv").exists()


# Stands for a Python: it makes environments with itself in them, and writes down what it installs and tests.
FAKE = """
case "$*" in
  *"-m venv"*) for folder; do :; done; mkdir -p "$folder/bin" && cp "$0" "$folder/bin/python" ;;
  *"-m pip"*) echo "$*" >> pip.log; [ ! -e broken ] ;;
  *"-m pytest"*) echo "VERSION: ${*#*pytest -q }" >> pytest.log; echo "1 passed" ;;
  *--version*) echo Python VERSION ;;
esac
"""
VENV = FAKE.replace("VERSION", "3.12.0")
SHIM = """
echo 'pyenv: python3.13: command not found

The `python3.13` command exists in these Python versions:
  3.13.0

Note: See tips on allowing both
      python versions to be found at the same time.' >&2
exit 127
"""


def test_the_environment_is_made_once_and_a_half_made_one_again(bare):
    interpreter(bare, "chosen", VENV)
    (bare / "broken").touch()
    assert make(bare, ".venv/.installed", PYTHON=str(bare / "bin" / "chosen")).returncode != 0  # pip failed
    assert not (bare / ".venv" / ".installed").exists()
    (bare / ".venv" / "half").touch()

    (bare / "broken").unlink()
    result = make(bare, ".venv/.installed", PYTHON=str(bare / "bin" / "chosen"))
    assert result.returncode == 0, result.stderr
    assert result.stdout == "installing into .venv/ (Python 3.12.0); once, a minute or two\n"
    assert not (bare / ".venv" / "half").exists()

    calls = (bare / "pip.log").read_text().count("\n")
    make(bare, ".venv/.installed")
    assert (bare / "pip.log").read_text().count("\n") == calls
    time.sleep(0.02)
    (bare / "setup.cfg").touch()  # new requirements: install again, into the same environment
    (bare / ".venv" / "kept").touch()
    make(bare, ".venv/.installed")
    assert (bare / "pip.log").read_text().count("\n") == calls + 1
    assert (bare / ".venv" / "kept").exists()


def machine(bare, *versions, of_pyenv=()):
    """A machine that has Pythons of these `versions` on its PATH, and others that only pyenv knows."""
    for version in versions:
        interpreter(bare, f"python{version.rpartition('.')[0]}", FAKE.replace("VERSION", version))
    for version in of_pyenv:
        interpreter(bare, f"python{version.rpartition('.')[0]}", SHIM)
        path = bare / "pyenv" / "versions" / version / "bin" / "python3"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{FAKE.replace('VERSION', version)}\n")
        path.chmod(0o755)
    for minor in (11, 12, 13):
        if not (bare / "bin" / f"python3.{minor}").exists():  # hides one that this machine has
            interpreter(bare, f"python3.{minor}", "exit 127")
    if not (bare / "bin" / "python3").exists():
        interpreter(bare, "python3", "exit 127")
    return {"PATH": f"{bare}/bin:/usr/bin:/bin", "PYENV_ROOT": str(bare / "pyenv")}


def test_a_python_that_only_pyenv_has_is_found_by_its_name(bare):
    there = machine(bare, "3.11.7", of_pyenv=["3.13.0"])
    result = make(bare, "test", "PYTHON=python3.13", **there)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "installing into .venv/ (Python 3.13.0); once, a minute or two\n1 passed\n"
    assert (bare / "pytest.log").read_text().startswith("3.13.0: ")


def test_without_a_python_that_serves_all_that_was_tried_is_said(bare):
    there = machine(bare, "3.11.7", of_pyenv=["3.13.0"])
    broken = bare / "pyenv" / "versions" / "3.13.0" / "bin" / "python3"
    broken.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'ensurepip'\" >&2; exit 1\n")
    result = make(bare, "test", "PYTHON=python3.13", **there)
    assert result.returncode != 0
    assert "Tried python3.13: pyenv: python3.13: command not found; " in result.stderr
    assert f"{broken}: ModuleNotFoundError: No module named 'ensurepip'" in result.stderr
    assert not (bare / ".venv").exists()


@pytest.mark.parametrize("target", ["test", "figures"])
def test_another_python_than_that_of_the_environment_has_one_of_its_own(bare, target):
    there = machine(bare, "3.11.7", "3.12.1")
    assert make(bare, ".venv/.installed", "PYTHON=python3.11", **there).returncode == 0
    for said in ("installing into .venv-3.12/ (Python 3.12.1, since .venv/ has Python 3.11); once", ""):
        result = make(bare, target, "PYTHON=python3.12", **there)
        assert result.returncode == 0, result.stderr
        assert result.stdout.count("installing") == bool(said)
        assert said in result.stdout
    last = make(bare, target, **there).stdout  # with what was there before, which for tests is not enough
    assert last.count("installing") == (target == "test")
    assert make(bare, target, **there).stdout.count("installing") == 0
    assert make(bare, target, "PYTHON=python3.11", **there).stdout.count("installing") == 0
    if target == "test":
        versions = [line.partition(":")[0] for line in (bare / "pytest.log").read_text().splitlines()]
        assert versions == ["3.12.1", "3.12.1", "3.11.7", "3.11.7", "3.11.7"]


@pytest.mark.parametrize(
    ("goals", "installed"), [(["figures", "test"], ["figures", "dev"]), (["test", "figures"], ["dev"])]
)
def test_figures_wait_for_nothing_that_only_tests_need(bare, goals, installed):
    there = machine(bare, "3.11.7")
    for goal in goals:
        assert make(bare, goal, **there).returncode == 0
    calls = (bare / "pip.log").read_text().splitlines()
    assert [call.rpartition("[")[2].rstrip("]") for call in calls] == installed
    assert make(bare, *goals, **there).stdout.count("installing") == 0


def test_the_suite_runs_on_the_oldest_python_and_a_fast_part_on_newer_ones(bare):
    result = make(bare, "test-pythons", **machine(bare, "3.11.7", of_pyenv=["3.13.0"]))
    assert result.returncode == 0, result.stderr
    ran = [line.split(": ", 1) for line in (bare / "pytest.log").read_text().splitlines()]
    assert [version for version, _ in ran] == ["3.11.7", "3.11.7", "3.13.0", "3.13.0"]
    wheel, suite, wheel_again, fast = (options for _, options in ran)
    assert wheel == wheel_again == "tests/core/test_wheel.py -m slow or not slow"
    assert suite == "-n auto --dist worksteal --ignore tests/benchmarks"
    assert "tests/test_docstrings.py" in fast
    assert result.stdout.startswith("Python 3.12 is not on this machine: it is not tested\n")
    assert result.stdout.endswith("1 passed\n")


def test_the_last_line_is_that_of_the_tests_where_there_is_one_python(bare):
    there = machine(bare)
    interpreter(bare, "python3", FAKE.replace("VERSION", "3.11.2"))
    result = make(bare, "test-pythons", **there)
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("1 passed\n")
    assert (bare / "pytest.log").read_text().count("\n") == 2


def test_where_tests_fail_on_one_python_all_fail(bare):
    there = machine(bare, "3.11.7", "3.12.1")
    failing = FAKE.replace("VERSION", "3.12.1").replace('echo "1 passed"', "exit 1")
    interpreter(bare, "python3.12", failing)
    assert make(bare, "test-pythons", **there).returncode != 0
    assert (bare / "pytest.log").read_text().count("3.11.7: ") == 2


def test_no_python_at_all_fails_and_names_what_was_tried(bare):
    result = make(bare, "test-pythons", **machine(bare))
    assert result.returncode != 0
    assert re.search("Tried python3.11: .*; python3.12: .*; python3.13: ", result.stderr)
