"""Attention networks on Potts data: the first plateau, the order in which they learn, and how many samples."""

from theory.nets.ascent import (
    BestDirection,
    LearningThreshold,
    best_direction,
    learning_threshold,
    structureless_gain,
)
from theory.nets.escape import EscapeTime, PlateauRate, escape_time, plateau_rate
from theory.nets.gaussian_tokens import TokenFlow, token_flow, token_growth, token_path
from theory.nets.leading_gain import leading_gain
from theory.nets.moments import second_moments, third_moments
from theory.nets.norms import (
    ConservedQuantities,
    CorrectedGrowth,
    conserved_quantities,
    corrected_growth,
    norm_ratios,
)
from theory.nets.orders import OrderFractions, order_fractions
from theory.nets.plateaus import HighTemperatureFloors, high_temperature_floors, truncated_conditional_loss
from theory.nets.skip import FactoredFloor, LowerLayers, factored_floor, lower_layers
from theory.nets.tabulation import logits_table
from theory.nets.threshold import (
    SpectralOverlaps,
    SpectralSignal,
    SpectralThreshold,
    linear_response_signal,
    population_signal,
    spectral_overlaps,
    spectral_signal,
    spectral_threshold,
)

__all__ = [
    "BestDirection",
    "ConservedQuantities",
    "CorrectedGrowth",
    "EscapeTime",
    "FactoredFloor",
    "HighTemperatureFloors",
    "LearningThreshold",
    "LowerLayers",
    "OrderFractions",
    "PlateauRate",
    "SpectralOverlaps",
    "SpectralSignal",
    "SpectralThreshold",
    "TokenFlow",
    "best_direction",
    "conserved_quantities",
    "corrected_growth",
    "escape_time",
    "factored_floor",
    "high_temperature_floors",
    "leading_gain",
    "learning_threshold",
    "linear_response_signal",
    "logits_table",
    "lower_layers",
    "norm_ratios",
    "order_fractions",
    "plateau_rate",
    "population_signal",
    "second_moments",
    "spectral_overlaps",
    "spectral_signal",
    "spectral_threshold",
    "structureless_gain",
    "third_moments",
    "token_flow",
    "token_growth",
    "token_path",
    "truncated_conditional_loss",
]
