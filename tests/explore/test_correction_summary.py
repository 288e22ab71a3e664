"""The summary of a correction: how wrong the model was, and what more reading would bring."""

import numpy as np
import pytest

from tests.explore.readings import read, wrong_counts

POSTERIOR, TRUTH = wrong_counts()
PLAN = read(POSTERIOR, TRUTH)
BETTER = POSTERIOR.corrected(PLAN, random_state=0)


def test_the_summary_says_how_wrong_the_model_was():
    summary = BETTER.summary()
    assert summary.pvalue < 0.05
    assert summary.plain_holds[0] < 0.05
    text = str(summary)
    assert "The model is miscalibrated" in text
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
