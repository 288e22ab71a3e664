"""Rows of labels that several models share."""

import numpy as np
import pytest

from sklearn_calib import LabelCalibrationDisplay, label_calibration
from tests.display.makers import PROBA, Y_TEST, labels


def test_two_label_displays_share_rows_and_are_told_apart():
    first = labels("bayes", name="bayes", sort="label")
    colour = first.points_["bayes"].get_color()
    second = labels("logistic", name="logistic", sort="label", ax=first.ax_)
    assert first.points_["bayes"].get_color() == colour
    assert second.points_["logistic"].get_color() != colour
    one = LabelCalibrationDisplay.from_predictions(Y_TEST, PROBA, classes=range(10), sort="label")
    for name, display in (("bayes", first), ("logistic", second)):
        expected = label_calibration(Y_TEST, PROBA[name], classes=range(10))
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
    assert texts == ["bayes", "logistic", "filled: adjusted p < 0.05"]


def test_label_displays_of_different_labels_keep_all_their_rows():
    few = label_calibration(Y_TEST % 3, PROBA["bayes"][:, :3] * 0 + 1 / 3, classes=[0, 1, 2])
    first = LabelCalibrationDisplay(few, name="few").plot(sort="label")
    labels("bayes", name="bayes", sort="label", ax=first.ax_)
    y = first.points_["few"].get_ydata()
    assert np.rint(y).tolist() == [0, 1, 2]
    ticks = [tick.get_text() for tick in first.ax_.get_yticklabels()]
    assert ticks[-1] == "mean of all 10"
    first.ax_.clear()
    alone = labels("bayes", name="bayes", ax=first.ax_).ax_.get_legend()
    assert [text.get_text() for text in alone.get_texts()] == ["filled: adjusted p < 0.05"]


@pytest.mark.parametrize("n_models", [2, 12])
def test_a_long_legend_leaves_the_rows_their_room(n_models):
    models = {f"a model with a long name, number {k}": PROBA["bayes"] for k in range(n_models)}
    display = LabelCalibrationDisplay.from_predictions(Y_TEST, models)
    display.figure_.canvas.draw()
    ax, legend = display.ax_, display.ax_.get_legend().get_window_extent()
    highest = min(points.get_ydata().min() for points in display.points_.values())
    assert legend.y0 > ax.transData.transform((0, highest))[1]
    assert legend.y1 <= ax.get_window_extent().y1
    # A row is at least as high as its text, and as its points side by side.
    row = abs(np.diff(ax.transData.transform([(0, 0), (0, 1)])[:, 1])[0]) / display.figure_.dpi
    assert row > 0.03 * max(n_models, 6)
