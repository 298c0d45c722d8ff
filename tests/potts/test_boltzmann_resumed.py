"""Boltzmann learning that was killed goes on from its file to the same bits, and trusts no file of another run."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simulate.core import CheckpointError, stream
from simulate.potts import boltzmann_learning

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = {"rate": 0.05, "n_sweeps": 2, "n_chains": 64, "n_checked": 256, "max_iter": 70, "check": False}
OPTIONS |= {"pearson": 0.5, "slope": 0.99, "min_iter": 20}  # so that checks fail, and the rate falls
KILLED = """
import os, signal
from tests.potts.test_boltzmann_resumed import fitted
fitted({path!r}, on_record=lambda step, _: step == {step} and os.kill(os.getpid(), signal.SIGKILL))
"""


def states():
    drawn = stream(1, "interrupted learning").integers(0, 3, (200, 4))
    drawn[:120, 1] = drawn[:120, 0]
    return drawn


def fitted(path=None, *, rng=None, **options):
    rng = rng or stream(2, "interrupted learning")
    return boltzmann_learning(states(), 3, rng=rng, checkpoint=path, **(OPTIONS | {"save_seconds": 0.0} | options))


class Stopped(Exception):
    pass


def stop_at(step, path, **options):
    """Interrupt a run as it comes to a step."""

    def stop(now, _):
        if now == step:
            raise Stopped

    with pytest.raises(Stopped):
        fitted(path, on_record=stop, **options)


def numbers(fit):
    """Return all numbers of a fit but its time."""
    arrays = fit.couplings, fit.fields, fit.history
    rest = fit.pearson, fit.slope, fit.site_error, fit.r_hat, fit.autocorrelation_time, fit.iterations, fit.reason
    return [array.tobytes() for array in arrays], rest


@pytest.fixture(scope="module")
def whole():
    rng = stream(2, "interrupted learning")
    return numbers(fitted(rng=rng)), rng.random(3).tolist()


@pytest.mark.slow  # another Python has to load all of it
def test_a_killed_run_goes_on_to_the_same_bits(whole, tmp_path):
    path = tmp_path / "run.npz"
    code = KILLED.format(path=str(path), step=50)
    killed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]
    records, rng = [], stream(2, "interrupted learning")
    again = fitted(path, rng=rng, on_record=lambda step, _: records.append(step))
    assert records == [50, 60, 70]  # the last file was of step 40
    assert (numbers(again), rng.random(3).tolist()) == whole


@pytest.mark.parametrize("step", [10, 20, 30, 70])  # before, at and after the first check, and at the end
def test_a_run_may_be_interrupted_anywhere_and_more_than_once(whole, tmp_path, step):
    path = tmp_path / "run.npz"
    stop_at(step, path)
    stop_at(70, path)
    assert numbers(fitted(path)) == whole[0]
    earlier = fitted(path, on_record=lambda *_: pytest.fail("only the last check is made again"))
    assert numbers(earlier) == whole[0]
    assert earlier.seconds > 0


def test_between_two_writes_lies_the_time_that_was_asked_for(tmp_path):
    stop_at(20, tmp_path / "run.npz", save_seconds=1e6)
    assert not (tmp_path / "run.npz").exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rate": 0.04}, "its rate is 0.05, not 0.04"),
        ({"rng": stream(3, "another")}, "its generator differs"),
        ({"weights": np.linspace(1, 2, 200)}, "its l2 is "),
    ],
)
def test_a_file_of_another_run_is_refused_and_kept(tmp_path, changed, said):
    path = tmp_path / "run.npz"
    stop_at(30, path)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=said):
        fitted(path, **changed)
    assert path.read_bytes() == before


def test_other_sequences_are_seen(tmp_path):
    path = tmp_path / "run.npz"
    stop_at(30, path)
    other = states()
    other[0, 0] = (other[0, 0] + 1) % 3
    with pytest.raises(CheckpointError, match="its sequences differs"):
        boltzmann_learning(other, 3, rng=stream(2, "interrupted learning"), checkpoint=path, **OPTIONS)


@pytest.mark.parametrize("path", ["", "no/such/folder/run.npz"])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(path):
    with pytest.raises((ValueError, CheckpointError), match="checkpoint"):
        fitted(path, on_record=lambda *_: pytest.fail("nothing was to be learned"))
