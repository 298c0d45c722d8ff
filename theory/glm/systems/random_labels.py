"""Random labels: no signal, only the spectrum of the inputs."""

from theory.glm.systems.registry import as_problem
from theory.models.glm import Cluster, GeneralizedLinearModel, Modes, RandomLabels


@as_problem.register
def _(model: RandomLabels) -> GeneralizedLinearModel:
    spectrum = model.covariance.spectrum
    modes = Modes(spectrum.weights, spectrum.eigenvalues[None])
    return GeneralizedLinearModel(
        modes=modes, clusters=[Cluster(labels="random")], alpha=model.alpha, loss=model.loss, lam=model.lam
    )
