"""Potts models: exact results for small systems, solvable ones, and the least losses of fits."""

from theory.potts.clones import MaximumEntropyClone, maximum_entropy_clone
from theory.potts.contrasts import heteroskedasticity, ring_contrasts, ring_correlation
from theory.potts.enumeration import Enumeration, enumerate_states
from theory.potts.excess_loss import (
    ExcessLoss,
    complexity_gain,
    excess_loss_coefficient,
    recovery_error_coefficient,
)
from theory.potts.finite_mean_field import FiniteCurieWeiss, finite_curie_weiss
from theory.potts.floors import KBodyFloor, k_body_floor, masked_loss_floor, masked_loss_floors_by_site
from theory.potts.gaussian_equivalence import (
    ContrastRegression,
    contrast_regression,
    ridgeless_contrast_regression,
    ring_test_error,
)
from theory.potts.masked_clones import MaskedClone, masked_clone
from theory.potts.mean_field import (
    CurieWeiss,
    CurieWeissBranch,
    curie_weiss,
    curie_weiss_critical_beta,
    curie_weiss_jump,
    curie_weiss_latent_heat,
    curie_weiss_spinodals,
)
from theory.potts.rings import Ring, ring
from theory.potts.square_lattice import (
    onsager_energy,
    square_lattice_critical_beta,
    square_lattice_critical_energy,
)
from theory.potts.strips import Cylinder, Torus, cylinder, torus

__all__ = [
    "ContrastRegression",
    "CurieWeiss",
    "CurieWeissBranch",
    "Cylinder",
    "Enumeration",
    "ExcessLoss",
    "FiniteCurieWeiss",
    "KBodyFloor",
    "MaskedClone",
    "MaximumEntropyClone",
    "Ring",
    "Torus",
    "complexity_gain",
    "contrast_regression",
    "curie_weiss",
    "curie_weiss_critical_beta",
    "curie_weiss_jump",
    "curie_weiss_latent_heat",
    "curie_weiss_spinodals",
    "cylinder",
    "enumerate_states",
    "excess_loss_coefficient",
    "finite_curie_weiss",
    "heteroskedasticity",
    "k_body_floor",
    "masked_clone",
    "masked_loss_floor",
    "masked_loss_floors_by_site",
    "maximum_entropy_clone",
    "onsager_energy",
    "recovery_error_coefficient",
    "ridgeless_contrast_regression",
    "ring",
    "ring_contrasts",
    "ring_correlation",
    "ring_test_error",
    "square_lattice_critical_beta",
    "square_lattice_critical_energy",
    "torus",
]
