"""Feed-forward networks: narrow ones that specialize, binary ones at initialization, and the best depth of transfer."""

from theory.feedforward.narrow_activation import ActivationKernel, activation_kernel
from theory.feedforward.narrow_bayes import NarrowCurve, NarrowOptimum, bayes_curve, bayes_optimal, stable_states
from theory.feedforward.narrow_specialization import Specialization, specialization
from theory.feedforward.narrow_tempered import TemperedOrders, tempered_orders

__all__ = [
    "ActivationKernel",
    "NarrowCurve",
    "NarrowOptimum",
    "Specialization",
    "TemperedOrders",
    "activation_kernel",
    "bayes_curve",
    "bayes_optimal",
    "specialization",
    "stable_states",
    "tempered_orders",
]
