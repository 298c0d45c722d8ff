"""The analysis of text: on documents whose topics are known, and from files to tables and a figure."""

import inspect
import re
from argparse import Namespace
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse.linalg import ArpackNoConvergence

from figures.analyse.errors import OptionError
from figures.analyse.options import parsed
from figures.analyse.reading.text.size import CorpusSize
from figures.analyse.text import analyse_corpus, default_thresholds, report, value_embedding
from figures.analyse.text.command import STEPS
from figures.analyse.text.comparisons import DENSE_UP_TO
from figures.analyse.text.needs import text_needs
from figures.analyse.text.table import topics_frame
from figures.core.table import read_csv
from simulate.core import Estimate, stream
from simulate.topics import fit_value_matrix, gibbs_lda, sample_topic_documents
from simulate.topics.contrast import topic_contrast, topic_membership
from simulate.topics.lda import DEFAULT_CHAINS
from theory.models.topics import Masking, TopicModel

MODEL = TopicModel(n_topics=5, words_per_topic=8, topics_per_document=2)
WORDS = [f"{letter}{'bcdfghjk'[i]}" for letter in "vwxyz" for i in range(8)]  # a topic has a first letter
SMALL = {"topics": 5, "sweeps": 200, "permutations": 100, "dimension": 6}


@pytest.fixture(scope="module")
def counts():
    return sample_topic_documents(MODEL, 200, stream(0, "documents"), length=60).counts


@pytest.fixture(scope="module")
def analysis(counts):
    return analyse_corpus(counts, WORDS, thresholds=[0.1, 0.15], **SMALL)


def of(analysis, source, overlap=False):
    return [one.contrast for one in analysis.comparisons if (one.source, one.overlap) == (source, overlap)]


def test_known_topics_are_found_and_told_apart(analysis):
    assert sorted("".join({word[0] for word in words[:8]}) for words in analysis.topics) == list("vwxyz")
    assert sum(analysis.shares) == pytest.approx(1)
    assert [found.n_words for found in of(analysis, "embedding")] == [5 * 5, 5 * 7]  # int(40 rho) + 1 words a topic
    for source in ("embedding", "value matrix"):
        for found in of(analysis, source):
            assert found.z > 10
            assert found.difference.mean > 5 * found.difference.stderr
    assert all(abs(found.z) < 4 for found in of(analysis, "random embedding"))
    assert analysis.planted


def test_rows_and_report(analysis):
    frame = pd.DataFrame(analysis.rows)
    assert set(frame["panel"]) == {"cosine", "difference of cosines", "against permuted topics"}
    assert frame[frame["simulation"].notna()]["z"].isna().all()  # nothing is judged: there is no theory here
    said = " ".join(report(analysis, "title").split())
    for words in (
        "topic 1 (",
        "200 documents with 40 different words and 12000 words in all",
        "came back exactly",
        "--split",
    ):
        assert words in said
    one = analysis.comparisons[0]
    clear = replace(one.contrast, same=Estimate(0.5, 0.01, 40), different=Estimate(0.2, 0.01, 40))
    for ratio, contrast in (("2.5", clear), ("", replace(clear, different=Estimate(-0.2, 0.01, 40)))):
        said = report(replace(analysis, comparisons=(replace(one, contrast=contrast),)), "title")
        line = next(line for line in said.splitlines() if line.startswith(one.source))
        ends = f"{contrast.difference} {ratio} {contrast.z:+.1f}"
        assert line.split()[-len(ends.split()) :] == ends.split()


def test_topics_that_two_samplings_do_not_agree_on_are_named(counts, analysis):
    assert analysis.doubt == ""
    assert max(analysis.distances) < 0.25
    said = report(analysis, "title")
    assert "the two most probable samplings found the same ones" in " ".join(said.split())
    assert "may be mixtures" not in said
    assert list(topics_frame(analysis)["distance"]) == list(analysis.distances)
    hurried = analyse_corpus(counts, WORDS, thresholds=[0.1], **(SMALL | {"sweeps": 3, "permutations": 10}))
    said = " ".join(report(hurried, "title").split())
    assert "the topics may be mixtures of topics" in said
    assert "the log joint probability still changes" in said
    unlike = replace(analysis, distances=(0.1, 0.3, 0.0, 0.9, 0.2), doubt="two chains differ")
    assert "two chains differ. Topics that only one of the two found: 2, 4." in " ".join(
        report(unlike, "title").split()
    )


def test_the_time_of_all_samplings_is_foretold():
    """A pass over a word and a topic takes 3 ns, and each of the four samplings makes all passes that are asked for."""
    assert inspect.signature(gibbs_lda).parameters["chains"].default == DEFAULT_CHAINS == 4
    asked = {
        "stop_words": None,
        "min_documents": 1,
        "max_words": None,
        "split": False,
        "encoder": False,
        "thresholds": None,
        "topics": 10,
    }
    size = CorpusSize(n_bytes=1e6, form=None, documents=1000, words=500, tokens=1e5, entries=8e4, known="read")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("figures.analyse.text.needs.corpus_size", lambda *_, **__: size)
        few, many = (text_needs(Namespace(file="", sweeps=sweeps, **asked)).seconds for sweeps in (100, 1100))
    assert many - few == pytest.approx(3e-9 * 1e5 * 10 * 1000 * 4)


def test_the_same_seed_gives_the_same(counts, analysis):
    assert analyse_corpus(counts, WORDS, thresholds=[0.1, 0.15], **SMALL).rows == analysis.rows


def test_values_of_the_population_come_back_through_fitted_topics(counts):
    """Topics found by sampling, and the optimal value matrix of T = v = 10, tau = 2 put on the true ones."""
    same, different = 0.108020231214, -0.00758670520231
    topic_words = gibbs_lda(counts, 5, stream(0, "topics"), sweeps=60).topic_words
    values = np.kron(np.eye(5), np.full((8, 8), same - different)) + different
    for overlap in (False, True):
        membership = topic_membership(topic_words, 0.15, overlap=overlap)
        found = topic_contrast(values, membership, stream(0, "null"))
        assert (found.same.mean, found.different.mean) == pytest.approx((same, different), rel=1e-12)


def test_halves_and_own_vectors(counts):
    vectors = np.kron(np.eye(5), np.ones((8, 1)))
    known = np.arange(40) % 8 != 0
    vectors[~known] = 9.0
    options = SMALL | {"sweeps": 400}
    found = analyse_corpus(counts, WORDS, thresholds=[0.15], split=True, vectors=vectors, known=known, **options)
    own = of(found, "own vectors")[0]
    assert (own.same.mean, own.different.mean) == pytest.approx((1, 0), abs=1e-12)
    assert 10 <= own.n_words <= 5 * 7  # fewer where half of the documents do not show all topics
    assert not known.all()
    assert of(found, "embedding")[0].z > 5
    assert "The topics are of one half of the documents" in report(found, "title")


def test_halves_are_of_different_documents(counts, monkeypatch):
    seen = []

    def watched(function):
        def watch(documents, *arguments, **options):
            seen.append(documents)
            return function(documents, *arguments, **options)

        return watch

    for name, function in (("gibbs_lda", gibbs_lda), ("fit_value_matrix", fit_value_matrix)):
        monkeypatch.setattr(f"figures.analyse.text.analyse.{name}", watched(function))
    analyse_corpus(counts, WORDS, thresholds=[0.15], split=True, **(SMALL | {"sweeps": 30}))
    assert [len(documents) for documents in seen] == [100, 100]
    assert sorted(map(tuple, np.vstack(seen))) == sorted(map(tuple, counts))
    seen.clear()
    analyse_corpus(counts, WORDS, thresholds=[0.15], **(SMALL | {"sweeps": 30}))
    assert all(np.array_equal(documents, counts) for documents in seen)


def test_documents_without_topics_have_no_contrast_between_halves():
    for replicate in range(4):
        rng = stream(replicate, "no topics")
        noise = rng.multinomial(60, rng.dirichlet(np.full(40, 50.0)), size=200)
        found = analyse_corpus(noise, WORDS, split=True, seed=replicate, **SMALL)
        assert all(abs(one.contrast.z) < 5 for one in found.comparisons)


def test_embedding_is_the_best_of_its_rank(monkeypatch):
    monkeypatch.setattr("figures.analyse.text.comparisons.DENSE_UP_TO", 50)  # so that this is a large one
    rng = stream(0, "embedding")
    plain = rng.standard_normal((200, 9))
    matrix = plain @ np.diag([9, 8, 7, 6, 5, 4, 3, -20, 2.0]) @ plain.T
    skew = rng.standard_normal((200, 200))
    found = value_embedding(matrix + skew - skew.T, 5, rng)
    values, vectors = np.linalg.eigh(matrix)
    best = vectors[:, -5:] * values[-5:] @ vectors[:, -5:].T
    assert found.shape == (200, 5)
    assert found @ found.T == pytest.approx(best, abs=1e-6 * abs(best).max())
    assert value_embedding(np.diag([2.0, -1, 1]), 3, rng).shape == (3, 2)


def few_documents(n, own, shared):
    """Documents of words of their own, each once, but for a few words that all of them share."""
    return np.hstack([np.ones((n, shared), int), np.kron(np.eye(n, dtype=int), np.ones(own, int))])


def test_words_that_are_alike_do_not_keep_the_search_for_vectors_from_ending():
    """Of the hundred largest eigenvalues some vanish, with hundreds of others: a search among them finds no end."""
    counts = few_documents(12, own=60, shared=4)
    matrix = fit_value_matrix(counts, Masking(), stream(0, "masks"), ridge=1e-4, draws=6).matrix[1:, 1:]
    assert len(matrix) > DENSE_UP_TO
    found = value_embedding(matrix, 100, stream(0, "embedding"))
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    best = vectors[:, -100:] * np.maximum(values[-100:], 0) @ vectors[:, -100:].T
    assert found @ found.T == pytest.approx(best, abs=1e-12)


def test_the_search_for_vectors_has_a_bound(monkeypatch):
    seen = []

    def search(*_, maxiter, **__):
        seen.append(maxiter)
        raise ArpackNoConvergence("no", np.zeros(0), np.zeros((0, 0)))

    monkeypatch.setattr("figures.analyse.text.comparisons.eigsh", search)
    monkeypatch.setattr("figures.analyse.text.comparisons.DENSE_UP_TO", 50)
    plain = stream(0, "embedding").standard_normal((200, 3))
    assert value_embedding(plain @ plain.T, 3, stream(0, "start")).shape == (200, 3)
    assert seen == [20]


@pytest.mark.parametrize(("n", "split", "expected"), [(60, False, 6), (60, True, 3), (12, False, 2), (200, False, 20)])
def test_few_documents_have_few_topics_by_default_and_the_rule_is_said(counts, n, split, expected):
    found = analyse_corpus(counts[:n], WORDS, sweeps=3, permutations=100, dimension=6, split=split)
    assert len(found.topics) == expected
    rule = (
        f"Note: {expected} topics were sought, since no number was asked for: one for each 10 documents, but at least 2"
    )
    assert rule in report(found, "title", width=1000)
    asked = analyse_corpus(counts[:n], WORDS, topics=3, sweeps=3, permutations=100, dimension=6, split=split)
    assert len(asked.topics) == 3
    assert "were sought" not in report(asked, "title", width=1000)


def test_default_thresholds():
    assert default_thresholds(3625) == (0.002, 0.005, 0.01)
    assert default_thresholds(500) == pytest.approx((0.004, 0.01, 0.02))
    assert all(t < 1 for n in range(2, 60) for t in default_thresholds(n))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topics": 201}, "topics must be at most the number of documents, 200, got 201"),
        ({"topics": 101, "split": True}, "topics must be at most the number of documents in half of the corpus, 100"),
        ({"topics": 1}, "topics must be an integer of at least 2, got 1"),
        (
            {"thresholds": [0.97]},
            "thresholds must select at least 2 .* of 40 words .*; 0.97 of 40 words selects 39",
        ),
        ({"thresholds": [0.001]}, "thresholds must select at least 2 .*; 0.001 of 40 words selects 1"),
    ],
)
def test_refused(counts, options, message):
    with pytest.raises(ValueError, match=message):
        analyse_corpus(counts, WORDS, **(SMALL | {"sweeps": 3} | options))


def test_words_must_fit_the_counts(counts):
    with pytest.raises(ValueError, match="words must be 40, one for each column of the counts, got 3"):
        analyse_corpus(counts, WORDS[:3])
    with pytest.raises(ValueError, match="words must be at least 2: one word has no pair"):
        analyse_corpus(counts.sum(axis=1, keepdims=True), ["a"])


def options_of(*arguments):
    return parsed(list(map(str, arguments)))[0]


def write_lines(path, counts, n=200):
    lines = (" ".join(np.repeat(WORDS, row)) for row in counts[:n])
    path.write_text("\n".join(lines), encoding="utf-8")


def test_from_a_file_to_tables_and_a_figure(tmp_path, counts, capsys):
    write_lines(tmp_path / "news.txt", counts, 80)
    output = tmp_path / "out"
    output.mkdir()
    STEPS.run(
        options_of(tmp_path / "news.txt", "--topics", 5, "--sweeps", 30, "--permutations", 100, "--output", output)
    )
    name = "analyse_news.txt"
    ends = (".csv", ".pdf", ".png", "_contrast.csv", "_topics.csv")
    assert sorted(file.name for file in output.iterdir()) == [f"{name}{end}" for end in ends]
    assert len(read_csv(output / f"{name}.csv")) > 10
    contrast = pd.read_csv(output / f"{name}_contrast.csv")
    assert {"measured", "rule", "threshold", "same", "different", "difference", "ratio", "z"} < set(contrast.columns)
    assert len(pd.read_csv(output / f"{name}_topics.csv")) == 5
    said = capsys.readouterr().out
    for words in ("80 documents, each line is one", "English stop words left out", "topic 5 (", str(output)):
        assert words in said


def test_failures_are_of_the_file_and_name_the_option(tmp_path, counts):
    write_lines(tmp_path / "news.txt", counts, 10)
    with pytest.raises(OptionError, match="--topics must be at most the number of documents, 10, got 20"):
        STEPS.run(options_of(tmp_path / "news.txt", "--topics", 20, "--output", tmp_path))
    with pytest.raises(OptionError, match="--thresholds must select at least 2 words for each topic"):
        STEPS.run(options_of(tmp_path / "news.txt", "--topics", 2, "--thresholds", "0.99", "--output", tmp_path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--topics", "1"], "--topics must be an integer of at least 2, got 1"),
        (
            ["--thresholds", "0.1,2"],
            "--thresholds must be numbers between 0 and 1, both excluded, separated by",
        ),
        (["--permutations", "10"], "--permutations must be an integer of at least 100, got 10"),
    ],
)
def test_options_out_of_range(arguments, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        options_of("x.txt", *arguments)
