"""The import rules and the shape of the files; every rule is also seen to fail."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WINGS = ("theory", "simulate", "figures")
ROOMS = {
    "theory": {"core", "models", "numerics", "random_matrix"},
    "simulate": {"core"},
    "figures": {"core", "analyse"},
}
KINDS = {"matrix", "sequences", "text"}  # of users' data: figures/analyse/KIND, read by figures/analyse/reading/KIND
EXPERIMENTS = {
    f"figures.{path.parent.name}.{path.stem}"
    for path in (ROOT / "figures").glob("*/*.py")
    if "\nEXPERIMENT = " in path.read_text(encoding="utf-8")
}
# "wing/subject" -> "wing/subject" that it really builds on
BUILDS_ON: dict[str, set[str]] = {
    "figures/glm": {"simulate/potts"},
    "simulate/nets": {"simulate/potts"},
    "theory/nets": {"theory/potts"},
    "figures/nets": {"simulate/potts", "theory/potts"},
    "figures/trees": {"simulate/nets"},
}
HEAVY = {"pandas", "sympy", "matplotlib", "mpmath", "tqdm", "sklearn", "distributed", "dask", "jax", "equinox", "optax"}
FILES = [path for wing in WINGS for path in sorted((ROOT / wing).rglob("*.py")) if "output" not in path.parts]


def imports(source: str) -> Iterator[tuple[str, str]]:
    """(module, where) of every import; where is "module", "typing" (under TYPE_CHECKING) or the enclosing function."""

    def walk(node: ast.AST, where: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            inner = where
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = child.name
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                inner = "typing"
            if isinstance(child, ast.Import):
                yield from ((alias.name, where) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, "imports are absolute"
                yield from ((f"{child.module}.{alias.name}", where) for alias in child.names)
            else:
                yield from walk(child, inner)

    return walk(ast.parse(source), "module")


def broken_rules(name: str, source: str) -> list[str]:
    """Every rule that the file `name` (its path from the root) breaks."""
    found = [] if source.count("\n") <= 300 else ["more than 300 lines"]
    found += ["utils.py"] if Path(name).name == "utils.py" else []
    for module, where in imports(source):
        check = ours if module.split(".")[0] in WINGS else theirs
        rule = check(Path(name), module, where)
        found += [f"{rule}: {module} in {where}"] if rule else []
    return found


def ours(path: Path, module: str, _where: str) -> str | None:
    """The rule broken by an import of our own."""
    wing, *folders = path.parts
    subject = folders[0] if len(folders) > 1 else ""
    top, room = [*module.split("."), ""][:2]
    shared, allowed = ROOMS[top] | {""}, BUILDS_ON.get(f"{wing}/{subject}", set())
    if wing == "theory" and top != "theory":
        return "theory imports nothing of ours"
    if wing == "simulate" and (top == "figures" or (top == "theory" and room not in ("core", "models"))):
        return "simulate uses only theory.core and theory.models"
    if any(module == name or module.startswith(f"{name}.") for name in EXPERIMENTS):
        return "an experiment is imported by nothing"
    if wing == top == "figures" and subject == "core" and room == "analyse":
        return "figures/core is below figures/analyse"
    if wing == top == "figures" and subject == room == "analyse" and _other_kind(folders, module):
        return "an analysis imports no other kind of data"
    if subject in ROOMS[wing] and wing == top and room not in shared:
        return "a shared room imports no subject"
    if subject and subject not in ROOMS[wing] and room not in shared | {subject} and f"{top}/{room}" not in allowed:
        return "a subject imports shared rooms only"
    return None


def _other_kind(folders: list[str], module: str) -> bool:
    """Whether a file in `folders` is of one kind of data and `module` of another."""
    own, imported = (KINDS.intersection(parts) for parts in (folders[:-1], module.split(".")))
    return bool(own and imported and own != imported)


def theirs(path: Path, module: str, where: str) -> str | None:
    """The rule broken by an import of another package."""
    wing, top = path.parts[0], module.split(".")[0]
    if wing == "figures" or where == "typing":
        return None
    if top == "matplotlib":
        return "only figures imports matplotlib"
    if top == "pandas" and where != "to_frame" and (path.name, where) != ("frames.py", "table"):
        return "pandas only in figures and in to_frame"  # or in the one function that every to_frame calls
    if wing == "theory" and top in ("numba", "joblib") and path != Path("theory/core/kernels.py"):
        return f"theory loads no {top}"
    lazily_loaded = top == "sympy" and path.name == "closed_forms.py"
    if top == "sklearn" and path == Path("simulate/masked/estimators.py"):
        return None  # its classes are those of scikit-learn, and only who wants them imports the module
    if where == "module" and (top in HEAVY or module.startswith("scipy.stats")) and not lazily_loaded:
        return "heavy import at module level"
    return None


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rules_hold(path):
    assert broken_rules(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "source", "rule"),
    [
        ("theory/masked/a.py", "from simulate.core import stream", "theory imports nothing of ours"),
        ("theory/masked/a.py", "def f():\n    import figures", "theory imports nothing of ours"),
        ("simulate/masked/a.py", "from theory.masked import solve", "simulate uses only theory.core and theory.models"),
        ("simulate/masked/a.py", "import theory.numerics", "simulate uses only theory.core and theory.models"),
        ("simulate/core/a.py", "from figures.core import row", "simulate uses only theory.core and theory.models"),
        ("theory/masked/a.py", "from theory.potts import solve", "a subject imports shared rooms only"),
        ("figures/masked/a.py", "from simulate.potts import sample", "a subject imports shared rooms only"),
        ("theory/numerics/a.py", "from theory.masked import solve", "a shared room imports no subject"),
        ("figures/analyse/a.py", "from figures.masked import digits", "a shared room imports no subject"),
        ("figures/analyse/text/a.py", "from figures.topics import maps", "a shared room imports no subject"),
        (
            "figures/masked/a.py",
            "from figures.masked.real_data import LAMS",
            "an experiment is imported by nothing",
        ),
        ("figures/core/a.py", "from figures.analyse import results", "figures/core is below figures/analyse"),
        ("figures/analyse/text/a.py", "from figures.analyse.matrix import x", "an analysis imports no other kind"),
        (
            "figures/analyse/reading/matrix/a.py",
            "from figures.analyse.reading.text import x",
            "an analysis imports no other kind",
        ),
        ("theory/masked/a.py", "def f():\n    import matplotlib.pyplot", "only figures imports matplotlib"),
        ("simulate/core/a.py", "def table():\n    import pandas", "pandas only in figures and in to_frame"),
        ("theory/core/frames.py", "import pandas", "pandas only in figures and in to_frame"),
        ("simulate/core/a.py", "from scipy.stats import t", "heavy import at module level"),
        ("simulate/core/a.py", "from scipy import stats", "heavy import at module level"),
        ("simulate/core/a.py", "try:\n    import tqdm\nexcept ImportError:\n    pass", "heavy import at module level"),
        ("theory/masked/a.py", "import sympy", "heavy import at module level"),
        ("theory/masked/closed_forms.py", "import mpmath", "heavy import at module level"),
        ("theory/masked/a.py", "import numba", "theory loads no numba"),
        ("simulate/core/a.py", "\n" * 301, "more than 300 lines"),
        ("simulate/core/utils.py", "", "utils.py"),
    ],
)
def test_rules_can_fail(name, source, rule):
    assert any(rule in broken for broken in broken_rules(name, source))


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("simulate/masked/a.py", "from theory.models import AR1\nfrom theory import models\nimport numba, joblib"),
        ("figures/masked/a.py", "from theory import masked\nfrom simulate.masked import fit\nimport pandas"),
        ("figures/masked/a.py", "from theory.random_matrix import effective_ridge\nfrom simulate.core import stream"),
        ("figures/masked/a.py", "from figures.analyse.matrix import analyse_matrix"),
        ("figures/analyse/matrix/a.py", "from theory import masked\nfrom simulate.masked import fit"),
        ("figures/analyse/matrix/a.py", "from figures.analyse.reading.matrix import Matrix"),
        ("figures/analyse/command.py", "from figures.analyse.text import report"),
        ("theory/masked/a.py", "def to_frame(self):\n    import pandas\n\ndef f():\n    from scipy import stats"),
        ("theory/masked/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas"),
        ("theory/masked/closed_forms.py", "import sympy"),
        ("theory/core/kernels.py", "from numba import njit"),
        ("theory/core/frames.py", "def table():\n    import pandas"),
        ("theory/masked/__init__.py", "from theory.masked.solve import solve"),
    ],
)
def test_rules_allow_what_they_should(name, source):
    assert broken_rules(name, source) == []


def no_packages(root: Path) -> list[str]:
    """Folders of Python files below `root` that lack an __init__.py: they are imported from here, but not installed."""
    folders = {path.parent for path in root.rglob("*.py") if "output" not in path.parts}
    between = {above for folder in folders for above in folder.parents if root in (above, *above.parents)}
    return sorted(str(folder) for folder in folders | between if not (folder / "__init__.py").exists())


@pytest.mark.parametrize("wing", WINGS)
def test_every_folder_of_code_is_a_package(wing):
    assert no_packages(ROOT / wing) == []


def test_a_folder_that_is_no_package_is_noticed(tmp_path):
    inner = tmp_path / "wing" / "subject" / "kernels"
    inner.mkdir(parents=True)
    for folder in (tmp_path / "wing", inner):
        (folder / "__init__.py").touch()
    assert no_packages(tmp_path / "wing") == [str(inner.parent)]
    (inner.parent / "__init__.py").touch()
    (inner / "__init__.py").rename(inner / "sweeps.py")
    assert no_packages(tmp_path / "wing") == [str(inner)]


def test_importing_theory_loads_nothing_heavy():
    rooms = sorted(path.parent.name for path in (ROOT / "theory").glob("*/__init__.py"))
    program = f"""
import importlib, sys
import theory
for room in {rooms}:
    importlib.import_module("theory." + room)
heavy = {{"numba", "joblib", "scipy.stats", *{sorted(HEAVY)}}} & set(sys.modules)
sys.exit(f"theory loads {{sorted(heavy)}}" if heavy else 0)
"""
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
