"""Fits the value matrix of uniform attention by least squares, to sampled documents or to a corpus."""

import json
import os
import time
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from simulate.core.checkpoint import generator_state
from simulate.topics.counts import word_counts
from simulate.topics.kept import corpus_file
from simulate.topics.masking import MaskedDocuments, mask_counts
from theory.core import Array, AtLeast, NonNegative, Result, Within, checked, checks
from theory.models.topics import Masking

Bias = Literal["free", "none", "decayed"]
Ridge = Annotated[float, Within(0.0, 1e100, closed=(True, True))]
BLOCK_ENTRIES = 4_000_000  # most entries of dense visible counts in memory at a time
SPARSE_BELOW = 0.05  # below this share of filled entries sparse products are faster
RANK_TOLERANCE = 1e-11  # least size of squared singular values, relative to the largest
MAX_DRAWS = 10**6


@dataclass(frozen=True, eq=False, repr=False)
class ValueMatrixFit(Result):
    """Holds the fit f = `matrix` xbar + `bias`: matrix (D, D) with [out, in], token 0 = [MASK]; bias (D,).

    `loss` is the mean over the `n_selected` positions of |f - e_target|^2, without the ridge term.
    """

    matrix: Array
    bias: Array
    loss: float
    n_selected: int


class NormalEquations:
    """Collects the sums over selected positions that least squares needs, about 2 D^2 numbers.

    Inputs are the visible shares of tokens and a constant 1, targets are one-hot.
    """

    def __init__(self, n_tokens: int) -> None:
        checks.fits_in_memory("the least-squares fit", 8 * n_tokens**2)
        self.power = np.zeros((n_tokens, n_tokens))  # sum of x x'
        self.cross = np.zeros((n_tokens, n_tokens))  # sum of target x', [target, input]
        self.inputs = np.zeros(n_tokens)
        self.targets = np.zeros(n_tokens)
        self.n_selected = 0

    def add(self, masked: MaskedDocuments) -> None:
        """Add a block of documents; all positions of a document have the same input."""
        n, n_tokens = masked.visible.shape
        asked: Any = sparse.csr_array((masked.times, (masked.document, masked.target)), shape=(n, n_tokens))
        weight = np.bincount(masked.document, masked.times, n)
        share: Any = masked.visible / masked.visible.sum(axis=1)[:, None]
        self.inputs += weight @ share
        if np.count_nonzero(share) < SPARSE_BELOW * share.size:
            share = sparse.csr_array(share)
            self.power += (share.T @ (share * weight[:, None])).toarray()
            self.cross += (asked.T @ share).toarray()
        else:
            self.power += share.T @ (share * weight[:, None])
            self.cross += asked.T @ share
        self.targets += asked.sum(axis=0)
        self.n_selected += masked.n_selected

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be saved."""
        return {name: np.asarray(value) for name, value in vars(self).items()}

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""
        for name in ("power", "cross", "inputs", "targets"):
            setattr(self, name, saved[name])
        self.n_selected = int(saved["n_selected"])

    @checked
    def solve(self, *, bias: Bias = "free", ridge: Ridge = 0.0) -> ValueMatrixFit:
        """Return the minimizer of the mean loss + ridge |W|^2 ("decayed": + ridge |b|^2), at 0 that of least norm."""
        if self.n_selected == 0:
            raise ValueError(
                "no position was selected: more documents, longer ones or a masking with a larger `selected` are needed"
            )
        n = self.n_selected
        power, cross, x, y, spread = self.power / n, self.cross / n, self.inputs / n, self.targets / n, 1.0
        if bias == "free":
            power -= np.outer(x, x)
            cross -= np.outer(y, x)
            spread -= float(y @ y)
        elif bias == "decayed":
            power = np.block([[power, x[:, None]], [x[None, :], np.ones((1, 1))]])
            cross = np.column_stack([cross, y])
        matrix = _divided(cross, power, ridge)
        loss = spread - np.vdot(matrix, cross) - ridge * np.vdot(matrix, matrix)  # from matrix (power + ridge) = cross
        if bias == "free":
            return ValueMatrixFit(matrix, y - matrix @ x, float(loss), n)
        if bias == "decayed":
            return ValueMatrixFit(matrix[:, :-1].copy(), matrix[:, -1].copy(), float(loss), n)
        return ValueMatrixFit(matrix, np.zeros(len(x)), float(loss), n)


@checked
def fit_value_matrix(
    documents: Any,
    masking: Masking,
    rng: np.random.Generator,
    *,
    bias: Bias = "free",
    ridge: float = 0.0,
    draws: Annotated[int, AtLeast(1, most=MAX_DRAWS)] = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    save_seconds: NonNegative = 30.0,
) -> ValueMatrixFit:
    """Fit the value matrix of uniform attention by least squares, with `draws` masks of each document.

    `documents` are sampled ones or counts (documents, words), dense or sparse. The mean over selected positions of the
    squared loss, summed over outputs, plus `ridge` |W|^2 is minimized; `bias` is "free" (not decayed), "decayed" or
    "none", as in theory. With a `checkpoint` (a file) the sums over masked documents, some 2 (words + 1)^2 numbers, are
    saved every `save_seconds`; called again with the same arguments and a generator in the same state the fit goes on
    from there, to the same bits. Raises ValueError for what are no counts, and where no position is selected;
    CheckpointError where the file belongs to another fit or cannot be written.

    >>> documents = np.array([[8, 1, 0, 1], [0, 1, 7, 2], [6, 2, 1, 1], [1, 0, 5, 4]])
    >>> fit = fit_value_matrix(documents, Masking(selected=0.5), np.random.default_rng(0), ridge=0.01, draws=20)
    >>> fit.matrix.shape, fit.bias.shape
    ((5, 5), (5,))
    """
    counts = word_counts(documents)
    n_documents, n_words = counts.shape
    equations = NormalEquations(n_words + 1)
    size = max(BLOCK_ENTRIES // (n_words + 1), 1)
    settings = {"masking": asdict(masking), "bias": bias, "ridge": ridge, "draws": draws}
    file = None if checkpoint is None else corpus_file(checkpoint, counts, settings, rng, of="fit_value_matrix")
    starts = [start for start in range(0, n_documents, size) for _ in range(draws)]
    saved = None if file is None else file.load()
    if saved is not None:
        equations.restore(saved)
        rng.bit_generator.state = json.loads(str(saved["generator"]))
    last = time.monotonic()
    for added in range(0 if saved is None else int(saved["added"]), len(starts)):
        start = starts[added]
        equations.add(mask_counts(counts[start : start + size], masking, rng))
        if file is not None and time.monotonic() - last >= save_seconds:
            file.save(equations.state() | {"added": np.array(added + 1), "generator": np.array(generator_state(rng))})
            last = time.monotonic()
    return equations.solve(bias=bias, ridge=ridge)


def _divided(cross: Array, power: Array, ridge: float) -> Array:
    """Return cross (power + ridge)^-1, or cross times the pseudo-inverse at ridge = 0; `power` is overwritten."""
    if ridge > 0:
        power[np.diag_indices_from(power)] += ridge
        try:
            factor = linalg.cho_factor(power, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            raise ValueError(f"ridge must be 0 or above rounding, got {ridge:g}: the inputs are dependent") from None
        return np.asarray(linalg.cho_solve(factor, cross.T, check_finite=False).T)
    values, vectors = linalg.eigh(power, overwrite_a=True)
    kept = vectors[:, values > RANK_TOLERANCE * max(values[-1], 0.0)]
    kept_values = values[values > RANK_TOLERANCE * max(values[-1], 0.0)]
    return np.asarray((cross @ kept / kept_values) @ kept.T)
