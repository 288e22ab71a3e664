"""Counts over time with their intervals."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_calib._results import ConfidenceInterval, percent, to_frame
from sklearn_calib._validation import Array, check_integer
from sklearn_calib.display._axes import (
    COLOURS,
    despine_axes,
    draw_band,
    drawings_on,
    free_colours,
    line_options,
    new_axes,
    plain_text,
    pyplot,
    remember,
)
from sklearn_calib.display._keywords import known_keywords
from sklearn_calib.explore import CorrectedPosterior, CountPosterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

__all__ = ["CountDisplay"]

_BEST = "single best analysis"
_PLAIN = "given the model"
# Points between series that stand beside each other, and the room for all of them.
_ASIDE, _ROOM = 12.0, 400.0
# Letters of the names of periods that fit below axes; longer ones are turned.
_LETTERS = 60
# Longer legends stand beside the axes, in columns.
_INSIDE, _COLUMN = 10, 16


@dataclass(frozen=True, eq=False)
class CountDrawing:
    """What a series took of the axes: its colour, and whether x holds dates."""

    colour: Any
    dated: bool


def _beside(ax: Any, points: float) -> Any:
    """Return a transform that moves a series aside."""
    from matplotlib.transforms import offset_copy

    return offset_copy(ax.transData, ax.figure, x=points, units="points")


def _mark_years(ax: Any) -> None:
    """Put ticks where counts of years stand: in the middle of each, or of each second, fifth..."""
    from matplotlib.dates import DateFormatter, YearLocator

    first, last = ax.get_xlim()
    years = (last - first) / 365.25
    step = next((step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500) if years <= 8 * step), 1000)
    ax.xaxis.set_major_locator(YearLocator(step, month=7, day=2))
    ax.xaxis.set_major_formatter(DateFormatter("%Y"))


def _plain_counts(posterior: CountPosterior, plain: CountPosterior | bool) -> CountPosterior:
    """Return the counts given the model that belong to corrected ones, or those that were given."""
    if isinstance(plain, CountPosterior):
        return plain
    if plain is not True:
        raise TypeError(f"plain must be counts, True or False; got {type(plain).__name__}.")
    if not isinstance(posterior, CorrectedPosterior):
        raise ValueError("plain=True is for corrected counts; these are the plain ones.")
    return posterior.plain


class CountDisplay:
    """Counts over time: posterior mean, credible interval, and single best counts.

    Dates are joined by lines. Periods that have names instead, such as genres,
    stand apart, because nothing lies between them. It is recommended to use
    `from_posterior`, or the method `plot` of the counts.

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
    condition : str, default=""
        What the intervals rest on, such as "given the model".
    plain_mean : ndarray of shape (n_periods, n_keys), default=None
        Means given the model, to be drawn beside corrected ones.
    plain_interval : ConfidenceInterval, default=None
        Their intervals.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on; the first of the panels where there are several.
    axes_ : list of matplotlib Axes
        The axes of each series.
    lines_, bands_, bests_ : dict of key to matplotlib artist
        The means, the intervals and the single best counts (None where there
        are none) of each series.
    plain_lines_, plain_bands_ : dict of key to matplotlib artist
        Means and intervals given the model, where they are drawn beside
        corrected ones; otherwise empty.

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
    >>> posterior = count_corpus(corpus.X, corpus.model, rule, random_state=0)
    >>> display = CountDisplay.from_posterior(posterior, keys=["USA", "IRQ"])
    >>> display.ax_.get_ylabel()
    'Count [95% interval, given the model]'
    """

    def __init__(
        self,
        x: Array,
        keys: Iterable[Hashable],
        mean: Array,
        confidence_interval: ConfidenceInterval,
        confidence_level: float,
        best: Array | None = None,
        x_label: str = "Period",
        condition: str = "",
        plain_mean: Array | None = None,
        plain_interval: ConfidenceInterval | None = None,
    ) -> None:
        self.x = x
        self.keys = list(keys)
        self.mean = mean
        self.confidence_interval = confidence_interval
        self.confidence_level = confidence_level
        self.best = best
        self.x_label = x_label
        self.condition = condition
        self.plain_mean = plain_mean
        self.plain_interval = plain_interval

    def __repr__(self) -> str:
        series = ", ".join(str(key) for key in self.keys)
        if len(self.keys) > 3:
            series = f"{len(self.keys)} series"
        return f"<{type(self).__name__}: counts of {series} in {len(self.x)} periods>"

    def to_frame(self) -> DataFrame:
        """Return the counts as a pandas DataFrame, one row per period and series."""
        low, high = self.confidence_interval
        columns = {"mean": self.mean, "low": low, "high": high, "best": self.best}
        if self.plain_interval is not None:
            ends = self.plain_interval
            columns |= {"plain": self.plain_mean, "plain_low": ends.low, "plain_high": ends.high}
        return to_frame(
            {
                "period": np.repeat(self.x, len(self.keys)),
                "key": self.keys * len(self.x),
                **{name: v.ravel() for name, v in columns.items() if v is not None},
            }
        )

    @known_keywords()
    def plot(
        self,
        ax: Axes | None = None,
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
        """Draw the series, in one picture or with one panel per series.

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
        self.lines_: dict[Hashable, Any] = {}
        self.bands_: dict[Hashable, Any] = {}
        self.bests_: dict[Hashable, Any] = {}
        self.plain_lines_: dict[Hashable, Any] = {}
        self.plain_bands_: dict[Hashable, Any] = {}
        shown_best = self.best if best else None
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
            self._series(i, style, line_options(best_kwargs), shown_best, panels, place)
        for at in dict.fromkeys(self.axes_):
            self._dress(at, despine, bottom)
        rests = f", {self.condition}" if self.condition else ""
        note = f"Count [{percent(self.confidence_level)} interval{rests}]"
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
            self._legend(shown_best is not None, panels)
        return self

    @property
    def _dated(self) -> bool:
        return self.x.dtype.kind == "M"

    @property
    def _joined(self) -> bool:
        """Whether lines run from period to period: names are not in an order."""
        return self._dated and len(self.x) > 1

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
        self, i: int, style: dict[str, Any], best_style: dict[str, Any], best: Array | None,
        small: bool, place: float,
    ) -> None:  # fmt: skip
        key, ax = self.keys[i], self.axes_[i]
        colour = style["color"]
        low, high = (np.asarray(end)[:, i] for end in self.confidence_interval)
        n_series = 1 if small else len(self.keys)
        aside = min(_ASIDE, _ROOM / (len(self.x) * n_series * (3.0 if small else 1.0)))
        artists = []
        if self.plain_interval is not None and self.plain_mean is not None:
            artists = self._plain_series(i, ax, colour, aside, small)
        self.bands_[key] = draw_band(
            ax, self.x, low, high, joined=self._joined, width=aside / 1.2, color=colour, alpha=0.22
        )
        alone = {} if self._joined else {"linestyle": "none", "marker": "o", "markersize": 4}
        style = {"linewidth": 1.2 if small else 1.8, **alone, **style}
        (self.lines_[key],) = ax.plot(self.x, self.mean[:, i], **style)
        remember(self.lines_[key], CountDrawing(self.lines_[key].get_color(), self._dated))
        self.bests_[key] = None
        if best is not None:
            plain = {"color": "0.2" if small else colour, **self._best_style}
            (self.bests_[key],) = ax.plot(self.x, best[:, i], **{**plain, **best_style})
        if not self._joined:  # series of single points stand beside each other
            for artist in (self.bands_[key], self.lines_[key], self.bests_[key]):
                if artist is not None:
                    artist.set_transform(_beside(ax, aside * place))
            for artist in artists:  # and what the model says to the left of each
                artist.set_transform(_beside(ax, aside * (place - 0.45)))

    def _plain_series(self, i: int, ax: Any, colour: Any, aside: float, small: bool) -> list[Any]:
        """Draw what the model says, behind what was corrected; return the artists."""
        assert self.plain_interval is not None
        assert self.plain_mean is not None
        key = self.keys[i]
        grey = "0.45" if small or len(self.keys) == 1 else colour
        low, high = (np.asarray(end)[:, i] for end in self.plain_interval)
        self.plain_bands_[key] = draw_band(
            ax, self.x, low, high, joined=self._joined, width=aside / 2.4, color=grey, alpha=0.16
        )
        label = None if self.plain_lines_ else _PLAIN
        (self.plain_lines_[key],) = ax.plot(
            self.x, self.plain_mean[:, i], color=grey, label=label, **self._plain_style
        )
        return [self.plain_bands_[key], self.plain_lines_[key]]

    @property
    def _plain_style(self) -> dict[str, Any]:
        """The line of counts given the model, or their marks where nothing is joined."""
        if self._joined:
            return {"linestyle": "--", "linewidth": 1.2}
        return {"linestyle": "none", "marker": "s", "markersize": 3, "markerfacecolor": "none"}

    @property
    def _best_style(self) -> dict[str, Any]:
        """The line of single best counts, or their marks where nothing is joined."""
        if self._joined:
            return {"linestyle": ":", "linewidth": 1.2}
        return {"linestyle": "none", "marker": "x"}

    def _dress(self, ax: Any, despine: bool, bottom: float) -> None:
        """Set scales, grid and dates of one axes."""
        from matplotlib.ticker import MaxNLocator

        if not self._dated:
            if sum(len(name) + 2 for name in self.x) > _LETTERS * ax.figure.get_figwidth() / 7.0:
                for text in ax.get_xticklabels():
                    text.set(rotation=45, ha="right", rotation_mode="anchor")
        elif self.x_label == "Year":
            _mark_years(ax)
        else:
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
        """Name the series, and say what the single best counts look like."""
        from matplotlib.lines import Line2D

        single = Line2D([], [], color="0.2", label=_BEST, **self._best_style)
        more = [single] * best
        if panels:
            if self.plain_lines_:
                more.insert(0, Line2D([], [], color="0.45", label=_PLAIN, **self._plain_style))
            if more:
                shown = self.lines_[self.keys[0]]
                mean = Line2D(
                    [], [], color=COLOURS[0], linestyle=shown.get_linestyle(),
                    marker=shown.get_marker(), markersize=shown.get_markersize(), linewidth=1.2,
                    label="corrected" if self.plain_lines_ else "posterior mean",
                )  # fmt: skip
                self.figure_.legend(
                    handles=[mean, *more], loc="outside upper right", ncols=1 + len(more),
                    fontsize="small", frameon=False,
                )  # fmt: skip
            return
        handles, _ = self.ax_.get_legend_handles_labels()
        handles += more
        options: dict[str, Any] = {"loc": "best"}
        if len(handles) > _INSIDE:
            columns = -(-len(handles) // _COLUMN)
            options = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "ncols": columns}
        self.ax_.legend(handles=handles, fontsize="small", **options)

    @classmethod
    @known_keywords("plot")
    def from_posterior(
        cls,
        posterior: CountPosterior,
        keys: Iterable[Hashable] | None = None,
        *,
        confidence_level: float = 0.95,
        method: str = "auto",
        plain: CountPosterior | bool = False,
        ax: Axes | None = None,
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
        plain : CountPosterior or bool, default=False
            Draw these counts behind the others, dashed: what the model says,
            beside what was corrected. True takes those from which corrected
            counts come.
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
        if keys is None:
            keys = posterior.most_common(20 if plot_options.get("panels") else 3)
        chosen = posterior.select(keys)
        if not chosen.keys:
            raise ValueError("There is nothing to draw: no key was counted or chosen.")
        x, x_label = chosen.middles()
        beside = None
        if plain is not False:
            beside = _plain_counts(posterior, plain).select(chosen.keys)
            if beside.period_labels != chosen.period_labels:
                raise ValueError("plain has other periods than the counts that it is drawn with.")
        display = cls(
            x,
            chosen.keys,
            chosen.mean,
            chosen.confidence_interval(confidence_level, method=method),
            float(confidence_level),
            chosen.best,
            x_label,
            chosen.condition,
            None if beside is None else beside.mean,
            None if beside is None else beside.confidence_interval(confidence_level),
        )
        return display.plot(ax=ax, **plot_options)
