"""A run on disk: written whole or not at all, and refused where it belongs to another run."""

import json
import os
import zipfile
import zlib
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.models.errors import MaskedSSLError

Arrays = dict[str, NDArray[Any]]
HEADER = "header"
UNREADABLE = (  # what numpy, zipfile (RuntimeError where encrypted or of another method) and json raise
    *(OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)


class CheckpointError(MaskedSSLError, RuntimeError):
    """The file is broken, cannot be written, or is of another run. What was there is left as it is."""


class Checkpoint:
    """The file `path` of the run that `header` defines: its "format", and plain values or groups of them, by name.

    `of` is the function that writes such files. `digests` names the values that say nothing to a reader: an error does
    not show them, and passes over them where a plain value beside them differs too, which explains it.
    """

    def __init__(
        self, path: str | os.PathLike[str], header: Mapping[str, Any], *, of: str, digests: Collection[str] = ()
    ) -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise ValueError(f"checkpoint must be the path of a file, got {path!r}")
        self.path = Path(path)
        self.header: dict[str, Any] = json.loads(json.dumps(header))  # as it comes back: tuples are lists
        self._of, self._digests = of, digests
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
        except UNREADABLE as broken:
            told = isinstance(broken, OSError | zipfile.BadZipFile)  # numpy's other words advise to allow pickles
            why = str(broken) if told else f"it is no checkpoint of `{self._of}`"
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
        stated = header.get("format") if isinstance(header, dict) else header
        if stated != self.header["format"]:  # the other names may mean something else there
            differences = [f"its format is {stated!r}, not {self.header['format']!r}"]
        else:
            differences = list(_differences(header, self.header, self._digests))
        if differences:
            raise CheckpointError(
                f"checkpoint {self.path} is of another run: {'; '.join(differences)}. "
                "Name another file; it was left as it is"
            )


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
