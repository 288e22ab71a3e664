"""P-values of many questions at once."""

import numpy as np
import pytest
from scipy import stats

from sklearn_calib import label_calibration
from sklearn_calib.metrics._inference._multiple import adjust_pvalues


def test_holm_worked_by_hand():
    adjusted = adjust_pvalues(np.array([0.01, 0.04, 0.03, np.nan, 0.005]), "holm")
    assert adjusted == pytest.approx([0.03, 0.06, 0.06, np.nan, 0.02], nan_ok=True)
    assert adjust_pvalues(np.array([0.9, 0.8]), "holm") == pytest.approx([1.0, 1.0])
    assert np.isnan(adjust_pvalues(np.array([np.nan]), "holm")).all()


def test_benjamini_hochberg_is_that_of_scipy():
    pvalues = np.random.default_rng(0).random(50) ** 3
    expected = stats.false_discovery_control(pvalues)
    assert adjust_pvalues(pvalues, "benjamini-hochberg") == pytest.approx(expected)


def test_no_adjustment():
    pvalues = np.array([0.01, np.nan])
    assert adjust_pvalues(pvalues, None) == pytest.approx(pvalues, nan_ok=True)
    with pytest.raises(ValueError, match="adjust='bonferroni' is not known"):
        label_calibration([0, 1], [0.1, 0.2], by=[0, 1], adjust="bonferroni")
