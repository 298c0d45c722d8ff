"""Training: two stages of the population against theory, Adam against its definition, resumption to the same bits."""

import numpy as np
import pytest
from scipy.stats import chi2

from simulate import topics
from simulate.core import stream
from simulate.core.checkpoint import Checkpoint
from simulate.topics import CheckpointError, Training, train_single_layer
from simulate.topics.run import Optimizer, Run
from theory.core.errors import MaskedSSLError
from theory.models.topics import Masking, TopicModel

MODEL = TopicModel(n_topics=4, words_per_topic=2, topics_per_document=2)
MASKING = Masking(selected=0.5, kept=0.3, randomized=0.1)
DESCENT = Training(steps=1600, rate=0.5, optimizer="sgd", documents="population", init_noise=1e-3, record_every=400)
SAMPLED = Training(steps=12, rate=0.01, length=(8, 12), batch_size=5, record_every=5, evaluated=20, init_noise=0.1)


def trained(training, name="run", **options):
    return train_single_layer(MODEL, MASKING, training, stream(0, "training", name), **options)


def same(run, other):
    return run.history == other.history and all(
        np.array_equal(array, other.layer.arrays()[name]) for name, array in run.layer.arrays().items()
    )


def test_two_stages_of_the_population():
    """W_V settles at once; W_K and W_Q leave zero together, at the rate of the linear theory (a step is 0.5)."""
    from theory.topics import escape_rate

    run = trained(DESCENT)
    steps, norms = run.column("step"), run.column("key_norm")
    assert list(steps) == [0, 400, 800, 1200, 1600]
    assert run.column("loss")[2] == pytest.approx(0.75, abs=1e-5)
    assert run.column("gap")[2] == pytest.approx(1 / (2 * 0.65), rel=1e-4)
    first, second = np.diff(norms[2:] ** 2)  # the noise that does not grow drops out
    growth = np.log(second / first) / (2 * 0.5 * 400)
    assert growth == pytest.approx(escape_rate(MODEL, MASKING).rate, rel=0.005)
    assert run.column("query_norm")[4] == pytest.approx(norms[4], rel=3e-3)
    for kind in ("same_word", "same_topic", "different_topic"):
        assert run.column(kind)[2] == pytest.approx(0.01, abs=2e-6)


@pytest.mark.slow
def test_long_descent_finds_the_topics():
    """The second stage: attention on the own topic, W_V follows a little (gap up, then down)."""
    training = Training(
        steps=5600, rate=0.5, optimizer="sgd", documents="population", init_noise=1e-4, record_every=400
    )
    run = trained(training)
    gap = run.column("gap")
    assert run.column("loss")[-1] == pytest.approx(0.688, abs=0.002)
    assert gap[4] == pytest.approx(0.76923, abs=2e-4)
    assert 0.78 < gap.max() < 0.84
    assert gap[-1] < gap.max() - 0.02
    assert run.history[-1].same_topic > 3 * run.history[-1].different_topic


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "noise", "keys", "steps"),
    [
        ("squared_mean", 1e-6, "all", 1500),
        ("cross_entropy", 1e-3, "all", 1000),
        ("cross_entropy", 1e-3, "unselected", 1000),
    ],
)
def test_adam_on_documents_learns_topics(loss, noise, keys, steps):
    """T = v = 10: first W_V (squared loss, uniform attention: gap 1/(v kappa) = 0.1156), then topics."""
    model = TopicModel(n_topics=10, words_per_topic=10, topics_per_document=2)
    rate = 0.003 if loss == "squared_mean" else 0.01
    training = Training(steps=steps, rate=rate, loss=loss, keys=keys, init_noise=noise, concentration=0.1)
    history = train_single_layer(model, Masking(), training, stream(0, "adam", loss, keys)).history
    if loss == "squared_mean":
        assert history[3].gap == pytest.approx(0.1156, rel=0.02)
        assert history[3].different_topic == pytest.approx(0.01, rel=1e-3)
    assert history[-1].same_topic > 1.2 * history[-1].different_topic


def test_descent_of_the_value_matrix_follows_its_flow():
    """Without attention (W_K = W_Q = 0 stays) the gap is delta (1 - (1 - 2 rate L1)^k), L1 = kappa^2 zeta."""
    training = Training(steps=30, rate=0.5, optimizer="sgd", documents="population", init_noise=0, record_every=30)
    topic = 0.65**2 * (4 - 2) / (2 * 4 * 3 * 2)
    assert trained(training).history[-1].gap == pytest.approx((1 - (1 - topic) ** 30) / (2 * 0.65), rel=1e-12)


def test_adam_is_as_defined():
    rng, x, m, v = stream(0, "adam"), np.array([1.0, -2.0]), np.zeros(2), np.zeros(2)
    optimizer, ours = Optimizer("adam", 0.1, {"x": x}), {"x": x}
    for t in range(1, 6):
        g = rng.standard_normal(2)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        x = x - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        ours = optimizer.advanced(ours, {"x": g}, t)
    assert np.allclose(ours["x"], x, rtol=1e-13)


def test_records_and_shapes():
    run = trained(Training(**{**vars(SAMPLED), "attention_dimension": 3}))
    assert list(run.column("step")) == [0, 5, 10, 12]
    assert run.layer.key.shape == run.layer.query.shape == (3, 9)
    assert run.history[-1].key_norm == np.linalg.norm(run.layer.key)
    assert same(trained(SAMPLED), trained(SAMPLED))
    assert not same(trained(SAMPLED), trained(SAMPLED, "another"))


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("stop", [1, 6, 10])
def test_interrupted_run_goes_on_to_the_same_bits(tmp_path, monkeypatch, optimizer, stop):
    training, path = Training(**{**vars(SAMPLED), "optimizer": optimizer}), tmp_path / "run.npz"
    whole, advance = trained(training), Run.advance

    def killed(run):
        if run.step == stop:
            raise KeyboardInterrupt
        advance(run)

    monkeypatch.setattr(Run, "advance", killed)
    with pytest.raises(KeyboardInterrupt):
        trained(training, checkpoint=path, save_seconds=0)
    made = []
    monkeypatch.setattr(Run, "advance", lambda run: made.append(advance(run)))
    assert same(trained(training, checkpoint=path), whole)
    assert len(made) == training.steps - stop
    assert same(trained(training, checkpoint=path), whole)  # finished: nothing is left to do
    assert len(made) == training.steps - stop
    assert [each.name for each in tmp_path.iterdir()] == ["run.npz"]


def test_another_run_is_refused_and_left(tmp_path):
    path = tmp_path / "run.npz"
    trained(SAMPLED, checkpoint=path)
    kept = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"its rate is 0\.01, not 0\.02"):
        trained(Training(**{**vars(SAMPLED), "rate": 0.02}), checkpoint=path)
    with pytest.raises(CheckpointError, match="its generator is"):
        trained(SAMPLED, "another", checkpoint=path)
    path.write_bytes(kept[:-100])
    with pytest.raises(CheckpointError, match="cannot be read"):
        trained(SAMPLED, checkpoint=path)
    assert path.read_bytes() == kept[:-100]
    with pytest.raises(CheckpointError, match=r"folder .* does not exist"):
        trained(SAMPLED, checkpoint=tmp_path / "none" / "run.npz")


def test_progress_is_shown(capsys):
    trained(SAMPLED, progress="layer")
    assert "layer: 12" in capsys.readouterr().err


def test_divergence_is_said():
    with pytest.raises(FloatingPointError, match=r"rate = 100000\.0 is too large"):
        trained(Training(steps=200, rate=1e5, optimizer="sgd", documents="population"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps must be"),
        ({"batch_size": 1.5}, "batch_size must be"),
        ({"attention_dimension": 0}, "attention_dimension must be"),
        ({"rate": 0}, "rate must lie in"),
        ({"init_noise": -1}, "init_noise must lie in"),
        ({"loss": "hinge"}, "loss must be one of 'squared', 'squared_mean', 'cross_entropy', got 'hinge'"),
        ({"optimizer": "lbfgs"}, "optimizer must be one of"),
        ({"documents": "all"}, "documents must be one of"),
        ({"keys": "none"}, "keys must be one of"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Training(**{**vars(SAMPLED), **options})


def test_numbers_of_numpy_are_plain_in_the_settings(tmp_path):
    given = {"steps": np.int64(3), "rate": np.float32(0.5), "length": (np.int32(8), np.int64(9)), "evaluated": 4}
    training = Training(
        **given, concentration=np.float64(0.3), init_noise=np.float64(0.1), attention_dimension=np.int8(2)
    )
    assert type(training.steps) is int
    assert type(training.rate) is float
    assert trained(training, checkpoint=tmp_path / "run").history


@pytest.mark.parametrize("wrong", [{"length": 0}, {"length": (9, 8)}, {"length": (1, 2, 3)}, {"concentration": -1}])
def test_documents_that_cannot_be_drawn_are_refused_at_once(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Training(steps=1, rate=0.1, **wrong)


COUNTS = np.ones((4, 8), dtype=int)
TOPICS = np.kron(np.eye(4), [1, 1]).astype(bool)


@pytest.mark.parametrize(
    "call",
    [
        lambda rng: train_single_layer(MODEL, MASKING, SAMPLED, rng),
        lambda rng: topics.sample_topic_documents(MODEL, 3, rng),
        lambda rng: topics.mask_documents(COUNTS, MASKING, rng),
        lambda rng: topics.gibbs_lda(COUNTS, 2, rng),
        lambda rng: topics.fit_value_matrix(COUNTS, MASKING, rng),
        lambda rng: topics.topic_contrast(np.eye(8), TOPICS, rng),
        lambda rng: topics.random_embedding(8, 2, rng),
    ],
)
@pytest.mark.parametrize("rng", [0, None, np.random.RandomState(0)])
def test_a_generator_of_another_type(call, rng):
    with pytest.raises(ValueError, match="rng must be a Generator"):
        call(rng)


def test_weights_start_with_the_deviation_of_the_settings():
    training = Training(steps=1, rate=0.1, init_noise=0.3, documents="population")
    model = TopicModel(n_topics=4, words_per_topic=10, topics_per_document=2)
    layer = Run(model, MASKING, training, stream(0, "start")).layer
    power = sum(np.sum(layer.arrays()[name] ** 2) for name in ("key", "query", "value"))
    low, high = chi2.ppf([5e-7, 1 - 5e-7], 3 * 41**2)
    assert low < power / 0.09 < high
    assert not layer.bias.any()


def test_a_checkpoint_is_saved_no_more_often_than_asked_for(tmp_path, monkeypatch):
    saved, save = [], Checkpoint.save

    def counted(checkpoint, arrays):
        saved.append(int(arrays["step"]))
        save(checkpoint, arrays)

    monkeypatch.setattr(Checkpoint, "save", counted)
    trained(SAMPLED, checkpoint=tmp_path / "rare.npz", save_seconds=1e6)
    assert saved == [SAMPLED.steps]
    saved.clear()
    trained(SAMPLED, checkpoint=tmp_path / "often.npz", save_seconds=0.0)
    assert saved == [*range(1, SAMPLED.steps + 1), SAMPLED.steps]


@pytest.mark.parametrize("generator", [np.random.MT19937, np.random.SFC64, np.random.Philox])
def test_any_generator_goes_on_from_a_checkpoint(tmp_path, monkeypatch, generator):
    """Some generators hold arrays in their state."""
    path, advance = tmp_path / "run.npz", Run.advance

    def run(**options):
        return train_single_layer(MODEL, MASKING, SAMPLED, np.random.Generator(generator(3)), **options)

    def killed(one):
        if one.step == 6:
            raise KeyboardInterrupt
        advance(one)

    whole = run()
    monkeypatch.setattr(Run, "advance", killed)
    with pytest.raises(KeyboardInterrupt):
        run(checkpoint=path, save_seconds=0.0)
    monkeypatch.setattr(Run, "advance", advance)
    assert same(run(checkpoint=path), whole)


def test_divergence_is_one_of_the_errors_of_the_toolkit():
    training = Training(steps=50, rate=1e6, optimizer="sgd", documents="population", init_noise=1.0)
    with pytest.raises(topics.DivergenceError, match="is too large") as failure:
        trained(training)
    assert isinstance(failure.value, MaskedSSLError)
    assert isinstance(failure.value, FloatingPointError)


def test_history_is_a_table():
    pytest.importorskip("pandas")
    table = trained(SAMPLED).to_frame()
    assert table["step"].tolist() == [0, 5, 10, 12]
    with pytest.raises(ValueError, match="name must be one of 'step'"):
        trained(SAMPLED).column("losses")
