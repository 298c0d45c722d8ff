"""The decorator that checks arguments by their annotations, and the base class of results."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeVar

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from typing_extensions import TypeAliasType

from simulate.core import stream
from theory import MaskedSSLError
from theory.core import arguments
from theory.core.arguments import checked
from theory.core.arrays import Array
from theory.core.results import Result, SolverResult
from theory.models import AR1, Covariance
from theory.numerics import ConvergenceError


class Hostile:
    """An object whose conversions and repr all raise."""

    def __array__(self, *_: object, **__: object) -> None:
        raise RuntimeError("no")

    __float__ = __repr__ = __array__


@checked
def example(
    covariance: Covariance,
    alpha: float = 1.0,
    *,
    count: int = 1,
    flag: bool = False,
    method: Literal["ssr", "pca"] = "ssr",
    rng: np.random.Generator | None = None,
    X: Array | None = None,
    states: NDArray[np.int64] | None = None,
    values: ArrayLike = (1.0,),
    size: int | float = 2,
    pair: tuple[float, float] = (0.0, 1.0),
    names: Sequence[str] = (),
    masks: Iterable[int] = (),
    function: Callable[[float], float] = abs,
    anything: Any = None,
    **options: float,
) -> dict[str, Any]:
    """The arguments as they arrive."""
    return locals()


COVARIANCE = AR1(4, 0.5)


@pytest.mark.parametrize(
    ("name", "given", "arrives"),
    [
        ("alpha", 2, 2.0),
        ("alpha", Fraction(1, 2), 0.5),
        ("alpha", np.float32(0.5), 0.5),
        ("alpha", math.inf, math.inf),
        ("count", 3.0, 3),
        ("count", np.int8(3), 3),
        ("flag", np.True_, True),
        ("method", "pca", "pca"),
        ("rng", None, None),
        ("size", math.inf, math.inf),
        ("size", 3, 3),
        ("pair", [1, 2], (1.0, 2.0)),
        ("names", ["a"], ["a"]),
        ("option", 3, 3.0),
        ("anything", "text", "text"),
    ],
)
def test_values_are_converted(name, given, arrives):
    seen = example(COVARIANCE, **{name: given})
    seen |= seen.pop("options")
    assert seen[name] == arrives
    assert type(seen[name]) is type(arrives)


def test_arrays_are_converted_and_not_copied():
    X = np.eye(2)
    assert example(COVARIANCE, X=X)["X"] is X
    assert example(COVARIANCE, X=[[1, 2]])["X"].dtype == float
    assert example(COVARIANCE, states=[0, 1])["states"].dtype.kind == "i"


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("covariance", np.eye(2), r"covariance must be a record of theory.models \(Covariance\), got ndarray"),
        ("alpha", "2", "alpha must be a real number, got '2'"),
        ("alpha", math.nan, "alpha must be a real number, got nan"),
        ("alpha", 10**400, "alpha must be a real number, got 1000"),
        ("alpha", True, "alpha must be a real number, got True"),
        ("alpha", Hostile(), "alpha must be a real number, got an object of type Hostile"),
        ("count", 1.5, "count must be an integer, got 1.5"),
        ("count", math.inf, "count must be an integer, got inf"),
        ("flag", "no", "flag must be True or False, got 'no'"),
        ("flag", 1, "flag must be True or False, got 1"),
        ("method", "PCA", "method must be one of 'ssr', 'pca', got 'PCA'"),
        ("method", ["pca"], "method must be one of 'ssr', 'pca', got"),
        ("rng", 0, r"rng must be a Generator as from numpy.random.default_rng\(seed\), got int \(or None\)"),
        ("X", [[1], [1, 2]], "X must be an array of real numbers, got list"),
        ("X", Hostile(), "X must be an array of real numbers, got Hostile"),
        ("X", np.ma.masked_array([1.0, 2.0], [True, False]), "X must have no masked entries, got 1"),
        ("states", [0.5], "states must be an array of integers, got dtype float64"),
        ("values", ["a"], "values must be an array of real numbers, got dtype <U1"),
        ("size", "4", "size must be an integer or a real number, got '4'"),
        ("pair", (1, 2, 3), "pair must have 2 entries, got 3"),
        ("pair", (1, "2"), r"pair\[1\] must be a real number, got '2'"),
        ("names", "abc", "names must be a sequence, got 'abc'"),
        ("names", [1], r"names\[0\] must be text, got 1"),
        ("masks", 3, "masks must be a sequence, got 3"),
        ("function", 3, "function must be a function, got 3"),
        ("function", lambda: 1.0, "function must be a function of 1 arguments"),
        ("option", "x", "option must be a real number, got 'x'"),
    ],
)
def test_wrong_kinds_are_refused_by_name(name, given, message):
    arguments = {"covariance": COVARIANCE, name: given}
    with pytest.raises(ValueError, match=message):
        example(**arguments)


@checked
def optional_array(values: ArrayLike | None = None, other: ArrayLike | Covariance = 0.0) -> tuple[Any, Any]:
    """ArrayLike in unions, which Python flattens."""
    return values, other


@pytest.mark.parametrize("given", [[[1], [1, 2]], ["a"], "text", Hostile(), 2j, object()])
def test_an_optional_array_is_checked_as_an_array(given):
    with pytest.raises(ValueError, match=r"values must be an array of real numbers, got .* \(or None\)"):
        optional_array(given)
    with pytest.raises(ValueError, match=r"other must be an array of real numbers or a record of theory.models"):
        optional_array(other=given)


def test_an_optional_array_is_converted_or_none():
    assert optional_array()[0] is None
    assert optional_array([1, 2])[0].dtype == float
    assert optional_array(other=COVARIANCE)[1] is COVARIANCE


def test_iterators_are_not_consumed():
    assert list(example(COVARIANCE, masks=iter([1, 2]))["masks"]) == [1, 2]


def test_every_failure_has_one_base():
    assert issubclass(ConvergenceError, MaskedSSLError)


@dataclass(frozen=True, eq=False, repr=False)
class Solved(SolverResult):
    """A result for the tests."""

    value: float
    errors: Array
    hidden: Array = field(repr=False)


def test_results_show_their_evidence_on_one_short_line():
    solved = Solved(0.1 + 0.2, np.arange(100.0), np.eye(3), residual=1e-14, iterations=3, converged=True)
    shown = "Solved(value=0.3, errors=<array (100,) from 0 to 99>, residual=1e-14, iterations=3, converged=True)"
    assert repr(solved) == shown
    assert list(solved.to_frame().columns) == ["value", "residual", "iterations", "converged"]


def test_a_solver_cannot_forget_its_evidence():
    with pytest.raises(TypeError, match="residual"):
        Solved(0.3, np.arange(3.0), np.eye(3))  # type: ignore[call-arg]
    assert Result().converged
    assert "iterations" not in repr(Result())


def test_integers_of_any_width_and_the_object_of_a_method():
    class Chains:
        @checked
        def __init__(self, start: NDArray[np.integer[Any]] | None) -> None:
            self.start = start

    assert Chains([1, 2]).start.dtype.kind == "i"
    assert Chains(None).start is None
    with pytest.raises(ValueError, match="start must be an array of integers, got dtype float64"):
        Chains([0.5])


def test_what_is_not_annotated_and_what_may_be_anything_passes():
    """`Any` is a class itself since Python 3.11, and `self` has no annotation."""

    class Holder:
        @checked
        def hold(self, anything: Any, count: int) -> tuple[Any, int]:
            return anything, count

    assert Holder().hold("text", 3.0) == ("text", 3)
    with pytest.raises(ValueError, match="count must be an integer"):
        Holder().hold(None, "three")


@checked
def sums(first: int, *values: float, last: int = 0, **options: float) -> tuple[Any, ...]:
    """Any number of arguments by place and by name."""
    return first, values, last, options


def test_arguments_of_any_number_are_checked_one_by_one():
    found = sums(np.int64(1), np.float32(2), 3, last=np.int8(4), more=np.float32(5))
    assert found == (1, (2.0, 3.0), 4, {"more": 5.0})
    assert [type(value) for value in (found[0], *found[1], found[2], found[3]["more"])] == [
        int,
        float,
        float,
        int,
        float,
    ]
    for call, name in (
        (lambda: sums("1"), "first"),
        (lambda: sums(1, 2.0, "3"), r"values\[1\]"),
        (lambda: sums(1, last="4"), "last"),
        (lambda: sums(1, more="5"), "more"),
    ):
        with pytest.raises(ValueError, match=f"{name} must be"):
            call()
    for call in (
        lambda: sums(),
        lambda: sums(1, first=2),
        lambda: example(COVARIANCE, 1.0, 2.0),
        lambda: example(COVARIANCE, 1.0, "text"),  # no check of `count`, which has to be named
    ):
        with pytest.raises(TypeError):
            call()


@checked
def by_place(first: int = 1, /, second: int = 2, *, last: int = 3, **options: float) -> tuple[Any, ...]:
    """An argument that can be given by its place only, and one that can be given by its name only."""
    return first, second, last, options


def test_arguments_are_checked_as_what_python_takes_them_for():
    assert by_place(first=4, options=np.float32(5)) == (1, 2, 3, {"first": 4.0, "options": 5.0})
    assert by_place(np.int64(4), first=0.5) == (4, 2, 3, {"first": 0.5})
    assert sums(1, values=2, options=3) == (1, (), 0, {"values": 2.0, "options": 3.0})
    for call, name in (
        (lambda: by_place(first="x"), "first must be a real number"),
        (lambda: by_place(1, options="x"), "options must be a real number"),
        (lambda: sums(1, values="x"), "values must be a real number"),
    ):
        with pytest.raises(ValueError, match=name):
            call()
    for call in (lambda: by_place(1, 2, "x"), lambda: example(COVARIANCE, 1.0, 2.5)):
        with pytest.raises(TypeError, match="positional arguments"):  # `last` and `count` have no place
            call()


Entry = TypeVar("Entry", bound=np.generic)
Numbers = TypeAliasType("Numbers", Sequence[float] | float)
Vector = TypeAliasType("Vector", np.ndarray[Any, np.dtype[Entry]], type_params=(Entry,))
Whole = TypeAliasType("Whole", int)


def test_named_types_are_checked_by_what_they_stand_for() -> None:
    """numpy's own ArrayLike and NDArray are such names on Python 3.12 and later."""

    @checked
    def named(count: Whole | None = None, table: Vector[np.int64] | None = None, x: Numbers = 1.0) -> Any:
        return count, table, x

    count, table, x = named(3.0, [1, 2], 2)  # type: ignore[arg-type]
    assert (type(count), table.dtype, x) == (int, np.int64, 2.0)
    for wrong in ({"count": "three"}, {"table": [0.5]}, {"x": "text"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
            named(**wrong)  # type: ignore[arg-type]


def test_a_union_with_a_named_array_like_stays_one_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    name = TypeAliasType("ArrayLike", Any)
    monkeypatch.setattr(arguments, "ArrayLike", name)

    @checked
    def with_union(number: int | str, values: name | None = None) -> Any:  # type: ignore[valid-type]
        return number, values

    assert with_union(3) == (3, None)
    number, values = with_union(np.int64(3), [1, 2])
    assert type(number) is int
    assert values.dtype == float
    with pytest.raises(ValueError, match="values must be"):
        with_union(3, ["one"])


@pytest.mark.parametrize("given", [3, 3.0, np.int64(3), np.array(3)])
def test_scalars_of_unions_with_text_stay_scalars(given: Any) -> None:
    assert stream(0, given).random() == stream(0, 3).random()


class Scale:
    """A class whose only method needs its instance."""

    factor = 2.0

    @checked
    def times(self, value: float) -> float:
        """Return the product."""
        return self.factor * value

    @checked
    def misspelled(self, value: float) -> float:
        """Fail for a reason of its own."""
        return self.factors * value  # type: ignore[attr-defined, no-any-return]


def test_a_method_that_is_called_on_its_class_says_so() -> None:
    with pytest.raises(TypeError, match=r"Scale\.times is a method of a Scale, and was called .* with -1, of type int"):
        Scale.times(-1, 2.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Scale.times(-1)  # type: ignore[arg-type, call-arg]
    with pytest.raises(AttributeError, match="factors"):
        Scale().misspelled(2.0)
    assert Scale.times(Scale(), 3) == 6.0
