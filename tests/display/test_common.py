"""What holds for every display."""

import inspect
import re
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from tests.display.makers import by_bin_size, by_sample_size, counts, curve, labels

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
    meant = r".*'colour'\. Did you mean \w+_kwargs=\{\"color\": 'red'\}"
    with pytest.raises(TypeError, match=r"^\w+Display\.from_\w+\(\) got" + meant):
        make(colour="red")
    with pytest.raises(TypeError, match=r"^\w+Display\.plot\(\) got" + meant):
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
        with pytest.raises(ImportError, match=re.escape('pip install "sklearn-calib[plot]"')):
            draw()


@every_display
def test_the_last_line_of_a_cell_is_short(make):
    display = make() if make is counts else make(name="a model")
    text = repr(display)
    assert re.fullmatch(rf"<{type(display).__name__}: .*>", text)
    assert make is counts or "a model" in text
    assert len(text) < 120
    # The notebook shows the figure itself.
    assert not hasattr(display, "_repr_html_")
    assert len(display.to_frame()) > 3
