"""Readers of text: documents as counts of words."""

from figures.analyse.reading.text.read import read_corpus
from figures.analyse.reading.text.record import Corpus
from figures.analyse.reading.text.size import CorpusSize, corpus_size
from figures.analyse.reading.text.vectors import read_vectors
from figures.analyse.reading.text.vocabulary import ENGLISH, words_of

__all__ = ["ENGLISH", "Corpus", "CorpusSize", "corpus_size", "read_corpus", "read_vectors", "words_of"]
