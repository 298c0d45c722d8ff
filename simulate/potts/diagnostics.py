"""What a Markov chain says about itself: autocorrelation time, effective sample size, split R-hat.

A series is (n_steps,) for one chain or (n_chains, n_steps) for chains of the same law, of one observable.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from theory.models.arrays import Array

WINDOW = 6.0  # lags are summed up to this many autocorrelation times
R_HAT_LIMIT = 1.01
CONSTANT = 1e-12  # relative spread below which a series is a constant with rounding errors


def autocorrelations(series: Any) -> Array:
    """rho(t) for t = 0, ..., n_steps - 1, with the autocovariances pooled over the chains, about their common mean.

    About the common mean a chain that is stuck stays correlated with itself for ever. NaN for a constant series.
    """
    chains = _checked(series)
    n = chains.shape[1]
    if is_constant(chains):
        return np.full(n, np.nan)
    spectrum = rfft(chains - chains.mean(), next_fast_len(2 * n, real=True), axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    covariance = irfft(power, next_fast_len(2 * n, real=True))[:n] / np.arange(n, 0, -1)
    return np.asarray(covariance / covariance[0])


def autocorrelation_time(series: Any) -> float:
    """Integrated: tau = 1/2 + sum_{t=1}^w rho(t) in steps, w the smallest with w >= 6 tau(w); 1/2 if independent.

    inf where no window fits into half the series (too short to tell) and for a constant series (a frozen chain). Never
    below 1/2: anticorrelated series count as independent. The rule of the window: Madras, Sokal, J. Stat. Phys. 50.
    """
    rho = autocorrelations(series)
    if np.isnan(rho[0]):
        return math.inf
    tau = 0.5 + np.concatenate([[0.0], np.cumsum(rho[1 : len(rho) // 2 + 1])])
    fits = np.flatnonzero(np.arange(len(tau)) >= np.maximum(1.0, WINDOW * tau))
    return max(0.5, float(tau[fits[0]])) if fits.size else math.inf


def effective_sample_size(series: Any) -> float:
    """n/(2 tau) for all steps of all chains: so many independent draws have as precise a mean; 0 for tau = inf."""
    return _checked(series).size / (2 * autocorrelation_time(series))


def split_r_hat(series: Any) -> float:
    """R-hat of the halves of every chain: near 1 where all agree, demanded below 1.01.

    With n steps in each half, B = n var(means) and W = mean(variances) over the halves, it is
    sqrt(((n - 1)/n W + B/n)/W). The first step of an odd number is left out. inf where the halves are constants that
    differ, NaN where the whole is one constant. At least four steps, else ValueError.
    """
    chains = _checked(series)
    n = chains.shape[1] // 2
    if n < 2:
        raise ValueError(f"series must have at least 4 steps for a split R-hat, got {chains.shape[1]}")
    if is_constant(chains):
        return math.nan
    halves = chains[:, chains.shape[1] - 2 * n :].reshape(-1, n)
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(n * halves.mean(axis=1).var(ddof=1))
    if within <= (CONSTANT * float(np.abs(halves).max())) ** 2:
        return math.inf
    return math.sqrt(((n - 1) / n * within + between / n) / within)


def is_constant(series: Any) -> bool:
    """Whether nothing but rounding ever changes."""
    values = np.asarray(series)
    return bool(np.ptp(values) <= CONSTANT * np.abs(values).max())


@dataclass(frozen=True)
class Diagnosis:
    """An observable over all chains: its mean and standard error, and what both rest on.

    `autocorrelation_time` in sweeps; `reason` says what is wrong, empty where nothing is.
    """

    mean: float
    stderr: float
    autocorrelation_time: float
    effective_sample_size: float
    r_hat: float
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.mean:.6g} +- {self.stderr:.2g}, autocorrelation time {self.autocorrelation_time:.3g} sweeps, "
            f"effective sample size {self.effective_sample_size:.4g}, R-hat {self.r_hat:.4f}"
            + (f" ({self.reason})" if self.reason else "")
        )


def diagnose(series: Any, stride: int = 1) -> Diagnosis:
    """The evidence of one observable recorded every `stride` sweeps."""
    chains = _checked(series)
    tau, r_hat = autocorrelation_time(chains), split_r_hat(chains) if chains.shape[1] >= 4 else math.inf
    size = chains.size / (2 * tau)
    stderr = math.sqrt(float(chains.var()) / size) if size > 0 else math.inf
    return Diagnosis(float(chains.mean()), stderr, stride * tau, size, r_hat, _reason(chains, tau, r_hat))


def verdict(diagnoses: Mapping[str, Diagnosis]) -> str:
    """Why the chains of these observables are not mixed, empty where they are.

    A constant observable is harmless beside one that moves; where all are constant the chain is frozen.
    """
    if all(math.isnan(each.r_hat) for each in diagnoses.values()):
        return "frozen: no observable ever changed"
    return "; ".join(
        f"{name}: {each.reason}" for name, each in diagnoses.items() if each.reason and not math.isnan(each.r_hat)
    )


def _reason(chains: Array, tau: float, r_hat: float) -> str:
    if math.isnan(r_hat):
        return "constant: a frozen chain says nothing about convergence"
    if chains.shape[1] < 4:
        return f"{chains.shape[1]} records are too few for R-hat"
    if r_hat >= R_HAT_LIMIT:
        return f"R-hat {r_hat:.4g} is not below {R_HAT_LIMIT}: the chains, or their halves, disagree"
    if math.isinf(tau):
        return f"{chains.shape[1]} records are too few to measure the autocorrelation time"
    return ""


def _checked(series: Any) -> Array:
    values = np.atleast_2d(np.asarray(series, dtype=float))
    if values.ndim != 2 or values.size == 0:
        raise ValueError(f"series must have shape (n_steps,) or (n_chains, n_steps), got {np.shape(series)}")
    if not np.isfinite(values).all():
        raise ValueError(f"series must be finite, got {values[~np.isfinite(values)][0]}")
    return values
