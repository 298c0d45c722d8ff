"""The record of deep networks with stochastic binary weights, as they are initialized."""

from dataclasses import dataclass
from typing import Annotated, Literal

from theory.core import PositiveShare, Within, checked_fields, checks

BinaryNeurons = Literal["sign", "tanh"]
MeanSign = Literal["erf", "tanh"]
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
      h_i = (sum_j M_ij f_j/sqrt(N) + b_i)/sqrt(1 - sum_j M_ij^2 f_j^2/N) with f = phi(h). It is deterministic. The mean
      of the sign of a Gaussian field of mean h and unit variance is erf(h/sqrt(2)), which is `phi="erf"`, the probit;
      `phi="tanh"` puts tanh(h) in its place.
    - "tanh": continuous neurons f = tanh(h) whose Gaussian fields are drawn,
      h_i = sum_j M_ij f_j/sqrt(N) + b_i + e_i sqrt(sum_j (1 - M_ij^2) f_j^2/N), with a fresh e_i ~ N(0, 1) for every
      input and every layer.

    The paper leaves phi open. Its statement that the deterministic surrogate has an edge of chaos near s = 1 without
    biases is of a phi whose slope at zero is 1, such as tanh; with the probit no initialization is critical. Its
    sampled surrogate has binary neurons and no edge of chaos; `neurons="tanh"` is its form with continuous neurons.
    What is said here holds for these definitions.
    ValueError for a mean variance outside (0, 1], for a bias variance outside [0, 1e6], or positive and below 1e-300,
    and for another phi than "erf" with neurons that are no signs, which do not read it.

    >>> BinaryNetwork(mean_variance=0.9, bias_variance=0.1)
    BinaryNetwork(mean_variance=0.9, bias_variance=0.1, neurons='sign', phi='erf')
    """

    mean_variance: PositiveShare
    bias_variance: Annotated[float, Within(0.0, MAX_BIAS_VARIANCE, closed=(True, True))]
    neurons: BinaryNeurons = "sign"
    phi: MeanSign = "erf"

    def __post_init__(self) -> None:
        checked_fields(self)
        if self.neurons != "sign" and self.phi != "erf":
            raise ValueError(f"phi must be 'erf' unless neurons is 'sign', got {self.phi!r} with {self.neurons!r}")
        bias_variance = self.bias_variance
        if 0 < bias_variance < MIN_BIAS_VARIANCE:
            raise ValueError(
                f"bias_variance must be zero or at least {MIN_BIAS_VARIANCE:g}, got {checks.shown(bias_variance)}"
            )
