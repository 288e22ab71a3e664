"""The corrections themselves: what follows from answers, by every method."""

import numpy as np
import pytest

from sklearn_calib.explore import (
    count_documents,
    count_tags,
    counts_from_probabilities,
    reading_plan,
)
from tests.explore.pairs import document, samples
from tests.explore.readings import by_period, read, wrong_counts

POSTERIOR, _ = wrong_counts()


@pytest.mark.parametrize("method", ["recalibrated", "design"])
def test_corrected_totals_hold_where_plain_ones_never_do(method):
    held, plain = [], []
    for seed in range(12):
        posterior, truth = wrong_counts(seed)
        better = posterior.corrected(
            read(posterior, truth, seed=seed), method=method, n_draws=400, random_state=0
        )
        for counts, found in ((better.total(), held), (posterior.total(), plain)):
            low, high = counts.confidence_interval()
            found.append(low[0, 0] <= truth.sum() <= high[0, 0])
        low, high = better.confidence_interval()
        assert (low >= 0).all()
    assert not any(plain)
    assert np.mean(held) >= 10 / 12


def test_everything_read_is_known_exactly():
    posterior, truth = wrong_counts(n=60)
    better = posterior.corrected(read(posterior, truth, n=60), random_state=0)
    for end in better.confidence_interval():
        np.testing.assert_array_equal(end[:, 0], by_period(posterior, truth))
    design = posterior.corrected(read(posterior, truth, n=60), method="design", random_state=0)
    np.testing.assert_allclose(design.mean[:, 0], by_period(posterior, truth))


def test_keys_that_the_model_missed_are_found():
    """Two in a hundred documents have an event of which the model knows nothing."""
    held = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        p = np.where(rng.random(2000) < 0.1, rng.random(2000), 0.0)
        truth = (rng.random(2000) < p) | ((p == 0) & (rng.random(2000) < 0.02))
        posterior = counts_from_probabilities(p, period=None)
        plan = read(posterior, truth, 300, seed)
        better = posterior.corrected(plan, n_draws=200, random_state=0)
        low, high = better.confidence_interval()
        held += low[0, 0] <= truth.sum() <= high[0, 0]
        places = [int(name.split()[1]) for name in plan.documents]
        assert better.summary().n_missed == (truth & (p == 0))[places].sum()
    assert held >= 10


def test_sampled_counts_are_corrected():
    rng = np.random.default_rng(0)
    n = 300
    docs = [document(str(i)) for i in range(n)]
    p = rng.random(n)
    truth = rng.random(n) < p**3
    posterior = count_documents(docs, [samples(q) for q in p], lambda d, e: len(e) > 1)
    better = posterior.corrected(read(posterior, truth, 120), random_state=0)
    low, high = better.confidence_interval()
    assert low[0, 0] <= truth.sum() <= high[0, 0]
    low, high = posterior.confidence_interval()
    assert truth.sum() < low[0, 0]


def test_numbers_are_corrected():
    """A tagger that finds a third too few nouns in every sentence."""
    rng = np.random.default_rng(0)
    n = 400
    truth = rng.poisson(4.0, size=n)
    drawn = [[["N"] * k + ["V"] * (12 - k) for k in rng.binomial(t, 0.66, size=30)] for t in truth]
    words = [["w"] * 12] * n
    posterior = count_tags(words, drawn, keys=["N"])
    plan = reading_plan(posterior, 100, random_state=0)
    answered = plan.answered({d: int(truth[int(d.split()[1])]) for d in plan.documents})
    for method in ("recalibrated", "design"):
        better = posterior.corrected(answered, method=method, random_state=0)
        low, high = better.confidence_interval()
        assert low[0, 0] <= truth.sum() <= high[0, 0]
    low, high = posterior.confidence_interval()
    assert high[0, 0] < truth.sum()
    assert "corrected by 100 read documents" in repr(better)
    assert better.summary().pvalue is None
    weighted = count_tags(words, drawn, keys=["N"], sample_weight=[2.0] * 200 + [1.0] * 200)
    plan = reading_plan(weighted, 100, random_state=0)
    answered = plan.answered({d: int(truth[int(d.split()[1])]) for d in plan.documents})
    low, high = weighted.corrected(answered, random_state=0).confidence_interval()
    assert low[0, 0] <= truth.sum() + truth[:200].sum() <= high[0, 0]


def test_weights_are_kept():
    weight = np.repeat([1.0, 2.5], 750)
    posterior, truth = wrong_counts(weight=weight)
    for method in ("recalibrated", "design"):
        better = posterior.corrected(read(posterior, truth), method=method, random_state=0)
        low, high = better.total().confidence_interval()
        assert low[0, 0] <= (weight * truth).sum() <= high[0, 0]


@pytest.mark.parametrize("answer", ["yes", "no"])
@pytest.mark.parametrize("method", ["recalibrated", "design"])
def test_all_yes_and_all_no(answer, method):
    plan = reading_plan(POSTERIOR, 40, random_state=0)
    answered = plan.answered(dict.fromkeys(plan.documents, answer))
    low, high = (
        POSTERIOR.corrected(answered, method=method, random_state=0).total().confidence_interval()
    )
    assert 0 <= low[0, 0] < high[0, 0] <= 1500
    if answer == "no":
        assert low[0, 0] < POSTERIOR.mean.sum() / 2
    else:
        assert low[0, 0] >= 40
        assert high[0, 0] > POSTERIOR.mean.sum()
