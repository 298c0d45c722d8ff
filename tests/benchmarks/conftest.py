"""Benchmarks run on request only (make bench), and print their numbers side by side."""

import pytest


@pytest.fixture(autouse=True)
def _on_request_only(request):
    if not request.config.getoption("benchmark_only", default=False):
        pytest.skip("a benchmark: run by make bench")


@pytest.fixture
def show(capsys, benchmark):
    """Print one line of numbers beside each other and keep them with the benchmark."""

    def line(title, **numbers):
        benchmark.extra_info.update(numbers)
        shown = ", ".join(f"{name.replace('_', ' ')} {value:.4g}" for name, value in numbers.items())
        with capsys.disabled():
            print(f"\n{title}: {shown}")

    return line
