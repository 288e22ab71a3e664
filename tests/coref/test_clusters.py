"""Link probabilities and samples against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.coref import link_probabilities, sample_entities, sampled_link_probabilities
from tests.coref.antecedents import enumerated, random_proba


@given(n=st.integers(1, 6), seed=st.integers(0, 2**32 - 1), spread=st.sampled_from([0.1, 1, 5]))
@settings(max_examples=40, deadline=None)
def test_links_equal_enumeration(n, seed, spread):
    proba = random_proba(n, seed, spread)
    expected, _ = enumerated(proba)
    np.testing.assert_allclose(link_probabilities(proba), expected, rtol=0, atol=1e-12)


def plain(proba):
    n = len(proba)
    links = np.eye(n)
    for j in range(1, n):
        links[j, :j] = links[:j, j] = proba[j, :j] @ links[:j, :j]
    return links


@pytest.mark.parametrize("n", [63, 64, 65, 128, 200])
@pytest.mark.parametrize("window", [None, 5, 70])
def test_blocks_equal_the_plain_recursion(n, window):
    proba = random_proba(n, window=window)
    np.testing.assert_allclose(link_probabilities(proba), plain(proba), rtol=0, atol=1e-13)


@given(n=st.integers(0, 40), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_links_are_a_covariance_of_clusters(n, seed):
    links = link_probabilities(random_proba(n, seed))
    assert np.array_equal(links, links.T)
    assert np.array_equal(np.diag(links), np.ones(n))
    if n:
        assert links.min() >= 0
        assert links.max() <= 1
        # The mean of block matrices of ones is positive semidefinite.
        assert np.linalg.eigvalsh(links).min() > -1e-10


def test_sure_choices_give_sure_links():
    proba = np.eye(5)
    assert np.array_equal(link_probabilities(proba), np.eye(5))
    assert sample_entities(proba, 3).tolist() == [[0, 1, 2, 3, 4]] * 3
    chain = np.zeros((5, 5))
    chain[np.arange(5), [0, 0, 1, 2, 3]] = 1.0
    assert np.array_equal(link_probabilities(chain), np.ones((5, 5)))
    assert sample_entities(chain, 2).tolist() == [[0] * 5] * 2


def test_samples_follow_the_law():
    proba = random_proba(4, seed=3, spread=1.0)
    _, law = enumerated(proba)
    samples = sample_entities(proba, 100_000, random_state=0)
    found, counts = np.unique(samples, axis=0, return_counts=True)
    shares = {tuple(row.tolist()): c / 100_000 for row, c in zip(found, counts, strict=True)}
    assert set(shares) == set(law)
    for clusters, p in law.items():
        # Five standard errors for each of the 15 clusterings.
        assert abs(shares[clusters] - p) < 5 * np.sqrt(p * (1 - p) / 100_000)


def test_sampled_links_lie_within_their_standard_errors():
    proba = random_proba(30, seed=1)
    result = sampled_link_probabilities(proba, 4000, random_state=0)
    exact = link_probabilities(proba)
    error = np.sqrt(exact * (1 - exact) / 4000)
    z = (result.probability - exact)[error > 1e-4] / error[error > 1e-4]
    assert 0.8 < np.sqrt(np.mean(z**2)) < 1.2
    assert np.abs(z).max() < 5
    assert result.standard_error.max() <= 0.5 / np.sqrt(4000)
    assert result.n_samples == 4000


def test_samples_are_reproducible():
    proba = random_proba(10)
    a = sample_entities(proba, 5, random_state=7)
    assert np.array_equal(a, sample_entities(proba, 5, random_state=7))
    assert not np.array_equal(a, sample_entities(proba, 5, random_state=8))


@pytest.mark.parametrize("n", [0, 1])
def test_short_documents(n):
    proba = np.eye(n)
    assert link_probabilities(proba).shape == (n, n)
    assert sample_entities(proba, 3).shape == (3, n)
    assert sampled_link_probabilities(proba, 3).probability.shape == (n, n)


def changed(i, j, value):
    proba = random_proba(4)
    proba[i, j] = value
    return proba


@pytest.mark.parametrize("function", [link_probabilities, sample_entities])
@pytest.mark.parametrize(
    ("proba", "message"),
    [
        (changed(2, 0, np.nan), "mention 2: its row contains NaN"),
        (changed(2, 0, -0.1), "mention 2: the probability of antecedent 0 is -0.1"),
        (changed(1, 3, 0.1), "mention 1: mention 3 comes later"),
        (changed(3, 1, 0.9), "mention 3: its probabilities sum to"),
        (np.ones(3), "must be square"),
        (np.ones((2, 3)), "must be square"),
    ],
)
def test_bad_antecedents_are_named(function, proba, message):
    with pytest.raises(ValueError, match=message):
        function(proba)


def test_single_precision_rounding_is_no_error():
    proba = random_proba(50).astype(np.float32)
    assert link_probabilities(proba).dtype == np.float64


def test_sampled_links_become_a_table():
    result = sampled_link_probabilities(random_proba(4), 50, random_state=0)
    assert repr(result).startswith("Links of 4 mentions, from 50 samples; largest standard error ")
    frame = result.to_frame()
    assert len(frame) == 6
    for row in frame.itertuples():
        assert row.probability == result.probability[row.mention, row.earlier]
    assert "Links of 1 mentions" in repr(sampled_link_probabilities([[1.0]], 5))
