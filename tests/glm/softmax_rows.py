"""The prox of the cross entropy at single fields: what its averages over fields minimize on the way."""

import numpy as np

from theory.glm.multiclass import channel
from theory.glm.multiclass.softmax_sums import softmax_sums


def prox_rows(h, inverse, label, prox):
    """Write the prox of every row of h (N, D), in differences, to `prox` (N, D), where the search starts."""
    N, D = h.shape
    sums = np.zeros(D), np.zeros((D, D)), np.zeros((D, D))
    softmax_sums(h, np.ones(N), np.zeros(D), np.eye(D), inverse, label, prox, *sums)


def softmax_prox(h, V, label, basis):
    """Return argmin_x (x - h)^T V^-1 (x - h)/2 - log softmax(basis^T x)[label] for rows h (N, D)."""
    found = channel.Progress()
    channel.softmax_averages(np.zeros(len(V)), V, np.eye(len(V)), label, basis, (h, np.ones(len(h))), found)
    return np.linalg.solve((basis[:, :-1] - basis[:, -1:]).T, found.prox[label].T).T
