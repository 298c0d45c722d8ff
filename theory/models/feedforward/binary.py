"""The record of deep networks with stochastic binary weights, as they are initialized."""

from dataclasses import dataclass
from typing import Annotated, Literal

from theory.core import checks
from theory.core.arguments import checked_fields
from theory.core.ranges import PositiveShare, Within

BinaryNeurons = Literal["sign", "tanh"]
MIN_BIAS_VARIANCE = 1e-300  # below it products with it are no normal numbers
MAX_BIAS_VARIANCE = 1e6  # fields of this size saturate every neuron


@dataclass(frozen=True, kw_only=True)
class BinaryNetwork:
    """A wide network whose weights are +1 or -1 at random, seen through a surrogate that can be differentiated.

    A weight W_ij has the mean M_ij. At initialization the means are independent, of mean zero and variance
    s = `mean_variance` in (0, 1]; at s = 1 they are +1 or -1 and the weights are no longer random. Biases b_i are
    independent Gaussians of variance `bias_variance`. A layer of N neurons reads the outputs f_j of N neurons below.
    `neurons` chooses the surrogate of arXiv:1902.00177:

    - "sign": neurons that are signs of their fields, averaged over the weights and over the neurons below,
      h_i = (sum_j M_ij f_j/sqrt(N) + b_i)/sqrt(1 - sum_j M_ij^2 f_j^2/N) with f = erf(h/sqrt(2)), which is the mean of
      the sign of a Gaussian field of mean h and unit variance. It is deterministic.
    - "tanh": continuous neurons f = tanh(h) whose Gaussian fields are drawn,
      h_i = sum_j M_ij f_j/sqrt(N) + b_i + e_i sqrt(sum_j (1 - M_ij^2) f_j^2/N), with a fresh e_i ~ N(0, 1) for every
      input and every layer.

    The paper leaves phi open in the place of erf(h/sqrt(2)). Its statement that the deterministic surrogate has an edge
    of chaos near s = 1 without biases is of a phi whose slope at zero is 1, such as tanh; with the probit phi above no
    initialization is critical. Its sampled surrogate has binary neurons and no edge of chaos; "tanh" above is its
    form with continuous neurons. What is said here holds for these definitions.
    ValueError for a mean variance outside (0, 1], and for a bias variance outside [0, 1e6], or positive and below
    1e-300.

    >>> BinaryNetwork(mean_variance=0.9, bias_variance=0.1)
    BinaryNetwork(mean_variance=0.9, bias_variance=0.1, neurons='sign')
    """

    mean_variance: PositiveShare
    bias_variance: Annotated[float, Within(0.0, MAX_BIAS_VARIANCE, closed=(True, True))]
    neurons: BinaryNeurons = "sign"

    def __post_init__(self) -> None:
        checked_fields(self)
        bias_variance = self.bias_variance
        if 0 < bias_variance < MIN_BIAS_VARIANCE:
            raise ValueError(
                f"bias_variance must be zero or at least {MIN_BIAS_VARIANCE:g}, got {checks.shown(bias_variance)}"
            )
