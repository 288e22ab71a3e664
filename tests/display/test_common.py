"""What holds for every display."""

import inspect
import re
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    BinSizeDisplay,
    CountDisplay,
    LabelCalibrationDisplay,
    Queries,
    bin_size_curve,
    calibration_bins,
    calibration_error_interval,
    label_calibration,
    sample_size_curve,
    smooth_calibration_curve,
)
from sklearn_calib.datasets import make_event_corpus, make_queries
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon

SAMPLE = make_queries(1500, distortion="slope", random_state=0)
DIGITS, NAMES = load_digits(return_X_y=True)
MODEL = GaussianNB().fit(DIGITS[:1000], NAMES[:1000])
PROBA = MODEL.predict_proba(DIGITS[1000:])


def curve(**options):
    return AdaptiveCalibrationDisplay.from_predictions(SAMPLE.y_true, SAMPLE.y_prob, **options)


def labels(**options):
    return LabelCalibrationDisplay.from_predictions(
        NAMES[1000:], PROBA, classes=MODEL.classes_, **options
    )


def by_bin_size(**options):
    return BinSizeDisplay.from_predictions(SAMPLE.y_true, SAMPLE.y_prob, **options)


def by_sample_size(**options):
    return BinSizeDisplay.from_predictions(
        SAMPLE.queries, against="sample_size", random_state=0, **options
    )


NEWS = make_event_corpus(50, random_state=0)
COUNTS = count_corpus(NEWS.documents, NEWS.model, AgentRule(country_lexicon()), random_state=0)


def counts(**options):
    return CountDisplay.from_posterior(COUNTS, **options)


every_display = pytest.mark.parametrize(
    "make", [curve, labels, by_bin_size, by_sample_size, counts]
)


@every_display
def test_draws_on_new_and_on_given_axes(make):
    display = make()
    assert display.figure_ is display.ax_.figure
    _, ax = plt.subplots()
    again = make(ax=ax)
    assert again.ax_ is ax
    assert again.figure_ is ax.figure


@every_display
def test_axes_are_labelled(make):
    ax = make().ax_
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@every_display
def test_plot_can_be_called_again(make):
    display = make()
    first = display.ax_
    assert display.plot() is display
    assert display.ax_ is not first


@every_display
def test_unknown_keywords_are_refused(make):
    with pytest.raises(TypeError, match="colour"):
        make(colour="red")
    with pytest.raises(TypeError, match="colour"):
        make().plot(colour="red")


@every_display
def test_despine_and_legend(make):
    display = make(despine=True, legend=False)
    assert not display.ax_.spines["right"].get_visible()
    assert display.ax_.get_legend() is None


@every_display
def test_global_settings_are_left_alone(make):
    before = dict(plt.rcParams)
    make()
    assert dict(plt.rcParams) == before


@every_display
def test_figure_is_not_blank_and_its_text_is_inside(make):
    display = make()
    figure = display.figure_
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())
    assert len(np.unique(pixels.reshape(-1, 4), axis=0)) > 20
    box = display.ax_.get_tightbbox()
    assert box.x0 >= -1
    assert box.y0 >= -1
    assert box.x1 <= figure.bbox.x1 + 1
    assert box.y1 <= figure.bbox.y1 + 1


def test_label_numbers_are_those_of_the_metric():
    display = labels(sort="label", averages=(5,))
    table = label_calibration(NAMES[1000:], PROBA, classes=MODEL.classes_)
    np.testing.assert_array_equal(display.points_[""].get_xdata(), table.error)
    means = display.averages_[""].get_xdata()
    assert means[0] == table.most_common(5).mean_error
    assert means[1] == pytest.approx(table.mean_error)
    segments = display.intervals_[""].get_segments()
    np.testing.assert_allclose([s[0][0] for s in segments], table.confidence_interval.low)


def test_labels_of_several_models_and_many_labels():
    display = LabelCalibrationDisplay.from_predictions(
        NAMES[1000:], {"a": PROBA, "b": PROBA}, classes=MODEL.classes_, sort="error", max_labels=4
    )
    assert len(display.points_["a"].get_xdata()) == 4
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["a", "b"]
    ticks = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert ticks[-1] == "mean of all 10"
    from_models = LabelCalibrationDisplay.from_estimator(
        {"a": MODEL, "b": MODEL}, DIGITS[1000:], NAMES[1000:]
    )
    assert set(from_models.points_) == {"a", "b"}
    with pytest.raises(ValueError, match="nothing to draw"):
        LabelCalibrationDisplay({})
    with pytest.raises(ValueError, match="sort='size' is not known"):
        labels(sort="size")


def test_bin_size_numbers_are_those_of_the_metric():
    display = by_bin_size(truth=SAMPLE.error)
    expected = bin_size_curve(SAMPLE.queries)
    np.testing.assert_array_equal(display.plug_in_.get_ydata(), expected.error)
    np.testing.assert_array_equal(display.debiased_.get_ydata(), expected.debiased_error)
    assert display.selected_.get_xdata()[0] == expected.selected
    display = by_sample_size()
    expected = sample_size_curve(SAMPLE.queries, random_state=0)
    np.testing.assert_array_equal(display.debiased_.get_ydata(), expected.debiased_error)
    assert expected.debiased_error[-1] == calibration_error_interval(SAMPLE.queries).error
    assert display.selected_ is None
    for options, name in (
        ({"against": "sample_size", "sample_weight": np.ones(1500)}, "sample_weight"),
        ({"against": "sample_size", "bin_sizes": [10]}, "bin_sizes"),
        ({"sample_sizes": [100]}, "sample_sizes"),
    ):
        with pytest.raises(ValueError, match=f"{name} has no meaning with against="):
            by_bin_size(**options)


def test_sample_size_curve_checks_its_sizes():
    assert sample_size_curve(SAMPLE.queries, [100, 50]).sample_size.tolist() == [50, 100]
    assert "sample_size" in str(sample_size_curve(SAMPLE.queries, [100, 50]))
    assert sample_size_curve(SAMPLE.queries).to_frame().shape[1] == 7
    with pytest.raises(ValueError, match="up to the number of queries, 1500"):
        sample_size_curve(SAMPLE.queries, [2000])
    with pytest.raises(ValueError, match="at least 4"):
        sample_size_curve(SAMPLE.queries, [2])


def test_compare_strategies():
    displays = AdaptiveCalibrationDisplay.compare_strategies(SAMPLE.queries, n_bins=(5, 20))
    assert [d.bins.strategy for d in displays] == ["uniform", "uniform", "adaptive"]
    assert displays[0].figure_ is displays[2].figure_
    bins = calibration_bins(SAMPLE.queries, n_bins=5, strategy="uniform")
    np.testing.assert_array_equal(displays[0].line_.get_ydata(), bins.prob_true)
    assert "width 0.2" in displays[0].ax_.get_title()


def test_short_names_of_line_options_and_dollar_signs():
    assert curve(curve_kwargs={"lw": 3}).line_.get_linewidth() == 3
    assert labels(point_kwargs={"ms": 9}).points_[""].get_markersize() == 9
    named = labels(point_kwargs={"label": "mine", "c": "red"})
    assert named.points_[""].get_label() == "mine"
    assert named.averages_[""].get_color() == named.points_[""].get_color() == "red"
    assert by_bin_size(curve_kwargs={"lw": 3}).plug_in_.get_linewidth() == 3
    display = curve(name="$x_{$", confidence_level=0.995)
    display.figure_.canvas.draw()
    assert "99.5%" in display.ax_.get_legend().get_title().get_text()


def test_integer_labels_sort_as_numbers():
    display = labels(sort="label")
    assert [t.get_text()[0] for t in display.ax_.get_yticklabels()[:3]] == ["0", "1", "2"]


@every_display
def test_every_keyword_of_plot_can_be_passed_on(make):
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(make().plot).parameters.items()
        if name != "ax"
    }
    assert len(defaults) >= 5
    display = make(**defaults)
    routed = [name for name in defaults if name.endswith("_kwargs")]
    assert routed
    for name in routed:
        with pytest.raises((AttributeError, TypeError), match="colour"):
            display.plot(**{name: {"colour": "red"}})


@every_display
def test_without_matplotlib_the_error_names_the_extra(make, monkeypatch):
    display = make()
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    for draw in (make, display.plot):
        with pytest.raises(ImportError, match=re.escape("pip install 'sklearn-calib[plot]'")):
            draw()


class Tagger(BaseEstimator):
    """Two tags, and pairs of them: a model family of its own."""

    def calibration_queries(self, X, y, unit="tag", pairs=None):
        q = np.asarray(X)
        label = np.where(q > 0.5, "NN", "VB") if unit == "tag" else np.full(len(q), "NN VB")
        return Queries(y, q, label=label)


@pytest.mark.parametrize(
    "kind", [AdaptiveCalibrationDisplay, BinSizeDisplay, LabelCalibrationDisplay]
)
def test_any_model_family_can_be_drawn(kind):
    X, y = SAMPLE.y_prob, SAMPLE.y_true
    tags = kind.from_estimator(Tagger(), X, y)
    pairs = kind.from_estimator(Tagger(), X, y, query_options={"unit": "pair"}, name="pairs")
    if kind is LabelCalibrationDisplay:
        assert tags.tables["Tagger"].labels.tolist() == ["NN", "VB"]
        assert pairs.tables["pairs"].labels.tolist() == ["NN VB"]
    else:
        assert pairs.name == "pairs"


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
    rows = labels(sort="label")
    table = label_calibration(NAMES[1000:], PROBA, classes=MODEL.classes_)
    ends = np.array(rows.intervals_[""].get_segments())[:, :, 0].T
    np.testing.assert_array_equal(ends, np.array(table.confidence_interval))
    errors = by_bin_size()
    limits = bin_size_curve(SAMPLE.queries).null_interval
    heights = errors.null_.get_paths()[0].vertices[:, 1]
    assert {*limits.low, *limits.high} <= {*heights}


def test_interval_method_is_checked_even_where_it_is_not_used():
    with pytest.raises(ValueError, match="interval_method='exact' is not known"):
        curve(interval=None, interval_method="exact")
