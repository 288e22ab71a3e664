"""Gradients of marginals: against enumeration, finite differences, and themselves."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.sequence import forward_backward
from tests.sequence.chains import enumerate_chain, long_chains, random_chains, sequences


def enumerated(potentials, transitions, lengths, slopes, pair_slopes):
    """Return covariances of F with the use of each score, path by path."""
    k = len(transitions)
    to_potentials, to_transitions = np.zeros_like(potentials), np.zeros_like(transitions)
    start = pair_start = 0
    for part in sequences(potentials, lengths):
        n = len(part)
        _, _, _, paths, share = enumerate_chain(part, transitions)
        own = slopes[start : start + n]
        pairs = pair_slopes[pair_start : pair_start + n - 1].reshape(n - 1, k, k)
        value = np.array(
            [
                sum(own[t, s[t]] for t in range(n))
                + sum(pairs[t, s[t], s[t + 1]] for t in range(n - 1))
                for s in paths
            ]
        )
        weight = share * (value - share @ value)
        for s, w in zip(paths, weight, strict=True):
            for t in range(n):
                to_potentials[start + t, s[t]] += w
            for t in range(n - 1):
                to_transitions[s[t], s[t + 1]] += w
        start, pair_start = start + n, pair_start + n - 1
    return to_potentials, to_transitions


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([0.0, 1.0, 10.0, 300.0, 1e4]),
    step=st.sampled_from([0.0, 1.0, 10.0, 300.0]),
    forbid=st.sampled_from([0.0, 0.2]),
)
def test_gradients_equal_enumerated_covariances(seed, scale, step, forbid):
    potentials, transitions, lengths = random_chains(seed, scale, step, forbid)
    if any(enumerate_chain(part, transitions) is None for part in sequences(potentials, lengths)):
        return
    rng = np.random.default_rng(seed)
    result = forward_backward(potentials, transitions, lengths, pairs="all")
    slopes = rng.normal(size=result.proba.shape)
    pair_slopes = rng.normal(size=result.pair_proba.shape)
    found = result.vjp(slopes, pair_slopes)
    expected = enumerated(potentials, transitions, lengths, slopes, pair_slopes)
    tolerance = 1e-12 * max(1.0, scale, step)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=20 * tolerance)


@pytest.mark.parametrize("step", [1.0, 400.0])
def test_gradients_equal_finite_differences(step):
    # Long chains; a step of 400 sends them to log space.
    potentials, transitions, lengths = long_chains(3, k=4, n=6, step=step)
    chosen = [(0, 1), (2, 2), (3, 1)]
    rng = np.random.default_rng(0)
    result = forward_backward(potentials, transitions, lengths, pairs=chosen)
    slopes = rng.normal(size=result.proba.shape)
    pair_slopes = rng.normal(size=result.pair_proba.shape)

    def value(potentials, transitions):
        found = forward_backward(potentials, transitions, lengths, pairs=chosen)
        return (slopes * found.proba).sum() + (pair_slopes * found.pair_proba).sum()

    to_potentials, to_transitions = result.vjp(slopes, pair_slopes)
    h = 1e-5
    for _ in range(20):
        one, two = rng.normal(size=potentials.shape), rng.normal(size=transitions.shape)
        slope = (
            value(potentials + h * one, transitions + h * two)
            - value(potentials - h * one, transitions - h * two)
        ) / (2 * h)
        found = (one * to_potentials).sum() + (two * to_transitions).sum()
        assert found == pytest.approx(slope, rel=1e-7, abs=1e-7)


def test_scaled_and_log_space_agree():
    potentials, transitions, lengths = long_chains(5)
    slopes = np.random.default_rng(1).normal(size=potentials.shape)
    plain = forward_backward(potentials, transitions, lengths).vjp(slopes)
    # One tag more, reached by a path that no scaled float can hold, changes nothing else.
    wide = np.column_stack([potentials, np.full(len(potentials), -700.0)])
    steps = np.pad(transitions, ((0, 1), (0, 1)))
    logged = forward_backward(wide, steps, lengths).vjp(np.column_stack([slopes, slopes[:, 0]]))
    np.testing.assert_allclose(logged[0][:, :-1], plain[0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(logged[1][:-1, :-1], plain[1], rtol=0, atol=1e-9)


def test_a_constant_function_has_no_gradient():
    potentials, transitions, lengths = long_chains(6)
    result = forward_backward(potentials, transitions, lengths)
    # The marginals of a token always sum to one.
    each = np.repeat(np.random.default_rng(2).normal(size=len(potentials)), 7).reshape(-1, 7)
    for gradient in result.vjp(each):
        np.testing.assert_allclose(gradient, 0.0, atol=1e-12)


def test_gradients_are_linear_and_leave_their_arguments_alone():
    potentials, transitions, lengths = long_chains(7)
    result = forward_backward(potentials, transitions, lengths)
    rng = np.random.default_rng(3)
    one, two = rng.normal(size=(2, *potentials.shape))
    kept = one.copy(), potentials.copy()
    both = result.vjp(2.0 * one - two)
    for a, b, c in zip(both, result.vjp(one), result.vjp(two), strict=True):
        np.testing.assert_allclose(a, 2.0 * b - c, atol=1e-11)
    np.testing.assert_array_equal(one, kept[0])
    np.testing.assert_array_equal(potentials, kept[1])


def test_messages():
    potentials, transitions, lengths = long_chains(8)
    result = forward_backward(potentials, transitions, lengths)
    with pytest.raises(ValueError, match="cotangent should have the shape of the marginals"):
        result.vjp(potentials[:-1])
    bad = potentials.copy()
    bad[0, 1] = np.nan
    with pytest.raises(ValueError, match=r"cotangent has the value nan at \(0, 1\)"):
        result.vjp(bad)
    with pytest.raises(ValueError, match="pass pairs= to forward_backward"):
        result.vjp(potentials, potentials)
    with pytest.raises(TypeError, match="cotangent must hold numbers, got 'steep'"):
        result.vjp("steep")


def test_log_space_takes_no_more_memory_than_the_scores():
    rng = np.random.default_rng(9)
    # Two states that no other leads to, and a token that only they allow: lost to scaled floats.
    n, k = 1500, 24
    potentials = rng.normal(size=(n, k))
    transitions = np.full((k, k), -900.0)
    np.fill_diagonal(transitions, 0.0)
    potentials[n // 2, 2:] = -2000.0
    potentials[: n // 2, :2] -= 3.0
    pairs = [[0, 0], [1, 1], [0, 0]]
    result = forward_backward(potentials, transitions, pairs=pairs)
    slopes, steps = rng.normal(size=(n, k)), rng.normal(size=(n - 1, 3))
    tracemalloc.start()
    to_potentials, _ = result.vjp(slopes, steps)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A matrix for each step would take k times the scores.
    assert peak < 16 * potentials.nbytes
    change = rng.normal(size=potentials.shape)

    def value(h):
        found = forward_backward(potentials + h * change, transitions, pairs=pairs)
        return float((found.proba * slopes).sum() + (found.pair_proba * steps).sum())

    numerical = (8 * (value(1e-3) - value(-1e-3)) - value(2e-3) + value(-2e-3)) / 12e-3
    assert float((to_potentials * change).sum()) == pytest.approx(numerical, rel=1e-7, abs=1e-7)
