"""Scaled recursions over packed sentences, against enumeration, and when they give up."""

import numpy as np
import pytest

from sklearn_calib.sequence._packing import chunks
from sklearn_calib.sequence._scaled_recursions import (
    SAFE_RANGE,
    Transitions,
    backward,
    forward,
)
from tests.sequence.chains import enumerate_chain, random_chains, sequences


def run(potentials, log_transitions, lengths):
    """Return the one chunk of some short sentences with both recursions."""
    (chunk,) = chunks(np.asarray(lengths))
    transitions = Transitions(log_transitions)
    found = forward(chunk, potentials, transitions)
    alpha, scale = found.alpha.copy(), found.scale.copy()
    gamma, v, flagged = backward(chunk, found, transitions, keep_alpha=True)
    return chunk, transitions, found, alpha, scale, gamma, v, flagged


@pytest.mark.parametrize("forbid", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(15))
def test_tags_pairs_and_normalizers_equal_enumeration(seed, forbid):
    potentials, log_transitions, lengths = random_chains(seed, forbid=forbid, k=3)
    expected = [enumerate_chain(p, log_transitions) for p in sequences(potentials, lengths)]
    if any(part is None for part in expected):
        return
    chunk, transitions, found, _, _, gamma, v, flagged = run(potentials, log_transitions, lengths)
    assert len(flagged) == 0
    pairs = found.alpha[chunk.before][:, :, None] * transitions.weights * v[chunk.later][:, None]
    for rank, sentence in enumerate(chunk.sentences.tolist()):
        tags, joint, log_z, *_ = expected[sentence]
        own = gamma[chunk.rank == rank]
        np.testing.assert_allclose(own, tags, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.log_normalizer[rank], log_z, rtol=1e-12, atol=1e-12)
        both = pairs[chunk.rank[chunk.later] == rank]
        np.testing.assert_allclose(both, joint, rtol=0, atol=1e-12)


def test_forward_shares_are_those_of_the_tokens_so_far():
    potentials, log_transitions, lengths = random_chains(3, k=3, n=[5])
    *_, alpha, scale, _, _, _ = run(potentials, log_transitions, lengths)
    for t in range(5):
        tags, *_ = enumerate_chain(potentials[: t + 1], log_transitions)
        np.testing.assert_allclose(alpha[t], tags[-1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(alpha.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    assert (scale > 0.0).all()


def test_a_constant_changes_the_normalizer_alone():
    potentials, log_transitions, lengths = random_chains(5, k=3, n=[4, 2])
    *_, gamma, _, _ = run(potentials, log_transitions, lengths)
    shifted = run(potentials + 500.0, log_transitions - 300.0, lengths)
    np.testing.assert_allclose(shifted[5], gamma, rtol=0, atol=1e-11)
    plain = run(potentials, log_transitions, lengths)[2].log_normalizer
    # Two and four tokens, one and three steps; the longer sentence is packed first.
    moved = shifted[2].log_normalizer - plain
    np.testing.assert_allclose(moved, [4 * 500.0 - 3 * 300.0, 2 * 500.0 - 300.0], rtol=1e-12)


def test_a_lost_path_flags_its_sentence_alone():
    # The first tag is nearly impossible at one token and the only way on at the next.
    potentials = np.zeros((5, 2))
    potentials[0, 0] = -2.0 * SAFE_RANGE
    log_transitions = np.array([[0.0, 0.0], [-np.inf, 0.0]])
    potentials[1, 1] = -np.inf
    *_, flagged = run(potentials, log_transitions, [2, 3])
    (chunk,) = chunks(np.array([2, 3]))
    assert chunk.sentences[flagged].tolist() == [0]


def test_scores_within_the_safe_range_are_never_flagged():
    rng = np.random.default_rng(0)
    potentials = rng.uniform(0.0, SAFE_RANGE / 2, size=(12, 3))
    log_transitions = rng.uniform(0.0, SAFE_RANGE / 2 - 1.0, size=(3, 3))
    _, _, found, *_, gamma, _, flagged = run(potentials, log_transitions, [5, 4, 3])
    assert found.reach is None
    assert len(flagged) == 0
    np.testing.assert_allclose(gamma.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert np.isfinite(found.log_normalizer).all()


def test_forbidden_transitions_are_known():
    free = Transitions(np.array([[0.0, -3.0], [1.0, 2.0]]))
    assert free.allowed is None
    assert (free.top, free.range) == (2.0, 5.0)
    np.testing.assert_array_equal(free.transposed, free.weights.T)
    bound = Transitions(np.array([[0.0, -np.inf], [1.0, 2.0]]))
    np.testing.assert_array_equal(bound.allowed, [[1, 0], [1, 1]])
    assert (bound.range, bound.weights[0, 1]) == (2.0, 0.0)


def test_unreachable_tags_have_no_weight():
    log_transitions = np.array([[0.0, -np.inf], [0.0, 0.0]])
    potentials = np.zeros((3, 2))
    potentials[0, 1] = -np.inf
    _, _, found, *_, gamma, v, flagged = run(potentials, log_transitions, [3])
    assert len(flagged) == 0
    np.testing.assert_array_equal(found.reach, [[True, False]] * 3)
    np.testing.assert_array_equal(gamma, [[1.0, 0.0]] * 3)
    assert (v[:, 1] == 0.0).all()
