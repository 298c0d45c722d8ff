"""Readers of text: documents as counts of words."""

from figures.reading.text.options import add_text_options
from figures.reading.text.read import read_corpus
from figures.reading.text.record import Corpus
from figures.reading.text.vectors import read_vectors
from figures.reading.text.words import ENGLISH, words_of

__all__ = ["ENGLISH", "Corpus", "add_text_options", "read_corpus", "read_vectors", "words_of"]
