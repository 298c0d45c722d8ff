"""The arrays of a model in double precision, as a file of numpy."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from figures.analyse.sequences.models.record import SequenceModel
from theory.core import Array
from theory.models import DensePottsModel

FORMAT = "pair model of sequences, version 1"
KNOWN = ("target", "frequencies", "pair_frequencies", "weights", "identity", "l2", "field_l2", "iterations")


def write(path: Path, found: SequenceModel) -> None:
    """Write all that is known of a model; pairs i < j only, in the order 12, 13, ..., 23."""
    values: dict[str, Any] = {
        "format": FORMAT,
        "couplings": _upper(found.couplings),
        "fields": found.fields,
        "alphabet": np.array(found.alphabet),
        "gauge": found.gauge,
        "numbers": found.numbers,
        "residual": found.residual,
        "converged": found.converged,
    }
    for name in KNOWN:
        value = getattr(found, name)
        if value is not None:
            values[name] = _upper(value) if name == "pair_frequencies" else value
    with path.open("wb") as file:
        np.savez(file, **values)


def read(path: Path) -> SequenceModel:
    """Read a model. ValueError for a file that holds none."""
    try:
        # Opened here, since numpy leaves a file open that it cannot read.
        with path.open("rb") as content, np.load(content, allow_pickle=False) as file:
            values = {name: file[name] for name in file.files}
    except (zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError | IsADirectoryError):
            raise
        raise ValueError(f"is no .npz file, or is cut off ({error})") from None
    if str(values.get("format")) != FORMAT:
        raise ValueError(f"holds no {FORMAT}; its arrays are {', '.join(values) or 'none'}")
    try:
        return _model(values)
    except KeyError as error:
        raise ValueError(f"lacks the array {error}") from None


def _model(values: dict[str, Any]) -> SequenceModel:
    fields = values["fields"]
    if fields.ndim != 2:
        raise ValueError(f"fields must have shape (sites, letters), got {fields.shape}")
    known: dict[str, Any] = {name: values.get(name) for name in KNOWN}
    for name in ("identity", "l2", "field_l2"):
        known[name] = None if known[name] is None else float(known[name])
    known["iterations"] = None if known["iterations"] is None else int(known["iterations"])
    if known["pair_frequencies"] is not None:
        known["pair_frequencies"] = _full(known["pair_frequencies"], *fields.shape)
    alphabet, numbers = tuple(map(str, values["alphabet"])), values["numbers"]
    if (len(numbers), len(alphabet)) != fields.shape:
        raise ValueError(f"alphabet and numbers must fit fields {fields.shape}, got {len(alphabet)} and {len(numbers)}")
    return SequenceModel(
        model=DensePottsModel(_full(values["couplings"], *fields.shape), fields),
        alphabet=alphabet,
        gauge=str(values["gauge"]),
        numbers=numbers,
        residual=float(values["residual"]),
        converged=bool(values["converged"]),
        **known,
    )


def _upper(pairs: Array) -> Array:
    return np.asarray(pairs[np.triu_indices(len(pairs), 1)])


def _full(upper: Array, L: int, C: int) -> Array:
    i, j = np.triu_indices(L, 1)
    if upper.shape != (len(i), C, C):
        raise ValueError(f"pairs must have shape {(len(i), C, C)}, got {upper.shape}")
    pairs = np.zeros((L, L, C, C))
    pairs[i, j], pairs[j, i] = upper, upper.transpose(0, 2, 1)
    return pairs
