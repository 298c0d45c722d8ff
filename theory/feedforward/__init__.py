"""Feed-forward networks: narrow ones that specialize, binary ones at initialization, and the best depth of transfer."""

from theory.feedforward.initialization import Criticality, SignalFixedPoint, criticality, signal_fixed_point
from theory.feedforward.layer_map import SignalPropagation, propagate
from theory.feedforward.transfer import (
    FrozenRisk,
    SwitchingSizes,
    WarmStartRisk,
    frozen_risk,
    switching_sizes,
    warm_start_risk,
)

__all__ = [
    "Criticality",
    "FrozenRisk",
    "SignalFixedPoint",
    "SignalPropagation",
    "SwitchingSizes",
    "WarmStartRisk",
    "criticality",
    "frozen_risk",
    "propagate",
    "signal_fixed_point",
    "switching_sizes",
    "warm_start_risk",
]
