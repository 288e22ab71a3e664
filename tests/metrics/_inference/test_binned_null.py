"""The binned statistic, resampled: it agrees with the law that the interval uses."""

import numpy as np
import pytest

from sklearn_calib import Queries
from sklearn_calib.datasets import make_queries
from sklearn_calib.metrics._inference._binned_null import resampled_pvalue
from sklearn_calib.metrics._inference._sample import make_sample


@pytest.mark.parametrize("strength", [0.0, 0.05])
@pytest.mark.parametrize("weighted", [False, True])
def test_resampling_agrees_with_the_law_of_the_interval(strength, weighted):
    drawn = make_queries(800, distortion="shift", strength=strength, random_state=1)
    weight = np.random.default_rng(0).random(800) + 0.5 if weighted else None
    sample = make_sample(Queries(drawn.y_true, drawn.y_prob, sample_weight=weight), "auto", None)
    found = resampled_pvalue(sample, 1999, np.random.default_rng(2))
    assert found == pytest.approx(sample.score.pvalue, abs=0.035)


def test_signs_of_groups_are_flipped_together():
    drawn = make_queries(600, group_size=6, dependence=0.8, random_state=0)
    grouped = make_sample(drawn.queries, "auto", None)
    alone = make_sample(drawn.queries.with_groups(None), "auto", None)
    rng = np.random.default_rng(0)
    assert resampled_pvalue(grouped, 999, rng) > resampled_pvalue(alone, 999, rng)
