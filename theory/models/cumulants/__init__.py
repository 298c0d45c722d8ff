"""Records of data whose only structure is a direction hidden in cumulants beyond the second."""

from theory.models.cumulants.latent import AtomicLatent
from theory.models.cumulants.spiked_cumulant import Prior, SpikedCumulant
from theory.models.cumulants.spiked_wishart import SpikedWishart

__all__ = ["AtomicLatent", "Prior", "SpikedCumulant", "SpikedWishart"]
