"""A run on disk: written whole or not at all, and refused where it belongs to another run."""

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from theory.models import Potts

Arrays = dict[str, NDArray[Any]]
HEADER = "header"
HIDDEN = "start"  # a digest, which says nothing to a reader, and differs wherever the seed or the chains do
FORMAT = "simulate.potts.sample, 1"


class CheckpointError(RuntimeError):
    """The file is broken, or of another run. It is left as it is."""


class Checkpoint:
    """The file `path` for one model and one set of `parameters` (plain numbers and words, named in errors)."""

    def __init__(self, path: str | os.PathLike[str], model: Potts, parameters: Mapping[str, Any]) -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise ValueError(f"checkpoint must be the path of a file, got {path!r}")
        self.path = Path(path)
        self.header = {"format": FORMAT, "model": digest(model), "parameters": dict(parameters)}
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
            why = str(broken) if isinstance(broken, OSError | zipfile.BadZipFile) else "it is no checkpoint of `sample`"
            raise CheckpointError(
                f"checkpoint {self.path} cannot be read ({why}): "
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
        except OSError as failed:
            raise CheckpointError(f"checkpoint {self.path} cannot be written ({failed}): name another file") from failed
        finally:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)

    def _require_ours(self, header: Any) -> None:
        differences = list(_differences(header, json.loads(json.dumps(self.header))))
        if differences:
            raise CheckpointError(
                f"checkpoint {self.path} is of another run: {'; '.join(differences)}. "
                "Name another file; it was left as it is"
            )


def digest(model: Potts) -> str:
    """Hash of everything that defines the model; equal models have equal digests."""
    found = hashlib.sha256()
    for part in _parts(model):
        found.update(part)
    return found.hexdigest()


def _parts(value: Any) -> Iterable[bytes]:
    if is_dataclass(value):
        yield type(value).__name__.encode()
        for each in fields(value):
            yield each.name.encode()
            yield from _parts(getattr(value, each.name))
    elif sparse.issparse(value):
        ordered = sparse.csr_array(value, copy=True)
        ordered.sum_duplicates()
        for array in (np.array(ordered.shape), ordered.indptr, ordered.indices, ordered.data):
            yield from _parts(array.astype(np.float64))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _parts(item)
    else:
        array = np.ascontiguousarray(value)
        yield f"{array.dtype.str}{array.shape}".encode()
        yield array.tobytes()


def _differences(theirs: Any, ours: dict[str, Any]) -> Iterable[str]:
    if not isinstance(theirs, dict) or theirs.get("format") != ours["format"]:
        yield f"its format is {theirs.get('format') if isinstance(theirs, dict) else theirs!r}, not {ours['format']!r}"
        return
    if theirs.get("model") != ours["model"]:
        yield "its model differs"
    other = theirs.get("parameters", {})
    found = {name: value for name, value in ours["parameters"].items() if other.get(name) != value}
    if set(found) == {HIDDEN}:
        yield f"its {HIDDEN} differs"
    for name, value in found.items():
        if name != HIDDEN:
            yield f"its {name} is {other.get(name)!r}, not {value!r}"
