"""The mathematics of the explorer in Python, and the stored numbers that its page loads.

`python docs/_ext/explorer.py` writes docs/_static/explorer_data.js: the poles of gradient flow, the ranges of the
sliders, and answers of the solvers of `theory` at some settings, with which the page compares itself when it is opened.
The page computes an AR(1) chain of infinitely many coordinates from closed forms, in docs/_static/explorer_chain.js.
The functions here are the same in Python: `chain_values` is everything that the page shows.
"""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

from theory import masked, random_matrix
from theory.models import AR1, Flow, MaskedRidge, MaskedTraining, SpikedData
from theory.numerics.filters import unit_flow

DATA = Path(__file__).resolve().parents[1] / "_static" / "explorer_data.js"
# Of the sliders: least and largest value, the first value shown, and whether the scale is logarithmic. The correlation
# has steps of 0.01, the others values of three digits. At a correlation of 0.95 and alpha = 8.5 the solvers refuse the
# law of eigenvalues: they take a quadrature of the spectrum where the page has closed forms.
SLIDERS = {
    "alpha": (0.1, 10.0, 1.0, True),
    "lam": (1e-4, 10.0, 0.01, True),
    "correlation": (0.0, 0.9, 0.7, False),
    "strength": (0.1, 100.0, 10.0, True),
    "time": (0.1, 1000.0, 10.0, True),
}
N_STORED = 24  # settings whose answers are stored
SHARES = np.array([0.03, 0.2, 0.5, 0.8, 0.97])  # of the bulk, at which densities are compared
DIGITS = 10  # of stored answers


def settings(count: int, seed: int) -> list[dict[str, float]]:
    """Draw settings of the sliders, each to the digits that a slider has."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        one = {}
        for name, (low, high, _, logarithmic) in SLIDERS.items():
            drawn = low * (high / low) ** rng.random() if logarithmic else low + (high - low) * rng.random()
            one[name] = float(f"{drawn:.3g}") if logarithmic else round(drawn, 2)
        found.append(one)
    return found


def solved_values(at: dict[str, float]) -> dict[str, float | list[float]]:
    """Return everything that the page shows at a setting, from the solvers of `theory`.

    Densities are those of -log(1 - a) for an eigenvalue a, at `places` within the bulk.
    """
    chain = AR1(math.inf, at["correlation"])
    ridge = MaskedRidge(chain, at["alpha"], at["lam"])
    fitted = masked.solve(ridge)
    flow = masked.solve(MaskedTraining(chain, at["alpha"], Flow(at["time"]), lam=at["lam"]))
    spike = random_matrix.outlier(SpikedData(chain, strength=at["strength"], alpha=at["alpha"], lam=at["lam"]))
    law = random_matrix.predictor_law(ridge)
    ((low, high),) = law.edges
    place, mass = law.atoms[0] if len(law.atoms) else (1.0, 0.0)
    places = 1 - (1 - low) ** (1 - SHARES) * (1 - high) ** SHARES
    values = {
        "test": fitted.mean_test_error,
        "train": fitted.mean_train_error,
        "irreducible": masked.conditional_variances(chain).mean(),
        "trained_test": flow.mean_test_error,
        "trained_train": flow.mean_train_error,
        "low": 1 - low,
        "high": 1 - high,
        "atom": 1 - place,
        "atom_mass": mass,
        "threshold": spike.threshold,
        "outlier": 1 - spike.eigenvalue,
        "overlap": spike.overlap,
    }
    heights = law.density(places) * (1 - places)
    lists = {"places": places.tolist(), "heights": heights.tolist()}
    return {name: float(value) for name, value in values.items()} | lists


def _traces(k: Any, r: float) -> tuple[Any, Any, Any, Any]:
    """Return df1, its derivative, df2 and 1 - df1 of a chain at an effective ridge k, real or complex."""
    low, high = (1 - r) / (1 + r), (1 + r) / (1 - r)
    df1 = 1 / (np.sqrt(low + k) * np.sqrt(high + k))
    slope = -(low + high + 2 * k) / 2 * df1**3
    return df1, slope, df1 + k * slope, k * (low + high + k) * df1**2 / (1 + df1)


def _candidates(alpha: float, L: complex, r: float) -> Any:
    """Return the roots k of the square of L = k (1 - df1(k)/alpha), a quartic."""
    c = 2 * (1 + r * r) / (1 - r * r)
    return np.roots([1, c - 2 * L, 1 - 1 / alpha**2 - 2 * c * L + L * L, c * L * L - 2 * L, L * L])


def _trained(alpha: float, lam: float, r: float, time: float) -> tuple[float, float]:
    """Return test and train error after gradient flow, as a sum over all pairs of ridges."""
    poles = unit_flow()
    L, w = poles.ridges / time + lam, poles.weights
    k = np.empty_like(L)
    for i, ridge in enumerate(L):
        found = _candidates(alpha, ridge, r)
        found = found[found.imag > 0]
        k[i] = found[np.argmin(abs(found * (1 - _traces(found, r)[0] / alpha) - ridge))]
    L, w, k = (np.concatenate([one, one.conj()]) for one in (L, w, k))
    df1, slope, df2, rest = _traces(k, r)
    excess, own = df1 * k / rest, -w * w * slope * k * k / rest**2 / (1 - df2 / alpha)
    gaps = L[:, None] - L
    np.fill_diagonal(gaps, np.inf)
    pairs = w[:, None] * w / gaps
    test = 2 * (k @ pairs) @ excess + own.sum()
    train = 2 * (L @ pairs) @ (L * excess / k) + (own * (L / k) ** 2).sum()
    return float(test.real), float(abs(train.real))


def chain_values(at: dict[str, float], places: Iterable[float]) -> dict[str, float | list[float]]:
    """Return what `solved_values` does, from the closed forms of a chain (derived here from those of `theory`).

    Its traces are df1(k) = ((lo + k)(hi + k))^-1/2 with lo = (1-r)/(1+r) and hi = 1/lo. The ends of the bulk of X'X/n
    are extrema of x(u) = u (1 - df1(-u)/alpha), and a spread-out spike makes an outlier where u/(1 - df1(-u)) is its
    strength.
    """
    alpha, lam, r, strength = (at[name] for name in ("alpha", "lam", "correlation", "strength"))
    lo, hi = (1 - r) / (1 + r), (1 + r) / (1 - r)
    k = brentq(lambda k: k * (1 - _traces(k, r)[0] / alpha) - lam, lam, lam + 1 / alpha, xtol=1e-16, rtol=1e-14)
    _, slope, df2, rest = _traces(k, r)
    test = -slope * k * k / rest**2 / (1 - df2 / alpha)

    def rising(u: float) -> float:  # dx/du times a positive number
        return alpha * abs((u - lo) * (u - hi)) ** 1.5 + (1 - (lo + hi) * u / 2) * (1 if u > hi else -1)

    def right(u: float) -> tuple[float, float, float]:
        df1 = -1 / math.sqrt((u - lo) * (u - hi))
        return u * (1 - df1 / alpha), u / (1 - df1), df1

    def found(f: Any) -> float:  # a root right of hi, on a logarithmic scale
        return float(hi + math.exp(brentq(lambda s: f(hi + math.exp(s)), -25, 12, xtol=1e-14)))

    high, threshold, _ = right(found(rising))
    u = brentq(rising, -1 - 1 / alpha, lo * (1 - 1e-12))
    low = max(u * (1 - 1 / (alpha * math.sqrt((lo - u) * (hi - u)))), 0.0) if alpha != 1 else 0.0
    x, overlap = high, 0.0
    if strength > threshold:
        u = found(lambda u: right(u)[1] - strength)
        x, _, df1 = right(u)
        bent = (lo + hi - 2 * u) / 2 * df1**3
        overlap = u / x * (1 - (df1 + u * bent) / alpha) / strength**2 / ((1 - df1) / u**2 + bent / u)
    heights = []
    for place in places:
        inside = lam * (1 / (1 - place) / rest - 1)
        roots = _candidates(alpha, -inside, r)
        heights.append(float(alpha * max((1 / roots).imag) / math.pi * (inside + lam)))
    trained_test, trained_train = _trained(alpha, lam, r, at["time"])
    return {
        "test": test,
        "train": test * (lam / k) ** 2,
        "irreducible": (1 - r * r) / (1 + r * r),
        "trained_test": trained_test,
        "trained_train": trained_train,
        "low": 1 / (rest * (low / lam + 1)),
        "high": 1 / (rest * (high / lam + 1)),
        "atom": 1 / rest if alpha < 1 else 0.0,
        "atom_mass": max(1 - alpha, 0.0),
        "threshold": threshold,
        "outlier": 1 / (rest * (x / lam + 1)),
        "overlap": overlap,
        "places": list(places),
        "heights": heights,
    }


def stored() -> dict[str, Any]:
    """Compute what the page loads."""
    poles = unit_flow()
    columns = (poles.ridges.real, poles.ridges.imag, poles.weights.real, poles.weights.imag)
    answers = [{"at": at, "values": solved_values(at)} for at in settings(N_STORED, seed=1)]
    return {
        "sliders": {name: list(of) for name, of in SLIDERS.items()},
        "poles": np.stack(columns, axis=1).tolist(),
        "answers": _rounded(answers),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}")


def read() -> dict[str, Any]:
    """Read the stored numbers back."""
    text = DATA.read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return loaded


def main() -> None:
    """Write the stored numbers."""
    body = json.dumps(stored(), separators=(",", ":"))
    notice = "// Made by docs/_ext/explorer.py from the solvers of theory/."
    end = 'if (typeof module !== "undefined") module.exports = ExplorerData;'
    DATA.write_text(f"{notice}\nconst ExplorerData = {body};\n{end}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
