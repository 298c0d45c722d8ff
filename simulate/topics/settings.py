"""Describes how a single layer is trained."""

from dataclasses import dataclass
from typing import Literal

from simulate.topics.documents import Concentration, length_range
from simulate.topics.layer import Keys, Loss
from theory.core import Count, NonNegative, Positive, checked_fields

OptimizerName = Literal["adam", "sgd"]
DocumentSource = Literal["sampled", "population"]


@dataclass(frozen=True, kw_only=True)
class Training:
    """Describes the training of a layer from small random weights, with `steps` steps at a constant `rate`.

    `loss` is "squared" (summed over outputs), "squared_mean" (their mean) or "cross_entropy"; each is a mean over
    selected positions. `optimizer` is "adam" (with the parameters 0.9, 0.999 and 1e-8) or "sgd", plain gradient
    descent. `documents` are freshly "sampled" ones with fresh masks at each step, or the exact "population" of
    infinitely long ones. `keys` are "all" positions or the "unselected" ones. W_K, W_Q and W_V start from normal
    entries of standard deviation `init_noise`, and the bias from 0. `length` and `concentration` are those of
    `sample_topic_documents`; `attention_dimension` d_a is the number of tokens by default. Every `record_every` steps
    the loss and the attention are recorded on `evaluated` documents, which are drawn once. Raises ValueError for other
    names and for numbers outside their range.
    """

    steps: Count
    rate: Positive
    loss: Loss = "squared"
    optimizer: OptimizerName = "adam"
    documents: DocumentSource = "sampled"
    keys: Keys = "all"
    init_noise: NonNegative = 1e-4
    batch_size: Count = 40
    length: int | tuple[int, int] = (100, 150)
    concentration: Concentration | None = None
    attention_dimension: Count | None = None
    record_every: Count = 100
    evaluated: Count = 500

    def __post_init__(self) -> None:
        checked_fields(self)  # keeps plain numbers where numpy's were given: the header of a checkpoint is JSON
        length_range(self.length)
