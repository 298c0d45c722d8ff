"""Students of narrow networks drawn from the weights that reproduce every sign of the training set."""

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from simulate.core.diagnostics import diagnose
from simulate.core.kernels import cached_njit
from theory.core import Array, AtLeast, Count, Several, SolverResult, checked, checks
from theory.models import NarrowNetwork

R_HAT_LIMIT = 1.2
BURN_IN_SHARE = 0.5  # of the sweeps
SIGN, RELU = 0, 1
KINDS = {"sign": SIGN, "relu": RELU}
ROUNDING = 1e-12  # of an output
WIDE, FARTHEST = 2.5, 8.0  # of the interval of a weight, in standard deviations of the prior
MAX_UNITS = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class VersionSpaceSample(SolverResult):
    """Holds the errors of students drawn from the weights that fit all signs, along Markov chains of one teacher.

    `gibbs_risk` is the mean share of wrong signs of one student on fresh inputs, without noise, `bayes_risk` that of
    the sign of the mean output over all chains and samples, and `teacher_overlap` the mean overlap of a unit with the
    teacher's of the same number. `series` holds the share of wrong signs of every chain at every recorded sweep. All
    chains start from the teacher, which itself is one of these students: `r_hat` shows whether they still drift apart
    (see `NarrowSample`). `residual` is R-hat - 1 and `iterations` the sweeps.
    """

    gibbs_risk: float
    bayes_risk: float
    teacher_overlap: float
    r_hat: float
    series: Array = field(repr=False)


@checked
def sample_version_space(
    model: NarrowNetwork,
    n_inputs: Count,
    n_units: Several,
    rng: np.random.Generator,
    *,
    n_chains: Several = 2,
    n_sweeps: Annotated[int, AtLeast(8)] = 200,
    n_test: Several = 2000,
) -> VersionSpaceSample:
    """Draw a narrow teacher with signs as labels, and sample students whose signs are all right, by Gibbs sampling.

    Weights have a standard normal prior. The activation must be monotone ("sign" or "relu"), so that the output of the
    network on one sample is a monotone function of any single weight. The values of one weight that keep all signs
    right are then an interval, and the weight is drawn from the normal law on it; a sweep draws every weight once. This
    is the posterior of labels without noise, with no temperature and no loss of its own. Chains start at the teacher,
    and the first half of their sweeps is not recorded. ReLU units leave the teacher slowly: see R-hat.

    ReLU units need a balanced readout and an even number, so that no mean is to be subtracted. Sign units need an equal
    one, which is no other for them, and an odd number, so that no output vanishes. ValueError for others, for linear
    labels, for noise, for other `hidden_units`, and for an activation that is not "sign" or "relu".

    >>> model = NarrowNetwork(alpha=4.0, activation="sign", labels="sign", readout="equal")
    >>> found = sample_version_space(model, 15, 3, np.random.default_rng(0), n_sweeps=40, n_test=200)
    >>> 0 < found.gibbs_risk < 0.4
    True
    """
    kind = _checked_kind(model, n_units)
    N, K, C = n_inputs, n_units, n_chains
    n = max(1, round(model.alpha * N * K))
    checks.fits_in_memory(f"a sample of {n} inputs of {N} numbers", (n + n_test) * (N + 2.0 * K))
    checks.fits_in_memory(f"a table of the errors of {C} chains in {n_sweeps} sweeps", float(C) * n_sweeps)
    readout = np.where((np.arange(K) % 2 == 0) | (kind == SIGN), 1.0, -1.0) / math.sqrt(K)
    teacher = rng.standard_normal((K, N))
    teacher *= math.sqrt(N) / np.linalg.norm(teacher, axis=1, keepdims=True)
    X, fresh = (rng.standard_normal((N, count)) / math.sqrt(N) for count in (n, n_test))
    labels = np.where(readout @ _values(kind, teacher @ X) > 0, 1.0, -1.0)
    truth = readout @ _values(kind, teacher @ fresh) > 0
    first = int(BURN_IN_SHARE * n_sweeps)
    series, total, overlap = np.empty((C, n_sweeps - first)), np.zeros(n_test), 0.0
    for c in range(C):
        weights = teacher.copy()
        for t in range(n_sweeps):
            fields = weights @ X  # afresh in every sweep, since sums of changes gather rounding errors
            _sweep(weights, fields, X, labels, readout, kind, rng)
            if t >= first:
                s = readout @ _values(kind, weights @ fresh)
                series[c, t - first] = np.mean((s > 0) != truth)
                total += s
                overlap += float((weights * teacher).mean()) / series.size
    r_hat = diagnose(series).residual + 1
    return VersionSpaceSample(
        gibbs_risk=float(series.mean()),
        bayes_risk=float(np.mean((total > 0) != truth)),
        teacher_overlap=overlap,
        r_hat=r_hat,
        series=series,
        residual=r_hat - 1,
        iterations=C * n_sweeps,
        converged=bool(r_hat < R_HAT_LIMIT),
    )


def _checked_kind(model: NarrowNetwork, K: int) -> int:
    """Return the number of the activation for compiled code; ValueError for what cannot be sampled here."""
    if model.labels != "sign" or model.noise:
        raise ValueError(f"model must have signs as labels and no noise, got {model.labels!r} and {model.noise:g}")
    if model.readout != ("equal" if model.activation == "sign" else "balanced"):
        raise ValueError(f"model must have a balanced readout for relu, an equal one for sign, got {model.readout!r}")
    odd = model.activation == "sign"
    if bool(K % 2) != odd:
        raise ValueError(f"n_units must be odd for sign, whose outputs may vanish else, and even for relu, got {K}")
    if model.hidden_units not in (None, K):
        raise ValueError(f"n_units must be the hidden_units of the model, {model.hidden_units}, got {K}")
    if not isinstance(model.activation, str) or model.activation not in KINDS:
        names = ", ".join(KINDS)
        raise ValueError(f"model must have a monotone activation, one of {names}, got {model.activation!r}")
    return KINDS[model.activation]


def _values(kind: int, fields: Array) -> Array:
    """Return the activation, compiled as in the sweeps, so that signs are decided by one rounding."""
    return _activations(fields.ravel(), kind).reshape(fields.shape)


@cached_njit()
def _activation(h: float, kind: int) -> float:
    if kind == SIGN:
        return 1.0 if h > 0 else -1.0
    return max(h, 0.0)


@cached_njit()
def _activations(fields: Array, kind: int) -> Array:
    found = np.empty(len(fields))
    for i in range(len(fields)):
        found[i] = _activation(fields[i], kind)
    return found


@cached_njit()
def _sweep(
    weights: Array, fields: Array, X: Array, labels: Array, readout: Array, kind: int, rng: np.random.Generator
) -> None:
    """Draw every weight (K, N) once, in place, with fields (K, n) of inputs X (N, n)."""
    K, N = weights.shape
    s = np.zeros(len(labels))
    for k in range(K):
        for r in range(len(labels)):
            s[r] += readout[k] * _activation(fields[k, r], kind)
    for k in range(K):
        own, v = fields[k], readout[k]
        for i in range(N):
            x = X[i]
            low, high = _interval(own, x, s, labels, v, kind)
            w = _truncated_normal(weights[k, i] + low, weights[k, i] + high, rng)
            change = w - weights[k, i]
            weights[k, i] = w
            for r in range(len(labels)):
                moved = own[r] + change * x[r]
                s[r] += v * (_activation(moved, kind) - _activation(own[r], kind))
                own[r] = moved


@cached_njit()
def _interval(own: Array, x: Array, s: Array, labels: Array, v: float, kind: int) -> tuple[float, float]:
    """Return the changes of one weight between which all signs stay right."""
    low, high = -math.inf, math.inf
    for r in range(len(labels)):
        f = _activation(own[r], kind)
        needed = f - s[r] / v  # the activation at which the output vanishes
        # It must stay above this if label and readout have one sign, else below; each is a bound on the field, if any.
        above = labels[r] * v > 0
        if kind == SIGN:
            if (above and needed < -1) or (not above and needed > 1):
                continue
            bound = 0.0
        else:
            # Where all other units are off the output vanishes with this one, which has the label -1: not more than
            # zero. Rounding must not decide it.
            if above and (needed < -ROUNDING or (needed < ROUNDING and labels[r] < 0)):
                continue
            bound = max(needed, 0.0)
        if x[r] == 0:
            continue
        change = (bound - own[r]) / x[r]
        if above == (x[r] > 0):
            low = max(low, change)
        else:
            high = min(high, change)
    return min(low, 0.0), max(high, 0.0)


@cached_njit()
def _truncated_normal(low: float, high: float, rng: np.random.Generator) -> float:
    """Draw a standard normal number between two bounds, by rejection."""
    if low < 0 < high and high - low > WIDE:
        while True:
            w = rng.standard_normal()
            if low < w < high:
                return w
    low, high = max(low, -FARTHEST), min(high, FARTHEST)
    # Of a tail only the part that has any weight.
    low, high = max(low, min(high, 0.0) - FARTHEST), min(high, max(low, 0.0) + FARTHEST)
    nearest = max(low, 0.0) if low > 0 else min(high, 0.0)
    while True:
        w = low + (high - low) * rng.random()
        if rng.random() < math.exp(0.5 * (nearest * nearest - w * w)):
            return w
