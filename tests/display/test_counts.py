"""CountDisplay: its numbers are those of the posterior."""

import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import numpy as np
import pytest

from sklearn_calib import CountDisplay
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.display._axes import draw_band
from sklearn_calib.explore import (
    AgentRule,
    count_corpus,
    count_tags,
    country_lexicon,
    counts_from_probabilities,
    reading_plan,
)

CORPUS = make_event_corpus(120, random_state=0)
POSTERIOR = count_corpus(
    CORPUS.X, CORPUS.model, AgentRule(country_lexicon()), n_samples=20, random_state=0
)


def test_numbers_are_those_of_the_posterior():
    display = CountDisplay.from_posterior(
        POSTERIOR, keys=["USA", "IRQ"], confidence_level=0.8, method="normal"
    )
    chosen = POSTERIOR.select(["USA", "IRQ"])
    for i, key in enumerate(["USA", "IRQ"]):
        np.testing.assert_array_equal(display.lines_[key].get_ydata(), chosen.mean[:, i])
        np.testing.assert_array_equal(display.bests_[key].get_ydata(), chosen.best[:, i])
    low, high = chosen.confidence_interval(0.8, method="normal")
    vertices = display.bands_["USA"].get_paths()[0].vertices[:, 1]
    assert vertices.max() == pytest.approx(high[:, 0].max())
    assert vertices.min() == pytest.approx(low[:, 0].min())
    assert display.ax_.get_ylim()[0] == pytest.approx(min(0.0, low.min()))
    assert "80% interval" in display.ax_.get_ylabel()


def test_dates_are_dates_in_the_middle_of_periods():
    display = CountDisplay.from_posterior(POSTERIOR)
    assert len(display.keys) == 3
    assert isinstance(display.ax_.xaxis.get_major_formatter(), mdates.ConciseDateFormatter)
    assert display.x[0] == np.datetime64("2001-02-15")
    assert display.ax_.get_xlabel() == "Quarter"


def test_panels():
    display = CountDisplay.from_posterior(POSTERIOR, panels=True, n_columns=3)
    assert len(display.axes_) == 4
    assert len(display.figure_.axes) == 6
    assert [ax.get_title(loc="left") for ax in display.axes_] == list(POSTERIOR.most_common())
    assert display.figure_.legends
    alone = CountDisplay.from_posterior(POSTERIOR, panels=True, best=False, legend=False)
    assert alone.bests_["USA"] is None
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="Panels have a figure of their own"):
        CountDisplay.from_posterior(POSTERIOR, panels=True, ax=ax)


def test_one_period_and_names_instead_of_dates():
    posterior = count_tags([["a", "b"]], [[["N", "V"], ["N", "N"]] * 10])
    display = CountDisplay.from_posterior(posterior, keys=["N"])
    assert display.lines_["N"].get_ydata().tolist() == [1.5]
    assert display.bests_["N"] is None
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["all"]


def many_keys(n):
    names = [f"key {i}" for i in range(n)]
    dates = ["2001-01-01", "2002-01-01"]
    return count_tags([names] * 2, [[names] * 20] * 2, dates=dates, period="Y")


@pytest.mark.parametrize("n", [11, 23, 40])
def test_a_long_legend_leaves_room_for_the_counts(n):
    posterior = many_keys(n)
    display = CountDisplay.from_posterior(posterior, keys=posterior.keys)
    display.figure_.canvas.draw()
    box = display.ax_.get_window_extent()
    whole = display.figure_.bbox
    assert box.height > 0.6 * whole.height
    assert box.width > 0.3 * whole.width
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.x0 >= box.x1
    assert legend.y0 >= 0
    assert len(display.ax_.get_legend().get_texts()) == n


def test_what_is_on_the_axes_stays_in_sight():
    first = CountDisplay.from_posterior(POSTERIOR, keys=["USA"], method="normal")
    bottom, top = first.ax_.get_ylim()
    assert bottom < 0
    CountDisplay.from_posterior(POSTERIOR, keys=["IRQ"], ax=first.ax_)
    assert first.ax_.get_ylim()[0] == bottom
    large = CountDisplay(
        first.x, ["all"], 10 * first.mean, first.confidence_interval, 0.95, x_label="Quarter"
    )
    large.plot(ax=first.ax_)
    assert first.ax_.get_ylim()[1] >= 10 * first.mean.max() > top


def test_log_axes():
    _, ax = plt.subplots()
    ax.set_yscale("log")
    CountDisplay.from_posterior(POSTERIOR, keys=["USA"], ax=ax)
    assert ax.get_ylim()[0] > 0


def test_dates_and_names_do_not_share_axes():
    _, ax = plt.subplots()
    ax.plot(["a", "b"], [1, 2])
    with pytest.raises(ValueError, match="these axes has names, but the periods here are dates"):
        CountDisplay.from_posterior(POSTERIOR, ax=ax)
    dated = CountDisplay.from_posterior(POSTERIOR)
    named = count_tags([["a"]], [[["N"]] * 20])
    with pytest.raises(ValueError, match="these axes has dates, but the periods here are names"):
        CountDisplay.from_posterior(named, ax=dated.ax_)


def test_series_of_one_period_stand_beside_each_other():
    display = CountDisplay.from_posterior(POSTERIOR.total(), keys=["USA", "IRQ", "IRN"])
    display.figure_.canvas.draw()
    places = [
        float(line.get_transform().transform((0.0, line.get_ydata()[0]))[0])
        for line in display.lines_.values()
    ]
    assert len({round(place) for place in places}) == 3
    bars = [float(bar.get_transform().transform((0.0, 0.0))[0]) for bar in display.bands_.values()]
    assert bars == pytest.approx(places)
    low, high = display.ax_.get_ylim()
    assert low <= display.mean.min() <= display.mean.max() <= high


def test_bad_keys():
    with pytest.raises(ValueError, match="'FRA' was not counted; the most common keys are"):
        CountDisplay.from_posterior(POSTERIOR, keys=["FRA"])
    with pytest.raises(TypeError, match="keys must be a list"):
        CountDisplay.from_posterior(POSTERIOR, keys="USA")
    with pytest.raises(ValueError, match="nothing to draw"):
        CountDisplay.from_posterior(POSTERIOR, keys=[])


@pytest.mark.parametrize(("years", "shown"), [(3, 3), (8, 8), (15, 8), (41, 5)])
def test_counts_of_years_stand_above_their_ticks(years, shown):
    dates = [f"{year}-03-01" for year in range(2000, 2000 + years)]
    posterior = count_tags([["a"]] * years, [[["N"]] * 20] * years, dates=dates, period="Y")
    display = CountDisplay.from_posterior(posterior)
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    ticks = [tick for tick in display.ax_.get_xticks() if low <= tick <= high]
    assert len(ticks) == shown
    assert set(ticks) <= set(mdates.date2num(display.x))
    labels = {text.get_text() for text in display.ax_.get_xticklabels()}
    assert labels >= {str(mdates.num2date(tick).year) for tick in ticks}
    alone = CountDisplay.from_posterior(
        count_tags([["a"]], [[["N"]] * 20], dates=dates[:1], period="Y")
    )
    assert mdates.date2num(alone.x[0]) in alone.ax_.get_xticks()


def by_name(names, n_samples=20):
    tags = [[["N", "V"]] * n_samples] * len(names)
    sentences = [[name, "b"] for name in names]
    return count_tags(
        sentences, tags, period=lambda tokens: tokens[0], best=[["N", "V"]] * len(names)
    )


def test_names_are_not_joined_and_their_series_stand_beside_each_other():
    display = CountDisplay.from_posterior(by_name(["news", "fiction", "law"]))
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["fiction", "law", "news"]
    places = []
    for key in ("N", "V"):
        assert display.lines_[key].get_linestyle() == display.bests_[key].get_linestyle() == "None"
        assert display.lines_[key].get_marker() == "o"
        assert len(display.bands_[key].get_segments()) == 3
        places.append(display.lines_[key].get_transform().transform((0.0, 1.0))[0])
    assert places[0] < places[1]
    joined = CountDisplay.from_posterior(by_name(["a", "b"]), line_kwargs={"linestyle": "-"})
    assert joined.lines_["N"].get_linestyle() == "-"


def test_long_names_are_turned_and_do_not_overlap():
    names = [f"a long name {i}" for i in range(9)]
    display = CountDisplay.from_posterior(by_name(names))
    display.figure_.canvas.draw()
    texts = display.ax_.get_xticklabels()
    assert {text.get_rotation() for text in texts} == {45.0}
    short = CountDisplay.from_posterior(by_name(["a", "b"]))
    assert {text.get_rotation() for text in short.ax_.get_xticklabels()} == {0.0}


def test_the_range_of_one_period_is_drawn_as_other_displays_draw_it():
    _, ax = plt.subplots()
    expected = draw_band(ax, [0], [1], [2], alpha=0.22)
    display = CountDisplay.from_posterior(POSTERIOR.total(), keys=["USA"])
    assert display.bands_["USA"].get_linewidth() == expected.get_linewidth()
    low, high = POSTERIOR.total().select(["USA"]).confidence_interval()
    [segment] = display.bands_["USA"].get_segments()
    assert segment[:, 1].tolist() == [low[0, 0], high[0, 0]]


def test_the_level_is_that_of_the_interval():
    with pytest.raises(ValueError, match=r"Did you mean 0\.95"):
        CountDisplay.from_posterior(POSTERIOR, confidence_level=95)
    assert CountDisplay.from_posterior(POSTERIOR, confidence_level=0.5).confidence_level == 0.5


def test_a_posterior_draws_itself():
    _, ax = plt.subplots()
    display = POSTERIOR.plot(ax=ax, keys=["USA"], confidence_level=0.8)
    assert isinstance(display, CountDisplay)
    assert display.ax_ is ax
    np.testing.assert_array_equal(
        display.confidence_interval, POSTERIOR.select(["USA"]).confidence_interval(0.8)
    )


def test_the_numbers_are_a_table_and_a_line():
    display = CountDisplay.from_posterior(POSTERIOR, keys=["USA", "IRQ"])
    frame = display.to_frame()
    chosen = POSTERIOR.select(["USA", "IRQ"])
    assert frame.columns.tolist() == ["period", "key", "mean", "low", "high", "best"]
    for i, key in enumerate(["USA", "IRQ"]):
        rows = frame[frame["key"] == key]
        np.testing.assert_array_equal(rows["mean"], chosen.mean[:, i])
        np.testing.assert_array_equal(rows["high"], chosen.confidence_interval().high[:, i])
        np.testing.assert_array_equal(rows["period"].to_numpy(), display.x)
    assert repr(display) == f"<CountDisplay: counts of USA, IRQ in {len(display.x)} periods>"
    many = CountDisplay.from_posterior(POSTERIOR, keys=POSTERIOR.most_common(4))
    assert "counts of 4 series in" in repr(many)


# --- counts given the model and corrected counts together

DRAWN = np.random.default_rng(0)
PLAIN = counts_from_probabilities(
    DRAWN.beta(0.4, 1.0, size=300),
    period=DRAWN.choice(["2001-01", "2001-02", "2001-03"], 300),
)
PLAN = reading_plan(PLAIN, 40, random_state=0)
BETTER = PLAIN.corrected(
    PLAN.answered(dict.fromkeys(PLAN.documents, "no")), n_draws=200, random_state=0
)


def test_the_axis_says_what_intervals_rest_on():
    assert PLAIN.plot().ax_.get_ylabel() == "Count [95% interval, given the model]"
    assert BETTER.plot().ax_.get_ylabel() == "Count [95% interval, corrected]"


@pytest.mark.parametrize("plain", [True, PLAIN])
def test_plain_and_corrected_counts_are_drawn_together(plain):
    display = CountDisplay.from_posterior(BETTER, plain=plain, confidence_level=0.8)
    np.testing.assert_array_equal(display.lines_["yes"].get_ydata(), BETTER.mean[:, 0])
    np.testing.assert_array_equal(display.plain_lines_["yes"].get_ydata(), PLAIN.mean[:, 0])
    low, high = PLAIN.confidence_interval(0.8)
    vertices = display.plain_bands_["yes"].get_paths()[0].vertices[:, 1]
    assert (vertices.min(), vertices.max()) == (low.min(), high.max())
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["given the model", "yes"]
    panels = BETTER.plot(plain=plain, panels=True)
    texts = [text.get_text() for text in panels.figure_.legends[0].get_texts()]
    assert texts == ["corrected", "given the model"]
    assert BETTER.plot().plain_lines_ == {}
    pytest.importorskip("pandas")
    frame = display.to_frame()
    np.testing.assert_array_equal(frame["plain_low"], low[:, 0])


def test_plain_counts_by_name_stand_beside_corrected_ones():
    posterior = counts_from_probabilities([0.5] * 40, period=["a", "b"] * 20)
    plan = reading_plan(posterior, 20, random_state=0)
    better = posterior.corrected(
        plan.answered(dict.fromkeys(plan.documents, "yes")), n_draws=200, random_state=0
    )
    display = better.plot(plain=True)
    assert display.plain_lines_["yes"].get_marker() == "s"
    at, beside = (
        line.get_transform().transform((0, 0))[0]
        for line in (display.lines_["yes"], display.plain_lines_["yes"])
    )
    assert beside < at


def test_plain_counts_must_fit():
    with pytest.raises(ValueError, match="these are the plain ones"):
        PLAIN.plot(plain=True)
    with pytest.raises(TypeError, match="plain must be counts"):
        BETTER.plot(plain=3)
    with pytest.raises(ValueError, match="plain has other periods"):
        BETTER.plot(plain=PLAIN.total())
