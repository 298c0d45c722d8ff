"""The step from conjugates to overlaps: the Gaussian average over the weights under the ridge.

With the input covariances Omega_c and the signals s_a of the model, and the conjugates Vhat, qhat (one for each
covariance) and rhat (one for each signal), G = (ridge + sum_c Vhat_c Omega_c)^-1. The trained weights have the mean
G sum_a rhat_a s_a and the covariance G (sum_c qhat_c Omega_c) G, mode by mode where all matrices commute.
"""

from functools import singledispatch

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from theory.core.arrays import Array
from theory.glm.overlaps import Conjugates, Overlaps
from theory.glm.separable import separable_prior, separable_responses
from theory.models.glm import DenseModes, GeneralizedLinearModel, Modes


def prior(problem: GeneralizedLinearModel, Vhat: Array, qhat: Array, rhat: Array) -> tuple[Overlaps, Array]:
    """Return the overlaps, and the Gram matrix of the learners' weights over p, (learners, learners)."""
    if problem.penalty is not None:
        return separable_prior(problem, Vhat, qhat, rhat)
    return _prior(problem.modes, problem, Vhat, qhat, rhat)


@singledispatch
def _prior(modes: object, *_: object) -> tuple[Overlaps, Array]:
    raise TypeError(f"no Gaussian average over weights with modes of type {type(modes).__name__}")


@_prior.register
def _(modes: Modes, problem: GeneralizedLinearModel, Vhat: Array, qhat: Array, rhat: Array) -> tuple[Overlaps, Array]:
    if problem.n_learners > 1:
        return _coupled(modes, problem, Vhat, qhat, rhat)
    G = 1 / (problem.lam + Vhat @ modes.covariances)
    pulled = np.einsum("abm,b->am", modes.gram, rhat)  # signal a with the mean of the weights, before G
    core = (modes.weights * (qhat @ modes.covariances) + rhat @ pulled) * G * G
    V = modes.covariances @ (modes.weights * G)
    return Overlaps(V, modes.covariances @ core, pulled @ G), np.array([[core.sum()]])


def _coupled(
    modes: Modes, problem: GeneralizedLinearModel, Vhat: Array, qhat: Array, rhat: Array
) -> tuple[Overlaps, Array]:
    """Average for several learners: in each mode a matrix over learners takes the place of a number."""
    S = problem.n_learners
    learner = np.eye(S)
    of_covariance = learner[list(problem.covariance_learners)]  # (C, S)
    of_signal = learner[list(problem.signal_learners or ())].reshape(-1, S)  # (A, S)
    diagonal = np.einsum("c,cm,cs->ms", Vhat, modes.covariances, of_covariance)
    G = np.linalg.inv(problem.ridge + diagonal[:, :, None] * learner)
    noise = modes.weights[:, None] * np.einsum("c,cm,cs->ms", qhat, modes.covariances, of_covariance)
    pull = np.einsum("a,b,abm,as,bt->mst", rhat, rhat, modes.gram, of_signal, of_signal)
    core = G @ (noise[:, :, None] * learner + pull) @ G
    V = np.einsum("m,cm,cs,mss->c", modes.weights, modes.covariances, of_covariance, G)
    q = np.einsum("cm,cs,mss->c", modes.covariances, of_covariance, core)
    r = np.einsum("b,abm,as,bt,mst->a", rhat, modes.gram, of_signal, of_signal, G)
    return Overlaps(V, q, r), core.sum(axis=0)


@_prior.register
def _(
    modes: DenseModes, problem: GeneralizedLinearModel, Vhat: Array, qhat: Array, rhat: Array
) -> tuple[Overlaps, Array]:
    if problem.n_learners > 1:
        raise ValueError(f"DenseModes serve one learner, got n_learners = {problem.n_learners}; give commuting Modes")
    Omega = modes.covariances
    p = Omega.shape[1]
    factor = cho_factor(problem.lam * np.eye(p) + np.einsum("c,cij->ij", Vhat, Omega))
    G = cho_solve(factor, np.eye(p))
    mean = G @ (rhat @ modes.signals)
    core = G @ np.einsum("c,cij->ij", qhat, Omega) @ G
    V = np.einsum("cij,ij->c", Omega, G) / p
    q = (np.einsum("cij,ij->c", Omega, core) + np.einsum("i,cij,j->c", mean, Omega, mean)) / p
    return Overlaps(V, q, modes.signals @ mean / p), np.array([[(np.trace(core) + mean @ mean) / p]])


def weight_responses(problem: GeneralizedLinearModel, at: Conjugates) -> Array:
    """Return tr(Omega_c G Omega_d G)/p for all covariances c and d, (C, C): the squares of the weights' responses.

    For covariances of different learners G is its block between the two; for a separable penalty the response of a
    weight is that of its threshold.
    """
    if problem.penalty is not None:
        return separable_responses(problem, at.Vhat, at.qhat, at.rhat)
    return _weight_responses(problem.modes, problem, at.Vhat)


@singledispatch
def _weight_responses(modes: object, *_: object) -> Array:
    raise TypeError(f"no responses of weights with modes of type {type(modes).__name__}")


@_weight_responses.register
def _(modes: Modes, problem: GeneralizedLinearModel, Vhat: Array) -> Array:
    om = modes.covariances
    if problem.n_learners == 1:
        pulled = om / (problem.lam + Vhat @ om)
        return np.asarray((modes.weights * pulled) @ pulled.T)
    own = np.array(problem.covariance_learners)
    diagonal = np.einsum("c,cm,cs->ms", Vhat, om, np.eye(problem.n_learners)[own])
    G = np.linalg.inv(problem.ridge + diagonal[:, :, None] * np.eye(problem.n_learners))
    return np.asarray(np.einsum("m,cm,dm,mcd->cd", modes.weights, om, om, G[:, own[:, None], own] ** 2))


@_weight_responses.register
def _(modes: DenseModes, problem: GeneralizedLinearModel, Vhat: Array) -> Array:
    Omega = modes.covariances
    p = Omega.shape[1]
    factor = cho_factor(problem.lam * np.eye(p) + np.einsum("c,cij->ij", Vhat, Omega))
    pulled = np.stack([cho_solve(factor, one) for one in Omega])
    return np.asarray(np.einsum("cij,dji->cd", pulled, pulled) / p)
