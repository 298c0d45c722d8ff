"""Label channels: the law P(y | nu) of a label y given the teacher's field nu, as records."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from scipy.special import expit, gammaln, ndtr

from theory.core import (
    Accepted,
    Array,
    CheckedRecord,
    NonNegative,
    Numbers,
    Positive,
    Real,
    Share,
    checked,
    checked_fields,
    checks,
)
from theory.numerics.quadrature import divided, panelled_legendre
from theory.numerics.resolved_panels import ResolvedPanels, resolved_panels

Kind = Literal["signs", "values", "real"]  # of labels: +-1, a list of other numbers, or any real number
SIGNS = (1.0, -1.0)
MAX_MASS_LEFT = 1e-12  # probability that the listed values of a channel may leave out, over the teacher's field
DENSITY_ERROR = 1e-10  # of the integral of a density, which has to be 1
TRIED_FIELDS = np.linspace(-3, 3, 61)  # where the probabilities of a channel are looked at before a teacher is known
TRIED_NORMAL = np.linspace(-8.75, 8.75, 281)  # a trapezoidal rule for the normal law, exact to rounding
DENSITY_EDGES = np.concatenate((-1e-6 * 2.0 ** np.arange(40, -1, -1), [0.0], 1e-6 * 2.0 ** np.arange(41)))
NEGLIGIBLE_MASS = 1e-17
PIECES = 8  # of a panel, to find where the probability ends


@dataclass(frozen=True)
class Logit(CheckedRecord):
    """A logistic teacher: labels +-1 with P(y | nu) = 1/(1 + exp(-y nu/T)) at the `temperature` T > 0.

    >>> float(Logit(temperature=0.5).probability(1, np.array(0.0)))
    0.5
    """

    temperature: Positive = 1.0

    kind: ClassVar[Kind] = "signs"
    values: ClassVar[tuple[float, ...]] = SIGNS

    @checked
    def probability(self, y: Real, nu: Numbers) -> Array:
        """Return P(y | nu), elementwise; ValueError for labels that are not +-1."""
        with np.errstate(over="ignore"):
            return np.asarray(expit(_one_of(y, SIGNS) * nu / self.temperature))


@dataclass(frozen=True)
class Probit(CheckedRecord):
    """A probit teacher: labels y = sign(nu + xi) with xi normal of variance `noise`, which the labels "sign" are too.

    >>> float(Probit(noise=0.5).probability(1, np.array(0.0)))
    0.5
    """

    noise: NonNegative = 0.0

    kind: ClassVar[Kind] = "signs"
    values: ClassVar[tuple[float, ...]] = SIGNS

    @checked
    def probability(self, y: Real, nu: Numbers) -> Array:
        """Return P(y | nu), elementwise, without noise a step that is 1/2 at nu = 0; ValueError unless y is +-1."""
        signed = _one_of(y, SIGNS) * nu
        with np.errstate(over="ignore"):
            return np.heaviside(signed, 0.5) if self.noise == 0 else np.asarray(ndtr(signed / np.sqrt(self.noise)))


@dataclass(frozen=True)
class Flips(CheckedRecord):
    """Signs of the teacher's field, of which some are flipped: a share `positive` of the +1, `negative` of the -1.

    >>> Flips(positive=0.05, negative=0.25).probability(1, np.array([-2.0, 2.0])).tolist()
    [0.25, 0.95]
    """

    positive: Share = 0.0
    negative: Share = 0.0

    kind: ClassVar[Kind] = "signs"
    values: ClassVar[tuple[float, ...]] = SIGNS

    @checked
    def probability(self, y: Real, nu: Numbers) -> Array:
        """Return P(y | nu), elementwise; ValueError for labels that are not +-1."""
        above = np.heaviside(nu, 0.5)
        plus = (1 - self.positive) * above + self.negative * (1 - above)
        return np.asarray(plus if _one_of(y, SIGNS) > 0 else 1 - plus)


@dataclass(frozen=True)
class Poisson(CheckedRecord):
    """Counts y = 0, 1, 2, ... with the rate exp(nu): P(y | nu) = exp(y nu - exp(nu))/y!.

    >>> Poisson().probability(0, np.array([0.0])).round(6).tolist()
    [0.367879]
    """

    kind: ClassVar[Kind] = "values"
    values: ClassVar[None] = None

    @checked
    def probability(self, y: Real, nu: Numbers) -> Array:
        """Return P(y | nu), elementwise; ValueError for labels that are no counts."""
        if y < 0 or y % 1:
            raise ValueError(f"y must be a count 0, 1, 2, ..., got {y:g}")
        return poisson_law(np.array(y), nu)


@dataclass(frozen=True)
class Additive:
    """Real labels y = nu + e, where the noise e has any `density`: a function of arrays, elementwise.

    The density is integrated on panels that resolve it to rounding. It must be finite, nowhere negative, and have the
    integral 1 to 1e-10 and its variance between -1e6 and 1e6, else ValueError: laws whose tails fall as slowly as that
    of Cauchy's, or of Student's with three degrees of freedom, are refused.

    >>> laplace = Additive(lambda e: np.exp(-abs(e) / 0.5))
    >>> abs(round(laplace.mean, 12)), round(laplace.variance, 12)
    (0.0, 0.5)
    """

    density: Callable[[Array], Array]

    kind: ClassVar[Kind] = "real"
    values: ClassVar[None] = None

    def __post_init__(self) -> None:
        checked_fields(self)
        checks.function("density", self.density, 1)
        self.panels  # noqa: B018  # the density is checked where it is resolved

    @checked
    def probability(self, y: Real, nu: Numbers) -> Array:
        """Return the density of y given nu, elementwise; ValueError for fields that are not finite."""
        if not np.all(np.isfinite(nu)):
            raise ValueError("nu must be finite, got fields that are infinite or not a number")
        with np.errstate(over="ignore"):
            return self.of_noise(y - nu)

    @checked
    def of_noise(self, e: Numbers) -> Array:
        """Return the density at e, of any shape; ValueError where it is negative or not a finite number."""
        flat = np.ravel(e)
        found = _called("density", self.density, flat.copy())
        if found.shape != flat.shape:
            raise ValueError(f"density must map arrays to arrays of their shape, got {found.shape} for {flat.shape}")
        wrong = ~((found >= 0) & np.isfinite(found))
        if wrong.any():
            raise ValueError(f"density must be finite and nowhere negative, got {found[wrong][0]} at {flat[wrong][0]}")
        return np.asarray(found, float).reshape(np.shape(e))

    @cached_property
    def panels(self) -> ResolvedPanels:
        """Panels that resolve the density, up to where no probability is left, with the places of jumps and kinks."""
        edges, sharp = resolved_panels(self.of_noise, DENSITY_EDGES, lambda at: 1e-14 / (abs(at) + 1e-6))
        fine = divided(edges, PIECES)
        e, weights = panelled_legendre(fine)
        masses = (weights * self.of_noise(e)).reshape(len(fine) - 1, -1).sum(axis=1)
        if not abs(masses.sum() - 1) <= DENSITY_ERROR:
            raise ValueError(f"density must have the integral 1, got {masses.sum():.12g} between -1e6 and 1e6")
        squares = (fine[:-1] + fine[1:]) ** 2 * masses
        if not squares[[0, -1]].max() <= DENSITY_ERROR * squares.sum():
            raise ValueError("density must have its variance between -1e6 and 1e6: its tails fall too slowly")
        kept = np.flatnonzero(np.minimum(np.cumsum(masses), np.cumsum(masses[::-1])[::-1]) > NEGLIGIBLE_MASS)
        low, high = fine[kept[0]], fine[kept[-1] + 1]
        inner = edges[(edges > low) & (edges < high)]
        return ResolvedPanels(np.array([low, *inner, high]), sharp[(sharp >= low) & (sharp <= high)])

    @cached_property
    def nodes(self) -> tuple[Array, Array]:
        """Nodes of the noise, and weights that hold its density."""
        e, weights = panelled_legendre(self.panels.edges)
        return e, weights * self.of_noise(e)

    @cached_property
    def mean(self) -> float:
        """The mean of the noise."""
        e, weights = self.nodes
        return float(weights @ e)

    @cached_property
    def variance(self) -> float:
        """The variance of the noise."""
        e, weights = self.nodes
        return float(weights @ (e - self.mean) ** 2)


Values = Annotated[Any, Accepted(lambda name, value: _checked_values(name, value))]


@dataclass(frozen=True)
class LabelChannel:
    """Any law of labels: `probability(y, nu)` returns P(y | nu) for one of the `values` y and an array of fields nu.

    The values are distinct real numbers; labels +-1 are margins y h to a loss, all others residuals y - h, or counts
    to the loss "poisson". P must be finite, nowhere negative, and sum to 1 over the values: what they leave out, over
    the law of the teacher's field of a cluster, must be below 1e-12 (ValueError otherwise, here or where a cluster
    takes the channel). It may jump and have kinks, which are found.

    >>> stays = LabelChannel(lambda y, nu: np.where(abs(nu) < 1, 0.5, y * nu > 0))
    >>> stays.kind, stays.values
    ('signs', (1.0, -1.0))
    """

    function: Callable[[float, Array], Array]
    values: Values = field(default=SIGNS)

    def __post_init__(self) -> None:
        checked_fields(self)
        checks.function("function", self.function, 2)
        total = np.sum([self.probability(y, TRIED_FIELDS) for y in self.values], axis=0)
        if np.max(total) > 1 + 1e-9:
            where = float(TRIED_FIELDS[int(np.argmax(total))])
            raise ValueError(f"function must sum to 1 over values, got {np.max(total):.12g} at nu = {where:g}")

    @property
    def kind(self) -> Kind:
        """Whether these labels are "signs" +-1 or other "values"."""
        return "signs" if set(self.values) <= {1.0, -1.0} else "values"

    @checked
    def probability(self, y: Real, nu: Numbers) -> Array:
        """Return P(y | nu), of the shape of nu; ValueError where it is negative, above 1 or of another shape."""
        flat = np.ravel(nu)
        found = _called("function", self.function, _one_of(y, self.values), flat.copy())
        if found.shape != flat.shape:
            raise ValueError(f"function must map fields to an array of their shape, got {found.shape} for {flat.shape}")
        wrong = ~((found >= 0) & (found <= 1 + 1e-9))
        if wrong.any():
            raise ValueError(
                f"function must return probabilities between 0 and 1, got {found[wrong][0]} for y = {y:g} at "
                f"nu = {flat[wrong][0]:g}"
            )
        return np.asarray(found, float).reshape(np.shape(nu))


def poisson_law(counts: Array, nu: Array) -> Array:
    """Return exp(y nu - exp(nu))/y! for counts and fields whose shapes go together; zero where exp(nu) is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        rate = np.exp(nu)
        return np.asarray(np.where(np.isfinite(rate), np.exp(counts * nu - (rate + gammaln(counts + 1))), 0.0))


def _called(name: str, function: Callable[..., Any], *arguments: Any) -> Array:
    """Return what a user's function makes of arrays; ValueError where it makes no numbers of them."""
    try:
        return checks.real_array(name, function(*arguments))
    except TypeError as error:
        raise ValueError(f"{name} must work elementwise on arrays: {error}") from None


def _one_of(y: float, values: tuple[float, ...]) -> float:
    if y not in values:
        raise ValueError(f"y must be one of the values {checks.shown(values)}, got {y:g}")
    return y


AnyChannel = Logit | Probit | Flips | Poisson | Additive | LabelChannel


def require_law(channel: AnyChannel, mean: float, variance: float) -> None:
    """Refuse values that leave out more than 1e-12 of the labels of teacher fields of this mean and variance."""
    if not isinstance(channel, LabelChannel):
        return
    nu = mean + np.sqrt(variance) * TRIED_NORMAL
    weights = np.exp(-0.5 * TRIED_NORMAL**2)
    left = 1 - np.sum([channel.probability(y, nu) for y in channel.values], axis=0)
    lost = float(weights @ abs(left) / weights.sum())
    if not lost <= MAX_MASS_LEFT * (1 + len(channel.values) / 10):
        where = int(np.argmax(weights * abs(left)))
        raise ValueError(
            f"labels must have probabilities that sum to 1 over values: over the teacher's field they leave out "
            f"{lost:.3g}, most of it at nu = {nu[where]:.6g}, where the sum is {1 - left[where]:.12g}; give more "
            "values, or a law"
        )


def _checked_values(name: str, value: Any) -> tuple[float, ...]:
    array = checks.finite_array(name, list(value) if isinstance(value, range) else value, 1)
    if len(set(array.tolist())) != len(array) or len(array) < 2:
        raise ValueError(f"{name} must be at least two distinct real numbers, got {checks.shown(value)}")
    return tuple(sorted(array.tolist(), reverse=set(array.tolist()) == {1.0, -1.0}))
