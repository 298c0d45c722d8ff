"""Gradient flow of a factored stack: the training of infinitely small steps, integrated adaptively."""

from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import LSODA
from scipy.optimize import brentq

from simulate.nets.population import MaskedContexts, require_fit
from simulate.nets.stack_gradient import Batch, Weights, loss_and_gradient, stack_loss
from theory.core import Array, Count, Positive, Real, SolverResult, checked
from theory.models import FactoredStack

TOLERANCE = 1e-9  # relative, of the integrator
MAX_TIME = 1e15  # rate times steps, after which no network of ours has stayed on a plateau


@dataclass(frozen=True, eq=False, repr=False)
class GradientFlow(SolverResult):
    """The path of a stack that follows d theta/dt = -grad loss.

    `times` (T,) are those of the accepted steps of the integrator, from 0 to the `time` at which it stopped; a training
    with steps of size eta has made t/eta steps at time t. `losses` (T,) are the masked losses in nats,
    `attention_norms` and `value_norms` (T, N) the squared Frobenius norms |A_l|^2 and |V_l|^2; `stack` is the network
    at the end. `converged` says that the loss asked for was reached; otherwise `reason` says what stopped the flow.
    `residual` is the distance of the last loss from the one asked for, `iterations` counts evaluations of the gradient.
    """

    time: float
    times: Array
    losses: Array
    attention_norms: Array
    value_norms: Array
    stack: FactoredStack = field(repr=False)
    reason: str


@checked
def gradient_flow(
    stack: FactoredStack,
    contexts: MaskedContexts,
    *,
    stop_loss: Real,
    max_time: Positive = 1e9,
    max_evaluations: Count = 20_000,
) -> GradientFlow:
    """Follow the gradient flow of the masked loss on `contexts` from `stack` until the loss has fallen to `stop_loss`.

    The integrator (LSODA, relative tolerance 1e-9) takes steps as long as the path is smooth: a plateau of a million
    units of time costs a few hundred evaluations. After a plateau the flow is stiff and may need far more; it ends at
    `max_time`, or after about `max_evaluations` evaluations of the gradient, says so in `.reason` and is not
    `.converged`. The loss is a mean over sites in nats. ValueError for bad arguments.

    >>> from theory.models import PottsModel
    >>> from simulate.nets import enumerated_contexts
    >>> contexts = enumerated_contexts(PottsModel([[0, 1], [1, 0]], [[1, 0], [0, 1]]))
    >>> flow = gradient_flow(FactoredStack.deterministic(1, 2, 2, 0.1), contexts, stop_loss=0.6)
    >>> flow.converged, round(float(flow.losses[-1]), 8)
    (True, 0.6)
    """
    require_fit(stack, contexts)
    if stop_loss < 0:
        raise ValueError(f"stop_loss must be a finite number of nats >= 0, got {stop_loss}")
    if max_time > MAX_TIME:
        raise ValueError(f"max_time must be at most {MAX_TIME:g}, got {max_time}")
    start, batch = Weights.of(stack), Batch.of(contexts)
    evaluations = 0

    def downhill(_: float, theta: Array) -> Array:
        nonlocal evaluations
        evaluations += 1
        return np.asarray(-loss_and_gradient(start.like(theta), batch)[1].flat)

    def loss(theta: Array) -> float:
        return stack_loss(start.like(theta), batch)

    smallest = TOLERANCE * float(np.sqrt(np.mean(start.flat**2)) or 1.0)
    solver = LSODA(downhill, 0.0, start.flat, max_time, rtol=TOLERANCE, atol=smallest)
    path = [(0.0, start.flat, loss(start.flat))]
    while path[-1][2] > stop_loss and solver.status == "running" and evaluations < max_evaluations:
        solver.step()
        path.append((solver.t, solver.y.copy(), loss(solver.y)))
    reason = _reason(path[-1][2] > stop_loss, solver.status, max_time, evaluations)
    if not reason and len(path) > 1:
        between = solver.dense_output()
        crossing = float(
            brentq(lambda t: loss(between(t)) - stop_loss, path[-2][0], path[-1][0], xtol=1e-12, rtol=1e-12)
        )
        path[-1] = (crossing, between(crossing), loss(between(crossing)))
    found = [start.like(theta) for _, theta, _ in path]
    return GradientFlow(
        time=path[-1][0],
        times=np.array([time for time, _, _ in path]),
        losses=np.array([value for _, _, value in path]),
        attention_norms=np.array([np.sum(each.attentions**2, axis=(1, 2)) for each in found]),
        value_norms=np.array([np.sum(each.values**2, axis=(1, 2)) for each in found]),
        stack=found[-1].stack,
        reason=reason,
        residual=max(0.0, path[-1][2] - stop_loss),
        iterations=evaluations,
        converged=not reason,
    )


def _reason(above: bool, status: str, horizon: float, evaluations: int) -> str:
    """Return what stopped a flow whose loss is still above the one asked for; nothing to say otherwise."""
    if not above:
        return ""
    if status == "finished":
        return f"the loss was still higher at max_time = {horizon:g}"
    if status == "failed":
        return "the integrator found no step small enough"
    return f"the loss was still higher after {evaluations} evaluations of the gradient"
