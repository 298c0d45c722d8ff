"""Columns that are all alike, or independent, under one rate: the regressions are sums over modes, at any d."""

from dataclasses import dataclass, field

import numpy as np

from theory.core.arrays import Array
from theory.masked.holes.columns import solved
from theory.masked.holes.equation import Pencil, RowWeight
from theory.masked.masks.population import CommutingPopulation, population
from theory.models import Equicorrelated, MissingEntries, Spectrum


def commuting(model: MissingEntries) -> CommutingPopulation | None:
    """Return the modes of a problem with one rate whose variances commute with Sigma, None for another.

    ValueError in the limit d -> infinity of equal correlations, whose common factor these equations do not describe.
    """
    covariance = model.covariance
    if isinstance(covariance, Equicorrelated) and not covariance.is_finite and covariance.correlation > 0:
        raise ValueError(
            f"covariance must have no factor that carries a finite part of every column, got {covariance!r}: the noise "
            "of its holes does not average out; take a finite d"
        )
    if model.drops_out or np.ndim(model.missing_rates):
        return None
    of = population(covariance)
    return of if isinstance(of, CommutingPopulation) else None


@dataclass(frozen=True, eq=False)
class ModeEstimator:
    """The regression of `Estimator` where M, L and Sigma are functions of one spectrum, for d -> infinity or finite d.

    All arrays are (r,), at the modes: `variances` are those of the columns, one number where all are alike.
    """

    spectrum: Spectrum = field(repr=False)
    variances: Array = field(repr=False)
    signal: Array = field(repr=False)
    ridge: Array = field(repr=False)
    model: MissingEntries

    @classmethod
    def of(cls, model: MissingEntries, of: CommutingPopulation) -> "ModeEstimator":
        """Write a problem with one rate as a regression in the modes."""
        q, s, variances = 1 - float(model.missing_rates), of.spectrum.eigenvalues, of.delta
        if model.method == "pairwise":
            odds = (1 - q) / q * variances
            return cls(of.spectrum, variances, s + odds, model.lam - odds, model)
        T = q * q * s + q * (1 - q) * variances
        return cls(of.spectrum, variances, T, np.full_like(s, model.lam), model)

    def errors(self) -> tuple[Array, RowWeight]:
        """Compute the errors of all columns, (c,): one for each class of them, or (d,)."""
        model, of, s = self.model, self.spectrum, self.spectrum.eigenvalues
        own_rows = model.method == "own_rows"
        q = 1 - float(model.missing_rates) if own_rows else 1.0
        alpha, base = model.alpha * q, self.signal + self.ridge
        pencil = Pencil(self.signal / base, self.ridge / base, of.weights / alpha)
        weight = solved(pencil, model.row_scales)
        h = pencil.inverse(weight.weight) / base
        h = h / h.max()  # only its direction enters the forms; the traces have their own

        def form(values: Array) -> Array:
            return np.asarray(of.diagonal(h * h * values) / of.diagonal(h) ** 2)

        variance = of.diagonal(self.variances)
        own = (form(self.signal) - (1 - q) * q * variance) / q**2
        if own_rows and model.rows != "complete":
            return own * (1 + self._noise(pencil, weight, alpha, self.signal)), weight
        factor = q if own_rows and model.rescaled else 1.0
        noise = self._noise(pencil, weight, alpha, factor**2 * s)
        bias = form(s)
        if factor != q:  # y = (w + (q - 1) e_k)/q
            at_k = of.diagonal(h * s) / of.diagonal(h)
            bias = (bias - 2 * (1 - q) * at_k + (1 - q) ** 2 * variance) / q**2
        return bias + noise * own, weight

    def _noise(self, pencil: Pencil, weight: RowWeight, alpha: float, tested: Array) -> float:
        """Compute square u of `Regression.noise` for the form with the modes `tested`."""
        base = self.signal + self.ridge
        h = pencil.inverse(weight.weight)
        spread = float(self.spectrum.weights @ (pencil.signal * h * h * tested / base)) / alpha
        return weight.square * spread * weight.variance_factor
