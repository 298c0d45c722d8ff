"""Threads change neither the order of results nor what an error looks like."""

import threading

import pytest

from simulate.core.threads import in_threads, mapping, share


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(n_threads):
    assert list(in_threads(lambda item: item**2, range(20), n_threads)) == [item**2 for item in range(20)]
    with mapping(n_threads) as mapped:
        assert list(mapped(lambda item: item**2, range(20))) == [item**2 for item in range(20)]
        assert list(mapped(lambda item: item**2, [])) == []


def test_threads_work_at_the_same_time():
    together = threading.Barrier(3, timeout=20)
    assert len(list(in_threads(lambda item: together.wait(), range(3), 3))) == 3


def test_a_mapping_begins_nothing_after_an_error():
    begun, both = [], threading.Barrier(2, timeout=20)

    def fails(item):
        begun.append(item)
        both.wait()  # two threads have an item each
        if item == 0:
            raise ZeroDivisionError
        begun_after.wait(timeout=20)  # until the error has emptied the list

    begun_after = threading.Event()
    with mapping(2) as mapped:
        threading.Timer(0.2, begun_after.set).start()
        with pytest.raises(ZeroDivisionError):
            mapped(fails, range(100))
    assert sorted(begun) == [0, 1]


def test_a_mapping_keeps_its_threads_from_call_to_call():
    together = threading.Barrier(2, timeout=20)

    def thread_of(item):
        together.wait()
        return threading.get_ident()

    with mapping(2) as mapped:
        first, second = (set(mapped(thread_of, range(2))) for _ in range(2))
    assert first == second
    assert len(first) == 2
    assert threading.get_ident() in first
    with mapping(1) as mapped:
        assert mapped is map


@pytest.mark.parametrize("n_threads", [1, 3])
def test_errors_reach_the_caller(n_threads):
    def fails_at_two(item):
        if item == 2:
            raise ZeroDivisionError
        return item

    with pytest.raises(ZeroDivisionError):
        list(in_threads(fails_at_two, range(5), n_threads))
    with mapping(n_threads) as mapped, pytest.raises(ZeroDivisionError):
        list(mapped(fails_at_two, range(5)))


@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_a_part_is_done_by_the_caller_and_each_other_beside_it(n_parts):
    together, threads = threading.Barrier(n_parts, timeout=20), [0] * n_parts

    def work(part):
        together.wait()
        threads[part] = threading.get_ident()

    share(work, range(n_parts))
    assert threads[0] == threading.get_ident()
    assert len(set(threads)) == n_parts


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_errors_of_shared_parts_reach_the_caller(failing):
    def fails(part):
        if part == failing:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        share(fails, range(3))
