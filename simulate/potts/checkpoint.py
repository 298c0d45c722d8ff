"""Checkpoints of `sample`: a run on disk, which is told from runs of other models by a digest of its model."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

from simulate.core import checkpoint
from simulate.core.checkpoint import CheckpointError
from theory.models import Potts

__all__ = ["Checkpoint", "CheckpointError", "digest"]

FORMAT = "simulate.potts.sample, 2"
DIGESTS = ("model", "start")  # the start differs wherever the seed or the chains do


class Checkpoint(checkpoint.Checkpoint):
    """Keeps a run in the file `path`, for one model and one set of `parameters`, plain values that errors name."""

    def __init__(self, path: str | os.PathLike[str], model: Potts, parameters: Mapping[str, Any]) -> None:
        header = {"format": FORMAT, "model": digest(model), "parameters": dict(parameters)}
        super().__init__(path, header, of="sample", digests=DIGESTS)


def digest(model: Potts) -> str:
    """Compute a hash of everything that defines the model; equal models have equal digests."""
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
