"""Records in pickles and copies: what nobody could write to before, nobody can write to after."""

import copy
import dataclasses
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from scipy import sparse

from tests.method_examples import examples
from theory import models
from theory.core.read_only import marked, unmarked

ROWS = models.GivenRows(np.eye(2))
TRIPLETS = models.Interaction([[0, 1, 2]], [0.5], np.ones((2, 2, 2)))
OTHERS = [  # that no method has as an example
    models.PottsModel(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]), np.eye(2)),
    models.ManyBodyPottsModel(3, [TRIPLETS]),
    models.MaskedRidge(models.Diagonal([1.0, 2.0]), 2.0, 0.1),
    models.GaussianCovariateModel(covariance=np.eye(2), signal=[1.0, 0.0], power=1.0, alpha=2.0, lam=0.1),
    models.SpikedData(models.AR1(2, 0.5), [1.0, 0.0], strength=2.0, alpha=2.0, lam=0.1),
]


def by_joblib(record: Any, folder: Path) -> Any:
    joblib.dump(record, folder / "record")
    return joblib.load(folder / "record")


WAYS = {
    "pickle": lambda record, _: pickle.loads(pickle.dumps(record, 4)),  # later protocols keep it of arrays themselves
    "deep copy": lambda record, _: copy.deepcopy(record),
    "joblib": by_joblib,
}


def records() -> list[Any]:
    """Every record among the examples of methods, and some more, as they are after a use."""
    owners = [getattr(getattr(one.function, "__wrapped__", None), "__self__", None) for one in examples().values()]
    found = [one for one in (*owners, *OTHERS) if dataclasses.is_dataclass(one) and not isinstance(one, type)]
    return list({type(one): one for one in found}.values()) + OTHERS


def read_only(value: Any, path: str = "") -> Iterator[str]:
    """The places within a value of all arrays that nobody can write to."""
    if isinstance(value, np.ndarray):
        yield from [] if value.flags.writeable else [path]
    elif sparse.issparse(value):
        yield from (f"{path}.{part}" for part in ("data", "indices") if not getattr(value, part).flags.writeable)
    elif isinstance(value, tuple | list):
        for i, one in enumerate(value):
            yield from read_only(one, f"{path}[{i}]")
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from read_only(getattr(value, field.name), f"{path}.{field.name}")


@pytest.mark.parametrize("way", WAYS)
def test_arrays_of_records_stay_read_only(way, tmp_path):
    compared = 0
    for record in records():
        before = list(read_only(record))
        try:
            again = WAYS[way](record, tmp_path)
        except (AttributeError, pickle.PicklingError):  # lambdas among the examples cannot be pickled
            assert way != "deep copy"
            continue
        assert list(read_only(again)) == before, type(record)
        compared += len(before)
    assert compared > 50


def test_a_record_comes_back_with_its_numbers_and_works():
    model = models.PottsModel(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]), np.eye(2), fields=[[0.0, 0.3], [0.1, 0.0]])
    again = copy.deepcopy(model)
    assert again.score([[0, 1], [1, 1]]).tolist() == model.score([[0, 1], [1, 1]]).tolist()
    with pytest.raises(ValueError, match="read-only"):
        again.fields[0, 0] = 1.0


def test_arrays_that_could_be_written_to_stay_so():
    given = {"free": np.zeros(2), "several": (np.ones(1), "text", np.ones(2)), "number": 1.0}
    given["several"][2].setflags(write=False)
    state = copy.deepcopy(marked(given))
    again = unmarked(state)
    assert again.keys() == given.keys()
    assert again["free"].flags.writeable
    assert [one.flags.writeable for one in (again["several"][0], again["several"][2])] == [True, False]
    assert unmarked({"free": 1.0}) == {"free": 1.0}  # a pickle of before
