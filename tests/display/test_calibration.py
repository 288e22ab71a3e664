"""AdaptiveCalibrationDisplay: its numbers are those of the metrics."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import TimeSeriesSplit, cross_validate
from sklearn.naive_bayes import GaussianNB

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    Queries,
    calibration_band,
    calibration_bins,
    calibration_error_interval,
    smooth_calibration_curve,
)
from sklearn_calib.datasets import make_queries
from tests.display.makers import SAMPLE, SMALL, curve


@pytest.fixture(scope="module")
def sample():
    return make_queries(2000, distortion="slope", random_state=0)


def test_numbers_are_those_of_the_metrics(sample):
    display = AdaptiveCalibrationDisplay.from_predictions(sample.y_true, sample.y_prob, n_bins=12)
    bins = calibration_bins(sample.queries, n_bins=12)
    np.testing.assert_array_equal(display.line_.get_xdata(), bins.prob_pred)
    np.testing.assert_array_equal(display.line_.get_ydata(), bins.prob_true)
    result = calibration_error_interval(sample.queries)
    assert display.result.error == result.error
    assert f"{result.error:.3f}" in display.line_.get_label()


def test_labels_and_artists(sample):
    display = AdaptiveCalibrationDisplay.from_predictions(
        sample.queries, name="mine", consistency=True, interval="band", despine=True
    )
    assert display.ax_.get_xlabel() == "Mean predicted probability"
    assert display.ax_.get_ylabel() == "Observed frequency"
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any(text.startswith("mine: 0.") for text in texts)
    assert "95% consistency band" in texts
    title = display.ax_.get_legend().get_title().get_text()
    assert title == "Calibration error [95% interval]"
    assert display.interval_ is not None
    assert not display.ax_.spines["top"].get_visible()


def test_several_curves_share_axes_in_different_colours(sample):
    _, ax = plt.subplots()
    displays = [
        AdaptiveCalibrationDisplay.from_predictions(sample.queries, name=name, ax=ax)
        for name in "ab"
    ]
    assert displays[0].ax_ is displays[1].ax_ is ax
    assert displays[0].line_.get_color() != displays[1].line_.get_color()
    assert displays[0].reference_ is not None
    assert displays[1].reference_ is None


def test_keywords_reach_the_curve_or_raise(sample):
    display = AdaptiveCalibrationDisplay.from_predictions(
        sample.queries,
        curve_kwargs={"color": "red", "label": "curve"},
        interval=None,
        distribution=None,
        ref_line=False,
        legend=False,
    )
    assert display.line_.get_color() == "red"
    assert display.line_.get_label() == "curve"
    assert display.interval_ is display.marks_ is display.reference_ is None
    assert display.ax_.get_legend() is None
    with pytest.raises(TypeError, match="colour"):
        AdaptiveCalibrationDisplay.from_predictions(sample.queries, colour="red")
    with pytest.raises(ValueError, match="interval='bars' is not known"):
        AdaptiveCalibrationDisplay.from_predictions(sample.queries, interval="bars")


def test_from_estimator():
    X, y = make_classification(500, random_state=0)
    model = GaussianNB().fit(X, y)
    display = AdaptiveCalibrationDisplay.from_estimator(model, X, y)
    bins = calibration_bins(y, model.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(display.line_.get_xdata(), bins.prob_pred)
    assert display.line_.get_label().startswith("GaussianNB")
    X, y = load_digits(return_X_y=True)
    model = GaussianNB().fit(X, y)
    pooled = AdaptiveCalibrationDisplay.from_estimator(model, X, y)
    assert pooled.bins.count.sum() == y.size * 10
    top = AdaptiveCalibrationDisplay.from_estimator(model, X, y, average="top_label")
    assert top.bins.count.sum() == y.size


def test_global_settings_are_left_alone(sample):
    before = dict(plt.rcParams)
    AdaptiveCalibrationDisplay.from_predictions(sample.queries)
    assert dict(plt.rcParams) == before


def test_figure_is_not_blank(sample):
    display = AdaptiveCalibrationDisplay.from_predictions(sample.queries)
    display.figure_.canvas.draw()
    pixels = np.asarray(display.figure_.canvas.buffer_rgba())
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 20


def test_from_cv_results():
    X, y = make_classification(600, random_state=0)
    for cv in (3, TimeSeriesSplit(4)):
        results = cross_validate(
            GaussianNB(), X, y, cv=cv, return_estimator=True, return_indices=True
        )
        display = AdaptiveCalibrationDisplay.from_cv_results(results, X, y)
        tested = sum(len(test) for test in results["indices"]["test"])
        assert display.bins.count.sum() == tested
        assert len(display.folds_) == len(results["estimator"])
        assert display.line_.get_label().startswith("GaussianNB")
    frame = pd.DataFrame(X).rename(columns=str)
    results = cross_validate(
        GaussianNB(), frame, y, cv=3, return_estimator=True, return_indices=True
    )
    weight = np.linspace(1, 2, 600)
    display = AdaptiveCalibrationDisplay.from_cv_results(results, frame, y, sample_weight=weight)
    assert display.bins.weight.sum() == pytest.approx(weight.sum())
    with pytest.raises(ValueError, match="return_indices=True"):
        AdaptiveCalibrationDisplay.from_cv_results({"estimator": []}, X, y)
    with pytest.raises(ValueError, match="X has 100 rows, but cv_results has a test row 599"):
        AdaptiveCalibrationDisplay.from_cv_results(results, frame[:100], y[:100])


def test_logit_axis_and_zoom(sample):
    display = AdaptiveCalibrationDisplay.from_predictions(sample.queries, scale="logit")
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "logit"
    assert (display.line_.get_ydata() > 0).all()
    assert (display.line_.get_ydata() < 1).all()
    zoomed = AdaptiveCalibrationDisplay.from_predictions(sample.queries, zoom=(0.0, 0.2))
    assert zoomed.ax_.get_xlim()[1] < 0.21
    for zoom in ((0.5, 0.2), (-1, 1), (0, 2)):
        with pytest.raises(ValueError, match="zoom must be a range"):
            AdaptiveCalibrationDisplay.from_predictions(sample.queries, zoom=zoom)
    with pytest.raises(ValueError, match="scale='log' is not known"):
        AdaptiveCalibrationDisplay.from_predictions(sample.queries, scale="log")


def test_histogram_counts_every_query(sample):
    display = AdaptiveCalibrationDisplay.from_predictions(sample.queries, distribution="histogram")
    (patch,) = display.histogram_.patches
    assert patch.get_data().values.sum() == pytest.approx(2000)
    display.figure_.canvas.draw()
    assert display.histogram_.get_tightbbox().y0 >= 0
    again = AdaptiveCalibrationDisplay.from_predictions(
        sample.queries, distribution="histogram", ax=display.ax_
    )
    assert again.histogram_ is display.histogram_
    skewed = make_queries(5000, predictions="mixture", random_state=0)
    display = AdaptiveCalibrationDisplay.from_predictions(skewed.queries, distribution="histogram")
    assert display.histogram_.get_yscale() == "log"


@pytest.mark.parametrize("curve", ["smooth", "isotonic", "gaussian_process"])
def test_binless_curve_and_shading(sample, curve):
    display = AdaptiveCalibrationDisplay.from_predictions(sample.queries, curve=curve, shade=True)
    assert display.curve.method == curve
    np.testing.assert_array_equal(display.curve_.get_ydata(), display.curve.prob_true)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert {"overconfident", "underconfident", f"{display.curve.name} curve"} <= set(texts)
    with pytest.raises(ValueError, match="curve='spline' is not known"):
        AdaptiveCalibrationDisplay.from_predictions(sample.queries, curve="spline")


def test_band_for_the_whole_curve(sample):
    display = AdaptiveCalibrationDisplay.from_predictions(
        sample.queries, band="simultaneous", confidence_level=0.9
    )
    band = display.band
    assert (band.method, band.confidence_level) == ("monotone", 0.9)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "90% simultaneous band (monotone)" in texts
    # Steps: between two predictions the lower limit is that of the left, the upper of the right.
    drawn = {tuple(vertex) for vertex in display.band_.get_paths()[0].vertices}
    assert set(zip(band.q[1:], band.low[:-1], strict=True)) <= drawn
    assert set(zip(band.q[:-1], band.high[1:], strict=True)) <= drawn
    smooth = AdaptiveCalibrationDisplay.from_predictions(sample.queries, band="smooth")
    assert smooth.band.method == "smooth"
    with pytest.raises(ValueError, match="band='wald' is not known"):
        AdaptiveCalibrationDisplay.from_predictions(sample.queries, band="wald")


def test_a_band_alone_is_drawn_with_its_curve(sample):
    band = calibration_band(sample.queries)
    display = band.plot(scale="logit")
    assert display.line_.get_label() == "isotonic curve"
    assert display.interval_ is None
    assert "isotonic curve at" in repr(display)
    assert len(display.to_frame()) == len(band.q)
    for option in ({"interval": "band"}, {"consistency": True}):
        with pytest.raises(ValueError, match="a band for the whole curve has none"):
            band.plot(**option)
    one = calibration_band([0, 1, 1], [0.4] * 3).plot()
    assert len(one.band_.get_segments()) >= 1


def test_balanced_bins_are_drawn(sample):
    display = AdaptiveCalibrationDisplay.from_predictions(sample.queries, strategy="balanced")
    assert display.bins.strategy == "balanced"


def test_compare_strategies():
    displays = AdaptiveCalibrationDisplay.compare_strategies(SAMPLE.queries, n_bins=(5, 20))
    assert [d.bins.strategy for d in displays] == ["uniform", "uniform", "adaptive"]
    assert displays[0].figure_ is displays[2].figure_
    bins = calibration_bins(SAMPLE.queries, n_bins=5, strategy="uniform")
    np.testing.assert_array_equal(displays[0].line_.get_ydata(), bins.prob_true)
    assert "width 0.2" in displays[0].ax_.get_title()


def test_intervals_and_bands_are_those_of_the_metric_to_the_bit():
    bins = calibration_bins(SAMPLE.queries)
    for method in ("wilson", "normal", "clopper-pearson"):
        display = curve(interval_method=method, confidence_level=0.9, consistency=True)
        low, high = bins.confidence_interval(0.9, method)
        segments = np.array(display.interval_.get_segments())
        np.testing.assert_array_equal(segments[:, 0, 1], low)
        np.testing.assert_array_equal(segments[:, 1, 1], high)
    drawn = {tuple(vertex) for vertex in display.consistency_.get_paths()[0].vertices}
    for limit in bins.consistency_band(0.9):
        assert set(zip(bins.prob_pred, limit, strict=True)) <= drawn
    smooth = smooth_calibration_curve(SAMPLE.queries)
    np.testing.assert_array_equal(curve(curve="smooth").curve_.get_ydata(), smooth.prob_true)


def test_interval_method_is_checked_even_where_it_is_not_used():
    with pytest.raises(ValueError, match="interval_method='exact' is not known"):
        curve(interval=None, interval_method="exact")


def test_a_name_with_an_underscore_is_in_the_legend():
    display = curve(SMALL, name="_mine")
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any("_mine" in text for text in texts)


@pytest.mark.parametrize("interval", ["bar", "band"])
def test_ranges_of_a_single_bin_are_visible(interval):
    constant = Queries(np.arange(50) % 2, np.full(50, 0.3))
    display = AdaptiveCalibrationDisplay.from_predictions(
        constant, interval=interval, consistency=True
    )
    for artist in (display.interval_, display.consistency_):
        [segment] = artist.get_segments()
        assert np.ptp(segment[:, 1]) > 0.05
        assert min(artist.get_linewidths()) > 0


def test_display_of_a_handful_of_queries_or_of_one_group():
    display = AdaptiveCalibrationDisplay.from_predictions([0, 1], [0.2, 0.7])
    assert display.result is None
    one_group = Queries([0, 1, 0, 1], [0.2, 0.7, 0.3, 0.9], group=[1] * 4)
    assert AdaptiveCalibrationDisplay.from_queries(one_group).result is None


def test_a_curve_without_bins_is_the_line_and_has_its_own_bands():
    smooth = smooth_calibration_curve(SAMPLE.queries, confidence_level=0.9)
    display = AdaptiveCalibrationDisplay(curve=smooth).plot(consistency=True)
    np.testing.assert_array_equal(display.line_.get_ydata(), smooth.prob_true)
    assert display.line_.get_label() == "smooth curve"
    assert display.line_.get_marker() == "None"
    assert display.curve_ is None
    for artist, limits in (
        (display.interval_, smooth.confidence_interval),
        (display.consistency_, smooth.consistency_band),
    ):
        drawn = {tuple(vertex) for vertex in artist.get_paths()[0].vertices}
        for limit in limits:
            assert set(zip(smooth.prob_pred, limit, strict=True)) <= drawn
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "90% consistency band" in texts
    # On its axes it is a curve like any other.
    second = curve(ax=display.ax_)
    assert second.line_.get_color() != display.line_.get_color()
    assert second.reference_ is None
    logit = AdaptiveCalibrationDisplay(curve=smooth, name="mine").plot(scale="logit")
    assert logit.line_.get_label() == "mine"
    assert logit.ax_.get_xlim()[0] <= 0.01
    with pytest.raises(ValueError, match="nothing to draw: pass bins, a curve or a band"):
        AdaptiveCalibrationDisplay()


def test_a_squared_error_says_so(sample):
    result = calibration_error_interval(sample.queries, squared=True)
    display = AdaptiveCalibrationDisplay(result.bins, result=result).plot()
    title = display.ax_.get_legend().get_title().get_text()
    assert title == "Squared calibration error [95% interval]"
    assert display.line_.get_label().startswith(f"{result.error:.5f} [")


def test_the_numbers_are_a_table(sample):
    frame = AdaptiveCalibrationDisplay.from_predictions(sample.queries, n_bins=7).to_frame()
    bins = calibration_bins(sample.queries, n_bins=7)
    np.testing.assert_array_equal(frame["prob_true"], bins.prob_true)
    assert len(frame) == 7


def test_pictures_of_strategies_have_a_figure_of_their_own(sample):
    with pytest.raises(ValueError, match="leave ax out"):
        AdaptiveCalibrationDisplay.compare_strategies(sample.queries, ax=plt.subplots()[1])
