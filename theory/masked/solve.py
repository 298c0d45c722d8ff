"""One call for every problem of this subject: the type of the record says which equations are solved."""

from typing import overload

from theory.core import Count, NonNegativeCount, checked
from theory.masked.holes import MissingEntriesSolution, solve_missing_entries
from theory.masked.masked_ridge import solve_masked_ridge
from theory.masked.masks.random_masks import RandomMasksSolution, solve_random_masks
from theory.masked.masks.span_mask import SpanMaskSolution, SpanWindowsSolution, solve_span_mask, solve_span_windows
from theory.masked.ridgeless import ridgeless
from theory.masked.solution import MaskedRidgeSolution
from theory.masked.teacher_student import TeacherStudentSolution, teacher_student
from theory.masked.training import MaskedTrainingSolution, OnePassSolution, solve_training
from theory.masked.training.patterns import PatternTrainingSolution, solve_masks_training, solve_span_training
from theory.models import (
    MaskedRegression,
    MaskedRidge,
    MaskedTraining,
    MissingEntries,
    RandomMasks,
    RandomMasksTraining,
    SpanMask,
    SpanMaskTraining,
    SpanWindows,
    TeacherStudent,
)
from theory.numerics.extremes import within_range


@overload
def solve(model: MaskedRidge, *, exact_size: bool = False) -> MaskedRidgeSolution: ...
@overload
def solve(model: MaskedRegression) -> MaskedRidgeSolution: ...
@overload
def solve(model: RandomMasks) -> RandomMasksSolution: ...
@overload
def solve(model: SpanMask, *, exact_size: bool = False) -> SpanMaskSolution: ...
@overload
def solve(model: SpanWindows, *, exact_size: bool = False) -> SpanWindowsSolution: ...
@overload
def solve(model: TeacherStudent) -> TeacherStudentSolution: ...
@overload
def solve(
    model: MissingEntries, *, exact_size: bool = False, patterns: int | None = None, seed: int = 0
) -> MissingEntriesSolution: ...
@overload
def solve(model: MaskedTraining, *, exact_size: bool = False) -> MaskedTrainingSolution | OnePassSolution: ...
@overload
def solve(model: RandomMasksTraining | SpanMaskTraining) -> PatternTrainingSolution: ...
@checked
@within_range
def solve(
    model: MaskedRidge
    | MaskedRegression
    | MaskedTraining
    | RandomMasks
    | RandomMasksTraining
    | SpanMask
    | SpanMaskTraining
    | SpanWindows
    | TeacherStudent
    | MissingEntries,
    *,
    exact_size: bool = False,
    patterns: Count | None = None,
    seed: NonNegativeCount = 0,
) -> (
    MaskedRidgeSolution
    | MaskedTrainingSolution
    | OnePassSolution
    | PatternTrainingSolution
    | RandomMasksSolution
    | SpanMaskSolution
    | SpanWindowsSolution
    | TeacherStudentSolution
    | MissingEntriesSolution
):
    """Compute test and train errors of a masked regression problem by deterministic equivalents for large n and d.

    For `MaskedRidge`, with kappa the effective ridge (the root of lam = kappa (1 - df1(kappa)/alpha)) and
    R = (Sigma + kappa)^-1: E_k = (R Sigma R)_kk / R_kk^2 / (1 - df2/alpha), and a train error of (lam/kappa)^2 E_k
    (derived here from equivalents of Q B Q for the joint predictor I - diag(Q)^-1 Q, after arXiv:2601.23208).
    `MaskedRegression` is its limit lam -> 0, see `ridgeless`, and `TeacherStudent` is described at `teacher_student`.

    For `SpanMask`, block inversion on the span B gives the predictor -(R_BB)^-1 R_B,outside and the error matrix
    (R_BB)^-1 [R Sigma R]_BB (R_BB)^-1 / (1 - df2/alpha); train errors are (lam/kappa)^2 of it. It is right for a span
    much shorter than d. `SpanWindows` takes the mean of these errors over every window, each masked by itself; their
    mean is the error of a window placed at random.

    For `RandomMasks` of infinitely many masks, mask_rate/(1 - mask_rate) diag C is added to the sample covariance C.
    With a finite number the rows of one sample are rotated to uncorrelated ones, which a deterministic equivalent with
    several classes of rows describes (an extension of arXiv:2601.23208); the error peaks near
    alpha n_masks mask_rate = 1. The covariance may be infinite.

    Rows of different scale tau (`MaskedRidge(..., row_scales=...)`) change the equation of kappa to
    E[tau/(g + tau y)] = 1, g = lam/kappa, y = df1/alpha, and E_k = (R Sigma R)_kk / R_kk^2 / (1 - c2 df2/alpha),
    c2 = E[tau^2/(g + tau y)^2]; the train error is E[tau/(1 + tau y/g)^2] E_k. Generalized cross-validation then tends
    to the train error over (1 - y)^2, which is too little, and leave-one-out still to E_k: `gcv_error` and
    `leave_one_out_error` of the result. The derivation looks at one row: in Q = (X'X/n + lam)^-1 a row of scale tau
    weighs tau/(1 + tau delta), delta = tr Sigma Q/n, because it takes part in its own inverse.

    Rows that depend on each other (`row_dependence`, their covariance T) have the X'X of independent rows whose scales
    are the eigenvalues of T, and with it all of the above: the test error is that of a new independent row. What looks
    at single rows is in the result: `leave_one_out_error`, which for rows in time or of equal subjects is as wrong as
    generalized cross-validation, `near_error`, `next_row_error`, `fold_error`, `mean_factor`, `corrected_error`; their
    derivation is in `MaskedRidgeSolution`.

    For `MissingEntries` both estimators are a regression on rows of covariance M beside a diagonal ridge L: own rows
    are n q_k rows of the covariance of zero-filled entries, with L = lam, and pairwise covariances are all n rows of
    M = Sigma + (p/q) diag Sigma with L = lam - (p/q) diag Sigma, which can be negative (derived here). With g = 1/K,
    K = 1 + tr M Q/n and Q = (g M + L)^-1 on the inputs, and v = (1, -g Q M_k) the residual, E_k = v'Bv + g^2 u v'Mv,
    where B is the covariance in the rows to be predicted, u = tr[M Q B Q]/(n (1 - m)), m = g^2 tr[M Q M Q]/n. Of the
    roots K the one that continues that of infinitely many rows is meant; there is none where lam is at or below the
    `least_ridge` of the result, and ValueError names it. At the holes of single rows (pairwise, `rows` other than
    "complete") E_k is averaged over `patterns` patterns, 200 by default, drawn with the generator of `seed`, or over
    all 2^d of them where `patterns` is as large; finite d only. `exact_size` takes the traces over the d - 1 inputs
    of each regression, as is always done with `Dropout` and at the holes of single rows. These equations end where a
    factor carries a finite part of every column, since the noise of its holes scales with the factor's square, row by
    row. Simulated with one factor that is a share .8 of every variance (p = .2, n = 2d), errors of own rows (lam = .05)
    are 1.4(1), 1.2(1) and 1.1(1) % above these at d = 30, 60 and 120, and pairwise ones (lam = .7) 3.2(1), 2.0(1) and
    1.5(1) %; with a share of .3 they are within 1 %, and fall as 1/d.

    `MaskedTraining` is regression that follows gradient flow, descent or momentum for a while (derived here). The
    coefficients after training are a weighted sum of those of ridges L_j, most of them complex, with weights w_j that
    sum to 1 (`theory.numerics.filters`), and so the error is E_k = sum_ij w_i w_j E_k(L_i, L_j), where each pair has
    E_k(L, L') = (kappa/r' - kappa'/r)/(L - L') with r = [(Sigma + kappa)^-1]_kk and the effective ridges kappa, kappa';
    the train error has the factor L L'/(kappa kappa') more. One pass over the rows (`OnePass`) solves a Volterra
    equation, E_k(a) = E_k^pop(step a) + step^2 int_0^a H(a - u) E_k(u) du, with the error E^pop of the flow on the
    population and H(x) = tr Sigma^2 e^(-2 step x Sigma)/d. Where rows differ in scale or depend on each other a pair of
    ridges has the error [R Sigma R']_kk/(r r' (1 - c m)), with m = tr Sigma^2 R R'/n and c = E[tau^2/((1 + tau
    delta)(1 + tau delta'))]/(g g'), and the train error has the factor E[tau/((1 + tau delta)(1 + tau delta'))]. For
    `SpanMaskTraining` the matrix (R_BB)^-1 takes the place of 1/r. For `RandomMasksTraining`, of equal variances v, all
    ridges are L/(1 - mask_rate)^2 + o v, o = mask_rate/(1 - mask_rate), and o v (h - h')/(L - L') with h = L/(kappa r)
    is added to the error of a pair, less its part o v that the coordinate itself has.

    `exact_size` (MaskedRidge, MaskedTraining and spans) takes kappa and df2 from Sigma without the masked rows and
    columns, the unknowns that a regression really has: better by a relative O(1/d), which matters for small d near
    alpha = 1. For MaskedRidge `effective_ridge`, `df1`, `df2` then have one entry for each coordinate, per dimension
    of the minor.

    ValueError for another record, or `exact_size` where it changes nothing; ConvergenceError where the equations are
    not met.

    >>> from theory.models import AR1, AR1Rows, Flow
    >>> point = solve(MaskedRidge(AR1(d=400, correlation=0.7), alpha=2.0, lam=0.01))
    >>> f"{point.mean_test_error:.6f} {point.effective_ridge:.6f} {point.converged}"
    '0.624813 0.019022 True'
    >>> series = AR1Rows(float("inf"), 0.9)
    >>> point = solve(MaskedRidge(AR1(float("inf"), 0.6), alpha=2.0, lam=0.3, row_dependence=series))
    >>> new, left_out, following = point.test_error, point.leave_one_out_error, point.next_row_error()
    >>> f"{new[0]:.4f} {left_out[0]:.4f} {following[0]:.4f}"
    '0.7398 0.1470 0.2548'
    >>> trained = solve(MaskedTraining(AR1(float("inf"), 0.7), alpha=1.0, training=Flow(5.0)))
    >>> f"{trained.mean_test_error:.6f} {trained.mean_train_error:.6f}"
    '0.602489 0.102393'
    >>> spans = solve(SpanMask(AR1(d=400, correlation=0.7), alpha=2.0, lam=0.01, span=(100, 101)))
    >>> f"{spans.mean_test_error:.4f}"
    '0.7997'
    >>> chain = AR1(d=float("inf"), correlation=0.6)
    >>> few, many = (solve(RandomMasks(chain, alpha=1.0, lam=0.01, mask_rate=0.15, n_masks=n)) for n in (7, None))
    >>> f"{few.mean_test_error:.4f} {many.mean_test_error:.4f}"
    '1.8238 0.8863'
    >>> holes = solve(MissingEntries(chain, alpha=2.0, lam=0.6, missing_rates=0.2, method="pairwise", rows="complete"))
    >>> f"{holes.mean_test_error:.4f} {holes.least_ridge:.4f} {holes.mean_oracle_error:.4f}"
    '0.6980 0.1870 0.4706'
    """
    if isinstance(model, MissingEntries):
        return solve_missing_entries(model, exact_size, patterns, seed)
    if patterns is not None:
        raise ValueError(
            f"patterns must be left out for {type(model).__name__}: only MissingEntries averages over them"
        )
    match model:
        case MaskedRidge():
            return solve_masked_ridge(model, exact_size)
        case MaskedTraining():
            return solve_training(model, exact_size)
        case SpanMask():
            return solve_span_mask(model, exact_size)
        case SpanWindows():
            return solve_span_windows(model, exact_size)
    if exact_size:
        raise ValueError(f"exact_size must be False for {type(model).__name__}: only single masks and spans have it")
    match model:
        case MaskedRegression():
            return ridgeless(model)
        case RandomMasks():
            return solve_random_masks(model)
        case RandomMasksTraining():
            return solve_masks_training(model)
        case SpanMaskTraining():
            return solve_span_training(model)
        case TeacherStudent():
            return teacher_student(model)
