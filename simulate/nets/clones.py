"""Clones of data: samples of the law that a masked model with interactions of at most k sites learns from them."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simulate.nets.marginals import MarginalMismatch, marginal_mismatches
from simulate.potts import Chains, pseudo_likelihood, sample, site_independent
from simulate.potts.inference.sequences import Sequences
from simulate.potts.inference.three_body import FIELD_SHARE, Kind, supported_kind, three_body
from theory.core import Count, FitError, NonNegativeCount, SolverResult, checked
from theory.models import Potts

MAX_ORDER = 3
RESERVATIONS = {
    "factored": "all triplets share one table of interactions, so that what is special to any of them is lost",
    "stack": "no joint law has its conditional distributions, and its interactions are those that its layers express",
}


@dataclass(frozen=True, eq=False, repr=False)
class Clone(SolverResult):
    """A sample `states` (n, L) that keeps the interactions of at most `order` sites of an original, and how well.

    `kind` says which energies were fitted: "sites", "pairs", "full" or "factored" (triplets), and `model` is the fitted
    law; a clone of a layered network has the kind "stack" and no `model`. `reservation` says what a kind leaves out
    that its order would suggest; it is empty where nothing is. `has_joint_law` says whether the conditional
    distributions that were sampled are those of one law; where they are not, the states are those of a chain that
    updates sites in random order, and another order of updates would give others.

    `marginals` are the mismatches of the marginals of one, two and three sites with the original. `fit_residual` is the
    evidence of the fit where there was one, `r_hat` and `autocorrelation_time` (in sweeps) that of the chains;
    `residual` is R-hat minus one, `iterations` the number of sweeps, and `converged` holds if both fit and chains are
    good; else `reason` is why.
    """

    order: int
    kind: str
    states: NDArray[np.integer[Any]] = field(repr=False)
    model: Potts | None = field(repr=False)
    has_joint_law: bool
    marginals: tuple[MarginalMismatch, ...] = field(repr=False)
    fit_residual: float
    r_hat: float
    autocorrelation_time: float
    effective_sample_size: float
    reason: str

    @property
    def reservation(self) -> str:
        """What is kept less well than the order suggests: triplets that share one table, laws that are none."""
        return RESERVATIONS.get(self.kind, "")

    def __str__(self) -> str:
        compared = ", ".join(f"{each.order}: {each.mean:.3g} (noise {each.noise:.3g})" for each in self.marginals)
        law = "" if self.has_joint_law else "; no joint law, sites updated in random order"
        return (
            f"clone of order {self.order} ({self.kind}), {len(self.states)} states of {self.states.shape[1]} sites, "
            f"R-hat {self.r_hat:.4f}{law}; mismatch of marginals of r sites: {compared}"
            + (f"; {self.reservation}" if self.kind == "factored" else "")
        )


@checked
def clone(
    states: Any,
    n_colors: int,
    order: int,
    *,
    seed: NonNegativeCount,
    triplets: Literal["full", "factored"] = "full",
    n_samples: Count | None = None,
    l2: float | None = None,
    field_l2: float | None = None,
    weights: Any = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    n_chains: int | None = None,
    max_sweeps: int = 300_000,
    tempering: bool = False,
    check: bool = True,
) -> Clone:
    """Make a clone of sequences: fits energies of at most `order` bodies, and samples them by the heat bath.

    A clone shows what a learner can know that sees only interactions of at most `order` sites (arXiv:2410.19637). The
    sequences are `states` (M, L), integers below `n_colors`, and count by `weights` (M,), equally where None. Order 1
    takes the frequencies of each site, order 2 is `pseudo_likelihood`, order 3 `three_body`, with penalties `l2` of
    couplings and `field_l2` of fields as there; None is 1/M_eff and a hundredth of it, with M_eff = 1/sum w^2. Then
    `n_samples` states, M where None, are drawn by `simulate.potts.sample` in `n_chains` chains, whose R-hat must be
    below 1.01; `tempering` uses parallel tempering. A masked fit need not reproduce the marginals of `order` sites
    exactly: the result says how far they are from those of the original, beside the noise of the two samples.

    At order 3 every triplet of sites has a table of its own, which takes ten sequences for each of its (C - 1)^3
    numbers. `triplets` "factored" takes fewer, because all triplets share one table W, each with a strength J_ijk: it
    keeps the law of a model of that form, and little of triplets that differ. The result then carries a
    `reservation`.

    ValueError for another order than 1, 2 or 3, and where the sequences do not suffice for order 3, with the numbers
    (see `three_body`); FitError and MixingError where a fit has not converged or chains have not mixed. `check=False`
    returns the clone nevertheless, with `converged` False and the cause in `reason`, unless the fit has diverged.

    >>> original = np.random.default_rng(0).integers(0, 2, (500, 4))
    >>> original[:, 1] = original[:, 0]  # only a pair knows of it
    >>> first = clone(original, n_colors=2, order=1, seed=0)
    >>> second = clone(original, n_colors=2, order=2, seed=0)
    >>> first.marginals[1].largest > 0.4, second.marginals[1].largest < 0.1, second.converged
    (True, True, True)
    """
    data = Sequences.of(states, n_colors, weights)
    require_order(order, data, triplets)
    effective = 1 / float(np.sum(data.weights**2))
    options: dict[str, Any] = {
        "l2": 1 / effective if l2 is None else l2,
        "field_l2": FIELD_SHARE / effective if field_l2 is None else field_l2,
        "weights": weights,
        "tol": tol,
        "max_iter": max_iter,
        "check": check,
    }
    model, kind, fitted, residual = _fitted(states, data.n_colors, order, triplets, options)
    betas: Any = "auto" if tempering else None
    count = n_samples or data.n_samples
    try:
        chains = sample(model, count, seed=seed, n_chains=n_chains, betas=betas, max_sweeps=max_sweeps, check=check)
    except ValueError as refused:
        if fitted:
            raise
        raise FitError(f"the fit has diverged, to energies that cannot be sampled: {refused}") from refused
    found = compared(data, chains, order=order, kind=kind, model=model, seed=seed)
    if fitted:
        return replace(found, fit_residual=residual)
    unfit = f"the fit has not converged (relative gradient norm {residual:.2g})"
    reason = "; ".join(filter(None, (unfit, found.reason)))
    return replace(found, fit_residual=residual, reason=reason, converged=False)


def require_order(order: int, data: Sequences, triplets: Kind = "full") -> None:
    """Raise ValueError for an order that there is not, or that the sequences do not suffice for."""
    if order not in range(1, MAX_ORDER + 1):
        raise ValueError(f"order must be 1, 2 or {MAX_ORDER}, the number of sites that interact, got {order}")
    if order > data.n_sites:
        raise ValueError(f"order must be at most the number of sites {data.n_sites}, got {order}")
    if order == MAX_ORDER:
        try:
            supported_kind(data.n_sites, data.n_colors, 1 / float(np.sum(data.weights**2)), triplets)
        except ValueError as unsupported:
            shared = "; triplets='factored' takes fewer, but lets all triplets share one table"
            fewer = shared if triplets == "full" else ""
            raise ValueError(f"order must be below {MAX_ORDER} here: {unsupported}{fewer}") from None


def _fitted(
    states: Any, n_colors: int, order: int, kind: Kind, options: dict[str, Any]
) -> tuple[Potts, str, bool, float]:
    """Return the fitted law, its kind, whether the fit converged, and the residual of the fit."""
    if order == 1:
        return (
            site_independent(states, n_colors, pseudocount=1 / n_colors, weights=options["weights"]),
            "sites",
            True,
            0.0,
        )
    if order == 2:
        pair = pseudo_likelihood(states, n_colors, **options)
        return pair.model, "pairs", pair.converged, pair.residual
    triplets = three_body(states, n_colors, kind=kind, **options)
    return triplets.model, triplets.kind, triplets.converged, triplets.residual


def compared(data: Sequences, chains: Chains, *, order: int, kind: str, model: Potts | None, seed: int) -> Clone:
    """Return the clone that these chains are, compared with its original; without a `model` it has no joint law."""
    size = min(chains.effective_sample_size, float(len(chains.states)))
    report = marginal_mismatches(
        data.columns.T,
        chains.states,
        data.n_colors,
        weights=data.weights,
        effective_size=size if size >= 1 else 1.0,  # that of chains that never moved is zero
        seed=seed,
    )
    return Clone(
        order=order,
        kind=kind,
        states=chains.states,
        model=model,
        has_joint_law=model is not None,
        marginals=report.mismatches,
        fit_residual=0.0,
        r_hat=chains.r_hat,
        autocorrelation_time=chains.autocorrelation_time,
        effective_sample_size=chains.effective_sample_size,
        reason=chains.reason,
        residual=chains.residual,
        iterations=chains.iterations,
        converged=chains.converged,
    )
