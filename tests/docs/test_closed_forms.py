"""The page of closed forms has every function with its formulas, and every function agrees with its solver."""

import importlib
import inspect
import math
import re

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

from tests.docs.test_parts import DOCS, extension
from tests.glm.settings import teacher_problem
from theory import glm, masked, perceptron, potts, random_matrix
from theory.glm import closed_forms as of_glm
from theory.masked import closed_forms as of_masked
from theory.models import Isotropic, MaskedRidge, SpikedData, TwoLevel
from theory.perceptron import closed_forms as of_perceptrons
from theory.potts import closed_forms as of_potts
from theory.random_matrix import closed_forms as of_spikes

INF = math.inf
page = extension("closed_forms")
MODULES = {subject: importlib.import_module(f"theory.{subject}.closed_forms") for subject in page.MODULES}


def number(expression, **values):
    """Return the value of an expression whose symbols have these names."""
    named = {symbol: values[symbol.name] for symbol in expression.free_symbols}
    return float(sp.N(expression.subs(named), 20))


def without_formulas(text):
    return re.sub(r"\$\$\n.*?\n\$\$", "$$", text, flags=re.DOTALL)


def test_the_page_is_what_the_functions_say():
    """Formulas are not compared, since sympy may write them in another order; `docs/_ext/closed_forms.py` writes it."""
    assert without_formulas(page.PAGE.read_text(encoding="utf-8")) == without_formulas(page.page())


def test_all_closed_forms_are_on_the_page():
    found = {path.parent.name for path in (DOCS.parent / "theory").glob("*/closed_forms.py")}
    assert found == set(page.MODULES)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 2.0])
def test_the_top_of_the_isotropic_peak(lam):
    ratio = number(of_masked.isotropic_peak_sample_ratio(), **{"lambda": lam})
    height = number(of_masked.isotropic_peak_height(), **{"lambda": lam})
    steps = (-0.03, -1e-4, 0, 1e-4, 0.03)
    at = {step: masked.solve(MaskedRidge(Isotropic(INF), ratio * (1 + step), lam)) for step in steps}
    assert height == pytest.approx(at[0].mean_test_error, rel=1e-11)
    assert at[0].effective_ridge == pytest.approx(
        number(of_masked.isotropic_peak_effective_ridge(), **{"lambda": lam}), rel=1e-11
    )
    assert all(at[step].mean_test_error < height for step in (-0.03, 0.03))
    assert abs(at[1e-4].mean_test_error - at[-1e-4].mean_test_error) < 1e-6 * height


@pytest.mark.parametrize("lam", [1e-3, 0.1, 2.0])
def test_the_top_of_the_peak_of_a_summed_loss(lam):
    """In units of a summed loss the height is the same, at 1 + lam; masked regression at lam/alpha is that problem."""
    values = {"lambda": lam, "Delta": 1.0}
    top = number(of_glm.isotropic_noise_peak_sample_ratio(), **values)
    height = number(of_glm.isotropic_noise_peak_height(), **values)
    at = {
        ratio: masked.solve(MaskedRidge(Isotropic(INF), ratio, lam / ratio)) for ratio in (0.97 * top, top, 1.03 * top)
    }
    assert height == pytest.approx(at[top].mean_test_error, rel=1e-11)
    assert at[top].effective_ridge == pytest.approx(
        number(of_glm.isotropic_noise_peak_effective_ridge(), **values), rel=1e-11
    )
    assert max(at[0.97 * top].mean_test_error, at[1.03 * top].mean_test_error) < height
    assert height == pytest.approx(number(of_masked.isotropic_peak_height(), **values), rel=1e-14)


def test_heights_of_the_peak_that_were_scanned():
    for lam, height in ((0.1, 2.1583123952), (0.001, 16.3192920196)):
        assert number(of_masked.isotropic_peak_height(), **{"lambda": lam}) == pytest.approx(height, abs=1e-10)


def test_the_series_at_the_peak_is_that_of_the_exact_error():
    s = sp.Symbol("s", positive=True)
    exact = of_masked.isotropic_test_error().subs(of_masked.alpha, 1).subs(of_masked.lam, s**2)
    series = sp.series(exact, s, 0, 5).removeO()
    assert sp.simplify(series - of_masked.isotropic_peak_test_error().subs(of_masked.lam, s**2)) == 0


def test_the_next_order_at_the_peak_of_a_chain():
    """AR(1) of d = 120 with .6 at ridge 1e-4: the solver gives 16.605070, one term 16.273827, two 16.602995."""
    from theory.models import AR1

    covariance = AR1(120, 0.6)
    precision = np.linalg.inv(covariance.matrix)
    values = {
        "lambda": 1e-4,
        "tau": np.trace(precision) / 120,
        "tau_2": np.trace(precision @ precision) / 120,
        "sigma^2": np.mean(1 / np.diagonal(precision)),
    }
    one, two = (
        number(form, **values) for form in (of_masked.peak_test_error(), of_masked.peak_test_error_to_next_order())
    )
    exact = masked.solve(MaskedRidge(covariance, 1.0, 1e-4)).mean_test_error
    assert (one, two, exact) == pytest.approx((16.273827, 16.602995, 16.605070), abs=1e-6)
    smaller = masked.solve(MaskedRidge(covariance, 1.0, 1e-6)).mean_test_error
    left = [exact - two, smaller - number(of_masked.peak_test_error_to_next_order(), **values | {"lambda": 1e-6})]
    assert left[0] / left[1] == pytest.approx(10, rel=0.05)  # what is left out is of order sqrt(lam)


@pytest.mark.parametrize("alpha", [0.4, 1.0, 3.0])
def test_isotropic_spikes(alpha):
    values = {"alpha": alpha, "theta": 3.0, "lambda": 0.3}
    isotropic = SpikedData(Isotropic(INF), None, strength=3.0, alpha=alpha, method="pca")
    point = random_matrix.outlier(isotropic)
    assert point.eigenvalue == pytest.approx(number(of_spikes.isotropic_eigenvalue(), **values), rel=1e-10)
    assert point.overlap == pytest.approx(number(of_spikes.isotropic_overlap(), **values), rel=1e-10)
    assert point.edge == pytest.approx(number(of_spikes.isotropic_edges()[1], **values), rel=1e-10)
    joint = random_matrix.outlier(SpikedData(Isotropic(INF), None, strength=3.0, alpha=alpha, method="ssr", lam=0.3))
    assert joint.eigenvalue == pytest.approx(number(of_spikes.isotropic_predictor_eigenvalue(), **values), rel=1e-9)
    for options in ({"method": "pca"}, {"method": "ssr", "lam": 0.3}):
        found = random_matrix.threshold(SpikedData(Isotropic(INF), None, alpha=alpha, **options))
        assert found.value == pytest.approx(number(of_spikes.isotropic_threshold(), **values), rel=1e-7)
    ridge = random_matrix.effective_ridge(Isotropic(INF), alpha, 0.3)
    assert ridge.value == pytest.approx(number(of_spikes.isotropic_effective_ridge(), **values), rel=1e-10)
    low, high = (number(edge, **values) for edge in of_spikes.isotropic_edges())
    assert (1 - math.sqrt(1 / alpha)) ** 2 == pytest.approx(low)
    assert low < high


@pytest.mark.parametrize(("alpha", "expected"), [(0.5, 4.825599146), (1.0, 3.885563383), (4.0, 2.514957785)])
def test_thresholds_of_principal_components(alpha, expected):
    forms = of_spikes.principal_component_threshold([0.3, 4.0], [0.8, 0.2])
    ratio, strength = (sp.lambdify(of_spikes.m, form) for form in forms)
    place = brentq(lambda m: ratio(m) - alpha, -0.25 + 1e-9, -1e-9, xtol=1e-15)
    solved = random_matrix.threshold(SpikedData(TwoLevel(INF), None, alpha=alpha, method="pca"))
    assert strength(place) == pytest.approx(expected, abs=1e-9)
    assert strength(place) == pytest.approx(solved.value, rel=1e-9)


@pytest.mark.parametrize("shares", [[], [0.5]])
def test_levels_without_shares(shares):
    with pytest.raises(ValueError, match="shares must be as many as variances, 2 and at least 1, got"):
        of_spikes.principal_component_threshold([1.0, 2.0], shares)


@pytest.mark.parametrize(("alpha", "lam"), [(0.5, 0.2), (1.0, 0.01), (3.0, 1.5)])
def test_ridge_regression(alpha, lam):
    problem = teacher_problem(alpha, lam, "square", 0.3, "linear", eigenvalues=[1.0])
    values = {"alpha": alpha, "lambda": lam, "rho": problem.clusters[0].teacher_variance, "Delta": 0.3}
    found = glm.ridge_regression(problem)
    assert found.effective_ridge == pytest.approx(number(of_glm.isotropic_effective_ridge(), **values), rel=1e-11)
    assert found.test_error == pytest.approx(number(of_glm.isotropic_ridge_test_error(), **values), rel=1e-11)
    best = number(of_glm.isotropic_best_ridge(), **values)
    at = [glm.ridge_regression(problem, best * factor).test_error for factor in (0.98, 1, 1.02)]
    assert at[1] < min(at[0], at[2])
    if alpha != 1:
        side = "above" if alpha > 1 else "below"
        limit = number(getattr(of_glm, f"isotropic_ridgeless_test_error_{side}")(), **values)
        assert glm.ridge_regression(problem, 0.0).test_error == pytest.approx(limit, rel=1e-11)


def test_the_peak_of_ridge_regression():
    """The constant is right: what is left over falls as the root of the ridge."""
    problem = teacher_problem(1.0, 1.0, "square", 0.3, "linear")
    om, weights = problem.modes.covariances[0], problem.modes.weights
    values = {"t_1": weights @ (1 / om), "t_2": weights @ om**-2.0, "sigma^2": 0.3}
    left = [
        glm.ridge_regression(problem, lam).test_error - number(of_glm.peak_test_error(), **values, **{"lambda": lam})
        for lam in (1e-6, 1e-8)
    ]
    assert left[0] / left[1] == pytest.approx(10, rel=0.05)


@pytest.mark.parametrize(("alpha", "expected"), [(0.1, 0.189429), (0.25, 0.267384), (0.5, 0.385690), (0.75, 0.533712)])
def test_the_phase_boundary_of_l1(alpha, expected):
    ratio, share = (sp.lambdify(of_glm.z, form, "scipy") for form in of_glm.lasso_phase_boundary())
    place = brentq(lambda z: ratio(z) - alpha, 1e-3, 10, xtol=1e-14)
    assert share(place) == pytest.approx(expected, abs=1e-6)


def test_random_labels_are_separable_up_to_two_samples_per_weight():
    assert pytest.approx(perceptron.gardner_capacity(), rel=1e-12) == float(of_glm.random_labels_separability())


@pytest.mark.parametrize("margin", [0.0, 0.5, 3.0])
def test_perceptrons(margin):
    assert perceptron.gardner_capacity(margin) == pytest.approx(
        number(of_perceptrons.gardner_capacity(), kappa=margin), rel=1e-12
    )
    assert perceptron.first_moment_bound([-1, 0, 1]) == pytest.approx(
        number(of_perceptrons.first_moment_bound(), L=3), rel=1e-12
    )


@pytest.mark.parametrize("q", [3, 7])
def test_potts_models(q):
    values = {"q": q, "beta": 1.3, "r": 3}
    for name in ("curie_weiss_critical_beta", "curie_weiss_jump", "curie_weiss_latent_heat"):
        assert getattr(potts, name)(q) == pytest.approx(number(getattr(of_potts, name)(), **values), rel=1e-12)
    for name in ("square_lattice_critical_beta", "square_lattice_critical_energy"):
        assert getattr(potts, name)(q) == pytest.approx(number(getattr(of_potts, name)(), **values), rel=1e-12)
    correlation = potts.ring_correlation(q, 1.3)
    assert correlation == pytest.approx(number(of_potts.ring_correlation(), **values), rel=1e-12)
    agreement = 1 / q + (1 - 1 / q) * correlation**3
    assert agreement == pytest.approx(number(of_potts.ring_agreement(), **values), rel=1e-12)


def test_every_function_is_compared_with_something():
    tested = inspect.getsource(inspect.getmodule(test_potts_models))
    tested += (DOCS.parent / "tests" / "masked" / "test_closed_forms.py").read_text(encoding="utf-8")
    families = ("ar1", "goe", "blocks")  # whose names are put together there
    for module in MODULES.values():
        for name in page.functions(module):
            family, _, kind = name.partition("_")
            assert (kind if family in families else name).removesuffix("_above").removesuffix("_below") in tested, name
