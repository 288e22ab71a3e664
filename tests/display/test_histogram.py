"""The histogram below a curve counts the predictions."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import special

from sklearn_calib import AdaptiveCalibrationDisplay, calibration_bins
from sklearn_calib.datasets import make_queries
from sklearn_calib.display._histogram import GRIDS, PredictionCounts
from sklearn_calib.queries import Queries
from tests.display.makers import LARGE, SMALL, curve

RNG = np.random.default_rng(0)
# A spike at each end, one at a round number, and the rest anywhere.
PROB = np.concatenate([np.ones(300), np.zeros(50), np.full(70, 0.3), RNG.random(580)])
TRUE = RNG.random(1000) < PROB
WEIGHT = RNG.random(1000)


def bars(display):
    heights, edges, _ = display.histogram_.patches[-1].get_data()
    return heights, edges


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("zoom", [None, (0.0, 0.1), (0.25, 0.4), (0.9, 1.0), (0.31, 0.3105)])
def test_bars_are_those_of_numpy(weight, zoom):
    display = AdaptiveCalibrationDisplay.from_predictions(
        TRUE, PROB, sample_weight=weight, distribution="histogram", zoom=zoom
    )
    heights, edges = bars(display)
    # A bar holds its left edge, and only the last one at 1 its right edge too.
    ends = np.where(edges == 1.0, np.inf, edges)
    expected = np.histogram(PROB, ends, weights=weight)[0]
    np.testing.assert_allclose(heights, expected, rtol=1e-12, atol=1e-12)
    low, high = (0.0, 1.0) if zoom is None else zoom
    assert edges[0] <= low + 1e-15
    assert edges[-1] >= high - 1e-15
    assert len(heights) <= 60
    np.testing.assert_allclose(np.diff(edges), np.diff(edges)[0])


def test_a_spike_is_not_smeared():
    display = AdaptiveCalibrationDisplay.from_predictions(TRUE, PROB, distribution="histogram")
    heights, edges = bars(display)
    assert heights.sum() == 1000
    assert heights[-1] == np.count_nonzero(edges[-2] <= PROB) >= 300
    # The neighbour holds its own few, nothing of the spike.
    assert heights[-2] < 40
    assert display.histogram_.get_ylabel() == "Queries"


def test_logit_bars_hold_all_and_the_ends_hold_what_lies_beyond():
    display = AdaptiveCalibrationDisplay.from_predictions(
        TRUE, PROB, distribution="histogram", scale="logit"
    )
    heights, edges = bars(display)
    assert heights.sum() == 1000
    assert (edges > 0).all()
    assert (edges < 1).all()
    assert heights[0] == np.count_nonzero(edges[1] > PROB)
    assert heights[-1] == np.count_nonzero(edges[-2] <= PROB)
    np.testing.assert_allclose(np.diff(special.logit(edges)), 0.25, rtol=1e-6)
    zoomed = AdaptiveCalibrationDisplay.from_predictions(
        TRUE, PROB, distribution="histogram", scale="logit", zoom=(0.2, 0.8)
    )
    heights, edges = bars(zoomed)
    np.testing.assert_array_equal(heights, np.histogram(PROB, edges)[0])


@pytest.mark.parametrize("scale", GRIDS)
def test_cells_hold_their_lower_edge(scale):
    edges = GRIDS[scale]
    counts = getattr(PredictionCounts.of(Queries(np.zeros(len(edges)), edges)), scale)
    expected = np.ones(len(edges) - 1)
    expected[-1] = 2
    np.testing.assert_array_equal(counts, expected)


def test_integer_weights_are_copies():
    times = RNG.integers(0, 4, 1000)
    weighted = PredictionCounts.of(Queries(TRUE, PROB, sample_weight=times))
    copies = PredictionCounts.of(Queries(np.repeat(TRUE, times), np.repeat(PROB, times)))
    np.testing.assert_array_equal(weighted.linear, copies.linear)
    np.testing.assert_array_equal(weighted.logit, copies.logit)


def test_axis_says_what_is_counted():
    display = AdaptiveCalibrationDisplay.from_predictions(
        TRUE, PROB, sample_weight=WEIGHT, distribution="histogram", despine=True
    )
    assert not display.histogram_.spines["top"].get_visible()
    assert display.histogram_.get_ylabel() == "Weight"
    both = AdaptiveCalibrationDisplay.from_predictions(
        TRUE, PROB, distribution="histogram", ax=display.ax_
    )
    assert both.histogram_ is display.histogram_
    assert both.histogram_.get_ylabel() == "Queries or weight"


def test_drawing_needs_no_predictions_and_counting_comes_first():
    display = AdaptiveCalibrationDisplay(calibration_bins(TRUE, PROB))
    with pytest.raises(ValueError, match="histogram' needs counts"):
        display.plot(distribution="histogram")
    made = AdaptiveCalibrationDisplay.from_predictions(TRUE, PROB)
    assert made.counts.linear.sum() == 1000
    again = made.plot(distribution="histogram", zoom=(0, 0.2))
    assert bars(again)[0].sum() == np.count_nonzero(PROB < 0.2)
    for display in AdaptiveCalibrationDisplay.compare_strategies(
        TRUE, PROB, distribution="histogram"
    ):
        assert bars(display)[0].sum() == 1000


def test_uneven_counts_are_drawn_in_powers_of_ten():
    skewed = make_queries(5000, predictions="mixture", random_state=0)
    display = AdaptiveCalibrationDisplay.from_predictions(skewed.queries, distribution="histogram")
    assert display.histogram_.get_yscale() == "log"
    even = make_queries(5000, a=1, b=1, random_state=0)
    display = AdaptiveCalibrationDisplay.from_predictions(even.queries, distribution="histogram")
    assert display.histogram_.get_yscale() == "linear"


def test_histogram_follows_the_zoom_of_the_second_curve():
    first = curve(SMALL, distribution="histogram")
    (patch,) = first.histogram_.patches
    curve(LARGE, distribution="histogram", zoom=(0.0, 0.1), ax=first.ax_)
    heights, edges, _ = patch.get_data()
    assert edges[-1] == 0.1
    assert heights.sum() == np.count_nonzero(SMALL.y_prob < 0.1)


def test_numbers_come_back_after_a_histogram_was_cleared():
    _, ax = plt.subplots()
    curve(SMALL, ax=ax, distribution="histogram")
    assert not ax.xaxis.get_major_ticks()[0].label1.get_visible()
    ax.clear()
    curve(SMALL, ax=ax)
    assert ax.xaxis.get_major_ticks()[0].label1.get_visible()


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
@pytest.mark.parametrize("scale", ["linear", "logit"])
def test_it_stays_inside_the_figure_whatever_the_layout(layout, scale):
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.8), layout=layout)
    before = axes[1].get_position(original=True).bounds
    first = curve(ax=axes[0], scale=scale)
    display = curve(ax=axes[1], distribution="histogram", scale=scale)
    # A tight layout settles at the second drawing.
    figure.canvas.draw()
    figure.canvas.draw()
    for box in (display.histogram_.get_tightbbox(), display.ax_.get_tightbbox()):
        assert box.y0 >= 0
        assert box.y1 <= figure.bbox.y1
    gap = first.ax_.get_window_extent().y1 - display.ax_.get_window_extent().y1
    assert abs(gap) < figure.bbox.y1 / 4
    # Cleared axes have their room again.
    axes[1].clear()
    curve(ax=axes[1], scale=scale)
    if layout is None:
        np.testing.assert_allclose(axes[1].get_position(original=True).bounds, before)
    assert axes[1].get_in_layout()
