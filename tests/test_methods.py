"""Wrong values in every public method of every record and result: refused by name, never raw, never NaN."""

import pytest

from tests.bad_arguments import assert_all_refused
from tests.method_examples import examples
from tests.public_methods import public_methods

# Built by training with optional packages; the test of encoders has its method.
ELSEWHERE = {"EncoderTraining.logits"}
# Solvers call these with their own numbers, and a residual that is no number is one of the cases they tell apart.
OF_SOLVERS = {"ConvergenceError.of", "Solution.judged", "Solution.verified"}


@pytest.fixture(autouse=True)
def compiled():
    """Compiling a kernel would count as a hang."""
    for example in examples().values():
        example.function(**example.keywords)


def test_every_public_method_has_an_example():
    assert set(public_methods()) - ELSEWHERE - OF_SOLVERS <= set(examples())


@pytest.mark.parametrize("n", [1_500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_wrong_values_are_refused_by_name(n):
    assert_all_refused(examples(), n, seed=n)
