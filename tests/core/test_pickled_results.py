"""Results in pickles and copies: the same numbers, in arrays that are as frozen as they were."""

import copy
import pickle
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from simulate.masked import fit
from theory.core import Array, Result, SolverResult


@dataclass(frozen=True, eq=False, repr=False)
class Found(SolverResult):
    fixed: Array
    free: Array
    name: str = "found"

    @cached_property
    def doubled(self) -> Array:
        doubled = 2 * self.fixed
        doubled.setflags(write=False)
        return doubled


WAYS = {
    "pickle": lambda result: pickle.loads(pickle.dumps(result)),
    "first protocol": lambda result: pickle.loads(pickle.dumps(result, 2)),
    "deep copy": copy.deepcopy,
    "copy": copy.copy,
}


def found():
    fixed = np.arange(3.0)
    fixed.setflags(write=False)
    result = Found(fixed, np.ones(2), residual=1e-12, iterations=3, converged=True)
    assert result.doubled[2] == 4
    return result


@pytest.mark.parametrize("way", WAYS)
def test_arrays_that_nobody_can_write_to_stay_so(way):
    first = found()
    again = WAYS[way](first)
    for name in ("fixed", "doubled"):
        array = getattr(again, name)
        assert array.tolist() == getattr(first, name).tolist()
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    again.free[0] = 2.0  # as it was
    assert (again.residual, again.iterations, again.converged, again.name) == (1e-12, 3, True, "found")
    assert vars(again).keys() == vars(first).keys()
    assert repr(again)[:20] == repr(first)[:20]


def test_fits_come_back_from_another_process_as_frozen_as_they_went():
    X = np.random.default_rng(0).standard_normal((20, 4))
    first = fit(X, lam=0.1)
    frozen = {
        name for name, value in vars(first).items() if isinstance(value, np.ndarray) and not value.flags.writeable
    }
    assert frozen
    again = pickle.loads(pickle.dumps(first))
    for name in frozen:
        assert not getattr(again, name).flags.writeable
        assert getattr(again, name).tolist() == getattr(first, name).tolist()


def test_pickles_of_before_are_read():
    state = dict(vars(Result(residual=0.5)))
    result = Result.__new__(Result)
    result.__setstate__(state)
    assert result.residual == 0.5
