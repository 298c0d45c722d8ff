"""What an experiment depends on: its own file, its subject in every wing, and the shared rooms."""

import hashlib
from pathlib import Path

from figures.core.discover import is_experiment

ROOT = Path(__file__).resolve().parents[2]
SHARED = (
    "theory/models",
    "theory/numerics",
    "theory/random_matrix",
    "simulate/core",
    "figures/core",
    "figures/analyse",
)
DRAWING = ("plot.py", "gallery.py", "render.py")  # change no number
BUILDS_ON: dict[str, tuple[str, ...]] = {"glm": ("potts",)}  # subject -> subjects that it really builds on


def sources(path: Path, root: Path = ROOT) -> list[Path]:
    """Source files of the experiment in `path`; what lies beside it and is no experiment itself is shared by it."""
    subjects = (path.parent.name, *BUILDS_ON.get(path.parent.name, ()))
    rooms = [*SHARED, *(f"{wing}/{subject}" for wing in ("theory", "simulate") for subject in subjects)]
    found = {file for room in rooms for file in (root / room).rglob("*.py") if file.name not in DRAWING}
    return sorted(found | {path} | {file for file in path.parent.rglob("*.py") if not is_experiment(file)})


def digest(path: Path, *parameters: object, root: Path = ROOT) -> str:
    """SHA-256 of the sources' names and bytes and of the parameters."""
    state = hashlib.sha256(repr(parameters).encode())
    for file in sources(path, root):
        state.update(f"\n{file.relative_to(root) if file.is_relative_to(root) else file.name}\n".encode())
        state.update(file.read_bytes())
    return state.hexdigest()
