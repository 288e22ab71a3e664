"""Every result that has a picture is drawn by the display of its kind."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    BinSizeDisplay,
    CountDisplay,
    LabelCalibrationDisplay,
    bin_size_curve,
    calibration_band,
    calibration_bins,
    calibration_error_interval,
    calibration_test,
    gaussian_process_calibration_curve,
    isotonic_calibration_curve,
    label_calibration,
    sample_size_curve,
    smooth_calibration_curve,
)
from sklearn_calib._results import PlottedResult
from sklearn_calib.display import draw
from tests.display.makers import COUNTS, PROBA, SAMPLE, Y_TEST

RESULTS = [
    (calibration_bins(SAMPLE.queries), AdaptiveCalibrationDisplay),
    (calibration_error_interval(SAMPLE.queries), AdaptiveCalibrationDisplay),
    (smooth_calibration_curve(SAMPLE.queries), AdaptiveCalibrationDisplay),
    (isotonic_calibration_curve(SAMPLE.queries, random_state=0), AdaptiveCalibrationDisplay),
    (gaussian_process_calibration_curve(SAMPLE.queries), AdaptiveCalibrationDisplay),
    (calibration_band(SAMPLE.queries), AdaptiveCalibrationDisplay),
    (calibration_band(SAMPLE.queries, method="smooth"), AdaptiveCalibrationDisplay),
    (label_calibration(Y_TEST, PROBA["bayes"]), LabelCalibrationDisplay),
    (bin_size_curve(SAMPLE.queries), BinSizeDisplay),
    (sample_size_curve(SAMPLE.queries, random_state=0), BinSizeDisplay),
    (COUNTS, CountDisplay),
]


@pytest.mark.parametrize(("result", "kind"), RESULTS)
def test_a_result_is_drawn_by_its_display(result, kind):
    _, ax = plt.subplots()
    display = draw(result, ax=ax, despine=True)
    assert type(display) is kind
    assert display.ax_ is ax
    assert not ax.spines["top"].get_visible()
    assert draw(result).ax_ is not ax


@pytest.mark.parametrize(
    ("result", "kind"), [pair for pair in RESULTS if isinstance(pair[0], PlottedResult)]
)
def test_results_plot_themselves(result, kind):
    _, ax = plt.subplots()
    display = result.plot(ax, legend=False)
    assert type(display) is kind
    assert display.ax_ is ax
    with pytest.raises(TypeError, match=f"{kind.__name__}.* got an unexpected .*'colour'"):
        result.plot(colour="red")


def test_every_result_with_a_picture_has_a_display():
    with_picture = {
        kind for kind in PlottedResult.__subclasses__() if kind.__module__.startswith("sklearn_cal")
    }
    assert with_picture
    assert with_picture <= {type(result) for result, _ in RESULTS}


def test_numbers_are_those_of_the_result():
    (bins, _), (result, _), (smooth, _), *_ = RESULTS
    np.testing.assert_array_equal(bins.plot().line_.get_ydata(), bins.prob_true)
    np.testing.assert_array_equal(smooth.plot().line_.get_ydata(), smooth.prob_true)
    display = calibration_error_interval(SAMPLE.queries, confidence_level=0.8).plot()
    assert display.confidence_level == 0.8
    assert display.line_.get_label().startswith(f"{result.error:.3f} [")
    title = display.ax_.get_legend().get_title().get_text()
    assert title == "Calibration error [80% interval]"
    assert display.bins.count.sum() == len(SAMPLE.queries)
    keys = COUNTS.most_common(2)
    assert draw(COUNTS, keys=keys, confidence_level=0.8).keys == list(keys)


def test_what_has_no_picture_says_what_has():
    with pytest.raises(TypeError, match="no picture of a CalibrationTestResult; there is one of"):
        draw(calibration_test(SAMPLE.queries))


def test_matplotlib_is_loaded_when_something_is_drawn():
    code = """
import sys
import sklearn_calib.display
from sklearn_calib import AdaptiveCalibrationDisplay, calibration_bins
display = AdaptiveCalibrationDisplay(calibration_bins([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8]))
repr(display)
assert "matplotlib" not in sys.modules
display.plot()
assert "matplotlib" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
