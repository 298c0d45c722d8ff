"""Students of narrow networks that minimize their energy, measured on one training set each."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from scipy.optimize import minimize

from simulate.feedforward.narrow_task import Task, activation_and_slope
from theory.core import Array, Count, Several, SolverResult, Within, checked, checks
from theory.models import NarrowNetwork

GRADIENT_TOLERANCE = 1e-3  # root mean square of the gradient over that of its part from weight decay
MEMORY = 30  # steps that the quasi-Newton method remembers


@dataclass(frozen=True, eq=False, repr=False)
class NarrowFit(SolverResult):
    """Holds what one student learns that minimizes sum (y - s)^2/2 + lam |W|^2/2 from a start.

    `risk` is the mean of (s - s*)^2 on fresh inputs, s* the output of the teacher without noise, `train_error` the mean
    of (y - s)^2 on the training samples. `self_overlap` is |w|^2/N of a unit and `teacher_overlap` that of each unit
    with the teacher's unit of the same number. `residual` is the norm of the gradient over that of lam W,
    one of its two parts, and `iterations` the number of evaluations. A minimum may be a local one: `start` chooses.
    """

    risk: float
    train_error: float
    self_overlap: float
    teacher_overlap: float
    start: Literal["teacher", "random"]


@checked
def fit_narrow(
    model: NarrowNetwork,
    n_inputs: Count,
    n_units: Several,
    rng: np.random.Generator,
    *,
    lam: Annotated[float, Within(1e-6, 1e6)],
    start: Literal["teacher", "random"] = "teacher",
    n_test: Several = 2000,
    max_evaluations: Count = 20_000,
    check: bool = True,
) -> NarrowFit:
    """Draw a narrow teacher with its training set, and minimize sum (y - s)^2/2 + lam |W|^2/2 by L-BFGS.

    The minimum nearest to the `start`, the teacher or independent standard normal weights, is the student of
    `theory.feedforward.ground_state`, as far as descent finds the state of that start. The teacher's weights are scaled
    to |w|^2 = N; with an equal readout each output has its mean over the samples subtracted, as in the published runs.

    ValueError for signs as labels, for an odd number of units with balanced signs, for a model with other
    `hidden_units`, and for an activation without a gradient. RuntimeError where the gradient did not vanish to a
    thousandth of that of the weight decay; `check` False returns that point with `converged` False. ReLU units have no
    gradient at their kinks, where minima lie too: their residual says less.

    >>> model = NarrowNetwork(alpha=4.0, activation="erf", hidden_units=4)
    >>> found = fit_narrow(model, 20, 4, np.random.default_rng(0), lam=0.01, n_test=200)
    >>> found.converged, found.risk < 1e-3
    (True, True)
    """
    functions = activation_and_slope(model, None)
    if model.labels != "linear":
        raise ValueError(f"model must have linear labels for the least sum of squares, got {model.labels!r}")
    if n_units % 2 and model.readout == "balanced":
        raise ValueError(f"n_units must be even, since half of the units have the sign -1, got {n_units}")
    if model.hidden_units not in (None, n_units):
        raise ValueError(f"n_units must be the hidden_units of the model, {model.hidden_units}, got {n_units}")
    size = max(1.0, model.alpha * n_inputs * n_units)
    what = f"a sample of {size:.3g} inputs of {n_inputs} numbers"
    checks.fits_in_memory(what, (size + n_test) * (n_inputs + n_units))
    task = Task.draw(model, (n_inputs, n_units, n_test), 1.0, lam, functions, rng)
    first = task.teacher if start == "teacher" else rng.standard_normal(task.teacher.shape)

    def energy(flat: Array) -> tuple[float, Array]:
        values, gradients, _ = task.energy(flat.reshape(n_inputs, 1, n_units))
        return float(values[0]), gradients.ravel()

    options = {"maxfun": max_evaluations, "maxiter": max_evaluations, "maxcor": MEMORY, "ftol": 0.0, "gtol": 1e-9}
    made = minimize(energy, first.ravel(), jac=True, method="L-BFGS-B", options=options)
    weights = made.x.reshape(n_inputs, 1, n_units)
    _, gradients, losses = task.energy(weights)
    residual = float(np.linalg.norm(gradients) / (lam * np.linalg.norm(weights)))
    gaps = task.outputs(task.test_inputs, weights)[:, 0] - task.test_outputs
    found = NarrowFit(
        risk=float(np.mean(gaps**2)),
        train_error=float(losses[0]),
        self_overlap=float(np.mean(weights**2)),
        teacher_overlap=float(np.mean(weights[:, 0] * task.teacher)),
        start=start,
        residual=residual,
        iterations=int(made.nfev),
        converged=residual <= GRADIENT_TOLERANCE,
    )
    if check and not found.converged:
        raise RuntimeError(
            f"the gradient is {residual:.2g} of that of the weight decay after {made.nfev} evaluations: "
            "raise max_evaluations, or take check=False"
        )
    return found
