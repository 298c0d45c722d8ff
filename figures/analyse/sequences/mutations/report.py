"""Says in words how well scores of mutations follow measured values."""

from figures.analyse.sequences.mutations.compare import MutationComparison
from figures.analyse.sequences.mutations.scores import Mutations
from figures.analyse.wording import counted


def mutation_sentences(mutations: Mutations, comparison: MutationComparison | None, name: str) -> list[str]:
    """Say what the scores are, and which of the two models follows the measured values more closely."""
    scores = (
        f"Mutations: {counted(len(mutations), 'substitution')} of {name} are scored by log P(mutant) - log P({name}), "
        "in the pair model and in the model of sites alone; above 0 the mutant is the likelier one. A model of a "
        "family knows what the family kept, for whatever reason, not how well a molecule folds or works."
    )
    return [scores] if comparison is None else [scores, *_compared(comparison)]


def _compared(found: MutationComparison) -> list[str]:
    low, high = found.difference_interval
    if low > 0:
        verdict = "the pair model follows the measured values more closely"
    elif high < 0:
        verdict = "sites alone follow the measured values more closely"
    else:
        verdict = "these values do not tell which of the two follows them more closely"
    against = (
        " Both coefficients are below 0: if a small measured value means a fit mutant, change the sign to read them."
        if max(found.pair, found.site) < 0
        else ""
    )
    return [
        f"Spearman's rank correlation with {found.column!r}, measured for {counted(found.n_mutations, 'mutation')} at "
        f"{counted(found.n_residues, 'residue')}: {_number(found.pair, found.pair_interval)} for the pair model and "
        f"{_number(found.site, found.site_interval)} for sites alone. The difference is "
        f"{_number(found.difference, found.difference_interval)}: {verdict}. In brackets are {100 * found.level:.0f} % "
        f"intervals, by a bootstrap that draws whole residues.{against}",
        *(f"Note: {note}." for note in found.notes),
    ]


def _number(value: float, interval: tuple[float, float]) -> str:
    return f"{value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"
