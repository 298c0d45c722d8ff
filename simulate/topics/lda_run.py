"""All chains of a latent Dirichlet allocation, one after the other, with what the next sweep depends on."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulate.core.checkpoint import generator_state
from simulate.topics.counts import AnyCounts, Counts
from simulate.topics.lda_chain import LdaChain
from theory.core.arrays import Array


class LdaRun:
    """Holds the present chain and what earlier ones have left; a step brings it to its next record.

    `log_joint` (chains, records) and `perplexity` (chains,) are filled as far as the run has come; `topics` holds the
    probabilities (K, words) of each chain that has ended, and `proportions` (documents, K) those of the best of them.
    """

    def __init__(
        self,
        counts: AnyCounts,
        n_topics: int,
        rng: np.random.Generator,
        document_prior: float,
        word_prior: float,
        recorded: Counts,
        chains: int,
    ) -> None:
        self._start = counts, n_topics, rng, document_prior, word_prior
        self._rng, self._gaps = rng, np.diff(recorded, prepend=0)
        self.step = 0
        self.log_joint, self.perplexity = np.zeros((chains, len(recorded))), np.zeros(chains)
        self.topics = list[Array]()
        self.proportions = np.zeros((counts.shape[0], n_topics))
        self._chain: LdaChain | None = None  # the one that has begun and has not ended

    def measure(self) -> None:
        """Do nothing: what is measured belongs to the step that was made."""

    def advance(self) -> None:
        """Bring the present chain to its next record; the first step of a chain starts it, and the last one ends it."""
        chain, record = divmod(self.step, len(self._gaps))
        own = self._chain = self._chain or LdaChain(*self._start)
        own.advance(int(self._gaps[record]))
        self.log_joint[chain, record] = own.log_joint()
        self.step += 1
        if record == len(self._gaps) - 1:
            self.topics.append(own.topic_words())
            self.perplexity[chain] = own.perplexity()
            if chain == self.log_joint[: chain + 1, -1].argmax():  # the best so far
                self.proportions = own.document_topics()
            self._chain = None

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be saved."""
        own = dict[str, NDArray[Any]]()
        if self._chain is not None:
            own = {"token_topics": self._chain.topics, "token_generator": self._chain.generator}
        return {
            "step": np.array(self.step),
            "log_joint": self.log_joint,
            "perplexity": self.perplexity,
            "topics": np.array(self.topics),
            "proportions": self.proportions,
            "generator": np.array(generator_state(self._rng)),
            **own,
        }

    def restore(self, saved: dict[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""
        self.step = int(saved["step"])
        self.log_joint, self.perplexity = saved["log_joint"], saved["perplexity"]
        # In the order of memory that they were made in, on which the last bits of sums over them depend.
        self.topics = [np.asfortranarray(each) for each in saved["topics"]]
        self.proportions = saved["proportions"]
        if "token_topics" in saved:
            self._chain = LdaChain(*self._start)
            self._chain.restore(saved["token_topics"], saved["token_generator"])
        self._rng.bit_generator.state = json.loads(str(saved["generator"]))
