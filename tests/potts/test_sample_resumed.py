"""A run that is killed anywhere and goes on gives the numbers of the uninterrupted one; progress tells of it."""

import sys

import numpy as np
import pytest

from simulate.potts import CheckpointError, MixingError, run, sample
from theory.models import PottsModel, SquareLatticePotts

MODEL = SquareLatticePotts(4, 4, 3, 0.8)
OPTIONS = {"n_samples": 64, "seed": 1, "n_chains": 4}


class Killed(BaseException):
    """As Ctrl-C: no Exception."""


@pytest.fixture
def killed_after(monkeypatch):
    """Kill the run at the n-th advance; checkpoints are written at every 37th."""
    original = run.Run._advance

    def arm(n):
        count = iter(range(10**9))

        def advance(self, *args, **options):
            k = next(count)
            if k == n:
                raise Killed
            monkeypatch.setattr(run, "SECONDS_BETWEEN_SAVES", 0.0 if k % 37 == 0 else 1e9)
            original(self, *args, **options)

        monkeypatch.setattr(run.Run, "_advance", advance)

    return arm


def with_a_slow_pair():
    """Sixteen free sites and two that are coupled strongly: single sites are watched from the second round on."""
    return PottsModel.from_edges(18, np.array([[0, 1]]), np.array([3.0]), np.eye(2))


@pytest.mark.parametrize(("model", "betas"), [(MODEL, None), (MODEL, (0.4, 0.8)), (with_a_slow_pair(), None)])
def test_resumed_is_uninterrupted(tmp_path, killed_after, model, betas):
    options = OPTIONS | {"betas": betas}
    whole = sample(model, **options)
    assert any("site" in name for name in whole.diagnoses) == (model is not MODEL)
    path = tmp_path / "run"
    for n in (50, 150, 40, 300):
        killed_after(n)
        with pytest.raises(Killed):
            sample(model, **options, checkpoint=path)
    killed_after(-1)
    for _ in range(2):  # the second finds it finished
        again = sample(model, **options, checkpoint=path)
        np.testing.assert_array_equal(again.states, whole.states)
        np.testing.assert_array_equal(again.scores, whole.scores)
        np.testing.assert_array_equal(again.swap_rates, whole.swap_rates)
        assert again.diagnoses == whole.diagnoses
        assert (again.sweeps, again.burn_in, again.thin) == (whole.sweeps, whole.burn_in, whole.thin)


def test_more_sweeps_go_on_from_a_run_that_had_not_mixed(tmp_path):
    options = OPTIONS | {"checkpoint": tmp_path / "run"}
    with pytest.raises(MixingError, match="have not mixed after 512 sweeps"):
        sample(MODEL, **options, max_sweeps=600)
    np.testing.assert_array_equal(sample(MODEL, **options).states, sample(MODEL, **OPTIONS).states)


def test_another_run_does_not_go_on_from_it(tmp_path):
    path = tmp_path / "run"
    sample(MODEL, **OPTIONS, checkpoint=path)
    content = path.read_bytes()
    with pytest.raises(CheckpointError, match="its seed is 1, not 2"):
        sample(MODEL, **(OPTIONS | {"seed": 2}), checkpoint=path)
    with pytest.raises(CheckpointError, match="its model differs"):
        sample(MODEL.at(0.7), **OPTIONS, checkpoint=path)
    with pytest.raises(CheckpointError, match=r"its thin is None, not 5"):
        sample(MODEL, **OPTIONS, thin=5, checkpoint=path)
    assert path.read_bytes() == content


def test_progress_closes_with_the_rate(capsys):
    sample(MODEL, **OPTIONS, progress=True)
    assert "sweeps/s" in capsys.readouterr().err
    sample(MODEL, **OPTIONS)
    assert capsys.readouterr().err == ""


def test_bar_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    sample(MODEL, **OPTIONS, progress=True)
    shown = capsys.readouterr().err
    assert "sweeps/s" in shown
    assert all(stage in shown for stage in ("burn-in", "pilot", "sampling"))


def test_silent_without_tqdm(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    sample(MODEL, **OPTIONS, progress=True)
    assert capsys.readouterr().err == ""
