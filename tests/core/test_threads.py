"""Threads change neither the order of results nor what an error looks like."""

import threading

import pytest

from simulate.core.threads import in_threads


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(n_threads):
    assert list(in_threads(lambda item: item**2, range(20), n_threads)) == [item**2 for item in range(20)]


def test_threads_work_at_the_same_time():
    together = threading.Barrier(3, timeout=20)
    assert len(list(in_threads(lambda item: together.wait(), range(3), 3))) == 3


@pytest.mark.parametrize("n_threads", [1, 3])
def test_errors_reach_the_caller(n_threads):
    def fails_at_two(item):
        if item == 2:
            raise ZeroDivisionError
        return item

    with pytest.raises(ZeroDivisionError):
        list(in_threads(fails_at_two, range(5), n_threads))
