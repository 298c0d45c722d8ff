"""Keeps a run on disk, written whole or not at all, and refuses files that were changed or belong to another run."""

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.core import MaskedSSLError, checks
from theory.core.atomic_write import atomic_write

Arrays = dict[str, NDArray[Any]]
HEADER, DIGEST = "header", "digest"
UNREADABLE = (  # what numpy, zipfile (RuntimeError where encrypted or of another method) and json raise
    *(OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)


class CheckpointError(MaskedSSLError, RuntimeError):
    """A checkpoint is broken, cannot be written, or belongs to another run; the file is left as it is."""


class Checkpoint:
    """Keeps a run in the file `path`, and refuses the file of another run.

    `header` defines the run: its "format", and plain values or groups of them, by name. `of` is the function that
    writes such files. `digests` names the values that say nothing to a reader: an error does not show them, and passes
    over them where a plain value beside them differs too, which explains it.
    """

    def __init__(
        self, path: str | os.PathLike[str], header: Mapping[str, Any], *, of: str, digests: Collection[str] = ()
    ) -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise ValueError(f"checkpoint must be the path of a file, got {checks.shown(path)}")
        self.path = Path(path)
        # The header is kept in the form in which it is read back, with lists for tuples.
        self.header: dict[str, Any] = json.loads(json.dumps(header))
        self._of, self._digests = of, digests
        if not self.path.parent.is_dir():
            raise CheckpointError(f"checkpoint {self.path}: the folder {self.path.parent} does not exist")

    def load(self) -> Arrays | None:
        """Return the arrays that were saved last, or None where there is no file yet.

        CheckpointError for any other file: one that cannot be read, is of another run, or was changed since.
        """
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            stated, text = str(arrays.pop(DIGEST, "")), str(arrays.pop(HEADER))
            header = json.loads(text)
        except UNREADABLE as broken:
            told = isinstance(broken, OSError | zipfile.BadZipFile)  # other messages of numpy advise to allow pickles
            why = str(broken) if told else f"it is no checkpoint of `{self._of}`"
            raise CheckpointError(
                f"checkpoint {self.path} cannot be read ({why}): "
                "delete it to start again, or name another file; it was left as it is"
            ) from broken
        self._require_ours(header)
        if stated != _digest(text, arrays):
            raise CheckpointError(
                f"checkpoint {self.path} was changed since it was written (its content has another digest): "
                "delete it to start again, or name another file; it was left as it is"
            )
        return arrays

    def save(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write beside the file first, then move into its place: a kill leaves the last whole checkpoint."""
        text = json.dumps(self.header)
        own = {HEADER: np.array(text), DIGEST: np.array(_digest(text, arrays))}
        try:
            with atomic_write(self.path) as temporary, temporary.open("wb") as file:
                np.savez(file, **own, **arrays)  # type: ignore[arg-type]  # numpy's stub of allow_pickle
                file.flush()
                os.fsync(file.fileno())
        except OSError as failed:
            raise CheckpointError(f"checkpoint {self.path} cannot be written ({failed}): name another file") from failed

    def _require_ours(self, header: Any) -> None:
        stated = header.get("format") if isinstance(header, dict) else header
        if stated != self.header["format"]:  # other names may mean something else in another format
            differences = [f"its format is {stated!r}, not {self.header['format']!r}"]
        else:
            differences = list(_differences(header, self.header, self._digests))
        if differences:
            raise CheckpointError(
                f"checkpoint {self.path} is of another run: {'; '.join(differences)}. "
                "Name another file; it was left as it is"
            )


def digest_of(arrays: Iterable[NDArray[Any]], text: str = "") -> str:
    """Return a short digest of arrays, by their type, shape and bytes, and of a text."""
    state = hashlib.sha256()
    for array in arrays:
        state.update(f"{array.dtype.str}{array.shape}".encode())
        state.update(np.ascontiguousarray(array).tobytes())
    state.update(text.encode())
    return state.hexdigest()[:16]


def generator_state(rng: np.random.Generator) -> str:
    """Return the state of a generator as JSON; some, such as MT19937, hold arrays."""
    return json.dumps(rng.bit_generator.state, default=lambda array: array.tolist())


def _digest(header: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Compute the SHA-256 of the header and of every array, by its name, type, shape and bytes."""
    state = hashlib.sha256(header.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        state.update(f"\n{name} {array.dtype.str} {np.shape(arrays[name])}\n".encode())
        state.update(array.tobytes())
    return state.hexdigest()


def _differences(theirs: Any, ours: dict[str, Any], digests: Collection[str]) -> Iterable[str]:
    found = theirs if isinstance(theirs, dict) else {}
    differ = {name: value for name, value in ours.items() if found.get(name) != value}
    explained = any(name not in digests and not isinstance(value, dict) for name, value in differ.items())
    for name, value in differ.items():
        if isinstance(value, dict):
            yield from _differences(found.get(name), value, digests)
        elif name not in digests:
            yield f"its {name} is {found.get(name)!r}, not {value!r}"
        elif not explained:
            yield f"its {name} differs"
