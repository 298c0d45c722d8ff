"""Arbitrary-precision twin of the homogeneous problem: the reference that the fast solvers are tested against.

It is independent of them: it uses another root finder, and adaptive quadrature of the spectral symbol for d ->
infinity. A float is taken for the binary number that it is, and a text such as "0.7" for the decimal one. mpmath is
loaded when a function is called.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpmath import mpf

Number = float | str
Mean = Callable[[Callable[["mpf"], "mpf"]], "mpf"]  # f -> tr f(Sigma)/d


@dataclass(frozen=True)
class Reference:
    """One point of the homogeneous masked ridge problem, as mpmath numbers; conventions of MaskedRidge."""

    effective_ridge: "mpf"
    df1: "mpf"
    df2: "mpf"
    test_error: "mpf"
    train_error: "mpf"
    gcv_error: "mpf"


def effective_ridge(
    eigenvalues: Sequence[Number], weights: Sequence[Number], alpha: Number, lam: Number, digits: int = 50
) -> "mpf":
    """Return kappa > 0 with lam = kappa (1 - df1/alpha); `weights` (r,) are the shares of the eigenvalues (r,)."""
    return modes(eigenvalues, weights, alpha, lam, digits).effective_ridge


def degrees_of_freedom(
    eigenvalues: Sequence[Number], weights: Sequence[Number], effective_ridge: Number, digits: int = 50
) -> tuple["mpf", "mpf"]:
    """Return tr Sigma^k (Sigma + kappa)^-k / d for k = 1, 2."""
    from mpmath import mp, mpf

    with mp.workdps(digits + 10):
        return _moments(_mean_of_modes(eigenvalues, weights), mpf(effective_ridge))


def test_error(
    eigenvalues: Sequence[Number],
    weights: Sequence[Number],
    alpha: Number,
    lam: Number,
    digits: int = 50,  # noqa: PT028  # a physicist's test error, not a test
) -> "mpf":
    """Return the error kappa (df1 - df2)/((1 - df1)^2 (1 - df2/alpha)) of every coordinate, where all are alike."""
    return modes(eigenvalues, weights, alpha, lam, digits).test_error


def modes(
    eigenvalues: Sequence[Number], weights: Sequence[Number], alpha: Number, lam: Number, digits: int = 50
) -> Reference:
    """Solve the point of a covariance with these eigenvalues in these shares, all coordinates alike."""
    from mpmath import mp

    with mp.workdps(_working_digits(lam, digits)):
        return _solve(_mean_of_modes(eigenvalues, weights), alpha, lam, digits)


def elliptical(
    eigenvalues: Sequence[Number],
    weights: Sequence[Number],
    alpha: Number,
    lam: Number,
    rows: Mean,
    digits: int = 50,
) -> Reference:
    """Solve the same point for rows of different scales tau, of whose law `rows` makes averages: f -> E f(tau)."""
    from mpmath import mp, mpf

    with mp.workdps(_working_digits(lam, digits)):
        mean, alpha, lam = _mean_of_modes(eigenvalues, weights), mpf(alpha), mpf(lam)

        def excess(log_kappa: "mpf") -> "mpf":
            kappa = mp.exp(log_kappa)
            share = mean(lambda s: s / (s + kappa)) / alpha
            return rows(lambda tau: tau / (lam / kappa + tau * share)) - 1

        # E[tau/(g + tau y)] rises with kappa, and kappa is at least lam.
        low = mp.log(lam)
        high = low + 1
        while excess(high) < 0:
            low, high = high, high + 2 * (high - low)
        kappa = mp.exp(mp.findroot(excess, (low, high), solver="anderson", tol=mpf(10) ** (-2 * digits)))
        df1, df2 = _moments(mean, kappa)
        g, y = lam / kappa, df1 / alpha
        spread, left = mean(lambda s: s * kappa / (s + kappa) ** 2), mean(lambda s: kappa / (s + kappa))
        noise = rows(lambda tau: (tau / (g + tau * y)) ** 2)
        error = kappa * spread / (left**2 * (1 - noise * df2 / alpha))
        train = error * rows(lambda tau: tau / (1 + tau * y / g) ** 2)
        gcv = train / rows(lambda tau: 1 / (1 + tau * y / g)) ** 2
        return Reference(kappa, df1, df2, error, train, gcv)


def ar1(correlation: Number, alpha: Number, lam: Number, digits: int = 50) -> Reference:
    """Solve the point of Sigma_ij = correlation^|i-j| in the limit d -> infinity."""
    from mpmath import mp, mpf

    with mp.workdps(_working_digits(lam, digits)):
        r = mpf(correlation)
        return _solve(
            _mean_on_circle(lambda angle: (1 - r * r) / (1 - 2 * r * mp.cos(angle) + r * r)), alpha, lam, digits
        )


def free_field(mass: Number, alpha: Number, lam: Number, dimension: int = 1, digits: int = 50) -> Reference:
    """Solve the point of the lattice free field for d -> infinity; in dimension 2 by a double integral, slowly."""
    from mpmath import mp, mpf

    with mp.workdps(_working_digits(lam, digits)):
        mass2 = mpf(mass) ** 2

        def energy(*momenta: "mpf") -> "mpf":
            return sum((2 - 2 * mp.cos(k) for k in momenta), mass2)

        if dimension not in (1, 2):
            raise ValueError(f"dimension must be 1 or 2, got {dimension!r}")
        return _solve(_mean_on_circle(lambda *k: 1 / energy(*k), dimension), alpha, lam, digits)


def _working_digits(lam: Number, digits: int) -> int:
    """Return the digits to work with: at alpha = 1 kappa ~ sqrt(lam), and 1 - df1 ~ kappa loses half those of lam."""
    from mpmath import log10, mpf

    if not mpf(lam) > 0:
        raise ValueError(f"lam must be positive, got {lam!r}")
    return digits + 10 + max(0, int(-log10(mpf(lam))))


def _mean_of_modes(eigenvalues: Sequence[Number], weights: Sequence[Number]) -> Mean:
    from mpmath import fsum, mpf

    pairs = [(mpf(s), mpf(w)) for s, w in zip(eigenvalues, weights, strict=True)]
    total = fsum(w for _, w in pairs)
    return lambda f: fsum(w * f(s) for s, w in pairs) / total


def _mean_on_circle(symbol: Callable[..., "mpf"], dimension: int = 1) -> Mean:
    from mpmath import mp

    ranges = [[0, mp.pi]] * dimension
    return lambda f: mp.quad(lambda *angles: f(symbol(*angles)), *ranges) / mp.pi**dimension


def _moments(mean: Mean, kappa: "mpf") -> tuple["mpf", "mpf"]:
    return mean(lambda s: s / (s + kappa)), mean(lambda s: (s / (s + kappa)) ** 2)


def _solve(mean: Mean, alpha: Number, lam: Number, digits: int) -> Reference:
    from mpmath import mpf

    alpha, lam = mpf(alpha), mpf(lam)
    kappa = _root(mean, alpha, lam, mpf(10) ** -digits)
    df1, df2 = _moments(mean, kappa)
    # df1 - df2 and 1 - df1 have integrals of their own, in which nothing cancels.
    spread, left = mean(lambda s: s * kappa / (s + kappa) ** 2), mean(lambda s: kappa / (s + kappa))
    error = kappa * spread / (left**2 * (1 - df2 / alpha))
    return Reference(kappa, df1, df2, error, (lam / kappa) ** 2 * error, error)


def _root(mean: Mean, alpha: "mpf", lam: "mpf", tol: "mpf") -> "mpf":
    """Find kappa by Newton's method from below: phi(kappa) = 1 - df1/alpha - lam/kappa increases and is concave."""
    from mpmath import sqrt

    low, high = lam, lam + mean(lambda s: s) / alpha  # phi < 0 and > 0, as 0 < kappa df1 < tr Sigma/d
    while high > 4 * low:
        middle = sqrt(low * high)
        below = 1 - _moments(mean, middle)[0] / alpha < lam / middle
        low, high = (middle, high) if below else (low, middle)
    for _ in range(100):
        df1, df2 = _moments(mean, low)
        step = -(1 - df1 / alpha - lam / low) / ((df1 - df2) / alpha + lam / low)
        low *= 1 + step
        if abs(step) < tol:
            return low
    raise ArithmeticError(f"no root for alpha = {alpha}, lam = {lam}: too few digits for this spectrum")
