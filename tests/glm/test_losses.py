"""Proximal operators against their definition, and a user's loss against the built-in one."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit

from tests.glm.settings import teacher_problem
from theory import glm
from theory.glm.losses import LOSSES, loss_of, residual_form
from theory.models import GaussianMixture

responses = st.floats(-8, 9).map(lambda x: 10.0**x)
LOGISTIC = {"function": lambda t: np.logaddexp(0, -t), "derivative": lambda t: -expit(-t)}


def hinge_prox(t, V):
    return np.where(t >= 1, t, np.minimum(t + V, 1))


CUSTOM = {
    "logistic": {"derivative": glm.ConvexMargin(**LOGISTIC)},
    "hinge": {
        "derivative": glm.ConvexMargin(
            lambda t: np.maximum(1 - t, 0), derivative=lambda t: np.where(t < 1, -1.0, 0.0), kinks=(1.0,)
        ),
        "proximal": glm.ConvexMargin(lambda t: np.maximum(1 - t, 0), proximal=hinge_prox, kinks=(1.0,)),
    },
    "square": {"proximal": glm.ConvexMargin(lambda t: (1 - t) ** 2 / 2, proximal=lambda t, V: (t + V) / (1 + V))},
}
CUSTOM["logistic"]["proximal"] = glm.ConvexMargin(LOGISTIC["function"], proximal=LOSSES["logistic"].prox)


@given(responses, st.floats(-3, 3), st.sampled_from(["zero", "V", "half"]))
def test_logistic_prox_solves_its_equation(V, shift, place):
    """To rounding of the larger of t and the root, at any V; 40 digits decide."""
    t = {"zero": shift, "V": shift - V, "half": shift - V / 2}[place]
    x = float(LOSSES["logistic"].prox(np.array([t]), V)[0])
    with mpmath.workdps(40):
        sigma = 1 / (1 + mpmath.exp(mpmath.mpf(x)))
        step = (x - mpmath.mpf(t) - V * sigma) / (1 + V * sigma * (1 - sigma))
        rounding = (abs(t) + V * sigma) / (1 + V * sigma * (1 - sigma))
    assert abs(step) <= 1e-15 * (1 + abs(x) + rounding)


@pytest.mark.parametrize("loss", ["square", "hinge", "logistic"])
@given(V=st.floats(0.01, 100), t=st.floats(-20, 20))
def test_prox_minimizes(loss, V, t):
    found = LOSSES[loss]
    x = float(found.prox(np.array([t]), V)[0])
    best = minimize_scalar(
        lambda x: (x - t) ** 2 / (2 * V) + float(found.value(np.array(x))),
        bounds=(t - 1, t + V + 30),
        method="bounded",
        options={"xatol": 1e-11},
    )
    assert (x - t) ** 2 / (2 * V) + float(found.value(np.array(x))) <= best.fun + 1e-9


@pytest.mark.parametrize("loss", sorted(LOSSES))
@given(V=st.floats(0.01, 100), t=st.floats(-20, 20))
def test_force_is_the_displacement_and_slope_its_derivative(loss, V, t):
    found, h = LOSSES[loss], 1e-6
    points = np.array([t - h, t, t + h])
    prox = found.prox(points, V)
    force = found.force(points, prox, V)
    np.testing.assert_allclose(force, (prox - points) / V, atol=1e-9 / min(V, 1))
    kinks = [place for place, width in found.breakpoints(V) if width == 0]
    if min((abs(t - kink) for kink in kinks), default=1) > 1e-5:
        slope = found.slope(points, prox, V)[1]
        assert (force[2] - force[0]) / (2 * h) == pytest.approx(slope, abs=1e-6 / min(V, 1))


@pytest.mark.parametrize(("loss", "given_by"), [(loss, by) for loss in CUSTOM for by in CUSTOM[loss]])
def test_own_loss_equals_the_built_in_one(loss, given_by):
    model = {"alpha": 1.5, "lam": 0.05, "probability": 0.3, "variances": 0.5}
    ours = glm.solve(GaussianMixture.opposite(loss=CUSTOM[loss][given_by], **model))
    built_in = glm.solve(GaussianMixture.opposite(loss=loss, **model))
    for name in ("V", "q", "r", "bias", "train_loss", "test_error"):
        np.testing.assert_allclose(getattr(ours, name), getattr(built_in, name), rtol=1e-8)


def test_own_logistic_loss_at_a_small_ridge():
    """V = 10^4: the nodes of a user's loss follow the images of a grid of x."""
    ours = glm.solve(teacher_problem(3.0, 1e-4, glm.ConvexMargin(**LOGISTIC)))
    built_in = glm.solve(teacher_problem(3.0, 1e-4))
    assert ours.test_error == pytest.approx(built_in.test_error, rel=1e-9)
    assert ours.q == pytest.approx(built_in.q, rel=1e-8)


def test_residual_losses():
    """Huber's loss with a far corner is the square loss; with a near one, scaled, the absolute loss."""

    def huber(corner):
        return glm.ConvexMargin(
            lambda e: np.where(abs(e) < corner, e**2 / 2, corner * abs(e) - corner**2 / 2),
            derivative=lambda e: np.clip(e, -corner, corner),
        )

    options = {"noise": 0.1, "labels": "linear"}
    square = glm.solve(teacher_problem(2.0, 0.1, "square", **options))
    assert glm.solve(teacher_problem(2.0, 0.1, huber(50.0), **options)).test_error == pytest.approx(
        square.test_error, rel=1e-9
    )
    absolute = glm.ConvexMargin(
        abs, proximal=lambda e, V: np.sign(e) * np.maximum(abs(e) - V, 0), kinks=(0.0,), name="absolute"
    )
    corner = 1e-4
    scaled = glm.solve(teacher_problem(2.0, 0.1 * corner, huber(corner), **options))
    found = glm.solve(teacher_problem(2.0, 0.1, absolute, **options))
    assert scaled.test_error == pytest.approx(found.test_error, rel=1e-3)
    assert found.test_error != pytest.approx(square.test_error, rel=1e-3)


def test_a_loss_that_is_not_convex_is_refused():
    bump = glm.ConvexMargin(lambda t: np.cos(t), derivative=lambda t: -np.sin(t), name="bump")
    with pytest.raises(ValueError, match="'bump' must be convex"):
        glm.solve(teacher_problem(2.0, 0.1, bump))
    # At V = 1 it is right, since there it is compared with the function.
    falling = glm.ConvexMargin(lambda t: t**2, proximal=lambda t, V: t / 3 if V == 1 else -t, name="falling")
    with pytest.raises(ValueError, match="its proximal operator falls"):
        glm.solve(teacher_problem(2.0, 0.1, falling))
    concave = glm.ConvexMargin(lambda t: -(t**2) / 100, proximal=lambda t, V: t / (1 - V / 50), name="concave")
    with pytest.raises(ValueError, match="rises faster than its argument"):
        glm.solve(teacher_problem(2.0, 0.1, concave))


def test_bad_losses():
    with pytest.raises(ValueError, match="derivative or proximal must be given, exactly one"):
        glm.ConvexMargin(abs)
    with pytest.raises(ValueError, match="must be a function"):
        glm.ConvexMargin(abs, derivative=3)
    with pytest.raises(ValueError, match="one of 'square', 'logistic', 'hinge', 'hard_margin'"):
        loss_of("ramp")
    with pytest.raises(ValueError, match=r"methods of theory\.glm\.Loss"):
        loss_of(3)
    with pytest.raises(ValueError, match="needs labels"):
        residual_form(loss_of("hinge"))
    infinite = glm.ConvexMargin(abs, proximal=lambda t, V: np.full_like(t, np.nan))
    with pytest.raises(ValueError, match="not finite"):
        glm.solve(teacher_problem(2.0, 0.1, infinite))
