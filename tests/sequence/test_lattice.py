"""The lattice against enumeration, against log space, and against itself."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.sequence import forward_backward, sample_sequences, viterbi
from tests.sequence.chains import enumerate_chain, long_chains, random_chains, sequences


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([0.0, 1.0, 10.0, 300.0, 1e4]),
    step=st.sampled_from([0.0, 1.0, 10.0, 300.0, 3000.0]),
    forbid=st.sampled_from([0.0, 0.2, 0.5]),
)
def test_marginals_equal_enumeration(seed, scale, step, forbid):
    potentials, transitions, lengths = random_chains(seed, scale, step, forbid)
    expected = [enumerate_chain(part, transitions) for part in sequences(potentials, lengths)]
    if any(result is None for result in expected):
        with pytest.raises(ValueError, match=r"Sentence \d+ is impossible") as error:
            forward_backward(potentials, transitions, lengths)
        assert expected[int(str(error.value).split()[1])] is None
        with pytest.raises(ValueError, match=r"Sentence \d+ is impossible"):
            viterbi(potentials, transitions, lengths)
        return
    result = forward_backward(
        potentials, transitions, lengths, pairs="all", expected_transitions=True
    )
    # Scores of 1e4 have few digits left after the point.
    tolerance = 1e-12 * max(1.0, scale, step)
    tags = np.concatenate([part[0] for part in expected])
    pairs = np.concatenate(
        [part[1].reshape(len(part[1]), len(transitions) ** 2) for part in expected]
    )
    log_z = np.array([part[2] for part in expected])
    np.testing.assert_allclose(result.proba, tags, rtol=0, atol=tolerance)
    np.testing.assert_allclose(result.pair_proba, pairs, rtol=0, atol=tolerance)
    np.testing.assert_allclose(result.log_normalizer, log_z, rtol=1e-12, atol=tolerance)
    total = sum(part[1].sum(axis=0) for part in expected)
    np.testing.assert_allclose(result.expected_transitions, total, rtol=0, atol=20 * tolerance)


def test_pairs_sum_to_tags():
    potentials, transitions, lengths = long_chains(1)
    result = forward_backward(potentials, transitions, lengths, pairs="all")
    k = len(transitions)
    pairs = result.pair_proba.reshape(-1, k, k)
    first = np.cumsum(lengths) - lengths
    later = np.setdiff1d(np.arange(len(potentials)), first)
    np.testing.assert_allclose(pairs.sum(axis=1), result.proba[later], rtol=0, atol=1e-12)
    np.testing.assert_allclose(pairs.sum(axis=2), result.proba[later - 1], rtol=0, atol=1e-12)


def test_chosen_pairs_are_columns_of_all_pairs():
    potentials, transitions, lengths = long_chains(2)
    everything = forward_backward(potentials, transitions, lengths, pairs="all").pair_proba
    chosen = forward_backward(potentials, transitions, lengths, pairs=[(3, 1), (0, 6)])
    np.testing.assert_array_equal(chosen.pair_proba, everything[:, [3 * 7 + 1, 6]])


def test_the_order_of_sequences_does_not_matter():
    potentials, transitions, lengths = long_chains(3)
    order = np.random.default_rng(0).permutation(len(lengths))
    parts = sequences(potentials, lengths)
    shuffled = np.concatenate([parts[i] for i in order])
    one = sequences(forward_backward(potentials, transitions, lengths).proba, lengths)
    two = forward_backward(shuffled, transitions, lengths[order]).proba
    np.testing.assert_allclose(np.concatenate([one[i] for i in order]), two, rtol=0, atol=1e-14)


def test_shifting_scores_changes_the_normalizer_only():
    potentials, transitions, lengths = long_chains(4)
    one = forward_backward(potentials, transitions, lengths)
    shift = np.linspace(-900, 900, len(potentials))
    two = forward_backward(potentials + shift[:, None], transitions + 5e4, lengths)
    np.testing.assert_allclose(one.proba, two.proba, rtol=0, atol=1e-9)
    first = np.cumsum(lengths) - lengths
    expected = one.log_normalizer + np.add.reduceat(shift, first) + 5e4 * (lengths - 1)
    np.testing.assert_allclose(two.log_normalizer, expected, rtol=1e-12)


def test_a_path_that_leaves_the_range_of_floats_is_not_lost():
    # No way between two states; the first is better by exp(100) in each of 50 tokens, and
    # the second by as much in the other 50: both are equally good in the end.
    potentials = np.zeros((100, 2))
    potentials[:50, 0] = 100.0
    potentials[50:, 1] = 100.0
    transitions = np.where(np.eye(2, dtype=bool), 0.0, -np.inf)
    result = forward_backward(potentials, transitions)
    np.testing.assert_allclose(result.proba, 0.5, rtol=0, atol=1e-10)
    draws = sample_sequences(potentials, transitions, n_samples=2000, random_state=0)
    assert (draws == draws[:, :1]).all()
    assert abs(draws[:, 0].mean() - 0.5) < 4 * 0.5 / np.sqrt(2000)


def test_a_share_that_has_lost_its_bits_is_not_trusted():
    # Two ways, equally good in the end, of which one is near the smallest float for a while.
    transitions = np.full((3, 3), -np.inf)
    transitions[0, 1] = transitions[0, 2] = -640.0
    transitions[1, 1] = transitions[2, 2] = 0.0
    potentials = np.full((3, 3), -np.inf)
    potentials[0, 0] = potentials[1, 1] = potentials[2, 1] = 0.0
    potentials[1, 2], potentials[2, 2] = -103.9, 103.9
    expected = [0.0, 0.5, 0.5]
    result = forward_backward(potentials, transitions)
    np.testing.assert_allclose(result.proba[2], expected, rtol=0, atol=1e-12)
    draws = sample_sequences(potentials, transitions, n_samples=20_000, random_state=0)
    assert abs((draws[:, 2] == 1).mean() - 0.5) < 5 * 0.5 / np.sqrt(20_000)


def test_scores_that_exclude_each_other():
    # Token 0 wants state 0 by 1e4, but state 0 has no way on.
    potentials = np.array([[1e4, 0.0], [0.0, 0.0]])
    transitions = np.array([[-np.inf, -np.inf], [0.0, 0.0]])
    result = forward_backward(potentials, transitions)
    np.testing.assert_allclose(result.proba, [[0, 1], [0.5, 0.5]], rtol=0, atol=1e-15)


def test_one_state_and_one_token():
    result = forward_backward([[3.0]], [[2.0]])
    np.testing.assert_array_equal(result.proba, [[1.0]])
    assert result.log_normalizer == pytest.approx([3.0])
    assert forward_backward([[3.0]], [[2.0]], pairs="all").pair_proba.shape == (0, 1)


def test_many_tokens_in_bounded_memory():
    import tracemalloc

    rng = np.random.default_rng(0)
    lengths = np.full(5000, 20)
    potentials = rng.normal(size=(100_000, 10))
    tracemalloc.start()
    forward_backward(potentials, np.zeros((10, 10)), lengths)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The answer has the size of the potentials; the rest is a few chunks.
    assert peak < 1.6 * potentials.nbytes


def test_nothing_is_mutated_and_no_warning_escapes():
    potentials, transitions, lengths = random_chains(9, scale=1e4, step=1e4, k=3)
    before = potentials.copy(), transitions.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forward_backward(potentials, transitions, lengths, pairs="all", expected_transitions=True)
        viterbi(potentials, transitions, lengths)
        sample_sequences(potentials, transitions, lengths, random_state=0)
    np.testing.assert_array_equal(potentials, before[0])
    np.testing.assert_array_equal(transitions, before[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[np.nan, 1.0]], np.eye(2)), r"log_potentials contains nan at row 0, column 0"),
        (([[np.inf, 1.0]], np.eye(2)), r"log_potentials contains inf at row 0, column 0"),
        (([[0.0, 1.0]], np.eye(3)), r"got \(1, 2\) and \(3, 3\)"),
        (([[0.0, 1.0]], np.eye(2), [2]), r"lengths add up to 2, but log_potentials has 1 rows"),
        (([[0.0, 1.0]], np.eye(2), [1, 0]), r"lengths\[1\] is 0"),
        ((np.zeros((0, 2)), np.eye(2)), "non-empty matrix"),
        (([[-np.inf, -np.inf]], np.eye(2)), "Sentence 0 is impossible .* at token 0"),
    ],
)
def test_bad_scores(arguments, message):
    with pytest.raises(ValueError, match=message):
        forward_backward(*arguments)


def test_bad_types():
    with pytest.raises(TypeError, match="lengths must be a list of integers"):
        forward_backward([[0.0]], [[0.0]], [1.0])
    with pytest.raises(TypeError, match="must hold numbers"):
        forward_backward([["a"]], [[0.0]])


@pytest.mark.parametrize("pairs", [[(0, 2)], [(-1, 0)], [0, 1], "some"])
def test_bad_pairs(pairs):
    with pytest.raises((ValueError, TypeError), match="pairs"):
        forward_backward([[0.0, 0.0]], np.zeros((2, 2)), pairs=pairs)


def test_marginals_become_a_table():
    result = forward_backward(np.zeros((3, 2)), np.zeros((2, 2)), [2, 1], pairs="all")
    text = "Marginals of 2 states: 3 tokens in 2 sequences; 4 pairs of states"
    assert repr(result) == text
    assert text in result._repr_html_()
    assert result.to_frame()["state 1"].tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("score", [1.7e308, -1.7e308])
def test_scores_that_cannot_be_added_up_are_refused(score):
    potentials = np.zeros((3, 2))
    potentials[1, 1] = score
    with pytest.raises(
        ValueError, match=r"log_potentials contains -?1\.7e\+308 at row 1, column 1"
    ):
        forward_backward(potentials, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="log_transitions contains"):
        forward_backward(np.zeros((3, 2)), np.full((2, 2), score))


def test_large_scores_that_can_be_added_up():
    potentials = np.array([[0.0, 1e289], [1e289, -np.inf], [-1e289, -1e289]])
    found = forward_backward(potentials, np.full((2, 2), -1e289))
    np.testing.assert_allclose(found.proba, [[0, 1], [1, 0], [0.5, 0.5]])
