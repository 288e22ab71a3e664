"""The summary of a correction: how wrong the model was, and what more reading would bring."""

import numpy as np
import pytest

from sklearn_calib.explore import count_tags, reading_plan
from tests.explore.readings import read, wrong_counts

POSTERIOR, TRUTH = wrong_counts()
PLAN = read(POSTERIOR, TRUTH)
BETTER = POSTERIOR.corrected(PLAN, random_state=0)


def test_the_summary_says_how_wrong_the_model_was():
    summary = BETTER.summary()
    assert summary.pvalue < 0.05
    assert summary.plain_holds[0] < 0.05
    text = str(summary)
    assert text.endswith(f"read documents.\n{summary.findings}")
    assert summary.findings.startswith("The model is miscalibrated")
    assert "too high" in text
    assert "with 200 more" in text
    widths = summary.expected_width.width[:, 0]
    assert (np.diff(widths) < 0).all()
    low, high = BETTER.total().confidence_interval()
    assert widths[0] == pytest.approx(high[0, 0] - low[0, 0], rel=0.15)
    posterior, truth = wrong_counts(seed=3, shift=0.0)
    calm = posterior.corrected(read(posterior, truth), random_state=0).summary()
    assert "No sign that the model is miscalibrated" in str(calm)
    assert calm.plain_holds[0] > 0.2


def test_a_mean_is_called_off_only_if_it_is_known_to_be():
    plan = reading_plan(POSTERIOR, 1, random_state=0)
    one = POSTERIOR.corrected(plan.answered({plan.documents[0]: "yes"}), random_state=0)
    text = str(one.summary())
    assert "it is too narrow for what is known." in text
    assert "its mean is" not in text


def test_widths_of_numbers_are_those_of_the_intervals():
    """A single sentence says next to nothing; a few wild draws are not the width."""
    words = [["the", "dog"]] * 60
    counts = count_tags(words, [[["D", "N"], ["N", "N"]] * 15] * 60)
    plan = reading_plan(counts, 1, random_state=0)
    better = counts.corrected(plan.answered({plan.documents[0]: {"N": 2}}), random_state=0)
    low, high = better.total().confidence_interval()
    np.testing.assert_allclose(better.summary().expected_width.width[0], (high - low)[0], rtol=0.3)
