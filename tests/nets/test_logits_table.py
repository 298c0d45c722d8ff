"""Tables of logits of any network: networks whose orders are known exactly, clamped sites, and everything refused."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import nets
from theory.models import FactoredStack, PottsModel
from theory.nets.orders import stack_logits

PAGE = Path(__file__).resolve().parents[2] / "docs" / "interaction_orders.md"
L, C = 6, 3


class Known:
    """Logits h_i + sum_j J_ij U[:, s_j] + sum_(j<k) T_ijk W[:, s_j, s_k]: orders 0, 1 and 2, and nothing else.

    The tables have vanishing sums over every axis, so that no part of one order hides in another.
    """

    def __init__(self, seed, triplets=True, columns=C):
        rng = np.random.default_rng(seed)
        self.h, self.J = rng.standard_normal((L, C)), rng.standard_normal((L, L))
        self.T = rng.standard_normal((L, L, L)) * triplets
        self.U, self.W = rng.standard_normal((C, C)), rng.standard_normal((C, C, C))
        for table in (self.h, self.U, self.W):
            for axis in range(table is self.h, table.ndim):
                table -= table.mean(axis=axis, keepdims=True)
        self.columns, self.asked, self.largest = columns, 0, 0

    def __call__(self, sequences, site):
        self.asked, self.largest = self.asked + len(sequences), max(self.largest, len(sequences))
        logits = np.tile(self.h[site], (len(sequences), 1))
        others = [j for j in range(L) if j != site]
        for j in others:
            logits += self.J[site, j] * self.U[:, sequences[:, j]].T
        for j, k in combinations(others, 2):
            logits += self.T[site, j, k] * self.W[:, sequences[:, j], sequences[:, k]].T
        extra = np.full((len(sequences), self.columns - C), 100.0)
        return np.hstack([logits, extra])

    def energies(self, sequence, sites):
        """The energies (K, 3 or more) of each site, by hand, those of clamped sites moved to lower orders."""
        found = np.zeros((len(sites), max(3, len(sites))))
        clamped = [j for j in range(L) if j not in sites]
        for row, i in enumerate(sites):
            free = [j for j in sites if j != i]
            constant = self.h[i] + sum(self.J[i, j] * self.U[:, sequence[j]] for j in clamped)
            for j, k in combinations(clamped, 2):
                constant = constant + self.T[i, j, k] * self.W[:, sequence[j], sequence[k]]
            found[row, 0] = np.sum(constant**2)
            for j in free:
                single = self.J[i, j] * self.U
                for k in clamped:
                    a, b = min(j, k), max(j, k)
                    part = self.W[:, :, sequence[b]] if a == j else self.W[:, sequence[a], :]
                    single = single + self.T[i, a, b] * part
                found[row, 1] += np.sum(single**2) / C
            found[row, 2] = (
                sum(self.T[i, j, k] ** 2 for j, k in combinations(sorted(free), 2)) * np.sum(self.W**2) / C**2
            )
        return found


@pytest.mark.parametrize("triplets", [False, True])
@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_the_orders_of_known_networks(triplets, batch_size):
    network, sequence = Known(1, triplets), [0] * L
    table = nets.logits_table(network, sequence, range(L), range(C), mask_token=-1, batch_size=batch_size)
    found = nets.order_fractions(table)
    assert table.shape == (L, C ** (L - 1), C)
    assert network.asked <= L * C ** (L - 1) + batch_size
    assert network.largest <= batch_size
    expected = network.energies(sequence, range(L))
    assert found.energies == pytest.approx(expected, rel=1e-10, abs=1e-11)
    assert (found.fractions[2] > 0.1) == triplets
    assert found.fractions[3:] == pytest.approx(0, abs=1e-20)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.permutations(range(L)), st.integers(1, 5))
def test_clamped_sites_move_interactions_to_lower_orders(seed, order, n_sites):
    network, sites = Known(seed), order[:n_sites]
    sequence = np.random.default_rng(seed).integers(0, C, L)
    table = nets.logits_table(network, sequence, sites, range(C), mask_token=-1, batch_size=5)
    energies = nets.order_fractions(table).energies
    expected = network.energies(sequence, sites)
    assert energies == pytest.approx(expected[:, :n_sites], rel=1e-9, abs=1e-11)
    assert expected[:, n_sites:] == pytest.approx(0)


def test_the_table_is_that_of_a_stack():
    stack = FactoredStack.random(3, 4, 2, 1.0, np.random.default_rng(0))

    def network(sequences, site):
        inputs = np.eye(2)[sequences]
        inputs[:, site] = 0.0
        return stack.logits(inputs)[:, site]

    table = nets.logits_table(network, [0, 0, 0, 0], range(4), [0, 1], mask_token=0)
    assert np.array_equal(table, stack_logits(stack))
    assert nets.order_fractions(table).energies == pytest.approx(nets.order_fractions(stack).energies)


def test_conditional_logits_of_a_potts_model_have_no_order_above_one():
    rng = np.random.default_rng(3)
    J = rng.standard_normal((5, 5))
    model = PottsModel((J + J.T) * (1 - np.eye(5)), np.eye(3), rng.standard_normal((5, 3)), beta=0.7)

    def network(sequences, site):  # log P(s_i = a | the others), from the scores of whole states
        whole = np.repeat(sequences[:, None], 3, axis=1)
        whole[:, :, site] = [0, 1, 2]
        scores = np.empty(whole.shape[:2])
        for a in range(3):
            states = whole[:, a]
            pairs = model.site_couplings[None] * (states[:, :, None] == states[:, None, :])
            scores[:, a] = pairs.sum(axis=(1, 2)) / 2 + model.fields[np.arange(5), states].sum(axis=1)
        scores *= model.beta
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    table = nets.logits_table(network, [0] * 5, range(5), range(3), mask_token=0)
    found = nets.order_fractions(table)
    assert found.energies == pytest.approx(nets.order_fractions(model).energies, rel=1e-9, abs=1e-12)
    assert found.fractions[2:] == pytest.approx(0, abs=1e-20)


def test_tokens_choose_columns_and_may_differ_by_site():
    network = Known(4, columns=7)
    all_tokens = nets.logits_table(network, [1, 0, 2, 0, 1, 2], [4, 1], [0, 1, 2], mask_token=-1)
    turned = nets.logits_table(network, [1, 0, 2, 0, 1, 2], [4, 1], [[2, 0], [1, 0]], mask_token=-1)
    assert np.array_equal(turned[0], all_tokens[0][[1, 0]][:, [2, 0]])
    assert np.array_equal(turned[1], all_tokens[1][[2, 0]][:, [1, 0]])


def test_a_network_may_write_into_what_it_gets_and_sees_the_mask_only():
    seen = []

    def network(sequences, site):
        seen.append(sequences.copy())
        logits = np.outer(sequences.sum(axis=1), [1.0, 2.0])
        sequences[:] = 0
        return logits

    given_sequence = np.array([1, 0, 1])
    table = nets.logits_table(network, given_sequence, [0, 2], [0, 1], mask_token=9, batch_size=1)
    assert table.tolist() == [[[9, 18], [10, 20]], [[9, 18], [10, 20]]]
    assert given_sequence.tolist() == [1, 0, 1]
    assert {tuple(each[0]) for each in seen} == {(9, 0, 0), (9, 0, 1), (0, 0, 9), (1, 0, 9)}


def test_single_precision_shows_as_a_floor_of_high_orders():
    network = Known(5, triplets=False)

    def single(sequences, site):
        return network(sequences, site).astype(np.float32)

    fractions = nets.order_fractions(nets.logits_table(single, [0] * L, range(L), range(C), mask_token=-1)).fractions
    assert 1e-17 < fractions[2:].max() < 1e-13


def table(network=None, **changed):
    keywords = {"sequence": [0] * L, "sites": [0, 1], "tokens": [0, 1, 2], "mask_token": -1} | changed
    return nets.logits_table(network or Known(0), **keywords)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"network": 3.0}, "network must be a function, got 3.0"),
        ({"network": lambda sequences: sequences}, "network must be a function of 2 arguments"),
        ({"sequence": [[0, 1]]}, r"sequence must be integers \(length,\), got shape \(1, 2\)"),
        ({"sequence": [0.5] * L}, "sequence must be an array of integers"),
        ({"sites": [0, L]}, "sites must be from 0 to 5, places in the sequence, got 6"),
        ({"sites": [-1, 0]}, "sites must be from 0 to 5, places in the sequence, got -1"),
        ({"sites": [0, 2, 0]}, r"sites must differ from each other, got \[0, 2, 0\]"),
        ({"sites": []}, "sites must be an array of integers"),
        ({"sites": 3}, r"sites must be integers \(K,\), at least one"),
        ({"tokens": [0, 1, 1]}, r"tokens must differ from each other, got \[0, 1, 1\]"),
        ({"tokens": [1]}, r"tokens must be integers \(C,\), at least two"),
        ({"tokens": [[0, 1]] * 3}, r"or \(2, C\) for the 2 sites, got shape \(3, 2\)"),
        ({"tokens": [-1, 1]}, "tokens must be columns of the logits, from 0 on, got -1 to 1"),
        ({"tokens": [0, 3], "sites": [0]}, r"V > 3, the largest of the tokens, got shape \(1, 3\)"),
        ({"mask_token": 0.5}, "mask_token must be an integer of at least -1, got 0.5"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1, got 0"),
        (
            {"sequence": [0] * 40, "sites": range(20), "tokens": [0, 1]},
            r"20 sites with 2 tokens have a table of 20 \* 2\^20 numbers, and K C\^K must be at most 16777216",
        ),
    ],
)
def test_arguments_that_cannot_be_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        table(**changed)


def test_what_a_network_returns_is_checked():
    whole = Known(0)
    with pytest.raises(ValueError, match=r"logits \(3, V\) of one site .* got shape \(3, 6, 3\)"):
        table(lambda sequences, site: np.zeros((len(sequences), L, 3)))
    with pytest.raises(ValueError, match=r"logits \(3, V\) of one site .* got shape \(2, 3\)"):
        table(lambda sequences, site: whole(sequences, site)[:2])
    with pytest.raises(ValueError, match="network must be an array of real numbers"):
        table(lambda sequences, site: whole(sequences, site) + 0j)

    def later(sequences, site):
        return np.where(sequences[:, [0]] == 2, np.nan, whole(sequences, site))

    with pytest.raises(ValueError, match="network must return finite logits, got nan for token 0 at site 1"):
        table(later)
    with pytest.raises(ValueError, match="got -inf for token 2 at site 0; tokens that it forbids"):
        table(lambda sequences, site: whole(sequences, site) + np.array([0, 0, -np.inf]))

    class Tensor:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")

    with pytest.raises(ValueError, match=r"got Tensor \(Can't call numpy.*\.detach\(\)\.float\(\)\.cpu\(\)\.numpy"):
        table(lambda sequences, site: Tensor())
    with pytest.raises(ZeroDivisionError):
        table(lambda sequences, site: 1 / 0)


def test_networks_that_are_not_functions_of_the_sequence_are_refused():
    rng, whole = np.random.default_rng(0), Known(0)
    for unlike in (
        lambda sequences, site: whole(sequences, site) * (rng.random((len(sequences), 3)) > 0.1),  # dropout
        lambda sequences, site: whole(sequences, site) - whole(sequences, site).mean(axis=0),  # of the batch
        lambda sequences, site: np.arange(3.0 * len(sequences)).reshape(-1, 3),  # of the place in it
    ):
        with pytest.raises(ValueError, match="network must give a sequence the same logits whenever it is asked"):
            table(unlike)


def test_batches_of_long_sequences_are_small(monkeypatch):
    monkeypatch.setattr("theory.nets.tabulation.MAX_NUMBERS", 4 * L)
    network = Known(0)
    table(network, sites=[0], batch_size=100)
    with pytest.raises(ValueError, match="must be at most 24"):
        table(network, sites=[0, 1, 2])
    monkeypatch.setattr("theory.nets.tabulation.MAX_NUMBERS", 3 * 27)
    table(network, sites=[0, 1, 2], sequence=[0] * L)
    assert network.largest == 9
    monkeypatch.setattr("theory.nets.tabulation.MAX_NUMBERS", 81)
    long = lambda sequences, site: (sizes.append(len(sequences)), np.zeros((len(sequences), 3)))[1]  # noqa: E731
    sizes = []
    nets.logits_table(long, [0] * 40, [0, 1, 2], [0, 1, 2], mask_token=0)
    assert max(sizes) == 2


def adapter(library):
    """The block of the page that adapts a network of this library."""
    return next(
        one for one in re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL) if library in one
    )


def test_the_adapter_of_jax_on_the_page():
    jax = pytest.importorskip("jax", reason="needs pip install -e '.[nets]'")
    known = Known(2, triplets=False)
    embedding = jax.numpy.asarray(known.J[:, :, None, None] * known.U)  # (i, j, a, b)
    onehot = jax.numpy.vstack([jax.numpy.eye(C), jax.numpy.zeros(C)])  # the mask is the last token

    def model(sequences):
        return jax.numpy.einsum("ijab,njb->nia", embedding * (1 - np.eye(L))[:, :, None, None], onehot[sequences])

    names = {"model": model}
    exec(adapter("jax"), names)
    found = nets.logits_table(names["network"], [0] * L, [0, 2, 5], range(C), mask_token=C)
    expected = nets.logits_table(lambda s, i: known(s, i) - known.h[i], [0] * L, [0, 2, 5], range(C), mask_token=C - 1)
    assert found == pytest.approx(expected, abs=1e-5)


def test_the_adapter_of_torch_on_the_page():
    torch = pytest.importorskip("torch", reason="needs torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Embedding(C + 1, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, C)).bfloat16()
    names = {"model": model}
    exec(adapter("torch"), names)
    found = nets.logits_table(names["network"], [0] * L, [0, 2, 5], range(C), mask_token=C)
    assert nets.order_fractions(found).fractions == pytest.approx([1, 0, 0], abs=1e-6)  # it reads one token at a time


@pytest.mark.slow
def test_a_trained_network_of_torch_uses_the_orders_of_its_data():
    """Site 2 is the sum of sites 0 and 1 modulo 2, and site 4 is site 3: one needs two sites together, one a single."""
    torch = pytest.importorskip("torch", reason="needs torch")
    torch.set_num_threads(1)  # more of them wait for each other in so small a network
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    states = rng.integers(0, 2, (2000, 5))
    states[:, 2] = np.where(rng.random(2000) < 0.95, (states[:, 0] + states[:, 1]) % 2, states[:, 2])
    states[:, 4] = np.where(rng.random(2000) < 0.95, states[:, 3], states[:, 4])
    model = torch.nn.Sequential(
        torch.nn.Embedding(3, 3), torch.nn.Flatten(), torch.nn.Linear(15, 48), torch.nn.ReLU(), torch.nn.Dropout(0.05),
        torch.nn.Linear(48, 10), torch.nn.Unflatten(1, (5, 2)),
    )  # fmt: skip
    torch.nn.init.eye_(model[0].weight)  # one-hot, with the mask as the last token
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    every = torch.as_tensor(states)
    for _ in range(400):
        chosen, site, row = torch.randint(0, 2000, (128,)), torch.randint(0, 5, (128,)), torch.arange(128)
        masked = every[chosen].clone()
        masked[row, site] = 2
        loss = torch.nn.functional.cross_entropy(model(masked)[row, site], every[chosen, site])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    names = {"model": model}
    exec(adapter("torch"), names)  # which switches dropout off
    asked = {"sites": range(5), "tokens": [0, 1], "mask_token": 2}
    energies = nets.order_fractions(nets.logits_table(names["network"], states[0], **asked)).energies
    shares = energies[:, 1:] / energies[:, 1:].sum(axis=1, keepdims=True)
    assert shares[:3, 1].min() > 0.6  # order 2
    assert shares[3:, 0].min() > 0.8  # order 1
    model.train()
    with pytest.raises(ValueError, match=r"switch dropout off \(torch: model.eval\(\)\)"):
        nets.logits_table(names["network"], states[0], **asked)
