"""Topics and value matrices that were interrupted go on from their files to the same bits."""

import numpy as np
import pytest
from scipy import sparse

from simulate.core import CheckpointError, stream
from simulate.topics import fit_value_matrix, gibbs_lda, value_matrix
from simulate.topics.lda_run import LdaRun
from theory.models.topics import Masking

COUNTS = stream(0, "interrupted corpus").poisson(0.6, (40, 25)) + (np.arange(40)[:, None] % 25 == np.arange(25))
LDA = {"sweeps": 35, "chains": 3, "record_every": 10}  # four records for each chain


class Stopped(Exception):
    pass


def topics(path=None, *, rng=None, counts=COUNTS, **options):
    rng = rng or stream(1, "interrupted topics")
    return gibbs_lda(counts, 3, rng, checkpoint=path, **({"save_seconds": 0.0} | LDA | options))


def numbers(fit):
    arrays = fit.topic_words, fit.document_topics, fit.log_joint, fit.perplexity, fit.distances
    return [array.tobytes() for array in arrays], fit.best, fit.reason, fit.residual


def stop_after(monkeypatch, steps):
    """Interrupt a run as it begins the step after so many."""
    advance = LdaRun.advance

    def stopping(self):
        if self.step == steps:
            raise Stopped
        advance(self)

    monkeypatch.setattr(LdaRun, "advance", stopping)


@pytest.mark.parametrize("steps", [1, 4, 6, 8, 11])  # within chains and between them
def test_sampling_goes_on_to_the_same_bits(tmp_path, monkeypatch, steps):
    rng = stream(1, "interrupted topics")
    whole = numbers(topics(rng=rng)), rng.random()
    with monkeypatch.context() as patched:
        stop_after(patched, steps)
        with pytest.raises(Stopped):
            topics(tmp_path / "topics.npz")
    made = []
    monkeypatch.setattr(LdaRun, "measure", lambda self: made.append(self.step))
    rng = stream(1, "interrupted topics")
    assert (numbers(topics(tmp_path / "topics.npz", rng=rng)), rng.random()) == whole
    assert made == list(range(steps, 13))
    made.clear()
    assert numbers(topics(tmp_path / "topics.npz")) == whole[0]  # nothing is left to do
    assert made == [12]


def test_sparse_and_dense_counts_are_the_same_corpus(tmp_path):
    found = numbers(topics(tmp_path / "topics.npz"))
    assert numbers(topics(tmp_path / "topics.npz", counts=sparse.csr_array(COUNTS))) == found


def changed():
    other = COUNTS.copy()
    other[3, 4] += 1
    return other


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"counts": changed()}, "its counts differs"),
        ({"rng": stream(5, "another")}, "its generator differs"),
        ({"sweeps": 36}, "its sweeps is 35, not 36"),
        ({"word_prior": 0.02}, "its word_prior is 0.01, not 0.02"),
    ],
)
def test_topics_of_another_run_are_refused(tmp_path, options, said):
    topics(tmp_path / "topics.npz")
    with pytest.raises(CheckpointError, match=said):
        topics(tmp_path / "topics.npz", **options)


def values(path=None, *, rng=None, **options):
    rng = rng or stream(2, "interrupted masks")
    shared = {"ridge": 0.01, "draws": 3, "save_seconds": 0.0}
    return fit_value_matrix(COUNTS, Masking(selected=0.4), rng, checkpoint=path, **(shared | options))


@pytest.mark.parametrize("added", [0, 1, 4, 11])
def test_a_fit_of_a_value_matrix_goes_on_to_the_same_bits(tmp_path, monkeypatch, added):
    monkeypatch.setattr(value_matrix, "BLOCK_ENTRIES", 260)  # blocks of ten documents, twelve with the draws
    rng = stream(2, "interrupted masks")
    whole, following = values(rng=rng), rng.random()
    calls, masked = [], value_matrix.mask_counts

    def counted(*arguments, most=99):
        if len(calls) == most:
            raise Stopped
        calls.append(arguments)
        return masked(*arguments)

    monkeypatch.setattr(value_matrix, "mask_counts", lambda *arguments: counted(*arguments, most=added))
    with pytest.raises(Stopped):
        values(tmp_path / "values.npz")
    calls.clear()
    monkeypatch.setattr(value_matrix, "mask_counts", counted)
    rng = stream(2, "interrupted masks")
    again = values(tmp_path / "values.npz", rng=rng)
    assert len(calls) == 12 - added
    assert (again.matrix.tobytes(), again.bias.tobytes(), again.loss, again.n_selected, rng.random()) == (
        *(whole.matrix.tobytes(), whole.bias.tobytes(), whole.loss, whole.n_selected),
        following,
    )


def test_a_value_matrix_of_another_fit_is_refused(tmp_path):
    values(tmp_path / "values.npz")
    with pytest.raises(CheckpointError, match="its draws is 3, not 2"):
        values(tmp_path / "values.npz", draws=2)
    with pytest.raises(CheckpointError, match=r"its selected is 0\.4, not 0\.3"):
        fit_value_matrix(
            COUNTS,
            Masking(selected=0.3),
            stream(2, "interrupted masks"),
            ridge=0.01,
            draws=3,
            checkpoint=tmp_path / "values.npz",
        )
