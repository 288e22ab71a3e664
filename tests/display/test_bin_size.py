"""BinSizeDisplay: its numbers are those of the metrics."""

import numpy as np
import pytest

from sklearn_calib import bin_size_curve, calibration_error_interval, sample_size_curve
from tests.display.makers import LARGE, SAMPLE, SMALL, by_bin_size, by_sample_size


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


@pytest.mark.parametrize("order", [(SMALL, LARGE), (LARGE, SMALL)])
@pytest.mark.parametrize("against", ["bin_size", "sample_size"])
def test_two_bin_size_displays_keep_their_colours_and_their_heights(order, against):
    first = by_bin_size(order[0], against=against, name="a")
    colours = first.plug_in_.get_color(), first.debiased_.get_color()
    second = by_bin_size(order[1], against=against, name="b", ax=first.ax_)
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


def test_the_null_band_is_that_of_the_metric_to_the_bit():
    errors = by_bin_size()
    limits = bin_size_curve(SAMPLE.queries).null_interval
    heights = errors.null_.get_paths()[0].vertices[:, 1]
    assert {*limits.low, *limits.high} <= {*heights}


def test_the_selected_size_says_who_selects_it():
    display = by_bin_size(name="mine")
    selected = f"{bin_size_curve(SAMPLE.queries).selected:g}"
    assert display.selected_.get_label() == f"mine: selected by select_bin_size: {selected}"


def test_the_numbers_are_a_table():
    np.testing.assert_array_equal(
        by_bin_size().to_frame()["error"], bin_size_curve(SAMPLE.queries).error
    )
    assert by_sample_size().to_frame().shape[1] == 7
