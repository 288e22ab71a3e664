"""The k most probable sequences, against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.sequence import _k_best, forward_backward, k_best_sequences, viterbi
from tests.sequence.chains import enumerate_chain, long_chains, random_chains, sequences


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    forbid=st.sampled_from([0.0, 0.3]),
    scale=st.sampled_from([1.0, 200.0]),
    k=st.sampled_from([1, 2, 5, 300]),
)
def test_k_best_equals_enumeration(seed, forbid, scale, k):
    potentials, transitions, lengths = random_chains(seed, scale=scale, forbid=forbid)
    expected = [enumerate_chain(part, transitions) for part in sequences(potentials, lengths)]
    if any(result is None for result in expected):
        return
    best = k_best_sequences(potentials, transitions, lengths, k=k)
    assert len(best) == len(lengths)
    for own, (_, _, _, paths, share), part in zip(
        best, expected, sequences(potentials, lengths), strict=True
    ):
        possible = {
            path
            for path in paths
            if np.isfinite(part[np.arange(len(path)), path]).all()
            and np.isfinite(transitions[path[:-1], path[1:]]).all()
        }
        assert len(own) == min(k, len(possible))
        by_path = dict(zip(paths, share, strict=True))
        found = [tuple(states.tolist()) for states, _ in own]
        assert len(set(found)) == len(found)
        assert set(found) <= possible
        for path, (_, proba) in zip(found, own, strict=True):
            assert abs(proba - by_path[path]) < 1e-12
        probabilities = [proba for _, proba in own]
        assert probabilities == sorted(probabilities, reverse=True)
        np.testing.assert_allclose(
            probabilities, np.sort(share)[::-1][: len(own)], rtol=0, atol=1e-12
        )


def test_the_first_is_viterbi_and_memory_is_bounded(monkeypatch):
    potentials, transitions, lengths = long_chains(3)
    best = k_best_sequences(potentials, transitions, lengths, k=4)
    first = np.concatenate([own[0][0] for own in best])
    np.testing.assert_array_equal(first, viterbi(potentials, transitions, lengths))
    monkeypatch.setattr(_k_best, "MOST_CELLS", 100)
    again = k_best_sequences(potentials, transitions, lengths, k=4)
    for one, two in zip(best, again, strict=True):
        assert [proba for _, proba in one] == [proba for _, proba in two]
        np.testing.assert_array_equal([s for s, _ in one], [s for s, _ in two])


def test_probabilities_are_those_of_the_paths():
    potentials, transitions, lengths = long_chains(4)
    z = forward_backward(potentials, transitions, lengths).log_normalizer
    best = k_best_sequences(potentials, transitions, lengths, k=3)
    for own, part, log_z in zip(best, sequences(potentials, lengths), z, strict=True):
        for states, proba in own:
            score = part[np.arange(len(states)), states].sum()
            score += transitions[states[:-1], states[1:]].sum()
            assert proba == pytest.approx(np.exp(score - log_z), rel=1e-10)


def test_bad_input():
    with pytest.raises(ValueError, match="k must be at least 1"):
        k_best_sequences([[0.0]], [[0.0]], k=0)
    with pytest.raises(ValueError, match="log_potentials contains nan"):
        k_best_sequences([[np.nan]], [[0.0]], k=1)
    with pytest.raises(ValueError, match="Sentence 0 is impossible"):
        k_best_sequences([[-np.inf]], [[0.0]], k=1)
