"""Exact densities and means against reference values, closed forms, other sums over primes, and known constants."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.models.trees.factors import primes_up_to
from theory.numerics import ConvergenceError
from theory.trees import (
    additive_mean,
    depth_density,
    exponent_density,
    mean_children,
    mean_depth,
    mean_excess_edges,
    pattern_density,
    squarefree_run_density,
    word_frequency,
    word_of,
)

PRIMES = primes_up_to(2 * 10**6).astype(float)
PRIME_EXPONENTS = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
REFERENCE = {1: 0.607927101854, 2: 0.955923015862, 3: 0.999992355113}


def test_densities_of_depth_are_the_reference_values():
    for depth, value in REFERENCE.items():
        assert depth_density(depth).density == pytest.approx(value, abs=6e-13)
    assert depth_density(1).density == pytest.approx(6 / math.pi**2, rel=1e-15)
    assert depth_density(0).density == 0
    assert depth_density(4).density == 1  # 1 - 2^-65536 is no double


def test_mean_of_edges_and_squarefree_pairs_are_the_reference_values():
    assert mean_excess_edges().mean == pytest.approx(0.506152383260, abs=6e-13)
    assert squarefree_run_density(2).density == pytest.approx(0.322634098939, abs=6e-13)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_densities_of_depth_are_products_over_primes(depth):
    """Route two: the share of numbers prime by prime, without rearranging and without prime zeta."""
    shares = np.full(PRIMES.shape, 1.0)
    for a in range(1, 60):
        deep = word_of(a).count("(") and max(np.cumsum([1 if c == "(" else -1 for c in word_of(a)])) > depth - 1
        if deep:
            shares -= PRIMES**-a * (1 - 1 / PRIMES)
    assert depth_density(depth).density == pytest.approx(float(np.prod(shares)), abs=1e-7)


@pytest.mark.parametrize(
    ("allowed", "value"),
    [
        (lambda a: a <= 2, 1 / mpmath.zeta(3)),  # cube-free
        (lambda a: a <= 6, 1 / mpmath.zeta(7)),
        (lambda a: a % 2 == 1, 0.7044422009991655927),  # OEIS A065463: product of 1 - 1/(p (p + 1))
        (lambda a: a != 2, 0.7485352596823635646),  # OEIS A330596: product of 1 - 1/p^2 + 1/p^3
        (lambda a: True, 1.0),
        (lambda a: a > 1, 0.0),
    ],
)
def test_densities_of_exponents_are_known_constants(allowed, value):
    assert exponent_density(allowed).density == pytest.approx(float(value), rel=1e-14, abs=0)


def test_runs_of_squarefree_numbers():
    for length in (1, 2, 3):
        product = float(np.prod(1 - length / PRIMES**2))
        assert squarefree_run_density(length).density == pytest.approx(product, abs=1e-7)
    assert squarefree_run_density(3).density == pytest.approx(0.1254869809058, abs=1e-12)  # OEIS A206256
    assert [squarefree_run_density(length).density for length in (4, 100)] == [0, 0]


@given(st.integers(0, 6))
def test_deeper_trees_are_more(depth):
    assert 0 <= depth_density(depth).density <= depth_density(depth + 1).density <= 1


def test_means_of_additive_functions_are_sums_over_primes():
    assert additive_mean(lambda a: a - 1).mean == pytest.approx(0.7731566690497951, rel=1e-14)  # OEIS A136141
    assert additive_mean(lambda a: a - 1).mean == pytest.approx(float(mpmath.nsum(mpmath.primezeta, [2, 120])))
    edges = sum(word_of(a).count("(") * float(np.sum(PRIMES**-a * (1 - 1 / PRIMES))) for a in range(2, 60))
    assert mean_excess_edges().mean == pytest.approx(edges, abs=1e-7)
    assert additive_mean(lambda a: 0).mean == 0


def test_an_additive_function_of_very_large_exponents_only_is_refused():
    with pytest.raises(ConvergenceError, match="mean of an additive function"):
        additive_mean(lambda a: float(a >= 120))
    assert additive_mean(lambda a: float(a == 60)).mean == pytest.approx(2.0**-61, rel=1e-9)


def test_mean_depth():
    deficits = [1 - REFERENCE[k] for k in (1, 2, 3)]
    assert mean_depth().mean == pytest.approx(1 + sum(deficits), abs=2e-12)


@pytest.mark.parametrize("n_numbers", [10**6, 10**7])
def test_mean_number_of_children_is_a_sum_over_primes(n_numbers):
    """Exactly (1/N) sum_p floor(N/p): each further term of the series comes closer; the last one says how close."""
    exact = int((n_numbers // primes_up_to(n_numbers)).sum()) / n_numbers
    gaps = [abs(mean_children(n_numbers, k).mean - exact) for k in range(5)]
    assert gaps[0] > 0.02  # log log N + M is still far off
    for k in (1, 2, 3):
        assert gaps[k] < 0.3 * gaps[k - 1]
    assert gaps[4] < 1e-4
    assert gaps[3] < abs(mean_children(n_numbers, 3).last_term)


def test_constants_of_the_series_of_children():
    """They are -(integral of {u} (log u)^(j-1)/u^2 from 1 on), added up here from one integer to the next."""
    m, length = np.arange(1.0, 10**5), math.log(1e7)
    low, high, end = np.log(m), np.log(m + 1), 10**5
    cells = {1: high - low - 1 / (m + 1), 2: (high**2 - low**2) / 2 - (low + 1) + m / (m + 1) * (high + 1)}
    tails = {1: 1 / (2 * end), 2: (math.log(end) + 1) / (2 * end)}
    for j in (1, 2):
        term = mean_children(1e7, j).mean - mean_children(1e7, j - 1).mean
        assert term * length**j == pytest.approx(-cells[j].sum() - tails[j], abs=2e-9)


def weights(exponents):
    return sum(PRIMES**-a for a in exponents) * PRIMES / (PRIMES + 1)


def test_density_of_one_branch_is_an_alternating_sum_of_prime_zetas():
    with mpmath.workdps(30):
        total = mpmath.fsum(
            (-1) ** i * mpmath.primezeta(a + i) for a in PRIME_EXPONENTS for i in range(90)
        )  # p^-a p/(p + 1) = p^-a - p^-(a+1) + ...
        expected = float(6 / mpmath.pi**2 * total)
    found = pattern_density("(())")
    assert found.density == pytest.approx(expected, rel=1e-12)
    assert found.residual < 1e-12


def test_density_of_equal_branches_is_an_elementary_symmetric_function():
    g = weights(PRIME_EXPONENTS)
    pairs = (g.sum() ** 2 - (g**2).sum()) / 2
    triples = (g.sum() ** 3 - 3 * g.sum() * (g**2).sum() + 2 * (g**3).sum()) / 6
    assert pattern_density("(())(())").density == pytest.approx(6 / math.pi**2 * pairs, rel=3e-7)
    assert pattern_density("(())(())(())").density == pytest.approx(6 / math.pi**2 * triples, rel=1e-6)


def test_density_of_different_branches():
    """In either order they add up to the product of sums without the equal primes."""
    g, h = weights(PRIME_EXPONENTS), weights((4, 8, 9, 25, 27, 32, 49))
    both = pattern_density("(())((()))").density + pattern_density("((()))(())").density
    assert both == pytest.approx(6 / math.pi**2 * (g.sum() * h.sum() - (g * h).sum()), rel=3e-7)
    assert pattern_density("((()))(())").density > 3 * pattern_density("(())((()))").density  # 16 before 9, 4 before 81


def test_patterns_of_exponents_that_no_double_holds_have_density_zero():
    assert pattern_density("((((()))))").density == 0
    assert pattern_density("").density == pytest.approx(6 / math.pi**2, rel=1e-15)


def test_single_words_have_density_zero_and_a_leading_order():
    prime = word_frequency("()", 1e8)
    assert (prime.density, prime.constant, prime.n_last_leaves) == (0.0, 1.0, 1)
    assert prime.frequency == pytest.approx(1 / math.log(1e8), rel=1e-14)
    three = word_frequency("()()()", 1e8)
    assert three.frequency == pytest.approx(math.log(math.log(1e8)) ** 2 / 2 / math.log(1e8), rel=1e-14)
    with mpmath.workdps(20):
        squares = float(mpmath.fsum(mpmath.primezeta(a) for a in PRIME_EXPONENTS))
    assert word_frequency("(())()()", 1e8).constant == pytest.approx(squares, rel=1e-12)
    before = np.concatenate([[0.0], np.cumsum(1 / PRIMES)[:-1]])
    direct = sum(float(np.sum(PRIMES**-a * before)) for a in PRIME_EXPONENTS)
    found = word_frequency("()(())()", 1e8)
    assert found.constant == pytest.approx(direct, rel=2e-6)  # of primes beyond two million: 3e-8 3 / 0.19
    assert found.residual < 1e-6
    for word in ("", "(())", "()(())"):
        assert word_frequency(word, 1e8).frequency == 0
    assert word_frequency("((((()))))()", 1e8).frequency == 0


def test_prime_numbers_approach_the_leading_order_slowly():
    """The ratio is 1 + 1/log N + 2/log^2 N + ...: still 1.07 at 10^7."""
    for n in (10**6, 10**7):
        ratio = len(primes_up_to(n)) / n / word_frequency("()", n).frequency
        length = math.log(n)
        assert ratio == pytest.approx(1 + 1 / length + 2 / length**2, abs=0.006)


@pytest.mark.parametrize("pattern", ["()", "(())()", "()(())", "(", "(())" * 13])
def test_patterns_with_leaves_or_too_many_children_are_refused(pattern):
    with pytest.raises(ValueError, match=r"pattern must|word must"):
        pattern_density(pattern)


def test_bad_numbers_are_refused():
    for wrong in (9.9, math.inf, -1.0):
        with pytest.raises(ValueError, match="n_numbers"):
            mean_children(wrong)
        with pytest.raises(ValueError, match="n_numbers"):
            word_frequency("()", wrong)
    with pytest.raises(ValueError, match="n_terms"):
        mean_children(100, 21)
    with pytest.raises(ValueError, match="allowed must be True or False"):
        exponent_density(lambda a: a)
    with pytest.raises(ValueError, match="allowed must be a function of one exponent, which failed at 1"):
        exponent_density(lambda a: 1 / 0)
    for bad in (math.sqrt, math.log):  # their own ValueErrors name no argument
        with pytest.raises(ValueError, match="allowed must be a function of one exponent, which failed at 1"):
            exponent_density(lambda a, bad=bad: bad(-a))
        with pytest.raises(ValueError, match="value must be a function of one exponent, which failed at 2"):
            additive_mean(lambda a, bad=bad: bad(-a))
    with pytest.raises(ValueError, match="value must be at most"):
        additive_mean(lambda a: 1e16)


def test_constants_of_the_series_of_children_of_any_order_follow_from_the_zeta_function_beside_its_pole():
    """The integral of {u} u^(-s-1) from 1 on is 1/(s - 1) - zeta(s)/s, and log u is its derivative by -s, at s = 1."""
    step = 0.5 * np.exp(2j * np.pi * np.arange(64) / 64)
    values = 1 / step - np.array([complex(mpmath.zeta(1 + z)) for z in step]) / (1 + step)
    for j in range(1, 9):
        taylor = np.mean(values * step ** (1.0 - j)).real
        constant = mean_children(1e7, j).last_term * math.log(1e7) ** j
        assert constant == pytest.approx((-1) ** j * math.factorial(j - 1) * taylor, rel=1e-9)
