"""The text file of adabmDCA: lines "J i j a b value" for i < j, then "h i a value", sites from 0 and letters a and b.

It has no header and says nothing of the sequences: adabmDCA takes the alphabet as an option, and so the order of its
letters is given by the lines of h. Programs of the same name in other languages read the same lines.
"""

from pathlib import Path

import numpy as np

from figures.analyse.sequences.models.record import SequenceModel, with_gauge
from theory.core import Array
from theory.models import DensePottsModel

PARTS = {"J": 6, "h": 4}  # words of a line


def write(path: Path, found: SequenceModel) -> None:
    """Write a model with the shortest decimals that give the same numbers. ValueError for longer tokens."""
    wrong = next((token for token in found.alphabet if len(token) != 1 or token.isspace()), None)
    if wrong is not None:
        raise ValueError(f"alphabet must have one letter for each color in this format, got {wrong!r}; write .npz")
    L, letters = found.n_sites, found.alphabet
    both = [f"{a} {b} " for a in letters for b in letters]
    with path.open("w", encoding="utf-8") as file:
        for i in range(L):
            for j in range(i + 1, L):
                start, values = f"J {i} {j} ", found.couplings[i, j].ravel().tolist()
                file.writelines(f"{start}{pair}{value!r}\n" for pair, value in zip(both, values, strict=True))
        for i in range(L):
            file.writelines(
                f"h {i} {a} {value!r}\n" for a, value in zip(letters, found.fields[i].tolist(), strict=True)
            )


def read(path: Path) -> SequenceModel:
    """Read a model; couplings that are not there are zero. ValueError with the line that is wrong."""
    fields: dict[tuple[int, str], float] = {}
    couplings: dict[tuple[int, int, str, str], float] = {}
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                _take(line.split(), number, fields, couplings)
    except UnicodeDecodeError:
        raise ValueError("is no text, and so no file of adabmDCA") from None
    if not fields:
        raise ValueError("has no line 'h site letter value', and so no fields: it is cut off, or no file of adabmDCA")
    alphabet = tuple(dict.fromkeys(letter for _, letter in fields))
    L = 1 + max(site for site, _ in fields)
    if len(fields) != L * len(alphabet):
        raise ValueError(
            f"has {len(fields)} fields, where {L} sites and {len(alphabet)} letters have {L * len(alphabet)}"
        )
    h = np.array([[fields[i, a] for a in alphabet] for i in range(L)])
    return with_gauge(
        SequenceModel(
            model=DensePottsModel(_tensor(couplings, L, alphabet), h),
            alphabet=alphabet,
            gauge="",
            numbers=np.arange(1, L + 1),
        )
    )


def _take(
    words: list[str],
    number: int,
    fields: dict[tuple[int, str], float],
    couplings: dict[tuple[int, int, str, str], float],
) -> None:
    """Take the number of one line."""
    try:
        kind, *rest = words
        if len(words) != PARTS[kind]:
            raise KeyError(kind)
        value = float(rest[-1])
        if not np.isfinite(value):
            raise ValueError(f"has the value {rest[-1]} in line {number}, which is not finite")
        if kind == "h":
            fields[int(rest[0]), rest[1]] = value
        else:
            couplings[int(rest[0]), int(rest[1]), rest[2], rest[3]] = value
    except (KeyError, ValueError) as error:
        if "not finite" in str(error):
            raise
        raise ValueError(
            f"has a line {number} that is neither 'J site site letter letter value' nor 'h site letter value': "
            f"{' '.join(words)[:60]!r}"
        ) from None


def _tensor(couplings: dict[tuple[int, int, str, str], float], L: int, alphabet: tuple[str, ...]) -> Array:
    colors = {letter: color for color, letter in enumerate(alphabet)}
    J = np.zeros((L, L, len(alphabet), len(alphabet)))
    for (i, j, a, b), value in couplings.items():
        if not (0 <= i < L and 0 <= j < L and i != j and a in colors and b in colors):
            raise ValueError(f"has a coupling of sites {i} and {j} with letters {a} and {b}, which have no fields")
        J[i, j, colors[a], colors[b]] = J[j, i, colors[b], colors[a]] = value
    return J
