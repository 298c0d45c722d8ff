"""Counts and topics too large for the machine are refused with their need before anything is drawn."""

import numpy as np
import pytest
from scipy import sparse

from simulate.topics import gibbs_lda, sample_topic_documents
from theory.core import checks
from theory.models import TopicModel


@pytest.fixture
def a_small_machine(monkeypatch):
    """A machine with 82 MB of memory."""
    monkeypatch.setattr(checks.os, "sysconf", lambda name: {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 20_000}[name])


@pytest.mark.usefixtures("a_small_machine")
def test_counts_of_many_documents_are_refused_before_they_are_drawn():
    model, rng = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=1), np.random.default_rng(0)
    state = rng.bit_generator.state
    with pytest.raises(
        MemoryError, match=r"counts of 100 words in 100000 documents needs 0\.104 GB, .* has 0\.0819 GB"
    ):
        sample_topic_documents(model, 100_000, rng, length=5)
    assert rng.bit_generator.state == state
    assert sample_topic_documents(model, 1000, rng, length=5).counts.shape == (1000, 100)


@pytest.mark.usefixtures("a_small_machine")
def test_sparse_counts_stay_sparse_and_topics_of_documents_are_counted():
    """One word in each of 100,000 documents: dense counts of 1000 words would take 0.8 GB."""
    n = 100_000
    documents = sparse.csr_array((np.ones(n, dtype=int), (np.arange(n), np.arange(n) % 1000)), shape=(n, 1000))
    fit = gibbs_lda(documents, 2, np.random.default_rng(0), sweeps=2, chains=1, record_every=1)
    assert fit.document_topics.shape == (n, 2)
    with pytest.raises(MemoryError, match=r"the topics of all tokens in documents needs 0\.124 GB"):
        gibbs_lda(documents, 100, np.random.default_rng(0), sweeps=2, chains=1)
