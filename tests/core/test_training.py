"""The loop that carries out trainings: what is measured when, and runs that were cut and go on."""

from contextlib import contextmanager

import numpy as np
import pytest

from simulate.core.checkpoint import Checkpoint, digest_of
from simulate.core.training import carry_out, recorded_steps


class Walk:
    """A walk whose next step depends on all steps before; it makes up to three of them at a time."""

    def __init__(self, recorded, cut=None):
        self.step, self.place, self.recorded, self.cut, self.measured = 0, 1.0, recorded, cut, []

    def measure(self):
        if self.step in self.recorded and len(self.measured) == self.recorded.index(self.step):
            self.measured.append(self.place)

    def advance(self):
        if self.cut is not None and self.step >= self.cut:
            raise KeyboardInterrupt
        ahead = min(one for one in self.recorded if one > self.step)
        for _ in range(min(3, ahead - self.step)):
            self.step += 1
            self.place = np.cos(self.step * self.place)

    def state(self):
        return {"step": np.array(self.step), "place": np.array(self.place), "measured": np.array(self.measured)}

    def restore(self, saved):
        self.step, self.place = int(saved["step"]), float(saved["place"])
        self.measured = saved["measured"].tolist()


def test_a_run_that_was_cut_goes_on_to_the_same_numbers(tmp_path):
    recorded = [0, 4, 5, 20]
    whole = Walk(recorded)
    carry_out(whole, 20, None, 0.0, None)
    places = [1.0]
    for step in range(1, 21):
        places.append(float(np.cos(step * places[-1])))
    assert whole.measured == [places[step] for step in recorded]

    file = Checkpoint(tmp_path / "walk.npz", {"format": "walk"}, of="walk")
    cut = Walk(recorded, cut=7)
    with pytest.raises(KeyboardInterrupt):
        carry_out(cut, 20, file, 0.0, None)
    for _ in range(2):  # it goes on, and then finds a finished run
        again = Walk(recorded)
        carry_out(again, 20, file, 1e9, None)
        assert (again.step, again.measured) == (20, whole.measured)
    assert int(file.load()["step"]) == 20
    never = Walk(recorded, cut=0)  # a finished run makes no step
    carry_out(never, 20, file, 1e9, None)
    assert never.measured == whole.measured


def test_progress_counts_single_steps(monkeypatch):
    calls = []

    @contextmanager
    def counted(label, total, done):
        calls.append((label, total, done))
        yield lambda: calls.append("step")

    monkeypatch.setattr("simulate.core.training.progress_bar", counted)
    carry_out(Walk([20]), 20, None, 0.0, "walk")
    assert calls == [("walk", 20, 0)] + 20 * ["step"]


def test_steps_to_be_measured():
    assert recorded_steps([5, 0, 5], 5, 10) == [0, 5]
    found = recorded_steps(None, 1000, 1000)
    assert found[:3] == [0, 1, 2]
    assert found[-1] == 1000
    assert 40 < len(found) <= 61
    assert found == sorted(set(found))
    for record in ([], [-1], [6]):
        with pytest.raises(ValueError, match="record must name steps from 0 to n_steps = 5, got"):
            recorded_steps(record, 5, 10)
    with pytest.raises(ValueError, match="n_steps must be at most 10, got 11"):
        recorded_steps(None, 11, 10)


def test_a_digest_knows_numbers_shapes_types_and_text():
    one = np.arange(6.0)
    others = [one.reshape(2, 3), one.astype(np.float32), one + 1]
    digests = {digest_of([one]), digest_of([one], "more"), *(digest_of([other]) for other in others)}
    assert len(digests) == 5
    assert digest_of([one]) == digest_of([one[::-1][::-1]])
