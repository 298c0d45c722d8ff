"""Pair models learned from sequences: pseudo-likelihood, mean field, factored attention, and how well they predict."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simulate.potts.inference.factored import FactoredFit, factored_attention
    from simulate.potts.inference.full import PseudoLikelihoodFit, pseudo_likelihood
    from simulate.potts.inference.gaussian import MeanFieldFit, mean_field
    from simulate.potts.inference.held_out import MaskedLoss, masked_loss, site_independent
    from simulate.potts.inference.minimize import FitError
    from simulate.potts.inference.uncertainty import StandardErrors, standard_errors
    from simulate.potts.inference.weights import sequence_weights

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

_ROOMS = {
    "FactoredFit": "factored",
    "factored_attention": "factored",
    "PseudoLikelihoodFit": "full",
    "pseudo_likelihood": "full",
    "MeanFieldFit": "gaussian",
    "mean_field": "gaussian",
    "MaskedLoss": "held_out",
    "masked_loss": "held_out",
    "site_independent": "held_out",
    "FitError": "minimize",
    "StandardErrors": "uncertainty",
    "standard_errors": "uncertainty",
    "sequence_weights": "weights",
}


def __getattr__(name: str) -> Any:
    """Loaded when first used: the compiled kernels take a second to import. No room has the name of a function."""
    if name in _ROOMS:
        return getattr(import_module(f"simulate.potts.inference.{_ROOMS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
