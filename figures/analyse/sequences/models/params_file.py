"""The binary file of plmc, version 2, which EVcouplings reads.

Little-endian int32: L, C, numbers of sequences that were used and left out, iterations; float32: theta (the share of
sites in which similar sequences may differ; -1 without reweighting), the penalties lambda_h and lambda_J of the
log-likelihood summed over weighted sequences (NaN where not known), that of groups (0), Meff; C letters; for each
sequence the number of those similar to it, one over its weight; L letters of the target, all the first letter of the
alphabet where there is none; L int32 numbers of sites; f_i and h_i (L, C); f_ij, then J_ij (C, C) for all i < j in the
order 12, 13, ..., 23.
"""

import math
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.models.record import SequenceModel, with_gauge
from theory.core import Array
from theory.models import DensePottsModel

INT, FLOAT = np.dtype("<i4"), np.dtype("<f4")
MAX_SITES, MAX_COLORS = 100_000, 256  # beyond which the first numbers are none of such a file
OFF = -1.0  # theta where sequences are not reweighted
UNKNOWN = float("nan")  # a penalty: EVcouplings takes one below 0 for the sign of mean field


def write(path: Path, found: SequenceModel) -> None:
    """Write a model in single precision. ValueError where it lacks what the format needs."""
    letters = _letters(found)
    if found.weights is None or found.frequencies is None or found.pair_frequencies is None:
        raise ValueError(
            "model must have weights, frequencies and pair_frequencies for a .params file; give the fit and its "
            "alignment, or write .dat or .npz"
        )
    L, C = found.fields.shape
    theta = OFF if found.identity is None else 1 - found.identity
    penalties = [UNKNOWN if value is None else value for value in (found.field_l2, found.l2)]
    no_target = np.zeros(L, np.uint8)
    with path.open("wb") as file:
        np.array([L, C, len(found.weights), 0, found.iterations or 0], INT).tofile(file)
        np.array([theta, *penalties, 0.0, found.weights.sum()], FLOAT).tofile(file)
        letters.tofile(file)
        (1 / found.weights).astype(FLOAT).tofile(file)
        letters[no_target if found.target is None else found.target].tofile(file)
        found.numbers.astype(INT).tofile(file)
        for single in (found.frequencies, found.fields):
            single.astype(FLOAT).tofile(file)
        for pairs in (found.pair_frequencies, found.couplings):
            for i in range(L - 1):  # site by site, so that no second tensor is held
                pairs[i, i + 1 :].astype(FLOAT).tofile(file)


def read(path: Path) -> SequenceModel:
    """Read a model in double precision. ValueError for a file that is none, or is cut off."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size < 5 * INT.itemsize:
            raise ValueError(f"is no parameter file of plmc: it has {size} bytes")
        L, C, valid, invalid, iterations = (int(k) for k in np.fromfile(file, INT, 5))
        if not (2 <= L <= MAX_SITES and 2 <= C <= MAX_COLORS and valid >= 0 and invalid >= 0):
            raise ValueError(
                f"is no parameter file of plmc, version 2: it would begin with {L} sites, {C} letters and {valid} + "
                f"{invalid} sequences"
            )
        pairs = L * (L - 1) // 2
        needed = 4 * (10 + valid + invalid + L + 2 * L * C + 2 * pairs * C * C) + C + L
        if size != needed:
            problem = "is cut off" if size < needed else "is longer than its sizes say, or of another version"
            raise ValueError(
                f"{problem}: {L} sites, {C} letters and {valid + invalid} sequences take {needed} bytes, and it has "
                f"{size}"
            )
        theta, field_l2, l2, _, _ = np.fromfile(file, FLOAT, 5).tolist()
        alphabet = tuple(file.read(C).decode("latin-1"))
        if len(set(alphabet)) != C:
            raise ValueError(f"has letters twice in its alphabet {''.join(alphabet)!r}")
        similar = np.fromfile(file, FLOAT, valid + invalid)
        target = file.read(L).decode("latin-1")
        numbers = np.fromfile(file, INT, L)
        frequencies, fields = (np.fromfile(file, FLOAT, L * C).reshape(L, C).astype(float) for _ in range(2))
        joint, couplings = (_pairs(file, L, C) for _ in range(2))
    if field_l2 < 0:
        raise ValueError("holds a model by mean field, whose fields are no parameters of a pair model")
    colors = {letter: color for color, letter in enumerate(alphabet)}
    known = set(target) <= set(alphabet) and set(target) != {alphabet[0]}
    used = similar[similar > 0].astype(float)
    return with_gauge(
        SequenceModel(
            model=DensePottsModel(couplings, fields),
            alphabet=alphabet,
            gauge="",
            numbers=numbers.astype(np.int64),
            target=np.array([colors[letter] for letter in target]) if known else None,
            frequencies=frequencies,
            pair_frequencies=joint,
            weights=1 / used,
            identity=None if theta < 0 else round(1 - theta, 6),
            l2=_known(l2),
            field_l2=_known(field_l2),
            iterations=iterations,
        )
    )


def _letters(found: SequenceModel) -> NDArray[np.uint8]:
    """Return the alphabet as bytes. ValueError where a token is not one byte."""
    wrong = next((token for token in found.alphabet if len(token) != 1 or not token.isascii()), None)
    if wrong is not None:
        raise ValueError(
            f"alphabet must have one ASCII letter for each color in this format, got {wrong!r}; write .npz"
        )
    return np.frombuffer("".join(found.alphabet).encode(), np.uint8)


def _pairs(file: BinaryIO, L: int, C: int) -> Array:
    """Read blocks (C, C) of all pairs i < j, and return them as (L, L, C, C)."""
    found = np.zeros((L, L, C, C))
    for i in range(L - 1):
        found[i, i + 1 :] = np.fromfile(file, FLOAT, (L - 1 - i) * C * C).reshape(-1, C, C)
        found[i + 1 :, i] = found[i, i + 1 :].transpose(0, 2, 1)
    return found


def _known(penalty: float) -> float | None:
    return None if math.isnan(penalty) else penalty
