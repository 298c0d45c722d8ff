"""A pair model of a family together with what it was learned from, as the files of other programs hold it."""

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from figures.analyse.sequences.models.alignment import Alignment
from figures.analyse.sequences.reference import GAP_NUMBER, Reference
from theory.core import Array, Result, checks
from theory.models import DensePottsModel
from theory.models.potts import zero_sum
from theory.models.potts.batches import States

ZERO_SUM, OTHER = "zero_sum", "none"
GAUGE_TOLERANCE = 1e-5  # of row sums against the largest coupling: files in single precision keep seven digits


class Fitted(Protocol):
    """A fit of a pair model, such as `PseudoLikelihoodFit`, `MeanFieldFit` or a fit by Boltzmann learning."""

    @property
    def model(self) -> DensePottsModel:
        """The fitted model."""


@dataclass(frozen=True, eq=False, repr=False)
class SequenceModel(Result):
    """A pair model of L sites and C letters, with what is known of the sequences that it was learned from.

    `model` has P(s) = exp(S(s))/Z with S(s) = sum_{i<j} J_ij(s_i, s_j) + sum_i h_i(s_i); color a is `alphabet[a]`, and
    a gap is a letter like any other. `gauge` is "zero_sum" where rows and columns of all J_ij and all h_i sum to zero,
    else "none". `numbers` (L,) are the numbers of the sites in the files of other programs. `target` (L,) are the
    colors of the sequence whose mutations are meant; None where there is none.

    `frequencies` f_i (L, C) and `pair_frequencies` f_ij (L, L, C, C), zero where i = j, are those of the weighted
    sequences; `weights` (M,) are one over the number of similar sequences, those that agree at the share `identity` of
    their sites (None: each counts as one). `l2` |J_ij|^2, each pair once, and `field_l2` |h_i|^2 are the penalties of a
    log-likelihood summed over sequences with these weights. What is not known is None. `iterations` and `converged` are
    those of the fit.
    """

    model: DensePottsModel = field(repr=False)
    alphabet: tuple[str, ...]
    gauge: str
    numbers: NDArray[np.int64] = field(repr=False)
    target: States | None = field(default=None, repr=False)
    frequencies: Array | None = field(default=None, repr=False)
    pair_frequencies: Array | None = field(default=None, repr=False)
    weights: Array | None = field(default=None, repr=False)
    identity: float | None = None
    l2: float | None = None
    field_l2: float | None = None

    @property
    def n_sites(self) -> int:
        """The number L of sites."""
        return self.model.n_sites

    @property
    def n_colors(self) -> int:
        """The number C of colors, one for each letter."""
        return self.model.n_colors

    @property
    def couplings(self) -> Array:
        """The couplings J (L, L, C, C), with J[i, j] = J[j, i].T."""
        return np.asarray(self.model.couplings)

    @property
    def fields(self) -> Array:
        """The fields h (L, C)."""
        return np.asarray(self.model.fields)

    @property
    def effective_number(self) -> float | None:
        """The sum of the weights, Meff; None where they are not known."""
        return None if self.weights is None else float(self.weights.sum())

    def with_target(self, text: str) -> "SequenceModel":
        """Return the same model with a sequence of L letters as the one whose mutations are meant."""
        return replace(self, target=self.encode(text))

    def encode(self, text: str | list[str]) -> NDArray[np.int64]:
        """Return the colors (L,) of a sequence as text, or (n, L) of a list; ValueError as `Alignment.encode`."""
        return Alignment(np.zeros((1, self.n_sites), int), self.alphabet).encode(text)


def family_model(
    fit: Fitted | DensePottsModel,
    alignment: Alignment,
    *,
    weights: Any = None,
    identity: float | None = None,
    reference: str | Reference | None = None,
    l2: float | None = None,
    field_l2: float | None = None,
    pair_frequencies: bool = True,
) -> SequenceModel:
    """Put a model that was fitted to an alignment together with letters, weights and frequencies.

    `fit` is a fit or a model at beta = 1, and is put into the zero-sum gauge. `weights` (M,) are those it was fitted
    with, 1 each where None, as `sequence_weights` of that `identity` gives them. The penalties are taken from the fit,
    whose l2 is one divided by the sum of weights, or are given as `l2` and `field_l2` for the summed log-likelihood.
    `reference` is the record of the alignment's file whose mutations are meant, by name or number or as
    `Alignment.reference` returns it; sites are numbered by its residues (where it has a gap, by minus the column), or
    else by their columns. `pair_frequencies` False leaves f_ij out.

    ValueError for a model of other sites or colors than the alignment, or at another beta than 1.

    >>> from simulate.potts import pseudo_likelihood
    >>> family = Alignment([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 0]], "AC")
    >>> found = family_model(pseudo_likelihood(family.sequences, 2, l2=0.01), family)
    >>> round(found.l2, 12), found.effective_number, found.frequencies.tolist()
    (0.06, 6.0, [[0.5, 0.5], [0.5, 0.5]])
    """
    model = fit if isinstance(fit, DensePottsModel) else checks.record("fit", fit.model, DensePottsModel)
    M, L = alignment.sequences.shape
    if (model.n_sites, model.n_colors) != (L, alignment.n_colors) or len(alignment.alphabet) < 2:
        raise ValueError(
            f"fit must be of the {L} sites and {len(alignment.alphabet)} letters of the alignment, got {model.n_sites} "
            f"sites and {model.n_colors} colors"
        )
    if model.beta != 1:
        raise ValueError(f"fit must be a model at beta = 1, got {model.beta:g}; put beta into couplings and fields")
    own = np.ones(M) if weights is None else _checked_weights(weights, M)
    numbers, target = alignment.columns, None
    if reference is not None:
        of = alignment.reference(reference) if isinstance(reference, str) else reference
        numbers = np.where(of.numbers == GAP_NUMBER, -alignment.columns, of.numbers)
        target = _target(of, alignment)
    meff = float(own.sum())
    l2, field_l2 = (
        value if value is not None else _summed(fit, name, meff) for name, value in (("l2", l2), ("field_l2", field_l2))
    )
    return SequenceModel(
        model=_mirrored(zero_sum(model)),
        alphabet=tuple(alignment.alphabet),
        gauge=ZERO_SUM,
        numbers=np.asarray(numbers, np.int64),
        target=target,
        frequencies=single_frequencies(alignment.sequences, own, model.n_colors),
        pair_frequencies=joint_frequencies(alignment.sequences, own, model.n_colors) if pair_frequencies else None,
        weights=own,
        identity=identity,
        l2=l2,
        field_l2=field_l2,
        residual=float(getattr(fit, "residual", 0.0)),
        iterations=getattr(fit, "iterations", None),
        converged=bool(getattr(fit, "converged", True)),
    )


def _target(of: Reference, alignment: Alignment) -> States:
    """Return the colors of the reference; letters that no color stands for were read as gaps."""
    known = set(alignment.alphabet)
    return alignment.encode("".join(letter if letter in known else "-" for letter in of.letters))


def _mirrored(model: DensePottsModel) -> DensePottsModel:
    """Return the model with J[j, i] the transpose of J[i, j] to the last bit, so that files need only one of them."""
    J = np.array(model.couplings)
    for i in range(len(J)):
        J[i + 1 :, i] = J[i, i + 1 :].transpose(0, 2, 1)
    J.flags.writeable = False
    return DensePottsModel(J, model.fields)


def _summed(fit: Any, name: str, meff: float) -> float | None:
    """Return a penalty of `pseudo_likelihood`, whose weights sum to one, for the sum over sequences."""
    value = getattr(fit, name, None)
    return None if value is None else float(value) * meff


def _checked_weights(weights: Any, n_sequences: int) -> Array:
    own = checks.finite_array("weights", weights, 1)
    if len(own) != n_sequences or not own.min() > 0:
        raise ValueError(f"weights must be {n_sequences} numbers above 0, one for each sequence, got {len(own)}")
    return own


def single_frequencies(states: States, weights: Array, n_colors: int) -> Array:
    """Return the weighted shares f_i(a), (L, C), of states (M, L)."""
    counts = [np.bincount(column, weights, n_colors) for column in np.asarray(states).T]
    return np.asarray(np.array(counts) / weights.sum())


def joint_frequencies(states: States, weights: Array, n_colors: int) -> Array:
    """Return the weighted shares f_ij(a, b), (L, L, C, C), of states (M, L); zeros where i = j."""
    columns, C = np.ascontiguousarray(np.asarray(states).T, dtype=np.int64), n_colors
    L, total = len(columns), weights.sum()
    checks.fits_in_memory(f"pair frequencies of {L} sites and {C} colors", float(L * C) ** 2)
    found = np.zeros((L, L, C, C))
    for i in range(L):
        codes = columns[i] * C
        for j in range(i + 1, L):
            found[i, j] = np.bincount(codes + columns[j], weights, C * C).reshape(C, C) / total
            found[j, i] = found[i, j].T
    return found


def gauge_of(model: DensePottsModel) -> str:
    """Tell the zero-sum gauge from any other by the sums of rows and columns."""
    size = GAUGE_TOLERANCE * max(abs(model.couplings).max(), abs(model.fields).max(), 1e-300) * model.n_colors
    sums = max(abs(model.couplings.sum(axis=3)).max(), abs(model.fields.sum(axis=1)).max())
    return ZERO_SUM if sums <= size else OTHER


def with_gauge(found: SequenceModel) -> SequenceModel:
    """Return a model as it was read, with its gauge as its sums tell it."""
    return replace(found, gauge=gauge_of(found.model))
