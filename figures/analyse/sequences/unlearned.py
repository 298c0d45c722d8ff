"""Says why a pair model was not learned, in the words of a reader who knows no solver."""

from simulate.potts import BoltzmannFit, FitError


def unlearned(error: Exception) -> str:
    """Say in a reader's words why the pair model was not found."""
    if isinstance(error, MemoryError):
        return "the pair model is too large for the memory; take fewer columns or a smaller alphabet"
    fit = error.fit if isinstance(error, FitError) else None
    why = f": {fit.reason}" if isinstance(fit, BoltzmannFit) else ""
    return (
        f"Boltzmann learning did not find a pair model whose samples have the family's pair covariances{why}; take "
        "fewer columns, only one subfamily, or a smaller alphabet, or --no-boltzmann, which takes the model of "
        "penalized pseudo-likelihood"
    )
