"""Interactions as lists: the groups that every site belongs to, and classes of sites that share no group."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from theory.core.arrays import Array
from theory.models import Interaction, ManyBodyPottsModel, PottsModel

Integers = NDArray[np.int64]


class Groups(NamedTuple):
    """Lists the interactions of every site.

    Site i has the entries first[i], ..., first[i + 1] - 1, and entry e adds strengths[e] * rows[row, a] to z_ia, the
    score of color a at site i. Here row = tables[e] + the number that has the colors s_j, s_k, ... of the other sites
    of the group as digits to the base C; these sites are others[others_first[e] : others_first[e + 1]].
    """

    first: Integers  # (L + 1,)
    strengths: Array  # (E,)
    tables: Integers  # (E,)
    others_first: Integers  # (E + 1,)
    others: Integers
    rows: Array  # (rows, C), the tensors of colors below each other


def groups_of(model: PottsModel | ManyBodyPottsModel) -> Groups:
    """Make the lists of a model, in which a group of k sites has k entries, one at each of its sites."""
    return _pairs(model) if isinstance(model, PottsModel) else _many_body(model)


def coloring(groups: Groups) -> list[Integers]:
    """Divide the sites into classes of which no two share a group.

    Each site, those with most neighbors first, is put into the first class in which it has no neighbor.
    """
    n_sites = len(groups.first) - 1
    ends = groups.others_first[groups.first]
    classes = np.full(n_sites, -1)
    # A site with many neighbors leaves few classes open to itself; taken early it finds most of them still empty.
    for i in np.argsort(-np.diff(ends), kind="stable"):
        taken = set(classes[groups.others[ends[i] : ends[i + 1]]].tolist())
        classes[i] = next(color for color in range(n_sites) if color not in taken)
    return [np.flatnonzero(classes == color) for color in range(int(classes.max()) + 1)]


def _pairs(model: PottsModel) -> Groups:
    J = sparse.csr_array(model.site_couplings)
    n_entries = len(J.data)
    return Groups(
        first=J.indptr.astype(np.int64),
        strengths=np.array(J.data, dtype=float),
        tables=np.zeros(n_entries, dtype=np.int64),
        others_first=np.arange(n_entries + 1, dtype=np.int64),
        others=J.indices.astype(np.int64),
        rows=np.array(model.color_couplings, order="C"),
    )


def _many_body(model: ManyBodyPottsModel) -> Groups:
    sites, strengths, tables, lengths, others, rows = [], [], [], [], [], []
    table = 0
    for each in model.interactions:
        shared = isinstance(each, Interaction)
        for place in range(each.order):
            sites.append(each.sites[:, place])
            others.append(np.delete(each.sites, place, axis=1))
            strengths.append(each.strengths)
            lengths.append(np.full(len(each.sites), each.order - 1))
            if place == 0 or not shared:  # a symmetric tensor looks the same from all of its sites
                own = each.colors if shared else np.moveaxis(each.colors, 1 + place, -1)
                rows.append(own.reshape(-1, model.n_colors))
                first, table = table, table + len(rows[-1])
            height = 0 if shared else model.n_colors ** (each.order - 1)
            tables.append(first + height * np.arange(len(each.sites)))
    # Entries were made interaction by interaction, and a sweep reads them site by site.
    order = np.argsort(np.concatenate(sites), kind="stable")
    flat = [row for part in others for row in part]
    return Groups(
        first=_starts(np.bincount(np.concatenate(sites), minlength=model.n_sites)),
        strengths=np.concatenate(strengths)[order],
        tables=np.concatenate(tables).astype(np.int64)[order],
        others_first=_starts(np.concatenate(lengths)[order]),
        others=np.concatenate([flat[e] for e in order]).astype(np.int64),
        rows=np.concatenate(rows),
    )


def _starts(counts: Any) -> Integers:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
