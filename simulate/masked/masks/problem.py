"""What is measured: masked ridge regression under a masking pattern."""

from dataclasses import dataclass

from theory.models import MaskedRidge


@dataclass(frozen=True)
class RandomMasks:
    """`ridge` with inputs masked at `mask_rate`; `n_masks` masks drawn for each sample, None for the mean over all."""

    ridge: MaskedRidge
    mask_rate: float
    n_masks: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.mask_rate < 1:
            raise ValueError(f"mask_rate must lie in [0, 1), got {self.mask_rate!r}")
        if self.n_masks is None:
            return
        count = self.n_masks
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"n_masks must be an integer of at least 1, or None, got {count!r}")
        if self.mask_rate == 0:
            raise ValueError("mask_rate must be positive where masks are drawn: none hides anything at 0")


@dataclass(frozen=True)
class SpanMask:
    """`ridge` with `length` consecutive coordinates masked together, in windows that start `step` apart."""

    ridge: MaskedRidge
    length: int
    step: int = 1

    def __post_init__(self) -> None:
        for name in ("length", "step"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
