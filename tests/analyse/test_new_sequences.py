"""New sequences of a family: the files, how they are compared with it, and what is said of them."""

import argparse
import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from figures.analyse.command import main
from figures.analyse.reading.sequences import read_sequences
from figures.analyse.sequences.clones import make_clones
from figures.analyse.sequences.generation import compared, generated, generation_sentences, pair_clone, sequence_file
from figures.analyse.sequences.generation.learning import learner
from figures.analyse.sequences.generation.make import Generation, nearest_identity
from figures.analyse.sequences.learning_time import generation_seconds, learning_sentence
from figures.analyse.sequences.tasks import Settings, pair_fit
from figures.analyse.sequences.unlearned import reason_of_learning, unlearned
from simulate.core import stream
from simulate.core.diagnostics import Diagnosis
from simulate.potts import FitError, MixingError, boltzmann_learning

PLAIN = ["--jobs", "1", "--no-reweight", "--min-separation", "1", "--l2", "0.5"]


def family(M=400, L=6, C=3):
    """Sequences in which sites 0 and 5, and 1 and 4, agree in eight of ten cases."""
    rng = stream(0, "family of new sequences", M, L)
    states = rng.integers(0, C, (M, L)).astype(np.uint8)
    for i, j in ((0, 5), (1, 4)):
        states[:, j] = np.where(rng.random(M) < 0.8, states[:, i], states[:, j])
    return states


@pytest.fixture(scope="module")
def learned():
    return boltzmann_learning(family(), 3, rng=stream(0, "learned"), rate=0.05, n_chains=512, n_checked=5000)


@pytest.fixture(scope="module")
def made(learned):
    states = family()
    new, notes = generated(states, np.ones(400), np.arange(400), 3, None, 50, lambda: learned, 0, 1)
    assert notes == ()
    return new


@pytest.mark.slow
def test_the_command_writes_sequences_a_table_and_a_scatter(tmp_path, capsys):
    letters = np.array(list("ACG"))[family(200)]
    path = tmp_path / "mine.fasta"
    path.write_text("".join(f">s{k}\n{''.join(row)}\n" for k, row in enumerate(letters)), encoding="ascii")
    assert main([str(path), "--output", str(tmp_path / "out"), *PLAIN, "--generate", "30"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "30 new sequences were drawn from the pair model of penalized pseudo-likelihood" in said
    name = f"{tmp_path / 'out'}/analyse_mine.fasta"
    new = read_sequences(f"{name}_generated.fasta")
    assert new.states.shape == (30, 6)
    with Path(f"{name}_generation.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert [row["compared"] for row in rows] == [
        "frequencies of sites", "covariances of pairs", "covariances of triples"
    ]  # fmt: skip
    assert float(rows[1]["pearson"]) > 0.8
    assert (tmp_path / "out" / "analyse_mine.fasta_scatter.pdf").exists()


def test_new_sequences_of_boltzmann_learning_keep_what_pairs_show(made):
    sites, pairs, triples = made.comparisons
    assert sites.pearson > 0.9
    assert pairs.pearson > 0.95
    assert 0.7 < pairs.slope < 1.2
    assert triples.n_sets == 20
    assert made.r_hat < 1.01
    assert made.states.shape == (50, 6)
    agree = (made.states[:, 0] == made.states[:, 5]).mean()
    assert agree > 0.5  # .867 in the family, a third by chance, and the standard error is .05


def test_the_clone_of_order_two_is_nearer_than_independent_columns(learned):
    states = family()
    clones, notes = make_clones(
        states, 3, np.ones(400), 2, 0.5, 0.01, 0, lambda: pair_clone(states, 3, np.ones(400), learned, 0, 1)
    )
    assert notes == ()
    first, second = (each.marginals[1] for each in clones)
    assert second.mean < first.mean
    assert second.mean < 1.2 * second.noise
    assert clones[1].states.shape == states.shape


def test_cumulants_are_means_of_products_of_deviations():
    states, new = family(300), family(250, 6)
    weights = np.where(states[:, 0] == 0, 0.4, 1.0)
    sites, pairs, triples = compared(states, weights, new, 3, (np.arange(150), np.arange(150, 300)), 0)
    x, y = np.eye(3)[states], np.eye(3)[new]
    w = weights / weights.sum()
    x, y = x - np.einsum("m,mia->ia", w, x), y - y.mean(axis=0)
    own, other = [], []
    for i in range(6):
        for j in range(i + 1, 6):
            for k in range(j + 1, 6):
                own.append(np.einsum("m,ma,mb,mc->abc", w, x[:, i], x[:, j], x[:, k]).ravel())
                other.append(np.einsum("ma,mb,mc->abc", y[:, i], y[:, j], y[:, k]).ravel() / len(y))
    first, second = np.concatenate(own), np.concatenate(other)
    assert triples.pearson == pytest.approx(np.corrcoef(first, second)[0, 1], abs=1e-10)
    assert triples.slope == pytest.approx(np.polyfit(first, second, 1)[0], abs=1e-10)
    assert np.allclose(np.sort(triples.points[:, 0]), np.sort(first))
    assert (sites.n_sets, pairs.n_sets) == (6, 15)
    same = compared(states, weights, states, 3, None, 0)
    assert np.isnan(same[0].half_pearson)
    equal = compared(states, np.ones(300), states, 3, (np.arange(300), np.arange(300)), 0)
    for each in equal:
        assert (each.pearson, each.slope) == pytest.approx((1.0, 1.0))
        assert (each.half_pearson, each.half_slope) == pytest.approx((1.0, 1.0))


def test_of_many_sites_some_sets_are_drawn():
    states = stream(0, "many sites").integers(0, 2, (50, 90))
    sites, pairs, triples = compared(states, np.ones(50), states, 2, None, 0)
    assert (sites.n_sets, pairs.n_sets, triples.n_sets) == (90, 3000, 300)


def test_the_nearest_sequence_is_another_one():
    natural = np.array([[0, 1, 2, 0], [0, 1, 2, 1], [2, 2, 2, 2]], np.uint8)
    assert nearest_identity(np.array([[0, 1, 2, 0]]), natural).tolist() == [1.0]
    assert nearest_identity(natural, natural, besides=np.arange(3)).tolist() == [0.75, 0.75, 0.25]


def test_weak_covariances_are_said(made):
    plain = Generation(made.states, None, 1.0, 10, made.comparisons[:2], made.nearest, made.natural)
    weak = [SimpleNamespace(**{**vars(each), "slope": 0.5}) for each in made.comparisons[:2]]
    said = generation_sentences(Generation(made.states, None, 1.0, 10, tuple(weak), made.nearest, made.natural))
    assert any("0.50 times those of the family: penalized pseudo-likelihood predicts" in each for each in said)
    assert any("--boltzmann learns a model" in each for each in said)
    assert generation_sentences(None) == []
    assert "a second half of the family against the first" in " ".join(generation_sentences(made))
    assert len(generation_sentences(plain)) >= 3


def test_the_file_holds_letters_or_tokens(made):
    (name, text), = sequence_file(made, ("A", "C", "-")).items()  # fmt: skip
    assert name == "generated.fasta"
    assert text.startswith(">generated_1\n")
    (name, text), = sequence_file(made, ("red", "blue", "-")).items()  # fmt: skip
    assert name == "generated.csv"
    assert len(text.splitlines()) == 50


def test_what_cannot_be_had_is_a_note():
    def fail():
        raise FitError("boltzmann_learning did not converge")

    made, notes = generated(family(), np.ones(400), np.arange(400), 3, None, 5, fail, 0, 1)
    assert made is None
    assert "no sequences were generated: Boltzmann learning did not find" in notes[0]
    clones, notes = make_clones(family(), 3, np.ones(400), 2, 0.5, 0.01, 0, fail)
    assert len(clones) == 1
    assert notes[0].startswith("there is no clone of order 2: Boltzmann learning did not find")
    assert "--no-boltzmann" in notes[0]
    mixing = MixingError("why", {"score": Diagnosis(0.0, 1.0, 9.0, 4.0, 1.3, "")}, 30_000, "advice")
    assert "after 30000 passes" in reason_of_learning(mixing)
    assert "too large for the memory" in unlearned(MemoryError())


def test_a_family_without_two_columns_that_vary_together_has_no_model_to_be_learned():
    colors = np.tile(np.array([0, 1, 2, 1], np.uint8), (30, 1))
    colors[:, 2] = np.arange(30) % 3
    learn = learner(colors, 3, np.full(30, 1 / 30), 0, 1, None)
    made, notes = generated(colors, np.full(30, 1 / 30), np.arange(30), 3, None, 5, learn, 0, 1)
    assert made is None
    assert "there is no pair model to be learned (sequences must have two sites" in notes[0]


@pytest.mark.slow
def test_two_phases_give_no_sequences():
    states = np.repeat(np.array([[0] * 12, [1] * 12], np.uint8), 100, axis=0)
    model = pair_fit(states, np.ones(200), Settings(3, None, 0.01, 0.01, 200, 1e-3)).model
    made, notes = generated(states, np.ones(200), np.arange(200), 3, model, 5, None, 0, 1)
    assert made is None
    assert "had not come to agree" in notes[0]
    assert "--boltzmann" in notes[0]


@pytest.mark.parametrize(
    ("clones", "generate", "boltzmann", "learns"),
    [(None, None, None, 0), (1, None, None, 0), (2, None, None, 1), (2, None, False, 0), (None, 5, None, 0),
     (None, 5, True, 1), (None, None, True, 0)],
)  # fmt: skip
def test_the_time_of_learning_is_said_where_something_is_learned(clones, generate, boltzmann, learns):
    options = argparse.Namespace(clones=clones, generate=generate, boltzmann=boltzmann)
    seconds = generation_seconds(options, 82, 21)
    assert (seconds > 0) == bool(learns)
    assert (learning_sentence(seconds) != "") == bool(learns)


@pytest.mark.parametrize("number", ["0", "-3", "two"])
def test_a_number_that_is_none_is_refused(tmp_path, capsys, number):
    path = tmp_path / "x.fasta"
    path.write_text(">a\nAC\n", encoding="ascii")
    assert main([str(path), "--generate", number]) == 2
    assert "--generate must be an integer of at least 1" in capsys.readouterr().err


def test_a_clone_that_is_farther_than_independent_columns_is_said():
    from figures.analyse.sequences.clones import _farther

    def clone(order, mean):
        return SimpleNamespace(order=order, marginals=[None, SimpleNamespace(mean=mean, noise=0.03)])

    assert "differs from the alignment by more (0.05)" in _farther((clone(1, 0.04), clone(2, 0.05)))[0]
    assert _farther((clone(1, 0.04), clone(2, 0.035))) == []
    assert _farther((clone(1, 0.01), clone(2, 0.025))) == []  # within the noise
    assert _farther((clone(2, 0.05),)) == []
