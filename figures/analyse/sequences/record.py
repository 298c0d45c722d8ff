"""What the analysis of sequences found."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from figures.analyse.record import Analysis
from figures.analyse.sequences.evidence import Evidence
from figures.analyse.sequences.generation import Generation
from figures.analyse.sequences.models.record import SequenceModel
from figures.analyse.sequences.mutations.record import Wanted
from figures.analyse.sequences.pairs.contacts import Contacts
from figures.analyse.sequences.pairs.false_discoveries import FALSE_DISCOVERIES
from figures.analyse.sequences.pairs.precision import ABOVE_LIMIT, LOW_Q, Precision, precisions
from figures.analyse.sequences.reference import Reference
from figures.analyse.sequences.scores import Pair
from figures.analyse.sequences.tasks import Settings
from figures.analyse.sequences.whole_fit import WholeFit
from figures.core import DataFrame
from simulate.core import Estimate
from simulate.nets import Clone
from theory.core.arrays import Array


@dataclass(frozen=True, eq=False, repr=False)
class SequenceAnalysis(Analysis):
    """A pair model of M sequences at L sites, learned by pseudo-likelihood.

    Losses are -log probabilities of masked sites, each given all others, in nats per site.
    """

    n_sequences: int
    n_sites: int
    tokens: tuple[str, ...]
    columns: NDArray[np.int64] = field(repr=False)  # (L,) places of the sites in the file, from 1
    effective_number: float
    n_clusters: int  # clusters of sequences that resemble each other
    identity: float | None  # share of equal sites from which they do; None: each sequence is a cluster
    sizes: tuple[int, ...]  # numbers of training sequences
    held_out: int
    pair_loss: tuple[Estimate, ...]  # at each size
    independent_loss: tuple[Estimate, ...]
    gain: tuple[Estimate, ...]  # their difference, sequence by sequence
    scores: Array = field(repr=False)  # (L, L) average-product corrected
    norms: Array = field(repr=False)  # (L, L), without that correction
    pairs: list[Pair] = field(repr=False)  # ranked
    min_separation: int
    is_default_separation: bool  # not chosen by the user
    nearer: list[Pair] = field(repr=False)  # pairs below the separation, the strongest first
    evidence: Evidence  # what noise scores, and how many ranked pairs lie above
    weights: Array = field(repr=False)  # (M,) how much each sequence counts
    clusters: NDArray[np.int64] = field(repr=False)  # (M,) numbers of the clusters, from 0
    commonest: NDArray[np.int64] = field(repr=False)  # (L,) the color with the largest weight at each site
    clones: tuple[Clone, ...] = field(default=(), repr=False)
    generation: Generation | None = field(default=None, repr=False)
    reference: Reference | None = None  # whose residues the sites are, for the user's numbers
    settings: Settings | None = field(default=None, repr=False)  # of the fits: the penalties
    asked: Wanted | None = field(default=None, repr=False)  # of the model: its file and the mutations
    model: SequenceModel | None = field(default=None, repr=False)  # of all sequences, where it is asked for
    names: tuple[str, ...] = field(default=(), repr=False)  # (M,) of the records; none where some were left out
    sites: DataFrame | None = field(default=None, repr=False)  # one line for each column of the file
    contacts: Contacts | None = field(default=None, repr=False)  # known ones, to compare with
    whole_fit: WholeFit | None = field(default=None, repr=False)  # of all sequences, where its couplings are needed

    @property
    def n_colors(self) -> int:
        """The number of colors C, one for each token."""
        return len(self.tokens)

    @property
    def precision(self) -> list[Precision]:
        """The shares of contacts among the highest pairs; none where no contacts are known."""
        if self.contacts is None:
            return []
        sets = {ABOVE_LIMIT: self.evidence.count, LOW_Q: self.evidence.at_most(FALSE_DISCOVERIES)}
        return precisions(self.pairs, self.contacts, self.n_sites, sets)

    @property
    def is_evidence(self) -> bool:
        """Whether at least one ranked pair scores higher than noise does."""
        return self.evidence.count > 0

    @property
    def gains(self) -> bool:
        """Whether pairs help to predict held-out sequences, by more than two standard errors, and beat guessing."""
        gain, loss = self.gain[-1], self.pair_loss[-1]
        return gain.mean > 2 * gain.stderr and loss.mean < math.log(self.n_colors)

    def label(self, pair: Pair) -> str:
        """Name both sites of a pair by their places in the file."""
        return label(self.columns, pair)

    def residues(self, pair: Pair) -> str:
        """Name both sites of a pair by the residues of the reference sequence; an empty string without one."""
        of = self.reference
        return "" if of is None else f"{of.residue(pair.i)}-{of.residue(pair.j)}"

    def letters(self, pair: Pair) -> str:
        """Name the two colors that favor each other most."""
        return f"{self.tokens[pair.colors[0]]}-{self.tokens[pair.colors[1]]}"


def label(columns: NDArray[np.int64], pair: Pair) -> str:
    """Name both sites of a pair by their places in the file."""
    return f"{columns[pair.i]}-{columns[pair.j]}"
