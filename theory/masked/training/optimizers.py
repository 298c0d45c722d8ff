"""The filter of a record of training on the spectrum that it meets."""

from theory.models import Covariance, RowScales
from theory.models.row_scales import GAUSSIAN
from theory.models.training import Descent, Flow, HeavyBall, Nesterov, Training
from theory.numerics.filters import Filter, Recursion, flow_filter, polynomial_filter
from theory.random_matrix import covariance_law

LARGEST_ERROR = 1e-9  # of a filter


def filter_of(
    training: Training,
    covariance: Covariance,
    alpha: float,
    lam: float,
    rows: RowScales = GAUSSIAN,
    shrunk: tuple[float, float] = (1.0, 0.0),
) -> Filter:
    """Build the filter of a record of training, its ridges shifted by the penalty `lam`.

    `rows` is the law of the rows' scales, which must be bounded for any optimizer but the flow. The matrix that is
    trained on is `shrunk`[0] C + `shrunk`[1] for the sample covariance C. A polynomial filter needs the top of its
    limiting spectrum, and ValueError names the largest stable step where the optimizer would diverge at that top.
    """
    if isinstance(training, Flow):
        found = flow_filter(training.time)
    elif isinstance(training, Descent):
        edge = shrunk[0] * float(covariance_law(covariance, alpha, row_scales=rows).edges[-1, 1]) + shrunk[1]
        top = edge + lam
        momentum = training.momentum if isinstance(training, HeavyBall) else 0.0
        limit = (4 / 3 if isinstance(training, Nesterov) else 2 * (1 + momentum)) / top
        if training.step >= limit:
            raise ValueError(
                f"training must have a step below {limit:.6g}, where {type(training).__name__} becomes unstable: the "
                f"largest eigenvalue of the sample covariance is {edge:.6g}; got step = {training.step:g}"
            )
        residual = Recursion(training.step, training.steps, None if isinstance(training, Nesterov) else momentum)
        found = polynomial_filter(residual, top)
    else:
        raise ValueError(f"training must be Flow, Descent, HeavyBall or Nesterov here, got {training!r}")
    if not found.error <= LARGEST_ERROR:
        raise ValueError(
            f"training must be one whose filter is a sum of ridges to {LARGEST_ERROR:g}, got {training!r}, whose error "
            f"is {found.error:.2g}: take another number of steps, or a Flow of the same time"
        )
    return found.shifted(lam)
