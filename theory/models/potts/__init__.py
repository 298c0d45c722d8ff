"""Records of generalized Potts models, P(s) = exp(beta S(s))/Z: positive couplings and fields favor a state."""

from typing import TYPE_CHECKING

from theory.core.lazy import names_on_use

if TYPE_CHECKING:
    from theory.models.potts.base import Potts
    from theory.models.potts.dense import DensePottsModel
    from theory.models.potts.factored import PottsModel, SquareLatticePotts, curie_weiss
    from theory.models.potts.gauges import (
        centered,
        color_gauge,
        identifiable_colors,
        rescaled,
        shifted,
        zero_sum,
        zero_sum_blocks,
    )
    from theory.models.potts.graphs import complete_graph, random_color_couplings, random_graph, ring_graph, torus_graph
    from theory.models.potts.many_body import GroupInteraction, Interaction, ManyBodyPottsModel
    from theory.models.potts.mutations import mutation_scores
    from theory.models.potts.one_hot_contrasts import ContrastPopulation, contrasts, helmert

__all__ = [
    "ContrastPopulation",
    "DensePottsModel",
    "GroupInteraction",
    "Interaction",
    "ManyBodyPottsModel",
    "Potts",
    "PottsModel",
    "SquareLatticePotts",
    "centered",
    "color_gauge",
    "complete_graph",
    "contrasts",
    "curie_weiss",
    "helmert",
    "identifiable_colors",
    "mutation_scores",
    "random_color_couplings",
    "random_graph",
    "rescaled",
    "ring_graph",
    "shifted",
    "torus_graph",
    "zero_sum",
    "zero_sum_blocks",
]

# A type checker takes a module with these functions to have every name, and would let misspelled ones pass.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_use(__name__)
