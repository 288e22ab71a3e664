"""What all displays share: colours, options of lines, and axes that are drawn on already."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sklearn_calib.display._axes import COLOURS, free_colours
from tests.display.makers import LARGE, SMALL, by_bin_size, curve, labels


def test_colours_differ_for_as_long_as_they_can():
    assert len(set(free_colours(COLOURS[:6], 2))) == 2
    assert len(free_colours([], 30)) == 30
    assert len(set(free_colours([], 7))) == 7


@pytest.mark.parametrize("make", [curve, by_bin_size])
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


def test_scales_and_kinds_do_not_mix():
    with pytest.raises(ValueError, match="These axes have a logit scale: pass scale='logit'"):
        curve(SMALL, ax=curve(SMALL, scale="logit").ax_)
    with pytest.raises(ValueError, match="display of another kind"):
        by_bin_size(SMALL, ax=curve(SMALL).ax_)
    with pytest.raises(ValueError, match="against bin size, not against sample size"):
        by_bin_size(SMALL, against="sample_size", ax=by_bin_size(SMALL).ax_)


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
