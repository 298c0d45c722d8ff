"""Which share of nonzero entries least |w|_1 recovers from noiseless linear labels."""

import math

import numpy as np
from scipy.optimize import minimize_scalar

from theory.core import OpenShare, checked
from theory.glm.soft_threshold import normal_tails

LEAST_RATIO = 1e-8  # of the threshold to the noise level; it vanishes as alpha tends to 1


@checked
def sparse_recovery_threshold(alpha: OpenShare) -> float:
    """Compute the share of nonzero weights up to which the least |w|_1 with X w = y is the teacher.

    There are n = alpha p samples x in R^p of independent normal entries and noiseless labels of a teacher whose nonzero
    entries have any symmetric law. Beyond this share the lasso of strength lam -> 0 keeps an error. With the noise
    level tau of the estimate, its risk over tau^2 tends to share (1 + a^2) + (1 - share) 2 E (z - a)_+^2 as tau -> 0,
    at the threshold a tau (`theory.glm.lasso`): the teacher is recovered where this is below alpha for some a. It is
    the phase boundary of D. L. Donoho, A. Maleki and A. Montanari, Proc. Natl. Acad. Sci. 106, 18914 (2009), who state
    it as the ratio of nonzero weights to samples (a known result that was not looked up for this project); derived here
    as above. ValueError unless 0 < alpha < 1: from one sample a weight on, linear equations have one solution.

    >>> round(sparse_recovery_threshold(0.5) / 0.5, 6)  # nonzero weights over samples
    0.38569
    """

    def share(log_a: float) -> float:
        a = math.exp(log_a)
        left = 2 * float(normal_tails(np.array(a)).square)
        return (alpha - left) / (1 + a * a - left)

    bounds = (math.log(LEAST_RATIO), math.log(2 + 2 * math.sqrt(-2 * math.log(alpha))))
    x = float(minimize_scalar(lambda x: -share(x), bounds=bounds, method="bounded", options={"xatol": 1e-8}).x)
    return share(x)
