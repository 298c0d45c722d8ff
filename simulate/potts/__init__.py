"""Measurements on generalized Potts models: samplers that check whether they have mixed, inference, and attention."""

from simulate.core import CheckpointError
from simulate.core.diagnostics import autocorrelation_time, diagnose, effective_sample_size, split_r_hat
from simulate.core.mixing import MixingError
from simulate.potts.attention import AttentionLayer, loss_and_gradient, masked_inputs, masked_language_model_loss
from simulate.potts.boltzmann import Agreement, BoltzmannFit, boltzmann_learning, covariance_agreement
from simulate.potts.chains import Chains
from simulate.potts.contrasts import ContrastFit, fit_contrasts, fit_gaussian
from simulate.potts.dynamics import make_dynamics
from simulate.potts.inference import (
    FitError,
    factored_attention,
    masked_loss,
    mean_field,
    pseudo_likelihood,
    sequence_weights,
    site_independent,
    standard_errors,
)
from simulate.potts.inference.recovery import full_recovery_error, matched_scale, recovery_error
from simulate.potts.ring import sample_ring
from simulate.potts.sampling import sample
from simulate.potts.tempering import TemperedDynamics, temper_ladder
from simulate.potts.training import Training, train

__all__ = [
    "Agreement",
    "AttentionLayer",
    "BoltzmannFit",
    "Chains",
    "CheckpointError",
    "ContrastFit",
    "FitError",
    "MixingError",
    "TemperedDynamics",
    "Training",
    "autocorrelation_time",
    "boltzmann_learning",
    "covariance_agreement",
    "diagnose",
    "effective_sample_size",
    "factored_attention",
    "fit_contrasts",
    "fit_gaussian",
    "full_recovery_error",
    "loss_and_gradient",
    "make_dynamics",
    "masked_inputs",
    "masked_language_model_loss",
    "masked_loss",
    "matched_scale",
    "mean_field",
    "pseudo_likelihood",
    "recovery_error",
    "sample",
    "sample_ring",
    "sequence_weights",
    "site_independent",
    "split_r_hat",
    "standard_errors",
    "temper_ladder",
    "train",
]
