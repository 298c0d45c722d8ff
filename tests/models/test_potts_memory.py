"""Dense couplings are held once: what a record allocates beside the tensor that it is given."""

import tracemalloc

import numpy as np
import pytest

from theory.models import DensePottsModel, PottsModel

L, C = 90, 5


def couplings():
    upper = np.random.default_rng(0).standard_normal((L, L, C, C)) * np.triu(np.ones((L, L)), 1)[:, :, None, None]
    return upper + upper.transpose(1, 0, 3, 2)


def peak(function):
    """The largest number of bytes that a call allocates at a time."""
    tracemalloc.start()
    kept = function()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return most


def test_a_record_copies_its_couplings_once():
    J = couplings()
    assert peak(lambda: DensePottsModel(J)) <= 1.1 * J.nbytes  # 2.1 tensors with the given one
    kept = DensePottsModel(J)
    J[0, 1] += 1.0
    assert not np.array_equal(kept.couplings, J)


def test_other_temperatures_share_the_couplings():
    model = DensePottsModel(couplings())
    assert model.at(2.0).couplings is model.couplings
    assert peak(lambda: model.at(2.0)) <= 0.1 * model.couplings.nbytes


def test_written_out_couplings_are_built_in_place():
    J = couplings()[:, :, 0, 0]
    model = PottsModel(J + J.T, np.eye(C))
    assert peak(lambda: DensePottsModel.of(model)) <= 1.1 * couplings().nbytes


def test_a_read_only_view_is_copied_because_its_owner_can_write_to_it():
    J = couplings()
    view = J.view()
    view.setflags(write=False)
    kept = DensePottsModel(view).couplings
    assert not np.shares_memory(kept, J)


def test_the_place_of_a_number_that_is_none_is_told():
    J = couplings()
    J[3, 4, 1, 2] = np.inf
    with pytest.raises(ValueError, match=r"couplings must be finite, got inf at index \(3, 4, 1, 2\)"):
        DensePottsModel(J)
