"""Generalized Potts models, measured: samplers with their evidence, inference, factored attention.

Names are loaded when first used: compiled kernels would make every import slow.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "sampling": ("sample",),
    "chains": ("Chains", "MixingError"),
    "tempering": ("TemperedDynamics", "temper_ladder"),
    "diagnostics": ("autocorrelation_time", "diagnose", "effective_sample_size", "split_r_hat"),
    "checkpoint": ("CheckpointError",),
    "dynamics": ("make_dynamics",),
    "inference": (
        "factored_attention",
        "masked_loss",
        "mean_field",
        "pseudo_likelihood",
        "sequence_weights",
        "site_independent",
        "standard_errors",
    ),
    "inference.recovery": ("full_recovery_error", "matched_scale", "recovery_error"),
    "attention": ("AttentionLayer", "loss_and_gradient", "masked_inputs", "masked_language_model_loss"),
    "training": ("Training", "train"),
    "contrasts": ("ContrastFit", "fit_contrasts", "fit_gaussian"),
    "ring": ("sample_ring",),
}
_ROOM = {name: room for room, names in _HOMES.items() for name in names}


__all__ = sorted(_ROOM)


def __getattr__(name: str) -> Any:
    """A public name from its room."""
    if name in _ROOM:
        return getattr(import_module(f"simulate.potts.{_ROOM[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
