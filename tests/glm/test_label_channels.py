"""Saddle points with label channels: stored values, closed forms, other routes, and limits."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import root
from scipy.special import expit, log_ndtr

from theory import glm
from theory.glm import label_parts, label_tables, residuals
from theory.glm.averages import cluster_averages, loss_and_error
from theory.glm.field import Field
from theory.glm.labels import label_law
from theory.glm.losses import LOSSES
from theory.models import (
    Additive,
    Cluster,
    Flips,
    GeneralizedLinearModel,
    LabelChannel,
    Logit,
    Modes,
    Poisson,
    Probit,
)
from theory.models.glm.label_channels import poisson_law

HUBER = glm.ConvexMargin(
    lambda e: np.where(abs(e) < 0.5, e * e / 2, 0.5 * abs(e) - 0.125),
    derivative=lambda e: np.clip(e, -0.5, 0.5),
    kinks=(-0.5, 0.5),
    name="Huber",
)
LAPLACE = Additive(lambda e: np.exp(-2 * abs(e)))
SHARES, LEVELS, POWERS = (np.array(pair) for pair in ((0.8, 0.2), (0.3, 4.0), (1.5, 0.1)))


def problem(labels, alpha, lam, loss="logistic", variance=1.0, *, two_levels=False, bias=False, **options):
    """One centered cluster; with two levels the coordinates of the teacher have the variances POWERS."""
    modes = Modes([1.0], [[1.0]], [[[variance]]])
    if two_levels:
        variance = float(SHARES @ (LEVELS * POWERS))
        modes = Modes(SHARES, LEVELS[None], (SHARES * LEVELS**2 * POWERS)[None, None])
    cluster = Cluster(labels=labels, teacher_signal=0, teacher_variance=variance, **options)
    return GeneralizedLinearModel(modes=modes, clusters=[cluster], alpha=alpha, loss=loss, lam=lam, bias=bias)


# V, q, m, training loss, error and replicon of a logistic teacher, by two routes that agree to 1e-7 or better.
LOGISTIC = {
    (1.0, 2.0, 0.1, False): (3.2701208928, 2.9418969398, 0.8310032067, 0.3553384473, 0.4191464731, 0.74916),
    (0.5, 1.0, 0.01, False): (43.5683226505, 13.3464170562, 1.8434738351, 0.0578731796, 0.3747107113, 0.61729),
    (0.3, 3.0, 1.0, False): (0.6371369670, 0.5102416393, 0.5854747538, 0.4527370411, 0.2412248817, 0.95526),
    (1.0, 2.0, 0.1, True): (1.9681545282, 1.4058836504, 0.2743806287, 0.4486528893, 0.4579088648, 0.82493),
}


@pytest.mark.parametrize("setting", LOGISTIC)
def test_logistic_teachers(setting):
    temperature, alpha, lam, two_levels = setting
    point = glm.solve(problem(Logit(temperature), alpha, lam, two_levels=two_levels))
    found = (point.V[0], point.q[0], point.r[0], point.train_loss, point.test_error)
    assert found == pytest.approx(LOGISTIC[setting][:5], rel=2e-10, abs=6e-11)
    assert point.replicon == pytest.approx(LOGISTIC[setting][5], abs=6e-6)


def test_a_probit_by_tables_is_that_in_closed_form():
    by_name = glm.solve(problem("sign", 1.5, 0.1, noise=0.5))
    assert by_name.V[0] == pytest.approx(4.4999660753, rel=1e-10)
    assert by_name.test_error == pytest.approx(0.3189532605, rel=1e-10)
    for labels in (Probit(0.5), LabelChannel(Probit(0.5).probability)):
        point = glm.solve(problem(labels, 1.5, 0.1))
        assert pytest.approx(by_name.V, rel=1e-11) == point.V
        assert point.test_error == pytest.approx(by_name.test_error, rel=1e-11)


def test_flips_that_depend_on_the_sign():
    flips = Flips(positive=0.05, negative=0.25)
    wanted = (1.3794533760, 1.4642022613, 0.8896871202, 0.5394783498, 0.3913965626, 0.3039543459)
    for labels in (flips, LabelChannel(flips.probability)):  # in closed form, and by a table that finds the jump
        point = glm.solve(problem(labels, 3.0, 0.3, bias=True))
        found = (point.V[0], point.q[0], point.r[0], point.bias[0], point.train_loss, point.test_error)
        assert found == pytest.approx(wanted, rel=1e-9)
    # On the signs without flips the same fit is wrong less often: P(y h < 0) of a clean label.
    V, q, r, b = (float(value[0]) for value in (point.V, point.q, point.r, point.bias))
    clean = Cluster(labels="sign", teacher_signal=0)
    _, error = loss_and_error(clean, LOSSES["logistic"], Field(V, q, b, r))
    assert error == pytest.approx(0.2691180743, rel=1e-9)


def test_poisson_counts():
    """V and the test loss differ in the tenth digit from values that cut the counts at 180."""
    wanted = {
        (1.0, 0.5): (1.0083533825, 0.4487497546, 0.2427716762, 0.3490026631, 0.939815104, 0.72552),
        (3.0, 0.1): (0.4297461601, 0.8158592533, 0.4632156552, 0.4804106893, 0.908920662, 0.61684),
    }
    for (alpha, lam), values in wanted.items():
        point = glm.solve(problem(Poisson(), alpha, lam, "poisson", 0.5))
        found = (point.V[0], point.q[0], point.r[0], point.train_loss, point.test_loss)
        assert found == pytest.approx(values[:5], rel=2e-9)
        assert point.replicon == pytest.approx(values[5], abs=6e-6)
        q, m = point.q[0], point.r[0]
        assert point.test_loss == pytest.approx(math.exp(q / 2) - m * math.exp(0.25), rel=1e-12)
    own = math.exp(0.25) - 0.5 * math.exp(0.25)  # the risk of the teacher's own field
    assert own == pytest.approx(0.642012708, rel=1e-9)
    assert point.test_loss > own


def laplace_normal(e, s, b):
    """The density of Laplace noise of scale b plus a normal variable of standard deviation s."""
    a = s * s / (2 * b * b)
    return (np.exp(a - e / b + log_ndtr(e / s - s / b)) + np.exp(a + e / b + log_ndtr(-e / s - s / b))) / (2 * b)


def test_laplace_noise_and_huber_loss():
    """The density of the residual is known, so that all averages are integrals over it: V = 1.2024148547."""
    x, weights = np.polynomial.legendre.leggauss(60)

    def averages(V, q, m):
        s, k = math.sqrt(1 + q - 2 * m), 0.5 * (1 + V)
        inner, far = k / 2 * (1 + x), k + 15 * (1 + x)  # force e/(1 + V) up to k, 1/2 beyond
        inside = laplace_normal(inner, s, 0.5) * weights * k
        beyond = laplace_normal(far, s, 0.5) * weights * 30
        return inside.sum() / (1 + V), inside @ (inner / (1 + V)) ** 2 + beyond.sum() / 4

    def gap(at):
        rise, square = averages(*at)
        Vhat, qhat = 2.0 * rise, 2.0 * square
        G = 1 / (0.1 + Vhat)
        return np.array([G, (qhat + Vhat**2) * G**2, Vhat * G]) - at

    wanted = root(gap, np.array([1.2, 1.06, 0.88]), tol=1e-13).x
    point = glm.solve(problem(LAPLACE, 2.0, 0.1, HUBER))
    assert (point.V[0], point.q[0], point.r[0]) == pytest.approx(wanted, rel=1e-9)
    assert (point.V[0], point.q[0], point.r[0]) == pytest.approx((1.2024165, 1.0608753, 0.87975835), rel=2e-6)
    assert point.train_loss == pytest.approx(0.0994465204, rel=3e-7)
    excess = 1 + point.q[0] - 2 * point.r[0]
    assert excess == pytest.approx(0.3013585959, rel=3e-6)
    assert point.test_error == pytest.approx(excess + 0.5, rel=1e-12)


def test_gaussian_noise_by_its_density_is_a_linear_teacher():
    noise = Additive(lambda e: np.exp(-(e**2) / 0.6) / math.sqrt(0.6 * math.pi))
    assert (noise.mean, noise.variance) == pytest.approx((0.0, 0.3), abs=1e-13)
    for loss in ("square", HUBER):
        options = {"loss": loss, "bias": True, "teacher_mean": 0.4}
        found, wanted = (
            glm.solve(problem(*one, 1.5, 0.2, **options, **more))
            for one, more in (((noise,), {}), (("linear",), {"noise": 0.3}))
        )
        assert pytest.approx(wanted.V, rel=1e-9) == found.V
        assert found.bias == pytest.approx(wanted.bias, rel=1e-9)
        assert (found.train_loss, found.test_error, found.test_loss, found.replicon) == pytest.approx(
            (wanted.train_loss, wanted.test_error, wanted.test_loss, wanted.replicon), rel=1e-8
        )


def test_square_loss_knows_only_the_moments_of_a_label():
    """With square loss any channel is a linear teacher: E y nu/rho in place of nu, and the rest as noise."""
    rho, t = 0.5, 0.0
    first, second = math.exp(t + rho / 2), math.exp(t + rho / 2) + math.exp(2 * t + 2 * rho)
    slope = first  # d/dt E y
    point = glm.solve(problem(Poisson(), 2.0, 0.3, "square", rho, bias=True))
    wanted = glm.solve(
        problem(
            "linear",
            2.0,
            0.3,
            "square",
            rho,
            bias=True,
            noise=(second - first**2 - slope**2 * rho) / slope**2,
            teacher_mean=first / slope,
        )
    )
    assert pytest.approx(wanted.V, rel=1e-10) == point.V
    assert point.q == pytest.approx(slope**2 * wanted.q, rel=1e-9)
    assert point.bias == pytest.approx(slope * wanted.bias, rel=1e-9)
    assert point.test_error == pytest.approx(slope**2 * wanted.test_error, rel=1e-9)
    assert point.train_loss == pytest.approx(slope**2 * wanted.train_loss, rel=1e-9)
    assert point.test_loss == pytest.approx(point.test_error / 2, rel=1e-9)


ORDINAL = LabelChannel(
    lambda y, nu: expit((y + 0.5 - nu) / 0.4) * (y < 2) + (y == 2) - expit((y - 0.5 - nu) / 0.4) * (y > 0),
    values=(0, 1, 2),
)


@pytest.mark.parametrize(("labels", "loss", "variance"), [
    (Logit(0.3), "logistic", 1.0), (Logit(0.7), "hinge", 1.0), (Flips(0.1, 0.3), "square", 1.0),
    (Poisson(), "poisson", 0.2), (Poisson(), "square", 0.5), (ORDINAL, "poisson", 1.0), (ORDINAL, "square", 1.0),
    (LAPLACE, "square", 1.0),
])  # fmt: skip
def test_the_envelope_identity(labels, loss, variance):
    """d/dlam of the energy is |w|^2/(2 p), at whatever law of the labels."""
    options = {"loss": loss, "variance": variance, "bias": True, "teacher_mean": 0.2}
    step = 1e-4
    above, here, below = (glm.solve(problem(labels, 2.0, lam, **options)) for lam in (0.3 + step, 0.3, 0.3 - step))
    assert (above.energy - below.energy) / (2 * step) == pytest.approx(here.squared_norm[0] / 2, rel=1e-6)
    assert here.replicon > 0


def clusters_together(labels, loss, variance=1.0, **more):
    """Two clusters with teachers and covariances of their own, means, and loss weights."""
    gram = np.array([[1.0, 0.3, 0.1], [0.3, 0.8 * variance, 0.2 * variance], [0.1, 0.2 * variance, 0.5 * variance]])
    modes = Modes([0.6, 0.4], [[1.0, 0.5], [0.4, 2.0]], np.stack((0.6 * gram, 0.4 * gram), axis=2))
    first = {"covariance": 0, "teacher_signal": 1, "teacher_variance": 1.5 * variance, "teacher_mean": 0.3}
    second = {"covariance": 1, "teacher_signal": 2, "teacher_variance": 1.2 * variance, "mean_sign": -1.0}
    clusters = [
        Cluster(probability=share, labels=law, mean_signal=0, **own, **more)
        for share, law, own in zip((0.3, 0.7), labels, (first, second), strict=True)
    ]
    return GeneralizedLinearModel(modes=modes, clusters=clusters, alpha=2.0, loss=loss, lam=0.3, bias=True)


@pytest.mark.parametrize(
    ("labels", "loss", "variance"),
    [
        ((Logit(0.4), Flips(0.1, 0.2)), "logistic", 1.0),
        ((Poisson(), Poisson()), "poisson", 0.15),
        pytest.param((LAPLACE, "linear"), HUBER, 1.0, marks=pytest.mark.slow),
    ],
)
def test_several_clusters_with_channels_are_stationary(labels, loss, variance):
    model = clusters_together(labels, loss, variance)
    point = glm.solve(model)
    step = 1e-4
    energies = [glm.solve(replace(model, lam=0.3 + sign * step)).energy for sign in (1, -1)]
    assert (energies[0] - energies[1]) / (2 * step) == pytest.approx(point.squared_norm[0] / 2, rel=1e-6)
    assert point.replicon > 0
    assert len(point.cluster_losses) == 2


@pytest.mark.parametrize("labels", [Logit(1.0), Logit(0.01), Probit(0.0), Probit(1e-3), Flips(0.1, 0.2)])
@given(st.floats(-0.999, 0.999), st.floats(-1, 1), st.floats(0.1, 10))
@settings(max_examples=6)
def test_tables_smooth_a_channel_at_any_width(labels, correlation, t, variance):
    """Against the closed form of signs, and adaptive panels around the turn for the logistic function."""
    options = {"teacher_signal": 0, "teacher_mean": t, "teacher_variance": variance}
    law = label_law(Cluster(labels=LabelChannel(labels.probability), **options), 1.0, correlation * math.sqrt(variance))
    z = np.linspace(-6, 6, 25)
    chance, shift = law(1, z)
    if isinstance(labels, Logit):
        w, s = t + correlation * math.sqrt(variance) * z, math.sqrt(variance * (1 - correlation**2))
        spread = np.minimum(labels.temperature / s * np.array([0.5, 2.0, 8.0, 40.0]), 20)
        around = (-w / s)[:, None] + np.concatenate((spread, -spread, [0]))
        edges = np.append(np.tile(np.linspace(-9, 9, 7), (25, 1)), np.clip(around, -9, 9), axis=1)
        edges.sort(axis=1)
        x, weights = np.polynomial.legendre.leggauss(24)
        half = np.diff(edges, axis=1)[:, :, None] / 2
        xi = edges[:, :-1, None] + half * (1 + x)
        density = half * weights * np.exp(-(xi**2) / 2) / math.sqrt(2 * math.pi)
        P = labels.probability(1, w[:, None, None] + s * xi)
        wanted = ((density * P).sum((1, 2)), (density * xi * P).sum((1, 2)) / s)
    else:
        wanted = label_law(Cluster(labels=labels, **options), 1.0, correlation * math.sqrt(variance))(1, z)
    inside = abs(z) < 6  # beyond, the teacher's field may leave the table
    assert chance[inside] == pytest.approx(wanted[0][inside], abs=1e-11)
    assert shift[inside] == pytest.approx(wanted[1][inside], rel=1e-8, abs=1e-9 / law.variance**0.5)


@pytest.mark.parametrize(
    ("labels", "loss", "variance"),
    [(Logit(0.1), "hinge", 1.0), (Poisson(), "poisson", 0.5), (ORDINAL, "square", 1.0), (LAPLACE, HUBER, 1.0)],
)
def test_finer_panels_change_nothing(labels, loss, variance, monkeypatch):
    cluster = Cluster(labels=labels, teacher_signal=0, teacher_variance=variance, teacher_mean=0.2)
    field, own = Field(1.3, 0.9, 0.1, 0.55 * math.sqrt(variance)), LOSSES.get(loss, loss)
    few = cluster_averages(cluster, own, field)
    nodes, tables, density = label_parts.normal_nodes, label_tables.tabulated, residuals._density_nodes
    for module in (label_parts, residuals):
        monkeypatch.setattr(module, "normal_nodes", lambda bends, *, halvings=0: nodes(bends, halvings=halvings + 1))
    monkeypatch.setattr(label_tables, "tabulated", lambda *options: tables(*options[:3], options[3] + 1))
    monkeypatch.setattr(residuals, "_density_nodes", lambda channel, level: density(channel, level - 1))
    many = cluster_averages(cluster, own, field)
    for name in ("response", "square", "force", "teacher"):
        assert getattr(few, name) == pytest.approx(getattr(many, name), rel=1e-11, abs=1e-13)


def test_calibration_and_test_loss():
    """P(y = 1 | h) of one cluster is a mean over nu given h; the loss of fresh samples one over both fields."""
    point = glm.solve(problem(Logit(0.5), 2.0, 0.1))
    q, r = float(point.q[0]), float(point.r[0])
    h = np.array([-1.0, 0.0, 2.0])
    x, weights = np.polynomial.hermite_e.hermegauss(120)
    weights /= weights.sum()

    def chance(h):
        return expit((h[:, None] * r / q + math.sqrt(1 - r * r / q) * x) / 0.5) @ weights

    assert point.calibration(h) == pytest.approx(chance(h), rel=1e-9)
    assert point.calibration([0.0])[0] == pytest.approx(0.5, abs=1e-12)
    fields = math.sqrt(q) * x
    wanted = weights @ (chance(fields) * np.logaddexp(0, -fields) + chance(-fields) * np.logaddexp(0, fields))
    assert point.test_loss == pytest.approx(wanted, rel=1e-9)
    # An optimal ridge for the loss is one at which no rescaling of h helps: there h is calibrated on average.
    by_cluster = glm.solve(glm.gaussian_mixture(variances=0.5, alpha=2.0, lam=0.5))
    odds = 2 * np.array([0.3]) * by_cluster.r[0] / by_cluster.q[0]  # of two normal laws with means +-r
    assert by_cluster.calibration([0.3]) == pytest.approx(expit(odds), rel=1e-9)


def test_random_labels_at_high_temperature():
    """A teacher of infinite temperature tells nothing, whatever its spectrum."""
    hot = glm.solve(problem(Logit(1e6), 1.5, 0.2, two_levels=True))
    modes = Modes(SHARES, LEVELS[None])
    blind = glm.solve(
        GeneralizedLinearModel(modes=modes, clusters=[Cluster(labels="random")], alpha=1.5, loss="logistic", lam=0.2)
    )
    assert pytest.approx(blind.V, rel=1e-6) == hot.V
    assert hot.test_error == pytest.approx(0.5, abs=1e-5)


def test_a_cold_logistic_teacher_is_a_sign():
    cold, sign = (glm.solve(problem(labels, 2.0, 0.1)) for labels in (Logit(1e-5), "sign"))
    assert cold.test_error == pytest.approx(sign.test_error, rel=1e-8)


def test_signs_of_a_function_with_a_shifted_jump():
    """A jump at nu = 0.7 is the sign of a field whose mean is lower by as much."""
    jump = LabelChannel(lambda y, nu: (y * (nu - 0.7) > 0) * 1.0)
    found, wanted = (
        glm.solve(problem(*one, 2.0, 0.3, bias=True, **more))
        for one, more in (((jump,), {}), (("sign",), {"teacher_mean": -0.7}))
    )
    assert pytest.approx(wanted.V, rel=1e-10) == found.V
    assert found.bias == pytest.approx(wanted.bias, rel=1e-9)
    assert found.train_error == pytest.approx(wanted.train_error, rel=1e-8)


def test_three_counts_are_fitted_by_the_poisson_loss():
    """Their error is that of the rate; moments by Gauss-Hermite nodes of both fields."""
    point = glm.solve(problem(ORDINAL, 2.0, 0.5, "poisson", bias=True))
    q, r, b = float(point.q[0]), float(point.r[0]), float(point.bias[0])
    x, weights = np.polynomial.hermite_e.hermegauss(90)
    weights /= weights.sum()
    h = b + math.sqrt(q) * x[:, None]
    nu = r / math.sqrt(q) * x[:, None] + math.sqrt(1 - r * r / q) * x
    error = sum(weights @ (ORDINAL.probability(y, nu) * (y - np.exp(h)) ** 2) @ weights for y in (0, 1, 2))
    loss = sum(weights @ (ORDINAL.probability(y, nu) * (np.exp(h) - y * h)) @ weights for y in (0, 1, 2))
    assert (point.test_error, point.test_loss) == pytest.approx((error, loss), rel=1e-9)
    assert math.isnan(point.train_error)


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 0.5), (-1.0, 0.2), (1.0, 0.3)])
def test_counts_are_cut_where_nothing_is_left(mean, variance):
    c = label_tables.largest_count(mean, variance)
    nu = mean + math.sqrt(variance) * np.linspace(-9, 14, 4001)
    density = np.exp(-((nu - mean) ** 2) / (2 * variance)) * (nu[1] - nu[0]) / math.sqrt(2 * math.pi * variance)
    y = np.arange(c + 1)[:, None]
    second = float(np.sum(y**2 * poisson_law(y, nu), axis=0) @ density)
    assert 1 - second / (math.exp(mean + variance / 2) + math.exp(2 * mean + 2 * variance)) == pytest.approx(
        0, abs=3e-12
    )


class NotALaw:
    """Functions that are no laws, by what is wrong."""

    negative = staticmethod(lambda y, nu: np.full_like(nu, 1.5 if y > 0 else -0.5))
    short = staticmethod(lambda y, nu: np.full_like(nu, 0.4))
    long = staticmethod(lambda y, nu: np.full_like(nu, 0.6))
    shape = staticmethod(lambda y, nu: np.array([0.5]))
    text = staticmethod(lambda y, nu: "half")


def test_what_is_no_law_is_refused():
    with pytest.raises(ValueError, match=r"return probabilities between 0 and 1, got 1.5 for y = 1 at nu = -3"):
        LabelChannel(NotALaw.negative)
    with pytest.raises(ValueError, match=r"function must sum to 1 over values, got 1.2 at nu"):
        LabelChannel(NotALaw.long)
    with pytest.raises(ValueError, match=r"labels must have probabilities that sum to 1 over values: .* leave out 0.2"):
        Cluster(labels=LabelChannel(NotALaw.short), teacher_signal=0)
    with pytest.raises(ValueError, match=r"function must map fields to an array of their shape, got \(1,\)"):
        LabelChannel(NotALaw.shape)
    with pytest.raises(ValueError, match="function must be an array of real numbers"):
        LabelChannel(NotALaw.text)
    with pytest.raises(ValueError, match="function must be a function of 2 arguments"):
        LabelChannel(lambda nu: nu)
    with pytest.raises(ValueError, match="values must be at least two distinct real numbers"):
        LabelChannel(Logit().probability, values=(1, 1))
    cut = LabelChannel(Poisson().probability, values=range(12))
    with pytest.raises(ValueError, match=r"they leave out \d.*, most of it at nu = .*give more values"):
        Cluster(labels=cut, teacher_signal=0, teacher_variance=0.5)
    assert Cluster(
        labels=LabelChannel(Poisson().probability, values=range(200)), teacher_signal=0, teacher_variance=0.3
    )


@pytest.mark.parametrize(
    ("density", "message"),
    [
        (lambda e: np.exp(-(e**2)), "density must have the integral 1, got 1.77245385091"),
        (lambda e: -np.exp(-abs(e)) / 2, "density must be finite and nowhere negative"),
        (lambda e: 1 / (math.pi * (1 + e**2)), "density must have the integral 1, got 0.9999994"),
        (lambda e: 2 / (math.pi * math.sqrt(3) * (1 + e**2 / 3) ** 2), "must have its variance between -1e6 and 1e6"),
        (lambda e: float(e), "density must work elementwise on arrays"),
        (lambda e: 1.0, "density must map arrays to arrays of their shape"),
        (lambda e: np.abs(np.sin(1e5 * e)) * np.exp(-abs(e)), "smooth but for a few jumps and kinks"),
        ("normal", "density must be a function"),
    ],
)
def test_what_is_no_density_is_refused(density, message):
    with pytest.raises(ValueError, match=message):
        Additive(density)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Logit(0.0), "temperature must lie in"),
        (lambda: Probit(-1.0), "noise must lie in"),
        (lambda: Flips(1.2, 0.0), "positive must lie in"),
        (lambda: Flips().probability(1, [0.0, np.nan]), "nu must be numbers, got nan"),
        (lambda: Probit().probability(1, np.nan), "nu must be numbers, got nan"),
        (lambda: LAPLACE.of_noise([np.nan]), "e must be numbers, got nan"),
        (lambda: problem(Logit(), 1.0, 0.1, noise=0.1), "noise must be 0 for labels=Logit"),
        (lambda: problem(Poisson(), 1.0, 0.1, loss_weights=(1.0, 2.0)), "must be equal for labels=Poisson"),
        (lambda: Cluster(labels=Logit()), r"need a teacher: give teacher_signal, got None"),
        (lambda: Cluster(labels=Poisson(), teacher_signal=0, teacher_variance=0.0), "must be positive for"),
        (lambda: problem(Logit(), 1.0, 0.1, "poisson"), "loss='poisson' needs labels that are counts"),
        (lambda: problem("linear", 1.0, 0.1, "poisson"), "loss='poisson' needs labels that are counts"),
        (lambda: problem(LAPLACE, 1.0, 0.1, "poisson"), "loss='poisson' needs labels that are counts"),
        (lambda: glm.solve(problem(Poisson(), 1.0, 0.1, "logistic", 0.2)), "loss='logistic' needs labels"),
        (lambda: glm.solve(problem(LAPLACE, 1.0, 0.1, "hinge")), "loss='hinge' needs labels"),
        (lambda: glm.solve(problem(Poisson(), 1.0, 0.1, "poisson", 4.0)), "must keep counts below 20000, got 0 and 4"),
        (lambda: glm.solve(problem(Logit(), 1.0, 0.1)).calibration([np.nan]), "fields must be finite"),
        (lambda: glm.solve(problem(Poisson(), 1.0, 0.5, "poisson", 0.3)).calibration([0.0]), "must be one of labels"),
        (lambda: glm.solve(glm.gaussian_mixture(alpha=1.0, lam=0.1, loss="poisson")), "needs labels that are counts"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
