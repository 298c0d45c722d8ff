"""A training run on disk: written whole or not at all, and refused where it belongs to another run."""

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
HEADER = "header"


class CheckpointError(RuntimeError):
    """The file is broken, or of another run. It is left as it is."""


class Checkpoint:
    """The file `path` of the run that `parameters` (plain numbers and words) define; errors name what differs."""

    def __init__(self, path: str | os.PathLike[str], parameters: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.header = {"format": "simulate.topics.training, 1", **json.loads(json.dumps(parameters))}
        if not self.path.parent.is_dir():
            raise CheckpointError(f"checkpoint {self.path}: the folder {self.path.parent} does not exist")

    def load(self) -> Arrays | None:
        """What was saved last, None where there is no file yet; CheckpointError for any other file."""
        if not self.path.exists():
            return None
        try:
            with open(self.path, "rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            header = json.loads(str(arrays.pop(HEADER)))
        except (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as broken:
            raise CheckpointError(
                f"checkpoint {self.path} cannot be read ({type(broken).__name__}: {broken}): "
                "delete it to start again, or name another file; it was left as it is"
            ) from broken
        self._require_ours(header)
        return arrays

    def save(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Beside it first, then moved into its place: a kill leaves the last whole checkpoint."""
        scratch = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            with open(scratch, "wb") as file:
                np.savez(file, **{HEADER: np.array(json.dumps(self.header))}, **arrays)  # type: ignore[arg-type]  # numpy's stub of allow_pickle
                file.flush()
                os.fsync(file.fileno())
            os.replace(scratch, self.path)
        finally:
            scratch.unlink(missing_ok=True)

    def _require_ours(self, header: Any) -> None:
        theirs = header if isinstance(header, dict) else {}
        differ = [
            f"its {name} is {theirs.get(name)!r}, not {ours!r}"
            for name, ours in self.header.items()
            if theirs.get(name) != ours
        ]
        if differ:
            raise CheckpointError(
                f"checkpoint {self.path} is of another run: {'; '.join(differ)}. "
                "Name another file; it was left as it is"
            )
