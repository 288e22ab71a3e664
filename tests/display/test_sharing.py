"""Several displays on one axes, and axes that are cleared."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

from sklearn_calib import (
    AdaptiveCalibrationDisplay,
    BinSizeDisplay,
    LabelCalibrationDisplay,
    Queries,
    label_calibration,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.display._axes import COLOURS, free_colours

SMALL = make_queries(900, distortion="slope", strength=0.3, random_state=0)
LARGE = make_queries(4000, predictions="mixture", random_state=1)
DIGITS, NAMES = load_digits(return_X_y=True)
MODELS = {
    "bayes": GaussianNB().fit(DIGITS[:900], NAMES[:900]),
    "logistic": LogisticRegression(C=0.001, max_iter=1000).fit(DIGITS[:900], NAMES[:900]),
}
PROBA = {name: model.predict_proba(DIGITS[900:]) for name, model in MODELS.items()}


def curve(sample, **options):
    return AdaptiveCalibrationDisplay.from_predictions(sample.queries, **options)


def sizes(sample, **options):
    return BinSizeDisplay.from_predictions(sample.queries, **options)


def labels(name, **options):
    return LabelCalibrationDisplay.from_predictions(
        NAMES[900:], PROBA[name], classes=np.arange(10), name=name, **options
    )


def drawn_range(artist, axis):
    """Return the extremes of an artist on the screen, in units of the axes."""
    artist.figure.canvas.draw()
    path = artist.get_path()
    points = artist.get_transform().transform(path.vertices)
    return np.sort(artist.axes.transAxes.inverted().transform(points)[:, axis])[[0, -1]]


@pytest.mark.parametrize("options", [{}, {"scale": "logit"}])
@pytest.mark.parametrize("zooms", [(None, (0.1, 0.3)), ((0.1, 0.3), None), (None, None)])
def test_diagonal_crosses_the_axes_whatever_the_zoom(options, zooms):
    first = curve(SMALL, zoom=zooms[0], **options)
    curve(LARGE, zoom=zooms[1], ax=first.ax_, **options)
    for axis in (0, 1):
        np.testing.assert_allclose(drawn_range(first.reference_, axis), [0, 1], atol=0.01)


@pytest.mark.parametrize("scale", ["linear", "logit"])
def test_a_zoom_holds_for_both_curves_in_either_order(scale):
    limits = []
    for zooms in ((None, (0.1, 0.3)), ((0.1, 0.3), None)):
        first = curve(SMALL, zoom=zooms[0], scale=scale)
        curve(LARGE, zoom=zooms[1], scale=scale, ax=first.ax_)
        limits.append(first.ax_.get_xlim())
    assert limits[0] == limits[1]
    assert limits[0][1] < 0.31


def test_histogram_follows_the_zoom_of_the_second_curve():
    first = curve(SMALL, distribution="histogram")
    (patch,) = first.histogram_.patches
    curve(LARGE, distribution="histogram", zoom=(0.0, 0.1), ax=first.ax_)
    heights, edges, _ = patch.get_data()
    assert edges[-1] == 0.1
    assert heights.sum() == np.count_nonzero(SMALL.y_prob < 0.1)


def test_ends_of_a_logit_axis_move_with_it():
    def at(n, least):
        q = np.concatenate([np.full(n, least), np.full(n, 0.5), np.full(n, 0.9)])
        y = np.concatenate([np.zeros(n), np.arange(n) % 2, np.ones(n)])
        return q, y

    q, y = at(100, 0.05)
    first = AdaptiveCalibrationDisplay.from_predictions(y, q, scale="logit", interval="band")
    old = first.ax_.get_xlim()
    assert first.line_.get_ydata()[0] == old[0]
    q, y = at(100, 0.0001)
    second = AdaptiveCalibrationDisplay.from_predictions(y, q, scale="logit", ax=first.ax_)
    new = first.ax_.get_xlim()
    assert new[0] < old[0]
    for display in (first, second):
        assert display.line_.get_ydata()[[0, -1]].tolist() == list(new)
        assert display.line_.get_xdata()[0] == display.bins.prob_pred[0]
    vertices = first.interval_.get_paths()[0].vertices
    assert vertices[:, 1].min() == new[0]
    assert old[0] not in vertices


def test_zoom_on_a_logit_axis_leaves_points_outside_where_they_are():
    display = curve(LARGE, scale="logit", zoom=(0.01, 0.2))
    np.testing.assert_array_equal(display.line_.get_xdata(), display.bins.prob_pred)
    inner = (display.bins.prob_true > 0) & (display.bins.prob_true < 1)
    np.testing.assert_array_equal(display.line_.get_ydata()[inner], display.bins.prob_true[inner])


def test_scales_and_kinds_do_not_mix():
    with pytest.raises(ValueError, match="These axes have a logit scale: pass scale='logit'"):
        curve(SMALL, ax=curve(SMALL, scale="logit").ax_)
    with pytest.raises(ValueError, match="display of another kind"):
        sizes(SMALL, ax=curve(SMALL).ax_)
    with pytest.raises(ValueError, match="against bin size, not against sample size"):
        sizes(SMALL, against="sample_size", ax=sizes(SMALL).ax_)


def test_shading_is_drawn_once_and_covers_the_axes():
    first = curve(SMALL, shade=True, zoom=(0.4, 0.7))
    before = len(first.ax_.collections)
    curve(LARGE, shade=True, ax=first.ax_, interval=None, distribution=None)
    assert len(first.ax_.collections) == before
    texts = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert texts.count("overconfident") == texts.count("underconfident") == 1
    over, under = (
        next(c for c in first.ax_.collections if c.get_label() == label).get_paths()[0]
        for label in ("overconfident", "underconfident")
    )
    # Predictions further from one half than the frequency are too extreme.
    for q, p in np.random.default_rng(0).random((200, 2)):
        assert over.contains_point((q, p)) == (abs(q - p) > 0 and (q < p) == (q < 0.5))
        assert under.contains_point((q, p)) != over.contains_point((q, p))


@pytest.mark.parametrize("make", [curve, sizes])
def test_colours_and_rows_begin_again_on_cleared_axes(make):
    fresh = make(SMALL)
    _, ax = plt.subplots()
    make(LARGE, ax=ax)
    make(SMALL, ax=ax)
    ax.clear()
    again = make(SMALL, ax=ax)
    assert len(ax.get_lines()) == len(fresh.ax_.get_lines())
    for old, new in zip(fresh.ax_.get_lines(), ax.get_lines(), strict=True):
        assert old.get_color() == new.get_color()
    assert ax.get_xlabel() == fresh.ax_.get_xlabel()
    np.testing.assert_allclose(ax.get_ylim(), fresh.ax_.get_ylim())
    if make is curve:
        assert again.reference_ is not None
        lows = [segment[0][1] for segment in again.marks_.get_segments()]
        assert set(lows) == {0.0}


def test_cleared_axes_forget_zoom_scale_and_histogram():
    _, ax = plt.subplots()
    curve(LARGE, ax=ax, scale="logit", zoom=(0.1, 0.2), distribution="histogram")
    ax.clear()
    display = curve(SMALL, ax=ax, distribution="histogram")
    assert display.histogram_ in ax.child_axes
    assert ax.get_xscale() == "linear"
    np.testing.assert_allclose(ax.get_xlim(), (-0.02, 1.02))
    ax.clear()
    curve(SMALL, ax=ax)
    assert ax.get_xlabel() == "Mean predicted probability"


@pytest.mark.parametrize("order", [(SMALL, LARGE), (LARGE, SMALL)])
@pytest.mark.parametrize("against", ["bin_size", "sample_size"])
def test_two_bin_size_displays_keep_their_colours_and_their_heights(order, against):
    first = sizes(order[0], against=against, name="a")
    colours = first.plug_in_.get_color(), first.debiased_.get_color()
    second = sizes(order[1], against=against, name="b", ax=first.ax_)
    assert (first.plug_in_.get_color(), first.debiased_.get_color()) == colours
    new = second.plug_in_.get_color(), second.debiased_.get_color()
    assert len({*colours, *new}) == 4
    low, high = first.ax_.get_ylim()
    for display in (first, second):
        for values in (display.curve.error, display.curve.null_interval.high):
            assert low < 0 < np.nanmax(values) < high
    texts = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert len(set(texts)) == len(texts) == (7 if against == "bin_size" else 6)
    assert "a: plug-in error" in texts


def test_two_label_displays_share_rows_and_are_told_apart():
    first = labels("bayes", sort="label")
    colour = first.points_["bayes"].get_color()
    second = labels("logistic", sort="label", ax=first.ax_)
    assert first.points_["bayes"].get_color() == colour
    assert second.points_["logistic"].get_color() != colour
    one = LabelCalibrationDisplay.from_predictions(
        NAMES[900:], PROBA, classes=np.arange(10), sort="label"
    )
    for name, display in (("bayes", first), ("logistic", second)):
        expected = label_calibration(NAMES[900:], PROBA[name], classes=np.arange(10))
        np.testing.assert_array_equal(display.points_[name].get_xdata(), expected.error)
        for kind in ("points_", "averages_"):
            np.testing.assert_array_equal(
                getattr(display, kind)[name].get_xydata(), getattr(one, kind)[name].get_xydata()
            )
        np.testing.assert_array_equal(
            display.intervals_[name].get_segments(), one.intervals_[name].get_segments()
        )
    for display in (first, one):
        display.figure_.canvas.draw()
        box = display.ax_.get_legend().get_window_extent()
        highest = max(points.get_ydata().min() for points in one.points_.values())
        assert box.y0 > display.ax_.transData.transform((0, highest))[1]
    np.testing.assert_allclose(first.ax_.get_xlim(), one.ax_.get_xlim())
    ticks = [tick.get_text() for tick in first.ax_.get_yticklabels()]
    assert ticks == [tick.get_text() for tick in one.ax_.get_yticklabels()]
    texts = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert texts == ["bayes", "logistic"]


def test_label_displays_of_different_labels_keep_all_their_rows():
    few = label_calibration(NAMES[900:] % 3, PROBA["bayes"][:, :3] * 0 + 1 / 3, classes=[0, 1, 2])
    first = LabelCalibrationDisplay(few, name="few").plot(sort="label")
    labels("bayes", sort="label", ax=first.ax_)
    y = first.points_["few"].get_ydata()
    assert np.rint(y).tolist() == [0, 1, 2]
    ticks = [tick.get_text() for tick in first.ax_.get_yticklabels()]
    assert ticks[-1] == "mean of all 10"
    first.ax_.clear()
    assert labels("bayes", ax=first.ax_).ax_.get_legend() is None


def test_name_is_for_a_single_model():
    table = label_calibration(NAMES[900:], PROBA["bayes"], classes=np.arange(10))
    assert list(LabelCalibrationDisplay(table, name="x").tables) == ["x"]
    with pytest.raises(ValueError, match="name='x' is for a single model"):
        LabelCalibrationDisplay({"a": table}, name="x")


def test_every_display_of_a_cross_validation_pools_the_folds():
    results = cross_validate(
        GaussianNB(), DIGITS, NAMES, cv=3, return_estimator=True, return_indices=True
    )
    rows = LabelCalibrationDisplay.from_cv_results(results, DIGITS, NAMES)
    assert rows.tables["GaussianNB"].count.sum() == len(NAMES)
    errors = BinSizeDisplay.from_cv_results(results, DIGITS, NAMES, average="top_label")
    assert errors.curve.bin_size[-1] == len(NAMES)
    assert errors.plug_in_.get_label() == "GaussianNB: plug-in error"
    fitted = BinSizeDisplay.from_estimator(MODELS["bayes"], DIGITS[900:], NAMES[900:], name="nb")
    assert fitted.curve.bin_size[-1] == len(NAMES[900:]) * 10
    assert fitted.debiased_.get_label() == "nb: debiased error"


def test_numbers_come_back_after_a_histogram_was_cleared():
    _, ax = plt.subplots()
    curve(SMALL, ax=ax, distribution="histogram")
    assert not ax.xaxis.get_major_ticks()[0].label1.get_visible()
    ax.clear()
    curve(SMALL, ax=ax)
    assert ax.xaxis.get_major_ticks()[0].label1.get_visible()


def test_a_name_with_an_underscore_is_in_the_legend():
    display = curve(SMALL, name="_mine")
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert any("_mine" in text for text in texts)


def test_colours_differ_for_as_long_as_they_can():
    assert len(set(free_colours(COLOURS[:6], 2))) == 2
    assert len(free_colours([], 30)) == 30
    assert len(set(free_colours([], 7))) == 7


def test_labels_of_which_nothing_is_known_do_not_stretch_the_axis():
    sample = make_queries(800, random_state=0)
    queries = Queries(sample.y_true, sample.y_prob, label=["a"] * 797 + ["rare"] * 2 + ["one"])
    display = LabelCalibrationDisplay.from_predictions(queries)
    assert display.ax_.get_xlim()[1] < 0.5


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
