"""Wrong and extreme arguments of theory.topics and simulate.topics: refused by name, without raw errors and hangs."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from simulate import topics as simulated
from simulate.core import stream
from tests.bad_arguments import Example, assert_all_refused
from theory import topics
from theory.models import Masking, TopicMixture, TopicModel

MODEL = TopicModel(n_topics=3, words_per_topic=2, topics_per_document=2)
MASKING = Masking(selected=0.5, kept=0.3, randomized=0.2)
BLOCKS = topics.BlockMatrix(MODEL, 0.3, 0.2, 0.1)
COUNTS = np.array([[3, 1, 0, 2, 0, 0], [0, 2, 2, 0, 1, 1], [4, 0, 0, 0, 3, 1], [1, 1, 1, 1, 1, 1]])
BOTH = {"model": MODEL, "masking": MASKING}


def theory_examples():
    rng = stream(0, "examples")
    G, W, b = rng.standard_normal((7, 7)), rng.standard_normal((7, 7)), rng.standard_normal(7)
    without = {"model": MODEL, "masking": Masking(selected=0.5, kept=0.3, randomized=0.0)}
    return {
        "TopicModel": Example(TopicModel, {"n_topics": 3, "words_per_topic": 2, "topics_per_document": 2}),
        "TopicMixture": Example(TopicMixture, {"n_topics": 3, "words_per_topic": 2, "proportion_variance": 0.1}),
        "dirichlet": Example(TopicMixture.dirichlet, {"n_topics": 3, "words_per_topic": 2, "concentration": 0.1}),
        "Masking": Example(Masking, {"selected": 0.5, "kept": 0.3, "randomized": 0.2}),
        "BlockMatrix": Example(topics.BlockMatrix, {"model": MODEL, "diagonal": 0.3, "same": 0.2, "different": 0.1}),
        "attention_averages": Example(
            topics.attention_averages, {"model": MODEL, "same_topic_weight": 2.0, "same_word_weight": 3.0}
        ),
        "attention_logits": Example(topics.attention_logits, {"key_matrix": G[:4], "query_matrix": W[:4]}),
        "block_loss_uniform": Example(
            topics.block_loss_uniform, {"masking": MASKING, "W": BLOCKS, "loss": "cross_entropy"}
        ),
        "cross_entropy_optimum": Example(topics.cross_entropy_optimum, {**BOTH, "lam": 0.01}),
        "embedding_excess": Example(topics.embedding_excess, {**BOTH, "dimension": 1}),
        "embedding_family": Example(topics.embedding_family, {**BOTH, "mask_entry": -0.1, "diagonal_excess": 0.2}),
        "escape_rate": Example(topics.escape_rate, {**BOTH, "attention_dimension": 4}),
        "onset": Example(topics.escape_rate(MODEL, MASKING).onset, {"initial_scale": 0.01}),
        "finite_length_loss": Example(topics.finite_length_loss, {**BOTH, "length": 10}),
        "finite_length_value_matrix": Example(topics.finite_length_value_matrix, {**BOTH, "length": 10}),
        "many_topics": Example(topics.many_topics, {"masking": MASKING, "topics_per_document": 2, "mask_weight": 0.5}),
        "optimal_embedding_gram": Example(topics.optimal_embedding_gram, {**BOTH, "bias": "free"}),
        "optimal_value_matrix": Example(topics.optimal_value_matrix, {**BOTH, "bias": "decayed", "ridge": 0.1}),
        "population_loss": Example(
            topics.population_loss, {**BOTH, "logits": G, "matrix": W, "bias": b, "loss": "squared", "keys": "all"}
        ),
        "population_loss_uniform": Example(
            topics.population_loss_uniform, {**BOTH, "matrix": BLOCKS, "bias": b, "loss": "cross_entropy"}
        ),
        "same_topic_gap": Example(topics.same_topic_gap, BOTH),
        "scaling_limit": Example(topics.scaling_limit, {"masking": MASKING, "share": 0.3}),
        "sectors": Example(topics.sectors, BOTH),
        "stability_limit": Example(topics.stability_limit, {**BOTH, "bias": "trained"}),
        "stage1_flow": Example(topics.stage1_flow, {**BOTH, "times": [0, 3], "step": 0.1, "bias": "trained"}),
        "stage1_flow of cross-entropy": Example(topics.stage1_flow, {**BOTH, "times": [0.5], "loss": "cross_entropy"}),
        "stage2_bounds": Example(topics.stage2_bounds, BOTH),
        "stage2_loss": Example(
            topics.stage2_loss,
            {
                **BOTH,
                "same_topic_weight": 2.0,
                "same_word_weight": 3.0,
                "mask_weight": 0.5,
                "mask_query_weight": 2.0,
                "bias": "none",
                "keys": "all",
            },
        ),
        "stage2_optimum": Example(topics.stage2_optimum, {**BOTH, "mask_weight": 0.5, "bias": "none", "keys": "all"}),
        "stage2_optimum free": Example(topics.stage2_optimum, {**BOTH, "mask_weight": "free"}),
        "unselected_keys": Example(topics.unselected_keys, BOTH),
        "without_random_words": Example(topics.without_random_words, without),
    }


def simulation_examples():
    rng = stream(0, "examples")
    layer = simulated.Layer(*(rng.standard_normal(shape) for shape in ((4, 7), (4, 7), (7, 7), (7,))))
    batch = simulated.population_batch(MODEL, MASKING)
    masked = simulated.mask_documents(COUNTS, MASKING, rng)
    member = np.kron(np.eye(3, dtype=bool), np.ones((1, 2), dtype=bool))
    training = simulated.Training(steps=2, rate=0.1, batch_size=3, length=(5, 8), evaluated=4, record_every=1)
    uniform = [np.array([0, 1, 2, 3]), np.array([4, -1, 5, 0])]
    return {
        "Training": Example(simulated.Training, {"steps": 3, "rate": 0.1, "length": (5, 8), "concentration": 0.1}),
        "Layer": Example(simulated.Layer, layer.arrays()),
        "Batch": Example(simulated.Batch, {each.name: getattr(batch, each.name) for each in dataclasses.fields(batch)}),
        "attention_by_class": Example(
            simulated.attention_by_class, {"model": MODEL, "layer": layer, "counts": COUNTS.astype(float)}
        ),
        "topic_gap": Example(simulated.topic_gap, {"model": MODEL, "value": layer.value}),
        "attention_contrast": Example(
            simulated.attention_contrast,
            {
                "attention": lambda words: np.full((len(words),) * 2, 1 / len(words)),
                "documents": uniform,
                "membership": member,
                "rng": stream(0, "bad"),
                "reference": 10.0,
                "permutations": 5,
            },
        ),
        "count_attention_contrast": Example(
            simulated.count_attention_contrast,
            {
                "attention": lambda words, counts: np.full((len(words),) * 2, 1 / counts.sum()),
                "documents": COUNTS,
                "membership": member,
                "rng": stream(0, "bad"),
                "permutations": 5,
            },
        ),
        "batch_of": Example(simulated.batch_of, {"masked": masked, "keys": "unselected"}),
        "embedding_contrast": Example(
            simulated.embedding_contrast,
            {
                "embedding": layer.value[1:, :4],
                "membership": member,
                "rng": stream(0, "bad"),
                "measure": "dot",
                "permutations": 5,
            },
        ),
        "topic_contrast": Example(
            simulated.topic_contrast,
            {
                "values": layer.value,
                "membership": member,
                "rng": stream(0, "bad"),
                "weights": np.ones((6, 6)),
                "permutations": 5,
            },
        ),
        "topic_membership": Example(
            simulated.topic_membership,
            {"topic_words": abs(layer.key), "threshold": 0.2, "overlap": True, "excluded": np.zeros(7, dtype=bool)},
        ),
        "planted_values": Example(simulated.planted_values, {"membership": member, "same": 1.0, "different": 0.5}),
        "random_embedding": Example(
            simulated.random_embedding, {"n_words": 6, "dimension": 3, "rng": stream(0, "bad")}
        ),
        "fit_value_matrix": Example(
            simulated.fit_value_matrix,
            {
                "documents": COUNTS,
                "masking": MASKING,
                "rng": stream(0, "bad"),
                "bias": "free",
                "ridge": 0.1,
                "draws": 2,
            },
        ),
        "gibbs_lda": Example(
            simulated.gibbs_lda,
            {
                "documents": sparse.csr_array(COUNTS),
                "n_topics": 2,
                "rng": stream(0, "bad"),
                "sweeps": 5,
                "document_prior": 0.1,
                "word_prior": 0.1,
                "chains": 2,
                "record_every": 2,
            },
        ),
        "layer_loss": Example(simulated.layer_loss, {"layer": layer, "batch": batch, "loss": "squared"}),
        "loss_and_gradient": Example(
            simulated.loss_and_gradient, {"layer": layer, "batch": batch, "loss": "cross_entropy"}
        ),
        "mask_documents": Example(
            simulated.mask_documents, {"documents": COUNTS, "masking": MASKING, "rng": stream(0, "bad")}
        ),
        "population_batch": Example(simulated.population_batch, {**BOTH, "keys": "all"}),
        "sample_topic_documents": Example(
            simulated.sample_topic_documents,
            {"model": MODEL, "n_documents": 3, "rng": stream(0, "bad"), "length": (4, 9), "concentration": 0.5},
        ),
        "train_single_layer": Example(
            simulated.train_single_layer, {**BOTH, "training": training, "rng": stream(0, "bad"), "save_seconds": 1.0}
        ),
    }


def examples():
    return theory_examples() | simulation_examples()


@pytest.mark.parametrize("n", [300, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("wing", [theory_examples, simulation_examples])
def test_wrong_arguments_are_refused_by_name(wing, n, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a wrong value may be a name of a checkpoint
    assert_all_refused(wing(), n, seed=n)


MASKED = np.ma.masked_array(COUNTS, COUNTS == 4)
LAYER = simulated.Layer(np.zeros((1, 7)), np.zeros((1, 7)), np.eye(7), np.zeros(7))
MASKED_COUNTS = simulated.mask_documents(COUNTS, MASKING, stream(1))
BATCH = simulated.population_batch(MODEL, MASKING)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: topics.stability_limit(MODEL, MASKING, bias="Trained"), "bias must be one of 'none', 'trained'"),
        (lambda: topics.optimal_embedding_gram(MODEL, MASKING, bias="None"), "bias must be one of"),
        (lambda: simulated.layer_loss(LAYER, BATCH, "cross-entropy"), "loss must be one of 'squared', 'squared_mean'"),
        (lambda: simulated.loss_and_gradient(LAYER, BATCH, "mse"), "loss must be one of"),
        (lambda: simulated.population_batch(MODEL, MASKING, keys="typo"), "keys must be one of 'all', 'unselected'"),
        (
            lambda: simulated.batch_of(simulated.mask_documents(COUNTS, MASKING, stream(0)), "every"),
            "keys must be one of",
        ),
        (lambda: simulated.topic_membership(np.eye(3), 0.3, overlap="no"), "overlap must be True or False, got 'no'"),
        (
            lambda: simulated.topic_membership(np.eye(3), 0.3, excluded=["no", "no", "no"]),
            "excluded must be an array of",
        ),
        (lambda: simulated.mask_documents(MASKED, MASKING, stream(0)), "documents must have no masked entries"),
        (lambda: simulated.gibbs_lda(MASKED, 2, stream(0)), "documents must have no masked entries"),
        (
            lambda: simulated.gibbs_lda(COUNTS, 2, stream(0), word_prior=1e308),
            r"word_prior must lie in \[1e-100, 1e\+100\]",
        ),
        (lambda: simulated.gibbs_lda(COUNTS, 2, stream(0), document_prior=1e-320), "document_prior must lie in"),
        (lambda: simulated.gibbs_lda(COUNTS, 2, stream(0), sweeps=10**10), "sweeps times chains must be at most"),
        (lambda: simulated.topic_gap(MODEL, np.ma.masked_array(np.eye(7), np.eye(7))), "value must have no masked"),
        (lambda: topics.population_loss(MODEL, MASKING, np.ma.masked_array(np.eye(7), np.eye(7)), np.eye(7)), "logits"),
        (lambda: simulated.Training(steps=3, rate=0.1, keys="none"), "keys must be one of"),
        (
            lambda: simulated.Layer(np.zeros((1, 7)), np.zeros((2, 7)), np.eye(7), np.zeros(7)),
            r"query must have shape \(1, 7",
        ),
        (lambda: topics.stage2_optimum(MODEL, MASKING, mask_weight=1e100), "mask_weight must lie in"),
        (
            lambda: dataclasses.replace(MASKED_COUNTS, target=MASKED_COUNTS.target[1:]),
            "target must have one entry",
        ),
        (lambda: dataclasses.replace(MASKED_COUNTS, shown=MASKED_COUNTS.shown - 9), "shown must lie in"),
        (lambda: dataclasses.replace(MASKED_COUNTS, times=None), "times must be"),
        (lambda: dataclasses.replace(MASKED_COUNTS, unselected=COUNTS), "unselected must have the shape"),
        (lambda: simulated.attention_by_class(MODEL, LAYER, np.ones((2, 5))), "counts must have 6 columns"),
    ],
)
def test_options_that_are_not_known_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_count_is_named_like_any_column():
    """A table whose column is called counts is read as a table."""
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"counts": [1, 2], "other": [3, 0]})
    masked = simulated.mask_documents(table, Masking(selected=1.0, kept=1.0, randomized=0.0), stream(0))
    assert masked.visible[:, 1:].tolist() == [[1, 3], [2, 0]]
