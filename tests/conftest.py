"""What every test shares: one BLAS thread, no display, reproducible hypothesis, and the statistical verdict."""

import gc
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded

from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import matplotlib
import pytest
from scipy.stats import t

from simulate.core import Estimate, streams

matplotlib.use("Agg")
hypothesis.settings.register_profile("suite", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("suite")

FALSE_ALARMS = 1e-3  # of all comparisons that one process of the suite makes
COMPARISONS = 660  # of one process; more are an error, but for slow tests, with which twice as many have twice the rate


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--shift-seeds N` makes all named streams draw other numbers: a statistical test must hold for any of them."""
    parser.addoption("--shift-seeds", type=int, default=0, help="shift the seed of every named random stream")


def pytest_configure(config: pytest.Config) -> None:
    """Shifts every named stream of this process; workers of a sweep in other processes keep theirs."""
    shift = config.getoption("--shift-seeds")
    spelling = streams._spelling
    if shift:
        streams._spelling = lambda name: f"{spelling(name)} shifted by {shift}"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keeps the collector of garbage from going through what stays to the end, again and again: thousands of tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def outlined_style(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The style sheet of figures, but for the letters of a PDF, which are outlines."""
    from figures.core.plot import STYLE_SHEET

    own, sheet = STYLE_SHEET.read_text(encoding="utf-8"), tmp_path_factory.mktemp("style") / "outlined.mplstyle"
    assert "\npdf.fonttype: 42\n" in own
    sheet.write_text(own.replace("\npdf.fonttype: 42\n", "\npdf.fonttype: 3\n"), encoding="utf-8")
    return sheet


@pytest.fixture
def outlined(outlined_style: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Letters as outlines, for tests that look at no font: to cut fonts for a PDF takes as long as all else of it."""
    monkeypatch.setattr("figures.core.plot.STYLE_SHEET", outlined_style)


@pytest.fixture
def one_process_streams(request: pytest.FixtureRequest) -> None:
    """Skips a test that compares processes: the streams are shifted in this one only, not in the workers of a sweep."""
    if request.config.getoption("--shift-seeds"):
        pytest.skip("streams are shifted in this process only")


@pytest.fixture(scope="session")
def comparisons(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """What has been compared so far: the level of each verdict is right for so many of them."""
    made: list[str] = []
    yield made
    most = COMPARISONS if request.config.option.markexpr == "not slow" else 2 * COMPARISONS
    assert len(made) <= most, f"{len(made)} comparisons at a level meant for {most}: raise COMPARISONS"


@pytest.fixture
def agrees(comparisons: list[str]) -> Callable[..., None]:
    """Theory against simulation by Student's t, at one false alarm in a thousand runs of the whole suite.

    `resolves` is the relative error that the run must be able to see: with fewer replicates it is refused. `bias` is a
    known finite-size allowance c/d, measured once.
    """

    def check(estimate: Estimate, predicted: float, *, resolves: float, bias: float = 0.0) -> None:
        comparisons.append(f"{estimate} and {predicted}")
        critical = t.isf(FALSE_ALARMS / (2 * COMPARISONS), estimate.degrees_of_freedom)
        visible = (critical + 2) * estimate.stderr + bias
        wanted = resolves * abs(predicted)
        assert visible <= wanted, (
            f"too weak to see the error it must see: {estimate} shows {visible:.3g}, not {wanted:.3g}"
        )
        gap, allowed = abs(estimate.mean - predicted), critical * estimate.stderr + bias
        assert gap <= allowed, f"theory {predicted:.6g}, simulation {estimate}: off by {gap:.3g}, allowed {allowed:.3g}"

    return check
