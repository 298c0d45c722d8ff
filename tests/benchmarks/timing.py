"""Times of a function of no arguments: the best of several rounds."""

import time


def seconds(function, rounds=3, clock=time.perf_counter):
    """By `clock`: wall time, or CPU time with time.process_time."""
    times = []
    for _ in range(rounds):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)
