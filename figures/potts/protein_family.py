"""A protein family: how much pairs of sites help to predict a masked residue, and which pairs."""

from figures.potts.families import family

EXPERIMENT = family("DHFR.a2m", "Dihydrofolate reductase, 3629 sequences of 171 sites", ", gaps left out")
