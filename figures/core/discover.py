"""Finds experiments: every file figures/SUBJECT/NAME.py with a line `EXPERIMENT = ...` is one, none is registered."""

import difflib
import glob
import importlib
from pathlib import Path

from figures.core.experiment import Experiment

FIGURES = Path(__file__).resolve().parents[1]
IN_CHECKOUT = (FIGURES.parent / "setup.cfg").is_file()  # and not installed among other packages
# An installed package is no place for results: there they go to a folder of their own where the user is.
RESULTS = FIGURES if IN_CHECKOUT else Path.cwd() / "masked-ssl"
OUTPUT = RESULTS / "output"
GALLERY = RESULTS / "gallery"
OUTPUT_SHOWN = "figures/output" if IN_CHECKOUT else "masked-ssl/output in the current folder"


class UnknownExperiment(ValueError):
    """No experiment was named, or there is none of that name; the message lists the nearest ones."""


def find_experiments() -> dict[str, Path]:
    """Return the path of every experiment by its name, in alphabetical order.

    ValueError where two subjects use one name: a name must say which experiment is meant.
    """
    found: dict[str, Path] = {}
    for path in sorted(FIGURES.glob("*/*.py"), key=lambda path: path.stem):
        if not is_experiment(path):
            continue
        if path.stem in found:
            raise ValueError(f"two experiments are called {path.stem}: {found[path.stem]} and {path}")
        found[path.stem] = path
    return found


def is_experiment(path: Path) -> bool:
    """Tell whether a file declares an experiment.

    It is read as text, since to load every module in order to find one experiment would be slow.
    """
    return any(line.startswith("EXPERIMENT = ") for line in path.read_text(encoding="utf-8").splitlines())


def path_of(name: str) -> Path:
    """Return the file of the experiment `name`; UnknownExperiment lists the nearest names where there is none."""
    known = find_experiments()
    if name in known:
        return known[name]
    if silent := sorted(FIGURES.glob(f"*/{glob.escape(name)}.py")):
        raise UnknownExperiment(f"{silent[0]} is no experiment: no line of it begins with 'EXPERIMENT = '")
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or list(known)
    raise UnknownExperiment(
        f"no experiment is called {name!r}; did you mean: {', '.join(close) or '(there are none)'}?"
    )


def load(path: Path) -> Experiment:
    """Load the EXPERIMENT of a file; TypeError where it defines none."""
    module = importlib.import_module(f"figures.{path.parent.name}.{path.stem}")
    experiment = getattr(module, "EXPERIMENT", None)
    if not isinstance(experiment, Experiment):
        raise TypeError(f"{path} must define EXPERIMENT = Experiment(...), got {experiment!r}")
    return experiment
