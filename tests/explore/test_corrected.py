"""Corrected counts: they answer what plain counts answer, and say what they rest on."""

import pickle

import numpy as np
import pytest
from scipy.special import expit, logit

from sklearn_calib import Queries
from sklearn_calib.explore import (
    CorrectedPosterior,
    CountPosterior,
    count_tags,
    counts_from_probabilities,
    reading_plan,
)
from tests.explore.readings import by_period, read, wrong_counts

POSTERIOR, TRUTH = wrong_counts()
PLAN = read(POSTERIOR, TRUTH)
BETTER = POSTERIOR.corrected(PLAN, random_state=0)


def test_corrected_counts_are_counts():
    assert isinstance(BETTER, CorrectedPosterior)
    assert isinstance(BETTER, CountPosterior)
    low, high = BETTER.confidence_interval()
    true = by_period(POSTERIOR, TRUTH)
    assert ((low[:, 0] <= true) & (true <= high[:, 0])).all()
    assert (low == np.rint(low)).all()
    assert ((low <= BETTER.mean) & (BETTER.mean <= high)).all()
    np.testing.assert_allclose(BETTER.samples.mean(axis=0), BETTER.mean, rtol=0.02)
    normal = BETTER.confidence_interval(method="normal")
    np.testing.assert_allclose(
        normal.high - normal.low, 3.92 * BETTER.standard_deviation, rtol=0.01
    )
    with pytest.raises(ValueError, match="method='exact' is not known"):
        BETTER.confidence_interval(method="exact")
    total = BETTER.total()
    assert total.mean[0, 0] == pytest.approx(BETTER.mean.sum())
    np.testing.assert_array_equal(total.samples[:, 0], BETTER.samples.sum(axis=1))
    # Periods share what is unsure about the model: their sum is less sure than if they did not.
    assert total.standard_deviation[0, 0] > 1.1 * np.sqrt(
        np.square(BETTER.standard_deviation).sum()
    )
    assert (BETTER.standard_error > 0).all()


def test_documents_that_were_read_are_known():
    probability = BETTER.probability("yes")
    place = {name: i for i, name in enumerate(POSTERIOR.documents)}
    for name, found in PLAN.answers.items():
        assert probability[place[name]] == found.get("yes", 0)
    uncertain = BETTER.most_uncertain(2000)
    assert not {item.id for item in uncertain} & set(PLAN.documents)
    assert uncertain[0].standard_deviation == pytest.approx(0.5, abs=0.05)
    whole = probability.sum()
    assert whole == pytest.approx(BETTER.mean.sum(), rel=1e-3)


def test_differences_are_drawn_together():
    difference = BETTER.difference("yes", periods="2001", other_periods="2002")
    drawn = BETTER.samples[:, 0, 0] - BETTER.samples[:, 1, 0]
    assert difference.probability == pytest.approx((drawn > 0).mean())
    assert difference.probability_equal == pytest.approx((drawn == 0).mean())
    assert difference.mean == pytest.approx(BETTER.mean[0, 0] - BETTER.mean[1, 0])
    low, high = difference.confidence_interval
    assert high - low < np.ptp(np.quantile(BETTER.samples[:, 0, 0], [0.025, 0.975])) * 2
    with pytest.raises(ValueError, match="Pass a second key"):
        BETTER.difference("yes")


def test_seeds_make_the_same_counts():
    again = POSTERIOR.corrected(PLAN, random_state=0)
    np.testing.assert_array_equal(again.samples, BETTER.samples)
    other = POSTERIOR.corrected(PLAN, random_state=1)
    assert (other.samples != BETTER.samples).any()


def test_a_corrected_posterior_survives_a_pickle_and_cannot_be_changed():
    copy = pickle.loads(pickle.dumps(BETTER))
    assert repr(copy) == repr(BETTER)
    assert str(copy.summary()) == str(BETTER.summary())
    for array in (copy.mean, copy.samples, copy.total().samples, copy.standard_deviation):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_it_says_what_it_rests_on():
    assert "corrected by 150 read documents." in repr(BETTER)
    assert "given the model" not in repr(BETTER)
    assert "given the model" in repr(POSTERIOR)
    assert "given the model" in str(POSTERIOR)
    assert "corrected by 150 read documents." in str(BETTER)
    design = POSTERIOR.corrected(PLAN, method="design", random_state=0)
    assert "estimated by design" in repr(design)


def test_keys_share_strength_and_may_differ():
    rng = np.random.default_rng(0)
    n = 1500
    p = rng.beta(0.3, 1.2, size=(n, 3))
    odds = logit(np.clip(p, 1e-6, 1 - 1e-6)) + np.array([-1.5, 0.0, 1.0])
    truth = (rng.random((n, 3)) < expit(odds)).astype(int)
    posterior = counts_from_probabilities(p, period=None, keys=list("ABC"))
    better = posterior.corrected(read(posterior, truth, 200), random_state=0)
    low, high = better.confidence_interval()
    assert ((low <= truth.sum(axis=0)) & (truth.sum(axis=0) <= high)).all()
    chosen = better.select(["C", "A"])
    np.testing.assert_array_equal(chosen.samples, better.samples[:, :, [2, 0]])
    np.testing.assert_array_equal(chosen.probability("C"), better.probability("C"))
    assert chosen.plain.keys == ("C", "A")
    # A choice of the keys is corrected by the same plan.
    alone = posterior.select(["C"]).corrected(read(posterior, truth, 200), random_state=0)
    assert alone.mean[0, 0] == pytest.approx(better.mean[0, 2], rel=0.2)
    pooled = better.pool({"any": list("ABC")})
    either = truth.any(axis=1).sum()
    low, high = pooled.confidence_interval()
    assert low[0, 0] <= either <= high[0, 0]
    assert "corrected by 200 read documents" in repr(pooled)


def test_queries_of_annotated_text_correct():
    rng = np.random.default_rng(5)
    p = rng.beta(0.3, 1.2, size=600)
    y = rng.random(600) < expit(logit(np.clip(p, 1e-6, 1 - 1e-6)) - 1.0)
    better = POSTERIOR.corrected(Queries(y, p), random_state=0)
    low, high = better.total().confidence_interval()
    assert low[0, 0] <= TRUTH.sum() <= high[0, 0]
    assert "corrected by 600 labelled queries" in repr(better)
    assert "miscalibrated" in str(better.summary())
    labelled = Queries(y, p, label=rng.choice(["yes", "other"], 600))
    low, high = POSTERIOR.corrected(labelled, random_state=0).total().confidence_interval()
    assert low[0, 0] <= TRUTH.sum() <= high[0, 0]
    with pytest.raises(ValueError, match=r"by 600 labelled queries cannot be pooled"):
        better.pool({"any": ["yes"]})
    about = Queries(y, p, label=["nobody"] * 600)
    with pytest.raises(ValueError, match=r"labels are 'nobody', and the keys 'yes'"):
        POSTERIOR.corrected(about)
    with pytest.raises(ValueError, match="method='design' needs a random sample"):
        POSTERIOR.corrected(Queries(y, p), method="design")
    with pytest.raises(ValueError, match="Weighted queries"):
        POSTERIOR.corrected(Queries(y, p, sample_weight=np.ones(600) * 2))
    counts = count_tags([["a", "a"]], [[["N", "N"]] * 20])
    with pytest.raises(ValueError, match="answers are numbers"):
        counts.corrected(Queries(y, p))


def test_prior_shift_needs_no_answers():
    held = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        # Trained where half are events; here a tenth are.
        truth = rng.random(3000) < 0.1
        odds = 2.0 * rng.standard_normal(3000) + np.where(truth, 2.0, -2.0)
        posterior = counts_from_probabilities(expit(odds), period=None)
        low, high = posterior.confidence_interval()
        assert low[0, 0] > truth.sum()
        better = posterior.corrected(method="prior_shift", training_frequency=0.5, random_state=0)
        low, high = better.confidence_interval()
        held += low[0, 0] <= truth.sum() <= high[0, 0]
    assert held >= 10
    same = posterior.corrected(
        method="prior_shift", training_frequency={"yes": 0.5}, random_state=0
    )
    np.testing.assert_array_equal(same.samples, better.samples)
    trained = Queries([0, 1], [0.5, 0.5])
    same = posterior.corrected(trained, method="prior_shift", random_state=0)
    np.testing.assert_array_equal(same.samples, better.samples)
    assert "corrected by an estimate of prior shift" in repr(better)
    for wrong in (0.0, 1.5, {"no": 0.5}):
        with pytest.raises(ValueError, match=r"between 0 and 1|no entry for 'yes'"):
            posterior.corrected(method="prior_shift", training_frequency=wrong)
    with pytest.raises(ValueError, match="learns nothing from answers"):
        posterior.corrected(method="prior_shift")
    with pytest.raises(ValueError, match="is of use for method='prior_shift'"):
        POSTERIOR.corrected(PLAN, training_frequency=0.5)


@pytest.mark.parametrize("method", ["recalibrated", "design"])
def test_a_single_document(method):
    plan = reading_plan(POSTERIOR, 1, random_state=0)
    better = POSTERIOR.corrected(plan.answered({plan.documents[0]: "yes"}), method=method)
    low, high = better.total().confidence_interval()
    assert 1 <= low[0, 0] <= high[0, 0] <= 1500
    assert "Too little is known" in str(better.summary())
    one = counts_from_probabilities([0.5], period=None)
    plan = reading_plan(one, 1).answered({"document 0": "yes"})
    known = one.corrected(plan, method=method)
    assert [end[0, 0] for end in known.confidence_interval()] == [1, 1]


def test_what_cannot_correct_is_refused():
    with pytest.raises(TypeError, match=r"answered reading plan.*got nothing"):
        POSTERIOR.corrected()
    with pytest.raises(TypeError, match="got dict"):
        POSTERIOR.corrected({"document 0": True})
    with pytest.raises(ValueError, match="method='ppi' is not known"):
        POSTERIOR.corrected(PLAN, method="ppi")
    with pytest.raises(ValueError, match="no answers yet"):
        POSTERIOR.corrected(reading_plan(POSTERIOR, 5))
    with pytest.raises(ValueError, match="corrected already"):
        BETTER.corrected(PLAN)
    with pytest.raises(TypeError, match="corrected already"):
        reading_plan(BETTER, 5)


def test_plans_of_other_counts_are_refused():
    other, _ = wrong_counts(seed=1)
    with pytest.raises(ValueError, match="other counts: the probability of 'yes' in 'document 0'"):
        other.corrected(PLAN)
    shorter, _ = wrong_counts(n=20)
    with pytest.raises(ValueError, match="the documents are not the same"):
        shorter.corrected(PLAN)
    renamed = POSTERIOR.pool({"some": ["yes"]})
    with pytest.raises(ValueError, match="do not have the key 'some'"):
        renamed.corrected(PLAN)
    # Sums over periods are of the same documents.
    whole = POSTERIOR.total().corrected(PLAN, random_state=0)
    assert whole.mean[0, 0] == pytest.approx(BETTER.mean.sum(), rel=0.01)


def test_unread_documents_of_a_plan_are_still_drawn():
    some = reading_plan(POSTERIOR, 150, random_state=0)
    begun = some.answered({name: PLAN.answers[name] or "no" for name in some.documents[:80]})
    better = POSTERIOR.corrected(begun, random_state=0)
    assert "corrected by 80 read documents" in repr(better)
    low, high = better.total().confidence_interval()
    assert low[0, 0] <= TRUTH.sum() <= high[0, 0]
    # More reading makes intervals narrower.
    narrower = BETTER.total().confidence_interval()
    assert narrower.high[0, 0] - narrower.low[0, 0] < high[0, 0] - low[0, 0]


@pytest.mark.parametrize("method", ["recalibrated", "design"])
def test_longer_periods_of_corrected_counts(method):
    rng = np.random.default_rng(0)
    p = rng.beta(0.3, 1.2, size=800)
    month = [f"{2001 + i % 2}-{1 + i % 12:02d}" for i in range(800)]
    posterior = counts_from_probabilities(p, period=month)
    better = posterior.corrected(
        read(posterior, rng.random(800) < p), method=method, n_draws=200, random_state=0
    )
    years = better.coarser("Y")
    assert isinstance(years, CorrectedPosterior)
    assert years.period_labels == ["2001", "2002"]
    np.testing.assert_array_equal(years.plain.mean, posterior.coarser("Y").mean)
    if method == "recalibrated":
        # Months that were drawn together are added together.
        places = [0] * 12 + [1] * 12
        for year in (0, 1):
            mine = better.samples[:, [i == year for i in places]].sum(axis=1)
            np.testing.assert_allclose(years.samples[:, year], mine)
    else:
        again = posterior.coarser("Y").corrected(
            read(posterior.coarser("Y"), rng.random(800) < p), method=method, random_state=0
        )
        assert years.samples.shape == (200, *again.mean.shape)
    np.testing.assert_allclose(years.total().mean, better.total().mean)
