"""New sequences from the pair model of a user's family, compared with the family in what a biologist checks first."""

from figures.analyse.sequences.generation.comparison import Comparison, compared
from figures.analyse.sequences.generation.learning import learner
from figures.analyse.sequences.generation.make import Generation, generated, pair_clone
from figures.analyse.sequences.generation.output import generation_frame, generation_results, sequence_file
from figures.analyse.sequences.generation.sentences import generation_sentences

__all__ = [
    "Comparison",
    "Generation",
    "compared",
    "generated",
    "generation_frame",
    "generation_results",
    "generation_sentences",
    "learner",
    "pair_clone",
    "sequence_file",
]
