"""Feed-forward networks: narrow ones that specialize, binary ones at initialization, and the best depth of transfer."""

from theory.feedforward.initialization import (
    Criticality,
    SignalFixedPoint,
    critical_mean_variance,
    criticality,
    signal_fixed_point,
)
from theory.feedforward.layer_map import SignalPropagation, propagate
from theory.feedforward.narrow_activation import ActivationKernel, activation_kernel
from theory.feedforward.narrow_bayes import NarrowCurve, NarrowOptimum, bayes_curve, bayes_optimal, stable_states
from theory.feedforward.narrow_ground import GroundState, ground_state
from theory.feedforward.narrow_specialization import Specialization, specialization
from theory.feedforward.narrow_tempered import TemperedOrders, tempered_orders
from theory.feedforward.transfer import (
    FrozenRisk,
    SwitchingSizes,
    WarmStartRisk,
    frozen_risk,
    switching_sizes,
    warm_start_risk,
)

__all__ = [
    "ActivationKernel",
    "Criticality",
    "FrozenRisk",
    "GroundState",
    "NarrowCurve",
    "NarrowOptimum",
    "SignalFixedPoint",
    "SignalPropagation",
    "Specialization",
    "SwitchingSizes",
    "TemperedOrders",
    "WarmStartRisk",
    "activation_kernel",
    "bayes_curve",
    "bayes_optimal",
    "critical_mean_variance",
    "criticality",
    "frozen_risk",
    "ground_state",
    "propagate",
    "signal_fixed_point",
    "specialization",
    "stable_states",
    "switching_sizes",
    "tempered_orders",
    "warm_start_risk",
]
