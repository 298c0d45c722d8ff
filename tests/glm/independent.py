"""The saddle-point equations written a second time: scalar proximal operators, adaptive quadrature, no derivatives.

Averages of the response use Stein's lemma, E[P f'] = E[P z f]/sqrt(q) - (r_t/q) E[D f], where the solver uses f'.
"""

import math

import numpy as np
from scipy.integrate import quad_vec

LIMIT = 9.5


def scalar_prox(loss, t, V):
    """argmin (x - t)^2/2V + loss(x) for one number; logistic by Newton from 0, which is monotone."""
    if loss == "square":
        return (t + V) / (1 + V)
    if loss == "hinge":
        return t if t >= 1 else min(t + V, 1.0)
    if loss == "hard_margin":
        return max(t, 1.0)
    x = 0.0
    for _ in range(400):
        s = 1 / (1 + math.exp(x)) if x < 700 else 0.0
        step = (x - t - V * s) / (1 + V * s * (1 - s))
        x -= step
        if abs(step) <= 4e-16 * (1 + abs(x)):
            break
    return x


def scalar_loss(loss, x):
    """Loss of one margin."""
    if loss == "square":
        return 0.5 * (1 - x) ** 2
    if loss == "logistic":
        return math.log1p(math.exp(-abs(x))) + max(-x, 0)
    return max(1 - x, 0) if loss == "hinge" else 0.0


def label_law(cluster, q, r_t):
    """z -> [(y, P(y|z), dP/dt)] and the z at which the label turns, with its width."""
    if cluster.labels == "cluster":
        return (lambda z: [(cluster.label, 1.0, 0.0)]), []
    if cluster.labels == "random":
        return (lambda z: [(1, 0.5, 0.0), (-1, 0.5, 0.0)]), []
    tilt = r_t / math.sqrt(q)
    width = math.sqrt(cluster.teacher_variance - tilt * tilt + cluster.noise)

    def law(z):
        a = (cluster.teacher_mean + tilt * z) / width
        density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi) / width
        plus = 0.5 * math.erfc(-a / math.sqrt(2))
        return [(1, plus, density), (-1, 0.5 * math.erfc(a / math.sqrt(2)), -density)]

    middle = -cluster.teacher_mean / tilt if tilt else 0.0
    return law, [middle + k * width / abs(tilt or 1) for k in (-6, -2, 0, 2, 6)]


def cluster_integrals(cluster, loss, V, q, mean, r_t):
    """(response, square, force, teacher, loss) of one cluster with labels +-1."""
    s = math.sqrt(q)
    law, points = label_law(cluster, q, r_t)
    for y, kappa in ((1, cluster.loss_weights[0]), (-1, cluster.loss_weights[1])):
        Ve = kappa * V
        far = math.log(Ve + 1)
        bends = {"hinge": (1, 1 - Ve), "hard_margin": (1,), "logistic": (0, -Ve, far, -Ve - far)}
        points += [(y * t - mean) / s for t in bends.get(loss, ())]

    def integrand(z):
        total = np.zeros(5)
        h = mean + s * z
        for y, chance, density in law(z):
            kappa = cluster.loss_weights[0 if y == 1 else 1]
            if kappa == 0:
                continue
            x = scalar_prox(loss, y * h, kappa * V)
            f = y * (x - y * h) / V
            total += (chance * z * f, chance * f * f, chance * f, density * f, kappa * chance * scalar_loss(loss, x))
        return total * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    inside = sorted({p for p in points if -LIMIT < p < LIMIT} | {-4.0, 0.0, 4.0})
    found, _ = quad_vec(integrand, -LIMIT, LIMIT, epsabs=1e-13, epsrel=1e-10, points=inside, norm="max", limit=2000)
    pull, square, force, teacher, cost = found
    return -(pull / s - r_t / q * teacher), square, force, teacher, cost


def residual_integrals(cluster, V, q, mean, r_t):
    """Square loss with a linear teacher, in closed form."""
    center = cluster.teacher_mean - mean
    second = cluster.teacher_variance + cluster.noise + q - 2 * r_t + center**2
    return 1 / (1 + V), second / (1 + V) ** 2, center / (1 + V), 1 / (1 + V), 0.5 * second / (1 + V) ** 2


def conjugates(problem, point):
    """Vhat, qhat, rhat, the total force on each bias, and the training loss."""
    Vhat, qhat, rhat = np.zeros(len(point.V)), np.zeros(len(point.q)), np.zeros(len(point.r))
    forces, train = np.zeros(problem.n_learners), 0.0
    for cluster in problem.clusters:
        c, mean_signal, teacher_signal = cluster.covariance, cluster.mean_signal, cluster.teacher_signal
        mean = point.bias[cluster.learner] + (0 if mean_signal is None else cluster.mean_sign * point.r[mean_signal])
        r_t = 0.0 if teacher_signal is None else point.r[teacher_signal]
        arguments = float(point.V[c]), float(point.q[c]), float(mean), float(r_t)
        linear = cluster.labels == "linear"
        found = (
            residual_integrals(cluster, *arguments) if linear else cluster_integrals(cluster, problem.loss, *arguments)
        )
        response, square, force, teacher, cost = found
        share = problem.alpha * cluster.probability
        Vhat[c] += share * response
        qhat[c] += share * square
        if mean_signal is not None:
            rhat[mean_signal] += share * cluster.mean_sign * force
        if teacher_signal is not None:
            rhat[teacher_signal] += share * teacher
        forces[cluster.learner] += cluster.probability * force
        train += cluster.probability * cost
    return Vhat, qhat, rhat, forces, train


def overlaps(problem, Vhat, qhat, rhat):
    """Mode by mode, with matrices over learners even where there is one."""
    modes, S = problem.modes, problem.n_learners
    of_covariance, of_signal = problem.covariance_learners, problem.signal_learners
    V, q, r = np.zeros(len(Vhat)), np.zeros(len(qhat)), np.zeros(len(rhat))
    for i, weight in enumerate(modes.weights):
        om, gram = modes.covariances[:, i], modes.gram[:, :, i]
        inverse = problem.ridge.copy()
        noise = np.zeros((S, S))
        for c, ell in enumerate(of_covariance):
            inverse[ell, ell] += Vhat[c] * om[c]
            noise[ell, ell] += weight * qhat[c] * om[c]
        for a, ell in enumerate(of_signal):
            for b, other in enumerate(of_signal):
                noise[ell, other] += rhat[a] * rhat[b] * gram[a, b]
        G = np.linalg.inv(inverse)
        core = G @ noise @ G
        for c, ell in enumerate(of_covariance):
            V[c] += weight * om[c] * G[ell, ell]
            q[c] += om[c] * core[ell, ell]
        for a, ell in enumerate(of_signal):
            for b, other in enumerate(of_signal):
                r[a] += gram[a, b] * G[ell, other] * rhat[b]
    return V, q, r


def discrepancy(point):
    """Largest relative gap of the equations at a saddle point; biases by their force over the force's scale."""
    problem = point.problem
    Vhat, qhat, rhat, forces, train = conjugates(problem, point)
    V, q, r = overlaps(problem, Vhat, qhat, rhat)
    gaps = [abs(V / point.V - 1), abs(q / point.q - 1), abs(r - point.r) / (1 + abs(point.r))]
    if problem.bias:
        gaps.append(abs(forces) / math.sqrt(qhat.max() / problem.alpha))
    gaps.append(np.array([abs(train - point.train_loss) / (1e-3 + abs(train))]))
    return float(np.max(np.concatenate(gaps)))
