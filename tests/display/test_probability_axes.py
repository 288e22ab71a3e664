"""Two axes of probabilities that several curves share."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sklearn_calib import AdaptiveCalibrationDisplay
from tests.display.makers import LARGE, SMALL, curve


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
