"""Measurements on attention networks that learn Potts data: gradients, training, spectra, clones of their data."""

from simulate.core import CheckpointError, DivergenceError
from simulate.nets.clones import Clone, clone
from simulate.nets.encoder import EncoderTraining, train_encoder_on_population, train_encoder_on_sequences
from simulate.nets.flow import GradientFlow, gradient_flow
from simulate.nets.history import StackTraining
from simulate.nets.marginals import MarginalMismatch, MarginalReport, marginal_mismatches
from simulate.nets.orders import measured_orders
from simulate.nets.population import MaskedContexts, enumerated_contexts, sampled_contexts
from simulate.nets.random_scan import clone_of_stack
from simulate.nets.spectral import SpectralEstimate, spectral_estimate
from simulate.nets.stack_gradient import StackGradient, stack_gradient
from simulate.nets.tokens import token_gradients
from simulate.nets.training import train_on_population, train_on_sequences

__all__ = [
    "CheckpointError",
    "Clone",
    "DivergenceError",
    "EncoderTraining",
    "GradientFlow",
    "MarginalMismatch",
    "MarginalReport",
    "MaskedContexts",
    "SpectralEstimate",
    "StackGradient",
    "StackTraining",
    "clone",
    "clone_of_stack",
    "enumerated_contexts",
    "gradient_flow",
    "marginal_mismatches",
    "measured_orders",
    "sampled_contexts",
    "spectral_estimate",
    "stack_gradient",
    "token_gradients",
    "train_encoder_on_population",
    "train_encoder_on_sequences",
    "train_on_population",
    "train_on_sequences",
]
