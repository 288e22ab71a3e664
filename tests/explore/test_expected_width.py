"""Expected widths: about what a correction turns out to have."""

import numpy as np
import pytest

from sklearn_calib.explore import count_tags, counts_from_probabilities, reading_plan


def test_widths_are_about_those_of_corrections():
    rng = np.random.default_rng(0)
    p = rng.beta(0.3, 1.2, size=2000)
    posterior = counts_from_probabilities(p, period=None)
    widths = reading_plan(posterior, 100, random_state=0).expected_width([100, 300])
    assert (np.diff(widths.width[:, 0]) < 0).all()
    assert widths.plain_width[0] == pytest.approx(3.92 * np.sqrt((p * (1 - p)).sum()), rel=0.01)
    for i, n in enumerate((100, 300)):
        found = []
        for seed in range(4):
            truth = rng.random(2000) < p
            plan = reading_plan(posterior, n, random_state=seed)
            answers = {name: truth[int(name.split()[1])] for name in plan.documents}
            better = posterior.corrected(plan.answered(answers), n_draws=400, random_state=0)
            low, high = better.confidence_interval()
            found.append(high[0, 0] - low[0, 0])
        assert widths.width[i, 0] == pytest.approx(np.mean(found), rel=0.35)


def test_all_documents_leave_nothing_unknown():
    posterior = counts_from_probabilities([0.5] * 30, period=None)
    widths = reading_plan(posterior, 5, random_state=0).expected_width([10, 30, 100])
    assert widths.width[1:, 0].tolist() == [0.0, 0.0]
    assert widths.width[0, 0] > 0
    assert "Expected widths of 95% intervals" in repr(widths)
    with pytest.raises(ValueError, match="n_documents must be at least 1"):
        reading_plan(posterior, 5, random_state=0).expected_width([0])


def test_numbers_have_widths_as_well():
    rng = np.random.default_rng(0)
    drawn = [
        [["N"] * k + ["V"] * (6 - k) for k in rng.binomial(6, 0.5, size=30)] for _ in range(80)
    ]
    posterior = count_tags([["w"] * 6] * 80, drawn)
    widths = reading_plan(posterior, 20, random_state=0).expected_width([20, 60])
    assert widths.keys == ("N", "V")
    assert (widths.width[0] > widths.width[1]).all()
