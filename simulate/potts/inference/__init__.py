"""Learns pair models from sequences: pseudo-likelihood, mean field, factored attention, and their predictions."""

from simulate.potts.inference.factored import FactoredFit, factored_attention
from simulate.potts.inference.full import PseudoLikelihoodFit, pseudo_likelihood
from simulate.potts.inference.gaussian import MeanFieldFit, mean_field
from simulate.potts.inference.held_out import MaskedLoss, masked_loss, site_independent
from simulate.potts.inference.uncertainty import StandardErrors, standard_errors
from simulate.potts.inference.weights import sequence_weights
from theory.core.errors import FitError

__all__ = [
    "FactoredFit",
    "FitError",
    "MaskedLoss",
    "MeanFieldFit",
    "PseudoLikelihoodFit",
    "StandardErrors",
    "factored_attention",
    "masked_loss",
    "mean_field",
    "pseudo_likelihood",
    "sequence_weights",
    "site_independent",
    "standard_errors",
]
