"""The least energy that several descents of a loss that need not be convex find, from different starts."""

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy.optimize import minimize

from simulate.glm.random_labels import random_inputs
from theory.core import Array, AtLeast, Count, FitError, checked
from theory.models.glm import RandomLabels

START_SIZES = (0.1, 5.0)  # root mean square weights of the starts, spread evenly in the logarithm
STEPS = 2000  # of a descent
GRADIENT = 1e-6  # largest entry of the gradient of the energy per weight at its end, times the number of weights


@checked
def descent_energies(model: RandomLabels, d: Annotated[int, AtLeast(2)], rng: Generator, starts: Count = 8) -> Array:
    """Minimize the energy of one training set from `starts` random weights; return the energies per weight, (starts,).

    The energy is sum_i loss(y_i h_i)/d + lam |w|^2/(2 d) of n = alpha d samples of random labels, with h = X w/sqrt(d).
    The loss of the model must be an object with the methods `value` and `derivative` of margins; it need not be
    convex, so that each descent (L-BFGS) ends in a minimum of its own. Where it is convex all energies are the same.
    ValueError for a named loss, FitError where a descent has no end.
    """
    loss: Any = model.loss
    if not (hasattr(loss, "value") and hasattr(loss, "derivative")):
        raise ValueError(f"model must have a loss with the methods value and derivative, got {loss!r}")
    n = round(model.alpha * d)
    X = random_inputs(model.covariance.resized(d), n, rng) / np.sqrt(d)
    y = rng.choice([-1.0, 1.0], n)

    def energy(w: Array) -> tuple[float, Array]:
        t = y * (X @ w)
        total = np.sum(loss.value(t)) + model.lam / 2 * (w @ w)
        gradient = X.T @ (y * loss.derivative(t)) + model.lam * w
        return float(total) / d, np.asarray(gradient) / d

    found = []
    for size in np.geomspace(*START_SIZES, starts):
        ended = minimize(
            energy,
            size * rng.standard_normal(d),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": STEPS, "maxfun": 2 * STEPS, "gtol": GRADIENT / d, "ftol": 1e-13},
        )
        if not np.isfinite(ended.fun) or ended.nit >= STEPS:
            raise FitError(f"descent from weights of size {size:.3g}: {ended.message}")
        found.append(ended.fun)
    return np.array(found)
