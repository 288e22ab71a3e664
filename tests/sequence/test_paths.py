"""The most probable sequence, and samples, against enumeration."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.sequence import _paths, forward_backward, sample_sequences, viterbi
from tests.sequence.chains import enumerate_chain, long_chains, random_chains, sequences


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), forbid=st.sampled_from([0.0, 0.3]))
def test_viterbi_equals_enumeration(seed, forbid):
    potentials, transitions, lengths = random_chains(seed, forbid=forbid)
    expected = [enumerate_chain(part, transitions) for part in sequences(potentials, lengths)]
    if any(result is None for result in expected):
        return
    path = viterbi(potentials, transitions, lengths)
    for part, (_, _, _, paths, share) in zip(sequences(path, lengths), expected, strict=True):
        assert tuple(part) == paths[int(np.argmax(share))]


def test_samples_have_the_right_shares():
    potentials, transitions, lengths = random_chains(5, k=3, n=[4, 2])
    draws = sample_sequences(potentials, transitions, lengths, n_samples=40_000, random_state=1)
    for part, own in zip(np.split(draws, [4], axis=1), sequences(potentials, lengths), strict=True):
        _, _, _, paths, share = enumerate_chain(own, transitions)
        code = part @ 3 ** np.arange(part.shape[1])
        path_code = np.array(paths) @ 3 ** np.arange(part.shape[1])
        found = np.array([(code == c).mean() for c in path_code])
        error = np.sqrt(share * (1 - share) / len(draws))
        # 81 + 9 comparisons: five standard errors are exceeded once in 20,000 runs.
        assert (np.abs(found - share) <= 5 * error + 1e-4).all()


def test_samples_repeat_and_do_not_use_global_state():
    potentials, transitions, lengths = long_chains(6)
    one = sample_sequences(potentials, transitions, lengths, n_samples=3, random_state=7)
    two = sample_sequences(potentials, transitions, lengths, n_samples=3, random_state=7)
    np.testing.assert_array_equal(one, two)
    assert one.shape == (3, lengths.sum())


def test_forbidden_transitions_are_never_sampled():
    potentials, transitions, lengths = long_chains(8, k=4)
    transitions[0, 1] = transitions[2, 2] = -np.inf
    draws = sample_sequences(potentials, transitions, lengths, n_samples=20, random_state=0)
    for part in np.split(draws, np.cumsum(lengths)[:-1], axis=1):
        pairs = set(zip(part[:, :-1].ravel().tolist(), part[:, 1:].ravel().tolist(), strict=True))
        assert not pairs & {(0, 1), (2, 2)}


def test_viterbi_and_samples_in_bounded_memory(monkeypatch):
    potentials, transitions, lengths = long_chains(11)
    expected = viterbi(potentials, transitions, lengths)
    monkeypatch.setattr(_paths, "MOST_CELLS", 100)
    np.testing.assert_array_equal(viterbi(potentials, transitions, lengths), expected)
    draws = sample_sequences(potentials, transitions, lengths, n_samples=300, random_state=0)
    proba = forward_backward(potentials, transitions, lengths).proba
    found = np.stack([(draws == k).mean(axis=0) for k in range(7)], axis=1)
    assert np.abs(found - proba).max() < 5.5 * 0.5 / np.sqrt(300)
