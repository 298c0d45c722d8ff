"""Ranges in annotations, of the arguments of functions and of the fields of records."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest

from theory.core.arguments import CheckedRecord, checked, checked_fields
from theory.core.ranges import (
    Accepted,
    AtLeast,
    Correlation,
    Count,
    Dimension,
    Matrix,
    NonNegative,
    NonNegativeCount,
    OpenShare,
    Positive,
    PositiveGrid,
    PositiveShare,
    Real,
    Several,
    Share,
    Vector,
    Within,
)


def _even(name: str, value: Any) -> int:
    if value % 2:
        raise ValueError(f"{name} must be even, got {value}")
    return int(value)


@checked
def example(
    lam: Positive = 1.0,
    noise: NonNegative = 0.0,
    n_layers: Count = 1,
    n_colors: Annotated[int, AtLeast(2)] = 2,
    burn_in: NonNegativeCount | None = None,
    mask_rate: OpenShare = 0.5,
    share: Share = 0.5,
    shift: Real = 0.0,
    correlation: Annotated[float, Within(-1.0, 1.0)] = 0.0,
    lams: list[Positive] | None = None,
    d: Dimension = 1,
    n_starts: Annotated[int, AtLeast(1, most=10)] = 1,
    n_sites: Several = 2,
    kept: PositiveShare = 1.0,
    overlap: Correlation = 0.0,
    signal: Vector | None = None,
    alphas: PositiveGrid = 1.0,
    table: Matrix = ((1.0,),),
    even: Annotated[int, Accepted(lambda name, value: _even(name, value))] = 0,
) -> dict[str, Any]:
    """Return the arguments as they arrive."""
    return locals()


@pytest.mark.parametrize(
    ("name", "given", "arrives"),
    [
        ("lam", np.float32(2), 2.0),
        ("lam", 1, 1.0),
        ("noise", 0, 0.0),
        ("n_layers", 3.0, 3),
        ("n_layers", np.int8(3), 3),
        ("burn_in", 0, 0),
        ("burn_in", None, None),
        ("share", 1, 1.0),
        ("shift", -2, -2.0),
        ("lams", [1, 2], [1.0, 2.0]),
        ("d", float("inf"), float("inf")),
        ("d", 3.0, 3),
        ("n_starts", 10, 10),
        ("kept", 1, 1.0),
        ("overlap", -1, -1.0),
        ("signal", None, None),
        ("even", 4.0, 4),
    ],
)
def test_what_is_in_range_arrives_as_its_type(name: str, given: Any, arrives: Any) -> None:
    found = example(**{name: given})[name]
    assert found == arrives
    assert type(found) is type(arrives)


@pytest.mark.parametrize(
    ("name", "given", "allowed"),
    [
        ("lam", 0, r"lam must lie in \(0, inf\), got 0"),
        ("lam", float("inf"), "lam must be finite, got inf"),
        ("lam", float("nan"), "lam must be finite, got nan"),
        ("lam", "1", "lam must be a real number, got '1'"),
        ("noise", -1e-300, r"noise must lie in \[0, inf\)"),
        ("n_layers", 0, "n_layers must be an integer of at least 1, got 0"),
        ("n_layers", True, "n_layers must be an integer, got True"),
        ("n_layers", 2.5, "n_layers must be an integer of at least 1, got 2.5"),
        ("n_layers", 2**63, r"n_layers must be an integer of at most 2\^63 - 1"),
        ("n_colors", 1, "n_colors must be an integer of at least 2, got 1"),
        ("burn_in", -1, r"burn_in must be an integer of at least 0, got -1 \(or None\)"),
        ("mask_rate", 1.0, r"mask_rate must lie in \(0, 1\), got 1.0"),
        ("share", 1.5, r"share must lie in \[0, 1\], got 1.5"),
        ("correlation", 1, r"correlation must lie in \(-1, 1\), got 1"),
        ("lams", [1.0, 0.0], r"lams\[1\] must lie in \(0, inf\), got 0.0"),
        ("d", 0, "d must be an integer of at least 1 or infinity, got 0"),
        ("d", 1.5, "d must be an integer of at least 1 or infinity, got 1.5"),
        ("n_starts", 11, "n_starts must be at most 10, got 11"),
        ("n_starts", float("inf"), "n_starts must be an integer of at least 1, got inf"),
        ("n_sites", 1, "n_sites must be an integer of at least 2, got 1"),
        ("kept", 0, r"kept must lie in \(0, 1\], got 0"),
        ("overlap", 1.1, r"overlap must lie in \[-1, 1\], got 1.1"),
        ("signal", [1, float("nan")], r"signal must be finite, got nan at index \(1,\)"),
        ("signal", 1.0, r"signal must be a non-empty array with 1 axes, got shape \(\)"),
        ("alphas", [1, 0], "alphas must be positive, got 0.0 at index 1"),
        ("table", [1.0], r"table must be a non-empty array with 2 axes, got shape \(1,\)"),
        ("even", 3, "even must be even, got 3"),
    ],
)
def test_what_is_out_of_range_is_refused_with_what_is_allowed(name: str, given: Any, allowed: str) -> None:
    with pytest.raises(ValueError, match=allowed):
        example(**{name: given})


def test_arrays_arrive_as_read_only_copies() -> None:
    given = np.array([1, 2])
    found = example(signal=given)["signal"]
    assert found.tolist() == [1.0, 2.0]
    assert found.dtype == float
    assert not found.flags.writeable
    assert given.flags.writeable
    assert example(alphas=2)["alphas"].tolist() == [2.0]


@dataclass(frozen=True)
class Lengths(CheckedRecord):
    """A record that only checks its fields."""

    n_sites: Several
    variances: Vector = (1.0,)


def test_a_record_that_only_checks_its_fields_needs_no_method_for_it() -> None:
    assert Lengths(2.0, [1, 2]).variances.tolist() == [1.0, 2.0]  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_sites must be an integer of at least 2, got 1"):
        Lengths(1)


@dataclass(frozen=True)
class Record:
    """A record whose fields have ranges."""

    alpha: Positive
    n_sites: Count = 1

    def __post_init__(self) -> None:
        checked_fields(self)


def test_fields_of_records_are_checked_and_converted() -> None:
    assert Record(2, 3.0) == Record(2.0, 3)  # type: ignore[arg-type]
    assert type(Record(2).alpha) is float
    with pytest.raises(ValueError, match=r"alpha must lie in \(0, inf\), got -1"):
        Record(-1)
    with pytest.raises(ValueError, match="n_sites must be an integer of at least 1, got 0"):
        Record(1, n_sites=0)
