"""Diagnostics of Markov chains: autocorrelation time, effective sample size, split R-hat, agreement of the chains.

Every function takes the `series` of one observable, of shape (n_steps,) for one chain or (n_chains, n_steps) for chains
that should have the same law.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammaincc

from theory.core import Array, Count, Result, checked, checks

MAX_VALUE = 1e150  # squares of more overflow, and of less than its inverse vanish
WINDOW = 6.0  # lags are summed up to this many autocorrelation times
R_HAT_LIMIT = 1.01
DISAGREEMENT = 1e-6  # probability at which means of chains count as different
ALTERNATING = 5.0  # standard errors by which rho(1) must be below zero
CONSTANT = 1e-12  # relative spread below which a series is a constant with rounding errors


@checked
def autocorrelations(series: Array) -> Array:
    """Estimate the autocorrelations rho(t) for t = 0, ..., n_steps - 1, of shape (n_steps,), with rho(0) = 1.

    The autocovariances are averages over the chains of products of deviations from the mean of all chains. About that
    common mean a chain that is stuck somewhere else stays correlated with itself for ever. NaN for a constant series.
    """
    chains = _checked(series)
    n = chains.shape[1]
    if is_constant(chains):
        return np.full(n, np.nan)
    spectrum = rfft(chains - chains.mean(), next_fast_len(2 * n, real=True), axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    covariance = irfft(power, next_fast_len(2 * n, real=True))[:n] / np.arange(n, 0, -1)
    return np.asarray(covariance / covariance[0])


@checked
def autocorrelation_time(series: Array) -> float:
    """Estimate the integrated autocorrelation time tau = 1/2 + sum_{t >= 1} rho(t), in steps.

    The variance of the mean of n steps is 2 tau/n times the variance of one step; tau = 1/2 for independent steps. The
    sum ends at the smallest window w with w >= 6 tau(w), since farther terms add noise only (Madras and Sokal, J. Stat.
    Phys. 50, 109 (1988), Sec. 3.1 and App. C). The result is infinite where no window fits into half of the series,
    which is then too short to tell, and for a constant series, which comes from a frozen chain. It is never below 1/2:
    series whose steps are anticorrelated count as independent. Raises ValueError for a series that is not finite.

    >>> rng = np.random.default_rng(0)
    >>> abs(autocorrelation_time(rng.standard_normal((4, 5000))) - 0.5) < 0.1
    True
    """
    return _integrated(autocorrelations(series))


def _integrated(rho: Array) -> float:
    """Return the integrated time of these autocorrelations, see `autocorrelation_time`."""
    if np.isnan(rho[0]):
        return math.inf
    tau = 0.5 + np.concatenate([[0.0], np.cumsum(rho[1 : len(rho) // 2 + 1])])
    fits = np.flatnonzero(np.arange(len(tau)) >= np.maximum(1.0, WINDOW * tau))
    return max(0.5, float(tau[fits[0]])) if fits.size else math.inf


def memory_time(series: Array) -> float:
    """Estimate after how many steps a chain has forgotten its state, even if its series alternates.

    A mean over all steps of an alternating series, rho(t) = (-r)^t, is more precise than of independent ones, and its
    integrated time is 1/2. But every second step of it is correlated with rho(2 k) = r^(2 k). Multiplied by (-1)^t, the
    series has the correlations r^t, and their time is the longer one. It is returned where rho(1) is negative beyond
    doubt, and the integrated time otherwise.
    """
    chains = _checked(series)
    return _memory(chains, autocorrelations(chains))


def _memory(chains: Array, rho: Array) -> float:
    """Return the memory time of chains with these autocorrelations."""
    time = _integrated(rho)
    if math.isinf(time) or rho[1] > -ALTERNATING / math.sqrt(chains.size):
        return time
    signs = 1.0 - 2.0 * (np.arange(chains.shape[1]) % 2)
    return max(time, autocorrelation_time(signs * (chains - chains.mean())))


def thinned_variance(series: Array, every: int) -> float:
    """Estimate the variance of a mean over every `every`-th step, relative to as many independent steps.

    It is 1 + 2 sum_k rho(k every), and at least 1. Lags up to six memory times are summed, at most half the series. It
    is infinite where that time cannot be measured.
    """
    chains = _checked(series)
    rho = autocorrelations(chains)
    time = _memory(chains, rho)
    if math.isinf(time):
        return math.inf
    return max(1.0, 1.0 + 2.0 * float(rho[every : 1 + min(len(rho) // 2, math.ceil(WINDOW * time)) : every].sum()))


@checked
def effective_sample_size(series: Array) -> float:
    """Estimate how many independent draws would have as precise a mean as all steps of all chains together.

    It is their number divided by 2 tau, with tau from `autocorrelation_time`, and 0 where tau is infinite.

    >>> effective_sample_size(np.zeros((2, 100)))  # frozen chains
    0.0
    """
    return _checked(series).size / (2 * autocorrelation_time(series))


@checked
def split_r_hat(series: Array) -> float:
    """Compute split R-hat, which is near 1 if the halves of all chains have the same mean and larger if they differ.

    With n steps in each half, B = n var(means of the halves) and W = mean(variances in the halves), R-hat is
    sqrt(((n - 1)/n W + B/n)/W) (Gelman et al., Bayesian Data Analysis, 3rd ed., Sec. 11.4; `sample` demands a value
    below 1.01). Where the number of steps is odd, the first one is left out. R-hat is infinite where the halves are
    constants that differ, and NaN where the whole series is one constant. Raises ValueError for fewer than four steps.

    >>> round(split_r_hat([0.0, 2.0, 4.0, 6.0]), 4)  # halves with the means 1 and 5
    2.1213
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


def agreement(series: Array) -> float:
    """Compute the probability that the means of chains of one law differ by at least as much as these do.

    The sum over chains of (mean - overall mean)^2 n/(2 tau variance) is chi-square with n_chains - 1 degrees of
    freedom. An R-hat below its limit allows chains to differ for ever by a tenth of a standard deviation; this
    probability sees it in long runs. It is 1 where there is only one chain, or where tau is not measured.
    """
    chains = _checked(series)
    return _agreement(chains, memory_time(chains))


def _agreement(chains: Array, time: float) -> float:
    """Return the probability of `agreement`, for chains of this memory time."""
    if len(chains) == 1 or math.isinf(time):
        return 1.0
    squares = float(((chains.mean(axis=1) - chains.mean()) ** 2).sum())
    chi_square = squares * chains.shape[1] / (2 * time * float(chains.var()))
    return float(gammaincc((len(chains) - 1) / 2, chi_square / 2))


def is_constant(series: Array) -> bool:
    """Tell whether a series changes by nothing but rounding errors."""
    values = np.asarray(series)
    return bool(np.ptp(values) <= CONSTANT * np.abs(values).max())


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """The evidence of one observable over all chains: its mean, its standard error, and what both rest on.

    `autocorrelation_time` is in sweeps; for an observable that alternates it is the time of the alternating series,
    while `effective_sample_size` is that of the mean over all steps. `reason` says what is wrong and is empty where
    nothing is; `residual` is R-hat - 1.
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


@checked
def diagnose(series: Array, stride: Count = 1) -> Diagnosis:
    """Collect the evidence of one observable that was recorded every `stride` sweeps.

    Raises ValueError for a series that is not finite. See `Diagnosis` for what comes back.

    >>> diagnose(np.random.default_rng(0).standard_normal((8, 2000))).converged
    True
    """
    chains = _checked(series)
    rho = autocorrelations(chains)
    tau, memory = _integrated(rho), _memory(chains, rho)
    r_hat, size = split_r_hat(chains) if chains.shape[1] >= 4 else math.inf, chains.size / (2 * tau)
    stderr = math.sqrt(float(chains.var()) / size) if size > 0 else math.inf
    reason, mean = _reason(chains, memory, r_hat), float(chains.mean())
    evidence: Any = {"residual": r_hat - 1, "converged": not reason}
    return Diagnosis(mean, stderr, stride * memory, size, r_hat, reason, **evidence)


def verdict(diagnoses: Mapping[str, Diagnosis]) -> str:
    """Say why the chains of these observables have not mixed, '' where they have.

    An observable that is constant is harmless beside one that changes; where all are constant the chains are frozen.
    """
    if all(math.isnan(each.r_hat) for each in diagnoses.values()):
        return "frozen: no observable ever changed"
    return "; ".join(
        f"{name}: {each.reason}" for name, each in diagnoses.items() if each.reason and not math.isnan(each.r_hat)
    )


def _reason(chains: Array, memory: float, r_hat: float) -> str:
    if math.isnan(r_hat):
        return "constant: a frozen chain says nothing about convergence"
    if chains.shape[1] < 4:
        return f"{chains.shape[1]} records are too few for R-hat"
    if r_hat >= R_HAT_LIMIT:
        return f"R-hat {r_hat:.4g} is not below {R_HAT_LIMIT}: the chains, or their halves, disagree"
    if math.isinf(memory):
        return f"{chains.shape[1]} records are too few to measure the autocorrelation time"
    chance = _agreement(chains, memory)
    if chance < DISAGREEMENT:
        return f"the chains disagree in their means (by chance in {chance:.1g} of all cases)"
    return ""


def _checked(series: Any) -> Array:
    values = np.atleast_2d(checks.real_array("series", series))
    if values.ndim != 2 or values.size == 0:
        raise ValueError(f"series must have shape (n_steps,) or (n_chains, n_steps), got {np.shape(series)}")
    if not np.isfinite(values).all():
        raise ValueError(f"series must be finite, got {values[~np.isfinite(values)][0]}")
    largest = float(np.abs(values).max())
    if largest > MAX_VALUE:
        raise ValueError(f"series must be at most {MAX_VALUE:g} in size, got {largest:g}")
    if 0 < largest < 1 / MAX_VALUE:
        raise ValueError(f"series must be zero or at least {1 / MAX_VALUE:g} in size, got {largest:g}")
    return values
