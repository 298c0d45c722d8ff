"""Says why a pair model was not learned, in the words of a reader who knows no solver."""

from simulate.potts import BoltzmannFit, FitError, MixingError


def unlearned(error: Exception) -> str:
    """Say in a reader's words why the pair model was not found."""
    if isinstance(error, MemoryError):
        return "the pair model is too large for the memory; take fewer columns or a smaller alphabet"
    if isinstance(error, ValueError):
        return f"there is no pair model to be learned ({error})"
    fit = error.fit if isinstance(error, FitError) else None
    why = f": {fit.reason}" if isinstance(fit, BoltzmannFit) else ""
    return (
        f"Boltzmann learning did not find a pair model whose samples have the family's pair covariances{why}; take "
        "fewer columns, only one subfamily, or a smaller alphabet, or --no-boltzmann, which takes the model of "
        "penalized pseudo-likelihood"
    )


def unmixed(error: MixingError, *, learned: bool) -> str:
    """Say in a reader's words why a pair model cannot be sampled; `learned` by Boltzmann learning."""
    other = "" if learned else "learn the model by --boltzmann, a stronger penalty of the couplings (--l2), "
    return (
        "chains that started from the family and from independent columns had not come to agree after "
        f"{error.sweeps} passes over all sites, so that the sequences would be no fair sample of the model; try {other}"
        "fewer columns or only one subfamily"
    )


def reason_of_learning(error: Exception) -> str:
    """Say in a reader's words why there are no sequences of a model of Boltzmann learning."""
    return unmixed(error, learned=True) if isinstance(error, MixingError) else unlearned(error)
