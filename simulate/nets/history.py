"""What is measured along the training of a stack, and the law of norms in the form that holds for finite steps."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from theory.core import Array, DataFrame, Result, table
from theory.models import FactoredStack


@dataclass(frozen=True, eq=False, repr=False)
class StackTraining(Result):
    """The course of a training of N layers, measured after `steps` (T,) steps, and the `stack` at its end.

    `losses` (T,) are masked losses in nats. `attention_norms` and `value_norms` (T, N) are the squared Frobenius norms
    |A_l|^2 and |V_l|^2. `attention_steps` and `value_steps` (T, N) are the sums of the squared norms of all steps until
    then, which are rate^2 |gradient|^2 for plain gradients. `displacements` (T, N) are the mean square displacements
    |A_l(t) - A_l(0)|^2/L + |V_l(t) - V_l(0)|^2/C. `orders` (T, L) are the shares of interactions with 0, 1, ... other
    sites in the logits, or None unless they were asked for. A training runs for the steps that were asked for and is
    not meant to end at a minimum, so it has no residual.
    """

    stack: FactoredStack = field(repr=False)
    steps: NDArray[np.int64]
    losses: Array
    attention_norms: Array
    value_norms: Array
    attention_steps: Array
    value_steps: Array
    displacements: Array
    orders: Array | None

    @property
    def attention_growth(self) -> Array:
        """The growth |A_l(t)|^2 - |A_l(0)|^2 without the squares of the steps, (T, N).

        A step g of gradient descent changes |A|^2 by -2 rate <A, g> + rate^2 |g|^2. The first term alone obeys the
        symmetry of the network: it is 2^(N-l) times as large in layer l as in the last one, whatever the batches and
        the rate, so that the same ratios hold here exactly. Under the optimizer Adam they do not. Needs a measurement
        at step 0, the first one.
        """
        return np.asarray(self.attention_norms - self.attention_norms[0] - self.attention_steps)

    @property
    def value_growth(self) -> Array:
        """The same of the value matrices, |V_l(t)|^2 - |V_l(0)|^2 without the squares of the steps, (T, N)."""
        return np.asarray(self.value_norms - self.value_norms[0] - self.value_steps)

    def to_frame(self) -> DataFrame:
        """Return a table with a row for each measurement, layers counted from 1; needs pandas."""
        columns = {"step": self.steps, "loss": self.losses}
        for name in ("attention_norms", "value_norms", "displacements"):
            values = getattr(self, name)
            columns |= {f"{name.removesuffix('s')}_{layer + 1}": values[:, layer] for layer in range(values.shape[1])}
        if self.orders is not None:
            columns |= {f"order_{order}": self.orders[:, order] for order in range(self.orders.shape[1])}
        return table(**columns)
