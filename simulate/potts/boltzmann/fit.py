"""Fits pair models by Boltzmann learning, until their samples have the pair covariances of the data."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from simulate.core.checkpoint import Checkpoint, digest_of, generator_state
from simulate.potts.boltzmann.ascent import Ascent, LearningChains
from simulate.potts.boltzmann.calibration import calibrated
from simulate.potts.boltzmann.course import Course
from simulate.potts.boltzmann.fresh_chains import Judgment, independent_states, judged
from simulate.potts.inference.descent import Penalty
from simulate.potts.inference.pair_fit import PairFit
from simulate.potts.inference.sequences import Sequences
from theory.core import (
    Array,
    AtLeast,
    Count,
    DataFrame,
    FitError,
    NonNegative,
    NonNegativeCount,
    OpenShare,
    Positive,
    PositiveShare,
    Share,
    SolverResult,
    checked,
    checks,
    table,
)
from theory.models import DensePottsModel
from theory.models.potts.batches import checked_samples

PRIOR_STRENGTH = 3.0  # l2 times the effective number: a prior standard deviation of couplings of 1/sqrt(6)
FIELD_SHARE = 0.01  # of the penalty of the fields in that of the couplings
MEMORY = 0.1  # share of the chains' present states in the shares of the model: an average over ten steps
FLOOR = 0.01  # below this share pairs of colors move more slowly, since chains tell little of them
LEAST_FREQUENCY = 0.1  # sequences that a color counts as that never occurs at a site, where the fields start
STEPS_BETWEEN_RECORDS = 10
FIRST_SWEEPS = 50  # of the chains before the first step; at the start, sites are independent or nearly so
MAX_CALIBRATIONS = 3  # of the fields of a model whose covariances are those of the data, while frequencies are not
CALIBRATED_SLOPE = 0.8  # of the slope that is asked for: frequencies that were off had made covariances larger
LAST_RATE_SHARE = 0.02  # of the rate, to which it falls in the second half of `min_iter`
FORMAT = "simulate.potts.boltzmann_learning, 1"
ADVICE = "raise l2 or max_iter, lower rate, or take fewer sites or merged colors"


@dataclass(frozen=True, eq=False, repr=False)
class BoltzmannFit(SolverResult, PairFit):
    """A pair model fitted by Boltzmann learning, with the evidence for it from chains that took no part in the fit.

    `model` is in the zero-sum gauge. `pearson` and `slope` compare the covariances f_ij(a, b) - f_i(a) f_j(b) of
    `n_checked` samples of the model with those of the data over all pairs of sites and colors: the correlation
    coefficient, and the slope of the regression of the model's on the data's; `site_error` is the largest difference
    of a frequency f_i(a). `mismatch` compares the joint distributions f_ij of two sites: their total variation, the
    mean over all pairs of sites, in units of `noise`, which is that of two independent samples of one law, one of them
    worth M_eff sequences and the other `n_checked`. `r_hat` is the largest split R-hat of those chains, half of which
    started from the data and half from independent sites, and `autocorrelation_time` (in sweeps) that of their slowest
    observable; `reservation` says what else the sampler holds against them. `history` (records, 3) holds the step,
    `pearson` and `slope` as the learning chains showed them. `residual` is 1 - `pearson`, `iterations` the number of
    steps; `seconds` is the time of the processors. `converged` says that `pearson`, `slope` and `mismatch` reached what
    was asked for and R-hat is below 1.01; else `reason` is why it is not so.
    """

    model: DensePottsModel
    pearson: float
    slope: float
    site_error: float
    mismatch: float
    noise: float
    r_hat: float
    autocorrelation_time: float
    n_checked: int
    history: Array = field(repr=False)
    l2: float
    field_l2: float
    seconds: float
    reason: str
    reservation: str = field(repr=False)

    def to_frame(self) -> DataFrame:
        """Return a table with one row for each record: step, Pearson's coefficient and slope of the learning chains."""
        steps, pearson, slope = self.history.T
        return table(step=steps.astype(int), pearson=pearson, slope=slope)


@checked
def boltzmann_learning(
    sequences: Any,
    n_colors: Annotated[int, AtLeast(2)],
    *,
    rng: np.random.Generator,
    weights: Any = None,
    l2: Penalty | None = None,
    field_l2: Penalty | None = None,
    pearson: OpenShare = 0.95,
    slope: Share = 0.8,
    mismatch: Positive = 1.0,
    start: DensePottsModel | None = None,
    rate: PositiveShare = 0.004,
    n_sweeps: Count = 10,
    n_chains: Annotated[int, AtLeast(16)] = 1024,
    n_checked: Annotated[int, AtLeast(256)] = 20_000,
    min_iter: NonNegativeCount = 0,
    max_iter: Count = 2000,
    n_threads: Count = 1,
    on_record: Callable[[int, float], object] | None = None,
    check: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    save_seconds: NonNegative = 30.0,
) -> BoltzmannFit:
    """Fit a Potts model to sequences by maximum likelihood, with persistent chains that measure the gradient.

    It climbs sum_m w_m log P(s_m) - l2 sum_{i<j} |J_ij|^2 - field_l2 |h|^2 over couplings J_ij(a, b) and fields h_i(a),
    where the M `sequences` (M, L), integers below `n_colors`, have the `weights` w (M,) divided by their sum, or 1/M
    each where None. The gradient by J_ij(a, b) is f_ij(a, b) - p_ij(a, b) - 2 l2 J_ij(a, b): the weighted share of the
    pair of colors in the data less its probability in the model, which `n_chains` heat-bath chains estimate that go on
    from step to step ("persistent contrastive divergence"). So the model reproduces frequencies of sites and pairs,
    which pseudo-likelihood with a penalty need not do. `l2` None is 3/M_eff with M_eff = 1/sum w^2, the prior of
    couplings with the standard deviation .41, and `field_l2` None a hundredth of it.

    Each step makes `n_sweeps` sweeps and moves every parameter by `rate` times its gradient over the variance that it
    would have if sites were independent (see `simulate.potts.boltzmann.ascent`). The chains average over the last ten
    steps. Learning starts from independent sites, unless a model `start` is given: the interactions then grow slowly
    and the chains stay in equilibrium, while the couplings of a pseudo-likelihood fit may have phases, such as that of
    all gaps, in which few of the data are.

    It ends when samples of fresh chains, `n_checked` in number, have pair covariances whose correlation coefficient
    with those of the data is at least `pearson` and whose regression on those has at least the slope `slope`, whose
    joint distributions of two sites are as near to those of the data as `mismatch` times the noise of two samples, and
    split R-hat is below 1.01. Half of these chains start from the data and half from independent sites. A check that
    fails halves the rate. Where only `mismatch` fails, because fields lag behind couplings that grow, the fields are
    first corrected by the fresh samples (see `simulate.potts.boltzmann.calibration`), and fresh chains judge again; of
    the slope, four fifths suffice then, since the frequencies of sites that vary together had been wrong, and with them
    the covariances too large. The slope is asked for since the coefficient does not see a common factor: where one pair
    stands out, it is near 1 long before the pair is as strong as in the data. At least `min_iter` steps are made, in
    the second half of which the rate falls to a fiftieth: so the maximum itself is found in small systems, while a
    family of proteins, which does not determine most of its couplings, is best left where its covariances agree. The
    result depends on the generator, not on `n_threads`. `on_record` is called with the step and the coefficient that
    the learning chains show, every ten steps.

    With a `checkpoint` (a file) the model, the chains and all else on which the next step depends are saved every
    `save_seconds` and before each check. Called again with the same arguments and a generator in the same state, after
    the program was killed, learning goes on from there, to the same bits; only `seconds` may differ. The file stays.

    ValueError for bad arguments and where no two sites vary together, as in equal sequences; MemoryError where the
    couplings do not fit, CheckpointError where the file is of another run or cannot be written. FitError, with the fit
    as `.fit`, where `max_iter` steps do not suffice (`check=False` returns it), and where steps diverge. Derived here:
    a step is Newton's for independent sites, where products of centered indicators have variances f_i(a) f_j(b) nearly.

    >>> rng = np.random.default_rng(0)
    >>> states = rng.integers(0, 2, (500, 3))
    >>> states[:300, 1] = states[:300, 0]
    >>> fit = boltzmann_learning(states, 2, rng=rng, rate=0.05, n_chains=256, n_checked=1000)
    >>> fit.converged, fit.pearson > 0.95, bool(fit.couplings[0, 1, 0, 0] > 0.1)
    (True, True, True)
    """
    began = time.process_time()
    if max_iter < min_iter:
        raise ValueError(f"max_iter must be at least min_iter = {min_iter}, got {max_iter}")
    data = Sequences.of(checked_samples("sequences", sequences, n_colors), n_colors, weights)
    if data.n_sites < 2:
        raise ValueError(f"sequences must have two sites at least, got {data.n_sites}")
    checks.fits_in_memory(
        f"couplings of {data.n_sites} sites and {data.n_colors} colors", 5 * (data.n_sites * float(data.n_colors)) ** 2
    )
    strength = PRIOR_STRENGTH * float(np.sum(data.weights**2)) if l2 is None else l2
    field_strength = FIELD_SHARE * strength if field_l2 is None else field_l2
    first = independent_sites(data) if start is None else _checked_start(start, data)
    settings: dict[str, Any] = {"l2": strength, "field_l2": field_strength, "rate": rate, "n_sweeps": n_sweeps}
    settings |= {"pearson": pearson, "slope": slope, "mismatch": mismatch, "n_checked": n_checked}
    settings |= {"n_chains": n_chains, "min_iter": min_iter, "max_iter": max_iter}
    file = None if checkpoint is None else _file(checkpoint, data, first, settings, rng)
    chains = LearningChains(
        first,
        n_chains,
        rng,
        metropolis=False,
        betas=None,
        start=independent_states(data, n_chains, rng),
        n_threads=n_threads,
    )
    chains.run(FIRST_SWEEPS)
    ascent = Ascent(data, first, chains, l2=strength, field_l2=field_strength, floor=FLOOR, n_threads=n_threads)
    course = Course(ascent, rng, min_iter, began)
    saved = None if file is None else file.load()
    if saved is not None:
        course.restore(saved)
    while True:
        if course.step == max_iter or course.is_due(pearson, slope):
            course.keep(file)
            model = ascent.model()
            judgment = judged(model, data, ascent.target, n_checked, rng, n_threads)
            failure = _failure(judgment, pearson, slope, mismatch)
            lags = bool(failure) and not _failure(judgment, pearson, slope, np.inf)
            for _ in range(MAX_CALIBRATIONS if lags else 0):  # one that goes too far is mended by the next
                if not failure:
                    break
                model = calibrated(model, judgment.chains.states, ascent.f)
                judgment = judged(model, data, ascent.target, n_checked, rng, n_threads)
                failure = _failure(judgment, pearson, CALIBRATED_SLOPE * slope, mismatch)
            if course.step == max_iter or not failure:
                break
            course.failed()
        ascent.step(n_sweeps, course.factor * rate * _share_of_rate(course.step, min_iter), MEMORY)
        course.step += 1
        if course.step % STEPS_BETWEEN_RECORDS and course.step not in (min_iter, max_iter):
            continue
        shown = course.record()
        if on_record is not None:
            on_record(course.step, shown.pearson)
        course.keep(file, save_seconds)
    fit = BoltzmannFit(
        model=model,
        pearson=judgment.found.pearson,
        slope=judgment.found.slope,
        site_error=judgment.found.site_error,
        mismatch=judgment.mismatch,
        noise=judgment.noise,
        r_hat=judgment.chains.r_hat,
        autocorrelation_time=judgment.chains.autocorrelation_time,
        n_checked=n_checked,
        history=np.array(course.history),
        l2=strength,
        field_l2=field_strength,
        seconds=course.seconds,
        reason=failure,
        reservation=judgment.chains.reason,
        residual=1 - judgment.found.pearson,
        iterations=course.step,
        converged=not failure,
    )
    if check and not fit.converged:
        raise FitError(f"boltzmann_learning did not converge in {course.step} steps: {fit.reason}; {ADVICE}", fit)
    return fit


def _file(
    path: str | os.PathLike[str],
    data: Sequences,
    first: DensePottsModel,
    settings: dict[str, Any],
    rng: np.random.Generator,
) -> Checkpoint:
    """Return the file of a run: it is that of these sequences, this start, these settings and this generator."""
    digests = {
        "sequences": digest_of([data.columns, data.weights]),
        "start": digest_of([first.couplings, first.fields]),
        "generator": digest_of([], generator_state(rng)),
    }
    header = {"format": FORMAT, "sites": data.n_sites, "colors": data.n_colors, **settings, **digests}
    return Checkpoint(path, header, of="boltzmann_learning", digests=tuple(digests))


def independent_sites(data: Sequences) -> DensePottsModel:
    """Return the model without couplings that has the frequencies of the data, colors that never occur as rare ones."""
    f = data.frequencies()
    fields = np.log(f + LEAST_FREQUENCY * float(np.sum(data.weights**2)) / data.n_colors)
    L, C = f.shape
    return DensePottsModel(np.zeros((L, L, C, C)), fields - fields.mean(axis=1, keepdims=True))


def _checked_start(start: DensePottsModel, data: Sequences) -> DensePottsModel:
    if start.fields.shape != (data.n_sites, data.n_colors):
        raise ValueError(
            f"start must have {data.n_sites} sites and {data.n_colors} colors, got {start.n_sites} and {start.n_colors}"
        )
    if start.beta == 1:
        return start
    return replace(start, couplings=start.beta * start.couplings, fields=start.beta * start.fields, beta=1.0)


def _share_of_rate(step: int, min_iter: int) -> float:
    """Return the share of the rate of this step: one, but falling in the second half of `min_iter`."""
    return max(LAST_RATE_SHARE, min(1.0, 2 * (1 - step / min_iter))) if step < min_iter else 1.0


def _failure(judgment: Judgment, pearson: float, slope: float, mismatch: float) -> str:
    """Say what the fresh chains hold against the model; an empty string for nothing."""
    found = judgment.found.pearson
    if not judgment.is_mixed:
        return (
            f"chains that start from the data and from independent sites do not come to agree (R-hat "
            f"{judgment.chains.r_hat:.3f}, Pearson's coefficient of pair covariances {found:.3f})"
        )
    if found < pearson:
        return f"Pearson's coefficient of pair covariances is {found:.3f}, below {pearson:g}"
    if judgment.found.slope < slope:
        return f"the slope of pair covariances on those of the data is {judgment.found.slope:.3f}, below {slope:g}"
    if judgment.mismatch > mismatch:
        return (
            f"joint distributions of two sites differ from those of the data by {judgment.found.distance:.3g} (total "
            f"variation), which is {judgment.mismatch:.2f} times the noise of two samples, above {mismatch:g}"
        )
    return ""
