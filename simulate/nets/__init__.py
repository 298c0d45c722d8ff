"""Measurements on factored stacks that learn Potts data: gradients by hand, gradient flow, training, spectra."""

from simulate.core import CheckpointError, DivergenceError
from simulate.nets.flow import GradientFlow, gradient_flow
from simulate.nets.history import StackTraining
from simulate.nets.orders import measured_orders
from simulate.nets.population import MaskedContexts, enumerated_contexts, sampled_contexts
from simulate.nets.spectral import SpectralEstimate, spectral_estimate
from simulate.nets.stack_gradient import StackGradient, stack_gradient
from simulate.nets.training import train_on_population, train_on_sequences

__all__ = [
    "CheckpointError",
    "DivergenceError",
    "GradientFlow",
    "MaskedContexts",
    "SpectralEstimate",
    "StackGradient",
    "StackTraining",
    "enumerated_contexts",
    "gradient_flow",
    "measured_orders",
    "sampled_contexts",
    "spectral_estimate",
    "stack_gradient",
    "train_on_population",
    "train_on_sequences",
]
