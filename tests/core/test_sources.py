"""What a table depends on: exactly the modules that it really uses, wherever they are re-exported from."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from figures.core.discover import find_experiments, load, path_of
from figures.core.places import ROOT
from figures.core.sources import SourceTree

CHECKOUT = {
    "theory/__init__.py": "from importlib import import_module\nfrom theory import masked",
    "theory/models/__init__.py": "from theory.models.chain import AR1\nfrom theory.models.odd import Odd",
    "theory/models/chain.py": "from theory.models.base import Base",
    "theory/models/base.py": "",
    "theory/models/odd.py": "",
    "theory/masked/__init__.py": "from typing import TYPE_CHECKING\nfrom theory.masked.solve import solve\n"
    "if TYPE_CHECKING:\n    from theory.masked.masks import span_mask",
    "theory/masked/solve.py": "from theory.masked.systems import as_problem",
    "theory/masked/masks.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from theory.models import Odd",
    "theory/masked/systems/__init__.py": "from theory.masked.systems import registered\n"
    "from theory.masked.systems.registry import as_problem",
    "theory/masked/systems/registered.py": "from theory.masked.systems.registry import as_problem",
    "theory/masked/systems/registry.py": "",
    "theory/masked/unused.py": "",
    "simulate/potts/__init__.py": "ROOMS = {'sampling': ('sample',)}",  # loaded when first used
    "simulate/potts/sampling.py": "def sample():\n    from simulate.core.streams import stream",
    "simulate/potts/other.py": "",
    "simulate/core/__init__.py": "",
    "simulate/core/streams.py": "",
    "figures/core/__init__.py": "from figures.core.experiment import Experiment",
    "figures/core/experiment.py": "",
    "figures/core/compute.py": "",
    "figures/core/table.py": "",
    "figures/core/render.py": "",
    "figures/core/captions.py": "",
    "figures/core/plot.py": "STYLE = Path(__file__).with_name('paper.mplstyle')",
    "figures/core/paper.mplstyle": "",
    "figures/toy/data/known.fasta": "",
    "figures/toy/shared.py": "FILE = Path(__file__).with_name('data') / 'known.fasta'",
    "figures/toy/neighbor.py": "",
    "figures/toy/other.py": "from figures.toy.neighbor import f\nEXPERIMENT = 1",
    "figures/toy/peak.py": "import numpy as np\nfrom figures.core import Experiment\nfrom theory import masked\n"
    "from theory.models import AR1\nfrom simulate.potts import sample\nfrom figures.toy.other import curve\n"
    "def theory(): return masked.solve(1)\ndef draw():\n    from figures.toy.shared import FILE\nEXPERIMENT = 1",
}
TABLE = {
    *("figures/core/compute.py", "figures/core/experiment.py", "figures/core/table.py"),
    *("figures/toy/peak.py", "figures/toy/shared.py", "figures/toy/data/known.fasta"),
    *("figures/toy/other.py", "figures/toy/neighbor.py"),  # another experiment that it imports from
    *("theory/models/chain.py", "theory/models/base.py", "theory/masked/solve.py"),
    *("theory/masked/systems/registered.py", "theory/masked/systems/registry.py"),
    *("simulate/potts/sampling.py", "simulate/core/streams.py"),
}
PICTURE = TABLE - {"figures/core/compute.py", "figures/core/table.py"} | {
    "figures/core/captions.py",
    "figures/core/plot.py",
    "figures/core/paper.mplstyle",
}


@pytest.fixture
def checkout(tmp_path):
    for name, text in CHECKOUT.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def names(files, root):
    return {str(file.relative_to(root)) for file in files}


def test_the_table_and_the_picture(checkout):
    tree, path = SourceTree(checkout), checkout / "figures/toy/peak.py"
    assert names(tree.table_sources(path), checkout) == TABLE
    assert names(tree.picture_sources(path), checkout) == PICTURE


def test_each_file_is_read_once_for_its_imports_and_once_for_its_digest(checkout, monkeypatch):
    tree, path, read = SourceTree(checkout), checkout / "figures/toy/peak.py", []
    content = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda file: read.append(file) or content(file))
    for _ in range(2):
        tree.digest(tree.table_sources(path))
        tree.digest(tree.picture_sources(path))
    assert len(read) > len(set(read)) > 10
    assert max(Counter(read).values()) == 2


def test_the_digest_changes_with_its_sources_and_with_nothing_else(checkout):
    path = checkout / "figures/toy/peak.py"

    def digest(quality="default"):
        tree = SourceTree(checkout)
        return tree.digest(tree.table_sources(path), quality)

    before = digest()
    assert digest() == before
    assert digest("paper") != before
    for name in CHECKOUT:
        with (checkout / name).open("a", encoding="utf-8") as file:
            file.write("\n# a comment")
        after = digest()
        assert (after != before) == (name in TABLE), name
        before = after


def test_another_place_of_the_same_name_is_a_change(checkout):
    """What a package re-exports moves, and the module that defined it stays: the table is old all the same."""
    path = checkout / "figures/toy/peak.py"
    before = SourceTree(checkout).table_sources(path)
    (checkout / "theory/models/__init__.py").write_text("from theory.models.odd import AR1")
    after = SourceTree(checkout).table_sources(path)
    assert names(set(after) ^ set(before), checkout) == {
        f"theory/models/{name}.py" for name in ("odd", "chain", "base")
    }


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("import theory.masked.unused", {"theory/masked/unused.py"}),
        ("from theory import masked\nmasked.span_mask", {"theory/masked/masks.py"}),
        ("from theory import masked\nuse(masked)", {"theory/masked/unused.py", "theory/masked/masks.py"}),
        ("from theory.masked import systems as s\ns.as_problem", {"theory/masked/systems/registered.py"}),
        ("from simulate.potts import nowhere_defined", {"simulate/potts/other.py", "simulate/potts/sampling.py"}),
        ("from simulate.potts import ROOMS", {"simulate/potts/__init__.py"}),
        ("from .shared import FILE", {"figures/toy/shared.py", "figures/toy/data/known.fasta"}),
        ("from ..core import Experiment", {"figures/core/experiment.py"}),
        ("from . import neighbor", {"figures/toy/neighbor.py"}),
    ],
)
def test_ways_to_import(checkout, text, more):
    path = checkout / "figures/toy/alone.py"
    path.write_text(text)
    assert more <= names(SourceTree(checkout).closure(path), checkout)


def test_a_name_is_followed_although_a_module_is_called_like_it(checkout):
    (checkout / "theory/models/__init__.py").write_text("from .base import chain")
    path = checkout / "figures/toy/alone.py"
    path.write_text("from theory.models import chain")
    assert names(SourceTree(checkout).closure(path), checkout) >= {"theory/models/base.py"}


def test_what_cannot_be_parsed_is_named(checkout):
    (checkout / "theory/models/base.py").write_text("def (")
    with pytest.raises(SyntaxError) as error:
        SourceTree(checkout).table_sources(checkout / "figures/toy/peak.py")
    assert error.value.filename == str(checkout / "theory/models/base.py")


def test_a_file_outside_the_checkout(tmp_path):
    files = [tmp_path / "a.py", tmp_path / "b.py"]
    for file in files:
        file.write_text("from simulate.core import stream")
    tree = SourceTree()
    assert tree.digest(tree.closure(files[0])) != tree.digest(tree.closure(files[1]))
    assert ROOT / "simulate/core/streams.py" in tree.closure(files[0])


def test_a_comment_in_one_solver_makes_only_those_tables_old_that_import_it():
    tree = SourceTree()
    sources = {name: set(tree.table_sources(path)) for name, path in find_experiments().items()}
    old = {name for name, files in sources.items() if ROOT / "theory/random_matrix/bbp/transition.py" in files}
    assert 0 < len(old) < len(sources) / 5
    assert ROOT / "figures/core/digits.py" in sources["real_spectrum"]  # where it takes its data from
    for name, files in sources.items():
        assert ROOT / "figures/core/plot.py" not in files, name
        assert ROOT / "figures/core/report.py" not in files, name


PROGRAM = """
import inspect
import sys
from pathlib import Path
from figures.core import Context
from figures.core.compute import compute_rows
from figures.core.discover import load, path_of
from figures.core.places import ROOT
from figures.core.sources import SourceTree

path, ran = path_of(sys.argv[1]), set()
experiment = load(path)

def note(frame, event, _):
    if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function: no module or class that loads
        ran.add(frame.f_code.co_filename)

sys.setprofile(note)
compute_rows(experiment, Context("draft"))
sys.setprofile(None)
ran = {Path(name) for name in ran if name.startswith(str(ROOT)) and not name.startswith(str(ROOT / ".venv"))}
missed = ran - set(SourceTree().table_sources(path)) - {path.parent / "__init__.py" for path in ran}
sys.exit(f"{sys.argv[1]}: {sorted(missed)}" if missed or not ran else 0)
"""


@pytest.mark.parametrize(
    "name",
    [
        *("interpolation_peak", "spike_overlap", "topic_weight"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name, path in find_experiments().items()
            if name not in ("interpolation_peak", "spike_overlap", "topic_weight")
        ),
    ],
)
def test_every_module_that_runs_is_among_the_sources(name):
    """Functions of modules that the text did not lead to, seen by running the experiment at toy size."""
    skip = load(path_of(name)).skip
    if skip is not None and (reason := skip()) is not None:
        pytest.skip(reason)
    result = subprocess.run([sys.executable, "-c", PROGRAM, name], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
