"""Errors, degrees of freedom and norms are never negative: correlations up to the last bit below 1, any ridge."""

import dataclasses
import math
import re
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest

from simulate.masked import fit, fit_path
from theory import ConvergenceError, masked
from theory.core.results import Result
from theory.masked.holes.oracle import OracleError
from theory.masked.holes.solution import MissingEntriesSolution
from theory.masked.signs import require_non_negative
from theory.models import (
    AR1,
    Blocks,
    Empirical,
    Equicorrelated,
    Flow,
    GaussianFreeField,
    MaskedRidge,
    MaskedTraining,
    MissingEntries,
    OnePass,
    PointScales,
    RandomMasks,
    RandomMasksTraining,
    Scaled,
    SpanMask,
    SpanWindows,
    TeacherStudent,
    TridiagonalPrecision,
)
from theory.random_matrix import minor_moments

BITS = [2**-53, 5e-16]
ROWS = PointScales([0.2, 3.4], [0.75, 0.25])
RIDGES = [1e-10, 1.0, 1e200]


def exact_chain(d, r, digits=60):
    """The matrix r^|i-j| in mpmath."""
    with mp.workdps(digits):
        return mp.matrix([[mp.mpf(r) ** abs(i - j) for j in range(d)] for i in range(d)])


@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("gap", [2**-53, 1e-15, 1e-9, 1e-5])
def test_eigenvalues_of_a_chain_near_a_unit_root(gap, d):
    """The largest was 1/(the least of the precision), which is rounding there, and of the wrong sign in the end."""
    for r in (1 - gap, -(1 - gap)):
        with mp.workdps(60):
            exact = sorted(map(float, mp.eigsy(exact_chain(d, r), eigvals_only=True)))
        np.testing.assert_allclose(AR1(d, r).eigenvalues, exact, rtol=1e-8)
        np.testing.assert_allclose(AR1(d, r)._rough_eigenvalues(), exact, rtol=1e-8)
        assert AR1(d, r).eigenvalues[-1] == pytest.approx(exact[-1], rel=1e-10)


@pytest.mark.parametrize("gap", [2**-53, 2**-52, 1e-15])
def test_error_of_a_chain_near_a_unit_root(gap):
    """An error of -0.04 came out at the ridge 1; the right one has 60 digits here, with the same effective ridge."""
    covariance = AR1(5, 1 - gap)
    found = masked.solve(MaskedRidge(covariance, 0.4, 1.0))
    with mp.workdps(60):
        sigma, kappa = exact_chain(5, 1 - gap), mp.mpf(found.effective_ridge)
        R = (sigma + kappa * mp.eye(5)) ** -1
        traces = [sum(((sigma * R) ** k)[i, i] for i in range(5)) / 5 for k in (1, 2)]
        inner = R * sigma * R
        errors = [float(inner[i, i] / R[i, i] ** 2 / (1 - traces[1] / mp.mpf("0.4"))) for i in range(5)]
        assert float(kappa * (1 - traces[0] / mp.mpf("0.4"))) == pytest.approx(1.0, rel=1e-11)
    np.testing.assert_allclose(found.test_error, errors, rtol=1e-11)


def covariances(gap):
    for d in (2, 5, math.inf):
        yield AR1(d, 1 - gap)
        yield AR1(d, gap - 1)
        yield Equicorrelated(d, 1 - gap)
        yield Blocks(d if d == math.inf else 4 * d, 4, 1 - gap)
    yield Scaled(AR1(5, 1 - gap), np.geomspace(1e-3, 1e3, 5))
    yield Empirical(AR1(5, 1 - gap).matrix)
    yield TridiagonalPrecision(5, 1.0, 0.5 * (1 - gap))
    yield GaussianFreeField(5, math.sqrt(gap))


def answers(covariance, alpha, lam):
    yield lambda: masked.solve(MaskedRidge(covariance, alpha, lam))
    yield lambda: masked.solve(MaskedRidge(covariance, alpha, lam, row_scales=ROWS))
    yield lambda: masked.solve(RandomMasks(covariance, alpha, lam, 0.3))
    yield lambda: masked.solve(TeacherStudent(covariance, alpha, lam, noise=0.1))
    yield lambda: masked.replica(MaskedRidge(covariance, alpha, lam))
    if covariance.is_finite:
        yield lambda: masked.solve(MaskedRidge(covariance, alpha, lam), exact_size=True)
    if covariance.is_finite and covariance.size > 4:
        yield lambda: masked.solve(SpanMask(covariance, alpha, lam, [0, 1]))
        yield lambda: masked.solve(SpanWindows(covariance, alpha, lam, 2))
        yield lambda: masked.estimate(MaskedRidge(covariance, alpha, lam), np.random.default_rng(0))


NAMES = ("test_error", "train_error", "mean_test_error", "risk", "effective_ridge", "df1", "df2", "squared_norm", "q")


@pytest.mark.parametrize("gap", BITS)
def test_nothing_is_negative_or_no_number(gap):
    """Every answer is one of the right sign, or a refusal that names the problem: no bare error of numpy or scipy."""
    answered = refused = 0
    for covariance in covariances(gap):
        for alpha in (0.4, 2.5):
            for lam in RIDGES:
                for answer in answers(covariance, alpha, lam):
                    try:
                        found = answer()
                    except ConvergenceError:
                        refused += 1
                        continue
                    answered += 1
                    for name in NAMES:
                        assert np.all(np.asarray(getattr(found, name, 0.0)) >= 0), (covariance, alpha, lam, name)
    assert refused < 0.1 * answered


def test_the_replica_has_the_error_and_the_norm_of_solve_and_of_its_row():
    """At a moderate correlation the objective and the train error leave all digits of |w|^2."""
    for model in (MaskedRidge(AR1(math.inf, 0.7), 0.8, 0.05), MaskedRidge(AR1(12, 0.6), 1.5, 0.2, row_scales=ROWS)):
        found = masked.replica(model, coordinate=0)
        assert found.squared_norm == pytest.approx((found.objective - found.train_error) / model.lam, rel=1e-9)
        if not model.covariance.is_finite:
            assert found.test_error == pytest.approx(masked.solve(model).mean_test_error, rel=1e-11)


@pytest.mark.parametrize("lam", [1e-300, 1e-200, 1e-30, 1e30, 1e200, 1e300])
@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_estimates_at_any_ridge(alpha, lam):
    """Errors were 0 from lam = 1e16 on, and at 1e-200 for alpha > 1, with standard errors that were no numbers."""
    model = MaskedRidge(AR1(20, 0.5), alpha, lam)
    found, exact = masked.estimate(model, np.random.default_rng(0)), masked.solve(model)
    assert found.mean_test_error == pytest.approx(exact.mean_test_error, rel=0.03)
    for name in ("mean_test_error_stderr", "effective_ridge_stderr", "df1_stderr", "mean_train_error_stderr"):
        assert math.isfinite(getattr(found, name))


def test_traces_of_minors_that_rounding_made_negative_are_zero():
    at = minor_moments(Scaled(AR1(2, 1 - 2**-53), [1e-3, 1e3]).spectrum, 2, np.array([1e10, 1e10]))
    for trace in (at.df1, at.df2, at.left, at.spread):
        assert (trace >= 0).all()
    assert at.df2[0] == pytest.approx(1e-8, rel=1e-3)


def test_a_result_of_the_wrong_sign_is_refused():
    good = SimpleNamespace(iterations=3, error=np.array([0.0, 1.0, np.inf]))
    require_non_negative(good, "error")
    for wrong in (-1e-300, np.nan):
        bad = SimpleNamespace(iterations=None, error=np.array([1.0, wrong]))
        with pytest.raises(ConvergenceError, match="SimpleNamespace: error came out as"):
            require_non_negative(bad, "error")
    require_non_negative(bad, or_nan=("error",))


CHAIN = AR1(6, 0.5)
# A result of each kind, and all of its fields that are errors, ridges, degrees of freedom, norms or widths of errors.
SIGNED = {
    "solve": (lambda: masked.solve(MaskedRidge(CHAIN, 2.0, 0.1)),
              "effective_ridge df1 df2 test_error train_error gcv_error"),
    "teacher_student": (lambda: masked.solve(TeacherStudent(CHAIN, 2.0, 0.1, noise=0.1)),
                        "test_error risk train_error effective_ridge df1 df2"),
    "replica": (lambda: masked.replica(MaskedRidge(CHAIN, 2.0, 0.1)),
                "q V test_error train_error squared_norm effective_ridge"),
    "estimate": (lambda: masked.estimate(MaskedRidge(CHAIN, 2.0, 0.1), np.random.default_rng(0)),
                 "effective_ridge df1 df2 mean_test_error mean_train_error effective_ridge_stderr df1_stderr "
                 "df2_stderr mean_test_error_stderr mean_train_error_stderr test_error"),
    "optimal_ridge": (lambda: masked.optimal_ridge(CHAIN, 2.0), "lam effective_ridge mean_test_error"),
    "optimal_mask_rate": (lambda: masked.optimal_mask_rate(CHAIN, 2.0, 0.1), "mean_test_error error_at_task_rate"),
    "peak_height": (lambda: masked.peak_height(CHAIN, 1e-4), "effective_ridge test_error mean_test_error"),
    "learning_curve": (lambda: masked.learning_curve(CHAIN, [1.0, 2.0], [0.1]),
                       "effective_ridge df1 df2 mean_test_error mean_train_error mean_gcv_error"),
    "random_masks": (lambda: masked.solve(RandomMasks(CHAIN, 2.0, 0.1, 0.3)),
                     "effective_ridge diagonal_ridge test_error train_error"),
    "random_mask_curve": (lambda: masked.mask_curve(CHAIN, [1.0, 2.0], 0.1, [0.3]),
                          "mean_test_error mean_train_error"),
    "span": (lambda: masked.solve(SpanMask(CHAIN, 2.0, 0.1, [0, 1])), "effective_ridge error_matrix train_error"),
    "holes": (lambda: masked.solve(MissingEntries(CHAIN, 3.0, 0.1, 0.2)), "test_error"),
    "training": (lambda: masked.solve(MaskedTraining(CHAIN, 2.0, Flow(1.5))),
                 "test_error train_error gcv_error filter_error"),
    "one_pass": (lambda: masked.solve(MaskedTraining(CHAIN, 2.0, OnePass(0.2))), "test_error mean_test_errors"),
    "training_curve": (lambda: masked.training_curve(CHAIN, 2.0, [0.5, 1.0]),
                       "test_error train_error gcv_error mean_test_error mean_train_error mean_gcv_error"),
    "trained_learning_curve": (lambda: masked.trained_learning_curve(CHAIN, [0.5, 1.0], Flow(1.5)),
                               "test_error train_error gcv_error mean_test_error mean_train_error mean_gcv_error"),
    "trained_masks": (lambda: masked.solve(RandomMasksTraining(CHAIN, 2.0, Flow(1.5), mask_rate=0.2)),
                      "test_error train_error filter_error"),
    "best_time": (lambda: masked.best_time(CHAIN, 2.0), "mean_test_error"),
    "windows": (lambda: masked.solve(SpanWindows(CHAIN, 2.0, 0.1, 2)), "test_error"),
}  # fmt: skip


def with_last(values, number):
    """The values, of which the last one is replaced."""
    changed = np.array(values, float)
    changed[(-1,) * changed.ndim] = number
    return changed if changed.ndim else float(changed)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in SIGNED for name in SIGNED[kind][1].split()])
def test_every_result_refuses_a_number_of_the_wrong_sign(kind, name):
    """One entry of one field is enough; zero and infinity are allowed, as for errors without any rows or ridge."""
    found = SIGNED[kind][0]()
    named = "test_error" if name == "error_matrix" else name
    values = getattr(found, name)
    may_be_unknown = "train" in kind and "gcv" in name  # late in training of few rows
    for wrong in (-1e-300,) if may_be_unknown else (-1e-300, np.nan):
        with pytest.raises(ConvergenceError, match=f"{type(found).__name__}: {named} came out as"):
            dataclasses.replace(found, **{name: with_last(values, wrong)})
    for allowed in (0.0, np.inf):
        again = dataclasses.replace(found, **{name: with_last(values, allowed)})
        assert np.ravel(getattr(again, name))[-1] == allowed


def test_no_kind_of_result_is_left_out():
    """Of all records of the room, the fields whose name says that they have a sign are those listed above."""
    seen = {type(make()): set(names.split()) for make, names in SIGNED.values()}
    room = {one for one in every_subclass(Result) if one.__module__.startswith("theory.masked")}
    # Of tables with holes a ridge may be negative; errors of a known covariance are NaN at columns without holes.
    free = {"effective_ridge", "stderr", "mean_stderr"}
    assert room == {*seen, OracleError}
    for record in seen:
        signed = re.compile(r"error|ridge|df[12]|stderr|risk|squared_norm|^q$|^V$")
        assert {field.name for field in dataclasses.fields(record) if signed.search(field.name)} - (
            free if record is MissingEntriesSolution else set()
        ) <= seen[record]


def every_subclass(record):
    for one in record.__subclasses__():
        yield one
        yield from every_subclass(one)


@pytest.mark.parametrize("d", [1, 2, 5, 300])
@pytest.mark.parametrize("lam", [0.0, 1e-300, 1e-9, 0.1, 1.0, 1e9, 1e100])
def test_a_path_of_one_row(d, lam):
    """The row z shrinks its coordinates alike: with k left out the fit leaves z_k lam/(lam + |z|^2 - z_k^2)."""
    for kind in range(3):
        z = np.random.default_rng(d).uniform(0.3, 1, d) * (np.arange(d) > 0 if kind == 1 else kind != 2)
        path, other = fit_path(z[None], [lam, 1.0]), z @ z - z**2
        left = z * np.divide(lam, lam + other, out=np.ones(d), where=lam + other > 0)
        np.testing.assert_allclose(path.train_error[0], left**2, rtol=1e-9, atol=1e-25)
        np.testing.assert_allclose(path.gcv_error[0], z**2, rtol=1e-9, atol=1e-25)  # without its row nothing is known
        np.testing.assert_allclose(path.loo_residuals(0)[0], z, rtol=1e-9, atol=1e-12)
        assert path.mean_loo_error[0] == pytest.approx(np.mean(z * z), rel=1e-9)
        assert path.effective_ridge[0] == pytest.approx(lam + z @ z, rel=1e-9)
        np.testing.assert_allclose(path.train_error[0], fit(z[None], lam).train_error, rtol=1e-9, atol=1e-25)
