"""CountDisplay: its numbers are those of the posterior."""

import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import numpy as np
import pytest

from sklearn_calib import (
    AgentRule,
    CountDisplay,
    count_corpus,
    count_tags,
    country_lexicon,
    make_event_corpus,
)

CORPUS = make_event_corpus(120, random_state=0)
POSTERIOR = count_corpus(
    CORPUS.documents, CORPUS.model, AgentRule(country_lexicon()), n_samples=20, random_state=0
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


def test_bad_keys():
    with pytest.raises(ValueError, match="'FRA' was not counted; the most common keys are"):
        CountDisplay.from_posterior(POSTERIOR, keys=["FRA"])
    with pytest.raises(TypeError, match="keys must be a list"):
        CountDisplay.from_posterior(POSTERIOR, keys="USA")
    with pytest.raises(ValueError, match="nothing to draw"):
        CountDisplay.from_posterior(POSTERIOR, keys=[])
