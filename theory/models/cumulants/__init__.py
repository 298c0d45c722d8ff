"""Records of data whose only structure is a direction hidden in cumulants beyond the second."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.models.cumulants.latent import AtomicLatent
    from theory.models.cumulants.spiked_cumulant import Prior, SpikedCumulant
    from theory.models.cumulants.spiked_wishart import SpikedWishart

__all__ = ["AtomicLatent", "Prior", "SpikedCumulant", "SpikedWishart"]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
