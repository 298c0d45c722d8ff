"""The strongest interactions of a riboswitch family are the base pairs of its stems."""

from figures.potts.families import family

EXPERIMENT = family(
    "RF00162.fasta", "SAM riboswitch (RF00162), 4757 sequences of 107 sites", "; stems are runs across the diagonal"
)
