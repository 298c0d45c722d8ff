"""Every wrong value in every argument of the theory and the simulation of trees is refused by name."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

from simulate import trees as simulation
from tests.bad_arguments import Example, assert_all_refused
from theory import trees
from theory.models import NumberText, RootedTree

NUMBERS = NumberText(5100)
TEXT = simulation.read_text(NUMBERS)
FOLDER = Path(tempfile.mkdtemp(prefix="trees"))


def example(function, **keywords):
    return Example(function, keywords)


def rng():
    return np.random.default_rng(0)


THEORY = {
    "additive_mean": example(trees.additive_mean, value=lambda a: a - 1),
    "depth_density": example(trees.depth_density, depth=2),
    "exponent_density": example(trees.exponent_density, allowed=lambda a: a < 3),
    "mean_children": example(trees.mean_children, n_numbers=1e6, n_terms=2),
    "mean_depth": example(trees.mean_depth),
    "mean_excess_edges": example(trees.mean_excess_edges),
    "pattern_density": example(trees.pattern_density, pattern="(())"),
    "smallest_number": example(trees.smallest_number, word="(())()"),
    "squarefree_run_density": example(trees.squarefree_run_density, length=2),
    "word_frequency": example(trees.word_frequency, word="(())()", n_numbers=1e6),
    "word_of": example(trees.word_of, n=12),
}

SIMULATION = {
    "count_words": example(simulation.count_words, numbers=NUMBERS, n_threads=1, segment=500),
    "letters_of_word": example(simulation.letters_of_word, word="(())"),
    "markov_loss": example(simulation.markov_loss, text=TEXT, order=1),
    "neighbor_loss": example(simulation.neighbor_loss, text=TEXT, radius=1),
    "ngram_counts": example(simulation.ngram_counts, text=TEXT, length=2),
    "prediction_loss": example(simulation.prediction_loss, text=TEXT, offsets=[-1, 1], modulus=4),
    "random_window": example(simulation.random_window, d=100, rng=rng()),
    "read_text": example(simulation.read_text, numbers=NUMBERS, n_threads=1, segment=500),
    "remainder_loss": example(simulation.remainder_loss, text=TEXT, modulus=4),
    "window_depth_share": example(simulation.window_depth_share, depth=1, d=100, rng=rng()),
    "window_excess_edges": example(simulation.window_excess_edges, model=None, d=100, rng=rng()),
    "window_pattern_share": example(simulation.window_pattern_share, pattern="(())", d=100, rng=rng()),
    "word_of_letters": example(simulation.word_of_letters, letters="oocc"),
    "write_corpus": example(simulation.write_corpus, numbers=NUMBERS, path=FOLDER / "a.txt", words_per_document=50),
}

RECORDS = {
    "NumberText": example(NumberText, last=100, first=10),
    "RootedTree": example(RootedTree, word="(())"),
    "RootedTree.of_number": example(RootedTree.of_number, n=60),
    "TreeText.words": example(TEXT.words, start=1, stop=5),
    "WordCounts.count": example(TEXT.vocabulary.count, word="()"),
    "WordCounts.depth_share": example(TEXT.vocabulary.depth_share, depth=1),
    "WordCounts.pattern_share": example(TEXT.vocabulary.pattern_share, pattern=""),
}

EXAMPLES = {"theory": THEORY, "simulation": SIMULATION, "records": RECORDS}


@pytest.mark.parametrize("room", EXAMPLES)
def test_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=150, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("room", EXAMPLES)
def test_many_bad_arguments_are_refused_by_name(room):
    assert_all_refused(EXAMPLES[room], n=5_000, seed=1)


def test_every_public_function_has_an_example():
    assert {name for name in trees.__all__ if name[0].islower()} == set(THEORY)
    assert {name for name in simulation.__all__ if name[0].islower()} == set(SIMULATION)
