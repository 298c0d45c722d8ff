"""What captions say that bars of two standard errors hold."""

import math

import pytest

from figures.nets.bars import bars


@pytest.mark.parametrize(("n", "share"), [(2, 2 * math.atan(2) / math.pi), (3, 2 / math.sqrt(6)), (10**6, 0.9545)])
def test_the_share_is_that_of_student(n, share):
    """Student's law has a closed form for one and two degrees of freedom, and is normal for many."""
    assert f"hold the true mean in {share:.0%} of cases (Student's t, n = {n})" in bars(n)
