"""Draws nonlinear random features of Gaussian inputs; nothing here assumes their Gaussian equivalent."""

import numpy as np
from numpy.random import Generator

from theory.core import Array, Count, checked, checks
from theory.models.glm import RandomFeatures

BLOCK = 200  # samples whose features are made at once


def projection(kind: str, p: int, d: int, rng: Generator) -> Array:
    """Draw F (p, d) with rows of unit norm on average.

    `kind`: "gaussian" entries of variance 1/d, or "orthogonal", a Haar frame times sqrt(max(1, p/d)): the Q of a
    Gaussian matrix with the signs of R's diagonal absorbed, since QR alone does not draw from the Haar measure.
    """
    gaussian = rng.standard_normal((p, d))
    if kind == "gaussian":
        return np.asarray(gaussian / np.sqrt(d))
    q, r = np.linalg.qr(gaussian if p >= d else gaussian.T)
    frame = q * np.sign(np.diag(r))
    return np.asarray(frame * np.sqrt(p / d) if p >= d else frame.T)


def unit_teacher(d: int, rng: Generator) -> Array:
    """Draw a random direction theta (d,) with |theta|^2 = d."""
    theta = rng.standard_normal(d)
    return np.asarray(theta * np.sqrt(d) / np.linalg.norm(theta))


class FeatureTask:
    """Holds one draw of the projection and of the teacher of a `RandomFeatures` model at d inputs.

    Raises ValueError where d is so small that there is no feature.
    """

    @checked
    def __init__(self, model: RandomFeatures, d: Count, rng: Generator) -> None:
        checks.fits_in_memory("the random features", 2 * model.features_per_input * d**2)
        p = round(model.features_per_input * d)
        if p < 1:
            raise ValueError(f"features_per_input * d must round to at least 1 feature, got {p} for d = {d}")
        self.model, self.map, self.teacher = model, projection(model.projection, p, d, rng), unit_teacher(d, rng)

    @checked
    def draw(self, n: Count, rng: Generator) -> tuple[Array, Array]:
        """Draw features f(F c) - E f, (n, p), and labels (n,) with their noise."""
        checks.fits_in_memory("the random features", float(n) * (len(self.teacher) + len(self.map)))
        inputs, labels = self._drawn(n, rng)
        return self._features(inputs), labels

    @checked
    def error(self, weights: Array, n: Count, rng: Generator) -> float:
        """Estimate the error of the learner h = weights.v/sqrt(p), E (y - h)^2 or P(y h < 0), from n samples.

        A control variate reduces the noise. The learner weights.(k1 F c)/sqrt(p) with k1 = E z f(z) is linear in the
        inputs and errs on nearly the same samples; its error is known exactly, since its field and the teacher's are
        jointly normal. The difference between what this learner has on the n samples and its exact error is subtracted,
        times a slope that is fitted to the samples, which moves the mean of the estimate by O(1/n) only. An estimate of
        an error near zero may be negative by the noise that is left.
        """
        weights = checks.finite_array("weights", weights, 1)
        if len(weights) != len(self.map):
            raise ValueError(f"weights must have one entry for each of {len(self.map)} features, got {len(weights)}")
        checks.fits_in_memory("the random features", float(n) * (len(self.teacher) + len(self.map)))
        inputs, y = self._drawn(n, rng)
        readout = weights / np.sqrt(len(self.map))
        starts = range(0, n, BLOCK)  # the features of a block fit into the cache of the processor
        h = np.concatenate([self._features(inputs[start : start + BLOCK]) @ readout for start in starts])
        linear = self.model.moments[1] * (readout @ self.map)
        errors, known = self._errors(y, h), self._errors(y, inputs @ linear)
        return controlled_mean(errors, known, self._linear_error(linear))

    def _errors(self, y: Array, h: Array) -> Array:
        return np.asarray((y - h) ** 2 if self.model.labels == "linear" else y * h < 0, float)

    def _linear_error(self, v: Array) -> float:
        """Return the error of the learner v.c of the inputs, exactly."""
        teacher = self.teacher / np.sqrt(len(v))
        if self.model.labels == "linear":
            return float(1 + self.model.noise - 2 * v @ teacher + v @ v)
        return sign_error(v, teacher, self.model.noise)

    def _drawn(self, n: int, rng: Generator) -> tuple[Array, Array]:
        d = len(self.teacher)
        inputs = rng.standard_normal((n, d))
        return inputs, teacher_labels(inputs @ self.teacher / np.sqrt(d), self.model.labels, self.model.noise, rng)

    def _features(self, inputs: Array) -> Array:
        features = np.asarray(self.model.function(inputs @ self.map.T), float)
        mean = self.model.moments[0]
        return features - mean if mean else features


def controlled_mean(errors: Array, known: Array, exact: float) -> float:
    """Estimate the mean of `errors` (n,) by those of a learner on the same samples, `known`, whose mean is `exact`."""
    variance = float(np.var(known))
    if not variance > 0:  # as for an even activation, whose nearest linear learner is zero
        return float(np.mean(errors))
    slope = float(np.mean((known - known.mean()) * errors)) / variance
    return float(np.mean(errors) - slope * (np.mean(known) - exact))


def sign_error(v: Array, teacher: Array, noise: float = 0.0) -> float:
    """Return P(y h < 0) of h = v.c and y = sign(teacher.c + noise of this variance) for c standard normal, exactly."""
    size = float(np.sqrt((v @ v) * (teacher @ teacher + noise)))
    return float(np.arccos(np.clip(v @ teacher / size, -1, 1)) / np.pi) if size else 0.5


def teacher_labels(field: Array, labels: str, noise: float, rng: Generator) -> Array:
    """Return the teacher's field with Gaussian noise of variance `noise`, or the sign of it."""
    nu = field + np.sqrt(noise) * rng.standard_normal(len(field))
    return nu if labels == "linear" else np.where(nu >= 0, 1.0, -1.0)
