"""Tables with holes, drawn and fitted plainly at two sizes: every error of the theory, at known power."""

from functools import cache

import numpy as np
import pytest

from simulate.core import Estimate, extrapolate, stream
from tests.masked.holes_draws import (
    Draw,
    complete_error,
    error_with_holes,
    pairwise_on_new_holes,
    ring,
)
from theory import masked
from theory.masked.holes import pairwise_rows
from theory.models import AR1, Dropout, MissingEntries, PointScales, Scaled

PATTERNS = 300  # of the theory: its own standard error is allowed for three times
TWO = PointScales([0.2, 3.4], [0.75, 0.25])
SETTINGS = {  # p, n/d, ridge of own rows, of pairwise covariances (least ridge .05, .2, .87, .11)
    "few holes": (0.05, 2.0, 0.05, 0.5),
    "p=.2": (0.2, 2.0, 0.05, 0.7),
    "half": (0.5, 2.0, 0.05, 1.9),
    "many rows": (0.5, 10.0, 0.01, 0.6),
}
SIZES = {30: 120, 60: 60}  # tables of each size, fixed before one was drawn
slow = pytest.mark.slow


def tables(d, p, alpha, name, law=None, covariance=None):
    covariance = ring(d, 0.7) if covariance is None else covariance(d)
    n = round(alpha * d)
    for r in range(SIZES[d]):
        rng = stream(0, "tables with holes", name, d, r)
        scales = (
            None if law is None else rng.permutation(np.repeat(law.nodes, np.round(n * law.probabilities).astype(int)))
        )
        yield covariance, Draw.of(covariance.matrix, n, 1 - p, rng, scales), rng


@cache
def measured(setting, d, method):
    """Means over the columns for each table, as a dict of arrays (tables,)."""
    p, alpha, own, pairwise = SETTINGS[setting]
    found = []
    for covariance, table, rng in tables(d, p, alpha, setting):
        Sigma, q = covariance.matrix, np.full(d, 1 - p)
        if method == "own_rows":
            A = table.own_rows(own)
            found.append(
                (
                    error_with_holes(A, Sigma, q).mean(),
                    complete_error(q * A, Sigma).mean(),
                    complete_error(A, Sigma).mean(),
                )
            )
        else:
            S = table.covariances()
            holes = pairwise_on_new_holes(S, Sigma, q, pairwise, 30, rng)
            found.append((holes, complete_error(table.pairwise(pairwise), Sigma).mean()))
    names = ("holes", "complete", "as fitted") if method == "own_rows" else ("holes", "complete")
    return dict(zip(names, np.array(found).T, strict=True))


def theory(setting, d, method, rows):
    p, alpha, own, pairwise = SETTINGS[setting]
    more = {"rows": "complete", "rescaled": False} if rows == "as fitted" else {"rows": rows}
    lam = own if method == "own_rows" else pairwise
    model = MissingEntries(ring(d, 0.7), alpha, lam, p, method, **more)
    return masked.solve(model, exact_size=True, patterns=PATTERNS)


def over_theory(setting, method, rows):
    """Simulation over theory at each size, extrapolated: the correction is of order 1/d."""
    predicted = {d: theory(setting, d, method, rows) for d in SIZES}
    ratios = [Estimate.of(measured(setting, d, method)[rows] / predicted[d].mean_test_error) for d in SIZES]
    bias = 3 * max(one.mean_stderr / one.mean_test_error for one in predicted.values())
    return extrapolate(*ratios), 2.3 * bias  # the extrapolation takes the larger size twice


ALL = ["p=.2", *(pytest.param(one, marks=slow) for one in ("few holes", "half", "many rows"))]


@pytest.mark.parametrize("rows", ["holes", "complete", "as fitted"])
@pytest.mark.parametrize("setting", ALL)
def test_own_rows(agrees, setting, rows):
    ratio, _ = over_theory(setting, "own_rows", rows)
    agrees(ratio, 1.0, resolves=0.09 if rows == "as fitted" else 0.07)


@pytest.mark.parametrize("rows", ["complete", "holes"])
@pytest.mark.parametrize("setting", ALL)
def test_pairwise_covariances(agrees, setting, rows):
    ratio, bias = over_theory(setting, "pairwise", rows)
    agrees(ratio, 1.0, resolves=0.1 if rows == "holes" else 0.08, bias=bias)


def test_wrong_formulas_would_be_seen(agrees):
    """5 % off; holes without their mask noise; own rows taken for all rows; weights that are not rescaled."""
    ratio, _ = over_theory("p=.2", "own_rows", "holes")
    with pytest.raises(AssertionError, match="off by"):
        agrees(ratio, 1.05, resolves=0.07)
    fitted, rescaled = (theory("p=.2", 60, "own_rows", rows).mean_test_error for rows in ("as fitted", "complete"))
    measured_rescaled = Estimate.of(measured("p=.2", 60, "own_rows")["complete"])
    assert abs(measured_rescaled.z(fitted)) > 20 > abs(measured_rescaled.z(rescaled))
    p, alpha, own, _ = SETTINGS["p=.2"]
    all_rows = masked.solve(MissingEntries(ring(60, 0.7), alpha / (1 - p), own, p), exact_size=True).mean_test_error
    assert Estimate.of(measured("p=.2", 60, "own_rows")["holes"]).z(all_rows) > 20


@cache
def at_holes(p, alpha, lam):
    """The error at the holes of the tables themselves over that with the row left out, for both sizes."""
    found = {}
    for d in SIZES:
        pairs = [
            (t.pairwise_at_holes(lam), t.pairwise_at_holes(lam, left_out=True))
            for _, t, _ in tables(d, p, alpha, "own")
        ]
        found[d] = np.array(pairs).T
    return found


@slow
@pytest.mark.parametrize(("p", "alpha", "lam"), [(0.2, 1.0, 0.9), (0.05, 1.0, 0.5)])
def test_the_holes_of_a_table_are_predicted_worse_than_those_of_new_rows(agrees, p, alpha, lam):
    """As they are, and with the row left out, which makes them new ones; their ratio has small bars."""
    found, ratios = at_holes(p, alpha, lam), {"table": [], "left out": [], "ratio": []}
    for d in SIZES:
        table, new = (
            masked.solve(
                MissingEntries(ring(d, 0.7), alpha, lam, p, "pairwise", rows), patterns=PATTERNS
            ).mean_test_error
            for rows in ("table", "holes")
        )
        own, left = found[d]
        ratios["table"].append(Estimate.of(own / table))
        ratios["left out"].append(Estimate.of(left / new))
        ratios["ratio"].append(Estimate.of(own / left * new / table))
        assert table > 1.07 * new
    weak = 0.3 if p < 0.1 else 0.2  # few holes
    agrees(extrapolate(*ratios["table"]), 1.0, resolves=weak, bias=0.02)
    agrees(extrapolate(*ratios["left out"]), 1.0, resolves=weak, bias=0.02)
    agrees(extrapolate(*ratios["ratio"]), 1.0, resolves=weak / 2 if p < 0.1 else 0.07, bias=0.003)


def test_a_row_is_as_strong_in_its_own_covariances_as_the_theory_says(agrees):
    """The leverage y'Py/n of complete patterns, y = x/q, P without the row: it is not the one that gives K."""
    d, p, lam = 60, 0.5, 2.5
    covariance, q = ring(d, 0.7), 0.5
    seen = np.arange(d) % 2 == 0
    model = MissingEntries(covariance, 2.0, lam, p, "pairwise", "table")
    measured_leverages = []
    for _, table, _ in tables(d, p, 2.0, "leverage"):
        S = table.covariances()[np.ix_(seen, seen)]
        P = np.linalg.inv(S + lam * np.eye(len(S)))
        measured_leverages.append(np.sum(P * covariance.matrix[np.ix_(seen, seen)]) / q**2 / (2.0 * d))
    kept = {}
    original = pairwise_rows._RowsWithHoles._own_part

    def own_part(self, at, Sigma, *rest):
        kept["leverage"] = at.trace(at.in_modes(Sigma / q**2)) / at.n, at.weight.leverage
        return original(self, at, Sigma, *rest)

    rows = pairwise_rows._RowsWithHoles(pairwise_rows.Estimator.of(model), np.full(d, q), True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairwise_rows._RowsWithHoles, "_own_part", own_part)
        rows.errors(seen)
    estimate = Estimate.of(measured_leverages)
    predicted, of_all_rows = kept["leverage"]
    agrees(estimate, predicted, resolves=0.05, bias=0.02 * predicted)
    assert abs(of_all_rows / predicted - 1) > 0.2


def test_alike_columns_shrink_the_prediction_by_the_leverage():
    """The other form of the table's own holes, for one rate: shrunk by r = 1/(1 + leverage), from the same traces."""
    covariance, lam, q, seen = ring(12, 0.7), 1.2, 0.7, np.arange(12) < 7
    for law in (PointScales([1.0]), TWO):
        model = MissingEntries(covariance, 2.0, lam, 1 - q, "pairwise", "table", row_scales=law)
        own, new = (
            pairwise_rows._RowsWithHoles(pairwise_rows.Estimator.of(model), np.full(12, q), table).errors(seen)[~seen]
            for table in (True, False)
        )
        Sigma = covariance.matrix
        S, M = Sigma[:7, :7], Sigma[:7, :7] + (1 - q) / q * np.eye(7)
        leverage = 0.0
        for _ in range(300):
            g = law.probabilities @ (law.nodes / (1 + law.nodes * leverage))
            Q = np.linalg.inv(g * M + (lam - (1 - q) / q) * np.eye(7))
            leverage = np.trace(M @ Q) / 24
        a = g * Q @ Sigma[:7, 7:]
        g2 = law.probabilities @ (law.nodes / (1 + law.nodes * leverage)) ** 2
        u = np.trace(M @ Q @ S @ Q) / 24 / (1 - g2 * np.trace(M @ Q @ M @ Q) / 24)
        explained = np.einsum("ij,ij->j", a, Sigma[:7, 7:])
        noise = u * g2 * (1 / q - 2 * explained + np.einsum("ij,ij->j", a, M @ a))
        at_k = 1 - explained  # (Sigma v)_k
        np.testing.assert_allclose(new, 1 - 2 * explained + np.einsum("ij,ij->j", a, S @ a) + noise, rtol=1e-11)
        r = 1 / (1 + law.nodes * np.trace(Q @ S) / q**2 / 24)
        by_scale = (1 - r[:, None]) ** 2 + r[:, None] ** 2 * new + 2 * (r * (1 - r))[:, None] * at_k
        np.testing.assert_allclose(own, (law.probabilities * law.nodes) @ by_scale, rtol=1e-11)


def alternating(d):
    return np.tile([0.1, 0.4], d // 2)


def unequal(d):
    return Scaled(AR1(d, 0.6), np.linspace(0.7, 1.4, d))


@pytest.mark.parametrize("law", [None, pytest.param(TWO, marks=slow)])
def test_unequal_columns_rates_and_rows(agrees, law):
    """Rates .1 and .4 in turn on columns of other variances; also with rows of two scales."""
    own, pairwise, ratios = 0.05, 3.0, {}
    for d in SIZES:
        p, more = alternating(d), {} if law is None else {"row_scales": law}
        found = {"holes": [], "complete": [], "pairwise": []}
        for covariance, table, _ in tables(d, p, 2.0, f"unequal {law}", law, unequal):
            A, Sigma = table.own_rows(own), covariance.matrix
            found["holes"].append(error_with_holes(A, Sigma, 1 - p).mean())
            found["complete"].append(complete_error((1 - p) * A, Sigma).mean())
            found["pairwise"].append(complete_error(table.pairwise(pairwise), Sigma).mean())
        for name, errors in found.items():
            method, rows = ("pairwise", "complete") if name == "pairwise" else ("own_rows", name)
            lam = pairwise if name == "pairwise" else own
            model = MissingEntries(unequal(d), 2.0, lam, p, method, rows, **more)
            ratios.setdefault(name, []).append(
                Estimate.of(np.array(errors) / masked.solve(model, exact_size=True).mean_test_error)
            )
    for estimates in ratios.values():
        agrees(extrapolate(*estimates), 1.0, resolves=0.07)


def dropout_errors(A, Sigma, k, lengths, shares):
    """The error of column k with coefficients A (d,) in rows that show so many columns, with these shares."""
    total = 0.0
    for length, share in zip(lengths, shares, strict=True):
        v = np.where(np.arange(len(A)) < length, -A, 0.0)
        v[k] = 1.0
        total += share * (v @ Sigma @ v)
    return total / sum(shares)


@slow
def test_dropout(agrees):
    """Half of the rows end, at one of six columns: errors in rows that have it, in its holes, and in complete rows."""
    lam, alpha, ratios = 0.1, 2.0, {}
    for d, replicates in {18: 200, 36: 100}.items():
        covariance, n = ring(d, 0.7), round(alpha * d)
        Sigma, seen = covariance.matrix, 1 - 0.5 * (np.arange(d) // (d // 6)) / 5
        kinds = Dropout(seen)
        found = {"holes": [], "table": [], "complete": []}
        for r in range(replicates):
            rng = stream(0, "dropout", d, r)
            x = rng.standard_normal((n, d)) @ np.linalg.cholesky(Sigma).T
            ends = rng.choice(kinds.lengths, n, p=kinds.shares)
            table = Draw(x, np.arange(d) < ends[:, None], seen)
            A, errors = table.own_rows(lam), {name: [] for name in found}
            for k in range(d):
                after, before = kinds.lengths > k, kinds.lengths <= k
                errors["holes"].append(dropout_errors(A[k], Sigma, k, kinds.lengths[after], kinds.shares[after]))
                if before.any():
                    errors["table"].append(dropout_errors(A[k], Sigma, k, kinds.lengths[before], kinds.shares[before]))
                scaled = A[k] * np.minimum(1.0, seen / seen[k])
                errors["complete"].append(dropout_errors(scaled, Sigma, k, [d], [1.0]))
            for name, values in errors.items():
                found[name].append(np.mean(values))
        for name, values in found.items():
            predicted = masked.solve(MissingEntries(covariance, alpha, lam, kinds, rows=name)).mean_test_error
            ratios.setdefault(name, []).append(Estimate.of(np.array(values) / predicted))
    for estimates in ratios.values():
        agrees(extrapolate(*estimates), 1.0, resolves=0.08)


@pytest.mark.parametrize("rates", [0.3, "unequal"])
def test_the_least_eigenvalue_of_a_table_nears_the_least_ridge(rates):
    """Its distance is of order d^(-2/3), and becomes smaller."""
    gaps = []
    for d in (50, 200):
        p = np.full(d, 0.3) if rates == 0.3 else alternating(d)
        covariance = Scaled(ring(d, 0.6), np.tile([0.8, 1.2], d // 2))
        model = MissingEntries(covariance, 2.0, 30.0, p if rates == "unequal" else 0.3, "pairwise", "complete")
        least = masked.solve(model).least_ridge
        drawn = [
            -np.linalg.eigvalsh(Draw.of(covariance.matrix, 2 * d, 1 - p, stream(0, "least", d, r)).covariances())[0]
            for r in range(16)
        ]
        gaps.append(np.mean(drawn) / least - 1)
    assert abs(gaps[1]) < 0.05
    assert abs(gaps[1]) < 0.6 * abs(gaps[0]) < 0.1
