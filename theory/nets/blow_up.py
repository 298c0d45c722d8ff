"""The flow along the gradient of a homogeneous gain, which blows up after a finite time, and that time.

A gain S of degree D drives d theta/dt = grad S. With theta = rho y, |y| fixed, and d tau = rho^(D-2) dt the direction y
obeys an equation of its own, and the time is the integral of rho^-(D-2) over tau.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.integrate import DOP853, RK45, OdeSolver

from theory.core.arrays import Array
from theory.models import FactoredStack
from theory.nets.ascent import ascend
from theory.nets.leading_gain import LeadingGain, packed, unpacked
from theory.numerics import ConvergenceError

RTOL = 1e-7  # relative tolerance of the integration; a second one with CHECK_RTOL tells how large its error is
CHECK_RTOL = 1e-6
TAIL = 1e-10  # share of the blow-up time that is left when the integration ends
# Length of the tangential gradient, relative to the radial one, from which on an ascent goes ahead.
TANGENTIAL_SHARE = 1e-2
STATIONARY = 1e-7  # that length where the direction is final
ALIGNED_COSINE = 0.99  # cosine of the directions before and after an ascent that has found the maximum of the flow
MAX_ASCENT_STEPS = 500  # iterations at most
MAX_TIME = 1e12  # in units of the first turn of the direction
LOG_SHRINKING = 300.0  # logarithm of the factor in time at which a shrinking start counts as one that never escapes


class Flow(LeadingGain):
    """The flow of grad S from theta_0, as one of the direction y, of ln rho, and of the time t.

    The norm of y is that of weights of variance 1/L and 1/C: there S is neither tiny nor huge, whatever the degree.
    It counts the gradients, whoever asks for them, and ConvergenceError ends what takes more than `most`.
    """

    def __init__(
        self, name: str, gain: LeadingGain, stack: FactoredStack, degree: int, theta: Array, most: int
    ) -> None:
        self.name, self.gain, self.stack, self.degree = name, gain, stack, degree
        self.most, self.evaluations = most, 0
        self.log_norm = 0.5 * math.log(stack.n_layers * (stack.n_sites + stack.n_colors))
        self.norm = math.exp(self.log_norm)
        self.start = theta * (self.norm / np.linalg.norm(theta))
        self.direction = self.start

    def gradient(self, attentions: Array, values: Array) -> tuple[float, Array, Array]:
        """Return S and its derivatives, and counts."""
        self.evaluations += 1
        if self.evaluations > self.most:
            advice = "raise max_evaluations, or take fewer sequences"
            raise ConvergenceError.of(
                self.name, math.nan, math.inf, STATIONARY, self.most, status="max_iter", advice=advice
            )
        return self.gain.gradient(attentions, values)

    def gain_at(self, theta: Array) -> float:
        """Return S at a vector of weights, without counting it."""
        return self.gain.gradient(*unpacked(theta, self.stack))[0]

    def _parts(self, y: Array) -> tuple[float, Array]:
        """Return the radial rate D S/|y|^2 at y, brought to its sphere, and the tangential gradient there."""
        y = y * (self.norm / np.linalg.norm(y))
        S, by_A, by_V = self.gradient(*unpacked(y, self.stack))
        radial = self.degree * S / self.norm**2
        return radial, packed(by_A, by_V) - radial * y

    def blow_up(self, rtol: float) -> float:
        """Integrate to the end and return the blow-up time of a start on the sphere; infinite if there is none."""
        power = self.degree - 2
        radial, tangential = self._parts(self.start)
        speed = math.hypot(radial, float(np.linalg.norm(tangential)) / self.norm)
        if speed == 0:
            return math.inf

        def motion(_tau: float, x: Array) -> Array:
            radial, tangential = self._parts(x[:-2])
            return (
                np.concatenate([tangential, [radial, speed * math.exp(min(-power * x[-2], 2 * LOG_SHRINKING))]]) / speed
            )

        start = np.concatenate([self.start, [0.0, 0.0]])
        atol = np.concatenate([np.full(len(self.start), rtol * self.norm * 1e-4), [rtol, rtol * 1e-3]])
        run = DOP853(motion, 0.0, start, MAX_TIME, rtol=rtol, atol=atol)
        while run.status == "running":
            self._advance(run)
            log_rho, time, radial = run.y[-2], run.y[-1], run.f[-2]
            self.direction = run.y[:-2] * (self.norm / np.linalg.norm(run.y[:-2]))
            if radial > 0 and time > 0:
                # S still grows as the direction turns, so that no more time than this is left.
                left = math.exp(min(-power * log_rho, 2 * LOG_SHRINKING)) / (power * radial)
                if left <= TAIL * time:
                    return float(time + left) / speed
            if -power * log_rho > LOG_SHRINKING:
                break
        return math.inf

    def settle(self) -> None:
        """Follow the direction from where the blow-up left it to where it stays.

        The flow brings it near a maximum of S, and the ascent to it; one that goes far to another maximum is not taken.
        """
        turning = TANGENTIAL_SHARE
        while turning > STATIONARY:
            y = self._turned(turning)
            _, unit, _, _ = ascend(self, FactoredStack(*unpacked(y, self.stack)), MAX_ASCENT_STEPS)
            if float(unit @ y) > ALIGNED_COSINE * self.norm:
                self.direction = unit * self.norm
                return
            self.direction, turning = y, turning / 10
        self.direction = self._turned(STATIONARY)

    def _turned(self, turning: float) -> Array:
        """Return where the flow has a tangential gradient of only `turning` times the radial one."""

        def motion(_tau: float, y: Array) -> Array:
            radial, tangential = self._parts(y)
            return tangential / radial

        rtol = min(1e-3, turning / 10)
        run = RK45(motion, 0.0, self.direction, MAX_TIME, rtol=rtol, atol=rtol * self.norm * 1e-4)
        while np.linalg.norm(run.f) > turning * self.norm:
            self._advance(run)
        return np.asarray(run.y * (self.norm / np.linalg.norm(run.y)))

    def _advance(self, run: OdeSolver) -> None:
        if run.step() and run.status == "failed":
            advice = "the flow could not be followed: take another start"
            raise ConvergenceError.of(
                self.name, math.nan, math.inf, STATIONARY, run.nfev, status="diverged", advice=advice
            )


class BlowUp(NamedTuple):
    """The blow-up of the flow from a start: its logarithmic time, and the flow that has followed it to the end."""

    log_time: float  # infinite where the flow never blows up
    residual: float  # relative change of the time if the flow is integrated with ten times the tolerance
    flow: Flow


def blow_up(name: str, gain: LeadingGain, stack: FactoredStack, degree: int, tol: float, most: int) -> BlowUp:
    """Follow the flow from the weights of a stack, which must not all be zero, to its blow-up.

    ConvergenceError, which speaks for the function `name`, where two tolerances give times that differ by more than
    `tol`, and after `most` gradients.
    """
    theta = packed(stack.attentions, stack.values)
    size = float(abs(theta).max())
    theta = theta / size
    flow = Flow(name, gain, stack, degree, theta, most)
    rough, fine = flow.blow_up(CHECK_RTOL), flow.blow_up(RTOL)
    residual = abs(rough / fine - 1) if math.isfinite(fine) and math.isfinite(rough) else 0.0
    if math.isfinite(fine) != math.isfinite(rough) or residual > tol:
        gap, advice = residual or math.inf, "two integrations differ: the start is near a saddle point"
        raise ConvergenceError.of(name, fine, gap, tol, flow.evaluations, advice=advice)
    if not math.isfinite(fine):
        return BlowUp(math.inf, residual, flow)
    # Both were computed for a start of the norm that `flow` likes; time scales with the norm to the power 2 - D.
    shift = (degree - 2) * (flow.log_norm - math.log(np.linalg.norm(theta)) - math.log(size))
    return BlowUp(math.log(fine) + shift, residual, flow)
