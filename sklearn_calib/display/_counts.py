"""Counts over time with their intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_calib._results import ConfidenceInterval, percent
from sklearn_calib._validation import Array, check_confidence_level, check_integer
from sklearn_calib.display._axes import (
    COLOURS,
    despine_axes,
    drawings_on,
    free_colours,
    line_options,
    new_axes,
    plain_text,
    pyplot,
    remember,
)
from sklearn_calib.explore import CountPosterior

__all__ = ["CountDisplay"]

_BEST = "single best analysis"
# Longer legends stand beside the axes, in columns.
_INSIDE, _COLUMN = 10, 16


@dataclass(frozen=True, eq=False)
class CountDrawing:
    """What a series took of the axes: its colour, and whether x holds dates."""

    colour: Any
    dated: bool


def _beside(ax: Any, place: float) -> Any:
    """Return a transform that moves a series aside."""
    from matplotlib.transforms import offset_copy

    return offset_copy(ax.transData, ax.figure, x=8.0 * place, units="points")


class CountDisplay:
    """Counts over time: posterior mean, credible interval, and single best counts.

    It is recommended to use `from_posterior`.

    Parameters
    ----------
    x : ndarray of datetime64 or of str of shape (n_periods,)
        The middle of each period, or its name.
    keys : list
        The series.
    mean : ndarray of shape (n_periods, n_keys)
        Posterior means.
    confidence_interval : ConfidenceInterval
        Arrays `low` and `high` of shape (n_periods, n_keys).
    confidence_level : float
        Level of the intervals.
    best : ndarray of shape (n_periods, n_keys), default=None
        Counts of the single best structures.
    x_label : str, default="Period"
        What a period is.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on; the first of the panels where there are several.
    axes_ : list of matplotlib Axes
        The axes of each series.
    lines_, bands_, bests_ : dict of key to matplotlib artist
        The means, the intervals and the single best counts (None where there
        are none) of each series.

    See Also
    --------
    count_documents : The numbers.

    Examples
    --------
    >>> from sklearn_calib import CountDisplay
    >>> from sklearn_calib.datasets import make_event_corpus
    >>> from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon
    >>> corpus = make_event_corpus(300, random_state=0)
    >>> rule = AgentRule(country_lexicon())
    >>> posterior = count_corpus(corpus.documents, corpus.model, rule, random_state=0)
    >>> display = CountDisplay.from_posterior(posterior, keys=["USA", "IRQ"])
    >>> display.ax_.get_ylabel()
    'Count [95% interval]'
    """

    def __init__(
        self,
        x: Array,
        keys: list[Any],
        mean: Array,
        confidence_interval: ConfidenceInterval,
        confidence_level: float,
        best: Array | None = None,
        x_label: str = "Period",
    ) -> None:
        self.x = x
        self.keys = list(keys)
        self.mean = mean
        self.confidence_interval = confidence_interval
        self.confidence_level = confidence_level
        self.best = best
        self.x_label = x_label

    def plot(
        self,
        ax: Any = None,
        *,
        panels: bool = False,
        n_columns: int = 4,
        share_y: bool = False,
        best: bool = True,
        legend: bool = True,
        despine: bool = False,
        line_kwargs: dict[str, Any] | None = None,
        best_kwargs: dict[str, Any] | None = None,
    ) -> CountDisplay:
        """Draw the series, in one picture or in a panel each.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default. Panels always have a new one.
        panels : bool, default=False
            Draw a small panel for each series.
        n_columns : int, default=4
            Panels beside each other.
        share_y : bool, default=False
            Whether all panels have the same scale of counts.
        best : bool, default=True
            Draw the counts of the single best structures, where there are any.
        legend : bool, default=True
            Draw a legend.
        despine : bool, default=False
            Remove the top and right spines.
        line_kwargs : dict, default=None
            Keywords for the lines of the means.
        best_kwargs : dict, default=None
            Keywords for the lines of the single best counts.

        Returns
        -------
        CountDisplay
            The object itself, with the artists as attributes.
        """
        plt = pyplot()
        if panels:
            if ax is not None:
                raise ValueError("Panels have a figure of their own: leave ax out.")
            columns = min(check_integer(n_columns, "n_columns"), len(self.keys))
            rows = -(-len(self.keys) // columns)
            self.figure_, grid = plt.subplots(
                rows, columns, squeeze=False, sharex=True, sharey=share_y, layout="constrained",
                figsize=(0.7 + 2.3 * columns, 1.1 + 1.45 * rows),
            )  # fmt: skip
            self.axes_ = list(grid.ravel()[: len(self.keys)])
            for empty in grid.ravel()[len(self.keys) :]:
                empty.set_axis_off()
        else:
            self.figure_, only = new_axes(ax, figsize=(7.0, 3.6))
            self.axes_ = [only] * len(self.keys)
        self.ax_ = self.axes_[0]
        self.lines_: dict[Any, Any] = {}
        self.bands_: dict[Any, Any] = {}
        self.bests_: dict[Any, Any] = {}
        show_best = best and self.best is not None
        earlier = drawings_on(self.ax_, CountDrawing)
        self._check_axes(earlier)
        taken = [drawing.colour for drawing in earlier]
        colours = COLOURS[:1] if panels else free_colours(taken, len(self.keys))
        # What is on the axes already stays in sight.
        bottom = self.ax_.get_ylim()[0] if self.ax_.has_data() else 0.0
        for i, key in enumerate(self.keys):
            colour = colours[i % len(colours)]
            style = {"color": colour, "label": plain_text(key), **line_options(line_kwargs)}
            place = 0.0 if panels else len(earlier) + i - (len(self.keys) - 1) / 2.0
            self._series(i, style, line_options(best_kwargs), show_best, panels, place)
        for at in dict.fromkeys(self.axes_):
            self._dress(at, despine, bottom)
        note = f"Count [{percent(self.confidence_level)} interval]"
        if panels:
            for at, key in zip(self.axes_, self.keys, strict=True):
                at.set_title(plain_text(key), fontsize="small", loc="left", pad=3)
                at.tick_params(labelsize="small")
            self.figure_.supxlabel(self.x_label, fontsize="medium")
            self.figure_.supylabel(note, fontsize="medium")
            for at in self.axes_[-columns:]:
                at.tick_params(labelbottom=True)
        else:
            self.ax_.set(xlabel=self.x_label, ylabel=note)
        if legend:
            self._legend(show_best, panels)
        return self

    @property
    def _dated(self) -> bool:
        return self.x.dtype.kind == "M"

    def _check_axes(self, earlier: list[CountDrawing]) -> None:
        """Refuse dates on axes that have names, and the other way round."""
        from matplotlib.category import UnitData

        named = isinstance(self.ax_.xaxis.get_units(), UnitData)
        if (self._dated and named) or any(drawing.dated != self._dated for drawing in earlier):
            have, want = ("names", "dates") if self._dated else ("dates", "names")
            raise ValueError(
                f"The x axis of these axes has {have}, but the periods here are {want}; draw on "
                "axes of their own, or leave ax out."
            )

    def _series(
        self, i: int, style: dict[str, Any], best_style: dict[str, Any], best: bool, small: bool,
        place: float,
    ) -> None:  # fmt: skip
        key, ax = self.keys[i], self.axes_[i]
        colour = style["color"]
        low, high = (np.asarray(end)[:, i] for end in self.confidence_interval)
        if len(self.x) > 1:
            self.bands_[key] = ax.fill_between(
                self.x, low, high, color=colour, alpha=0.22, linewidth=0
            )
        else:  # a band of one point has no width
            self.bands_[key] = ax.vlines(self.x, low, high, color=colour, alpha=0.5)
            style = {"marker": "o", **style}
        style = {"linewidth": 1.2 if small else 1.8, **style}
        (self.lines_[key],) = ax.plot(self.x, self.mean[:, i], **style)
        remember(self.lines_[key], CountDrawing(self.lines_[key].get_color(), self._dated))
        self.bests_[key] = None
        if best:
            assert self.best is not None
            plain = {"color": "0.2" if small else colour, "linestyle": ":", "linewidth": 1.2}
            plain |= {"marker": "x"} if len(self.x) == 1 else {}
            (self.bests_[key],) = ax.plot(self.x, self.best[:, i], **{**plain, **best_style})
        if len(self.x) == 1:  # series of one point stand beside each other
            for artist in (self.bands_[key], self.lines_[key], self.bests_[key]):
                if artist is not None:
                    artist.set_transform(_beside(ax, place))

    def _dress(self, ax: Any, despine: bool, bottom: float) -> None:
        """Set scales, grid and dates of one axes."""
        from matplotlib.ticker import MaxNLocator

        if self._dated:
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

            locator = AutoDateLocator(minticks=3, maxticks=7)
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        if ax.get_yscale() == "linear":
            # Counts start at 0; the normal interval alone may go below.
            lowest = min(0.0, float(np.min(self.confidence_interval.low)), bottom)
            ax.set_ylim(bottom=lowest, auto=None)
            if isinstance(ax.yaxis.get_major_locator(), MaxNLocator):
                ax.yaxis.get_major_locator().set_params(integer=True)
        ax.grid(axis="y", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        if despine:
            despine_axes(ax)

    def _legend(self, best: bool, panels: bool) -> None:
        """Name the series, and say what a dotted line is."""
        from matplotlib.lines import Line2D

        dotted = Line2D([], [], color="0.2", linestyle=":", linewidth=1.2, label=_BEST)
        if panels:
            if best:
                mean = Line2D([], [], color=COLOURS[0], linewidth=1.2, label="posterior mean")
                self.figure_.legend(
                    handles=[mean, dotted], loc="outside upper right", ncols=2, fontsize="small",
                    frameon=False,
                )  # fmt: skip
            return
        handles, _ = self.ax_.get_legend_handles_labels()
        handles += [dotted] * best
        options: dict[str, Any] = {"loc": "best"}
        if len(handles) > _INSIDE:
            columns = -(-len(handles) // _COLUMN)
            options = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "ncols": columns}
        self.ax_.legend(handles=handles, fontsize="small", **options)

    @classmethod
    def from_posterior(
        cls,
        posterior: CountPosterior,
        keys: Iterable[Any] | None = None,
        *,
        confidence_level: float = 0.95,
        method: str = "auto",
        ax: Any = None,
        **plot_options: Any,
    ) -> CountDisplay:
        """Draw counts.

        Parameters
        ----------
        posterior : CountPosterior
            The counts.
        keys : list, default=None
            The series to draw; by default the three most common keys, or with
            `panels=True` the twenty most common.
        confidence_level : float, default=0.95
            Level of the intervals.
        method : {"auto", "exact", "normal", "quantile"}, default="auto"
            As in `CountPosterior.confidence_interval`.
        ax : matplotlib Axes, default=None
            Where to draw.
        **plot_options
            Keywords of `plot`.

        Returns
        -------
        CountDisplay
            The drawn display.
        """
        pyplot()
        level = check_confidence_level(confidence_level)
        if keys is None:
            keys = posterior.most_common(20 if plot_options.get("panels") else 3)
        elif isinstance(keys, str):
            raise TypeError(f"keys must be a list of keys, such as [{keys!r}].")
        names = list(keys)
        if not names:
            raise ValueError("There is nothing to draw: no key was counted or chosen.")
        chosen = posterior.select(names)
        x, x_label = chosen.middles()
        display = cls(
            x,
            names,
            chosen.mean,
            chosen.confidence_interval(level, method=method),
            level,
            chosen.best,
            x_label,
        )
        return display.plot(ax=ax, **plot_options)
