"""Calibration errors of labels side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from sklearn_calib._results import percent, to_frame
from sklearn_calib._validation import check_integer, check_option
from sklearn_calib.display._axes import (
    despine_axes,
    drawings_on,
    free_colours,
    line_options,
    new_axes,
    plain_text,
    pyplot,
    remember,
)
from sklearn_calib.display._keywords import known_keywords
from sklearn_calib.display._label_rows import (
    LabelDrawing,
    arrange,
    average_sizes,
    draw_legend,
    legend_inches,
    sort_labels,
)
from sklearn_calib.display._query_display import QueryDisplay
from sklearn_calib.metrics._labels import ALARM, LabelCalibration, label_calibration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from pandas import DataFrame

Model = TypeVar("Model")

_ALARM_TEXT = f"filled: adjusted p < {ALARM:g}"

__all__ = ["LabelCalibrationDisplay"]


class LabelCalibrationDisplay(QueryDisplay):
    """Calibration error with its interval for each label, for one model or several.

    It is recommended to use `from_estimator`, `from_predictions` or
    `from_cv_results`.

    Parameters
    ----------
    tables : dict of str to LabelCalibration, or LabelCalibration
        The errors of each model.
    name : str, default=None
        Name of a single model, shown in the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.
    points_ : dict of str to matplotlib Line2D
        The errors of each model, as hollow points.
    alarms_ : dict of str to matplotlib Line2D
        The errors whose adjusted p-value is below 0.05, as filled points.
    intervals_ : dict of str to matplotlib LineCollection
        The intervals of each model.
    averages_ : dict of str to matplotlib Line2D
        The averages over the most common labels of each model.

    See Also
    --------
    label_calibration : The numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_calib import LabelCalibrationDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = GaussianNB().fit(X[:1000], y[:1000])
    >>> display = LabelCalibrationDisplay.from_estimator(model, X[1000:], y[1000:])
    >>> display.ax_.get_xlabel()
    'Calibration error [95% interval]'
    """

    figure_: Figure | SubFigure
    ax_: Axes
    points_: dict[str, Line2D]
    alarms_: dict[str, Line2D]
    intervals_: dict[str, LineCollection]
    averages_: dict[str, Line2D]

    def __init__(
        self,
        tables: LabelCalibration | Mapping[str, LabelCalibration],
        *,
        name: str | None = None,
    ) -> None:
        self.tables = _by_name(tables, name)
        if not self.tables:
            raise ValueError("There is nothing to draw: pass at least one LabelCalibration.")

    def to_frame(self) -> DataFrame:
        """Return the errors as a pandas DataFrame, one row per model and label."""
        parts = [
            {"model": [name] * len(table), **table._columns(), "label": table.labels.tolist()}
            for name, table in self.tables.items()
        ]
        names = dict.fromkeys(name for part in parts for name in part)
        # A note is there only where a table has something to note.
        return to_frame(
            {
                name: [v for part in parts for v in part.get(name, [""] * len(part["model"]))]
                for name in names
            }
        )

    def _summary(self) -> str:
        n_labels = len({label for table in self.tables.values() for label in table.labels.tolist()})
        models = ", ".join(name for name in self.tables if name)
        if len(self.tables) > 3:
            models = f"{len(self.tables)} models"
        return f"calibration errors of {n_labels} labels{f' by {models}' if models else ''}"

    @known_keywords()
    def plot(
        self,
        ax: Axes | None = None,
        *,
        sort: str = "count",
        max_labels: int | None = None,
        averages: Sequence[int] = (5, 10),
        legend: bool = True,
        despine: bool = False,
        point_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw one row for each label.

        A point is filled where the label's p-value, adjusted for the number of
        labels, is below 0.05, and hollow elsewhere. A label with too few queries
        for an estimate has no point, and its row says so.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure that is tall enough by default.
        sort : {"count", "error", "label"}, default="count"
            Order of the rows: most common label first, largest error of the
            first model first, or by name.
        max_labels : int, default=None
            Draw only so many of the most common labels.
        averages : sequence of int, default=(5, 10)
            Below the labels, draw the mean error over so many of the most
            common labels, and over all.
        legend : bool, default=True
            Draw a legend where there are several models, or where points are
            filled. Models that are on the
            axes already share the rows with the new ones.
        despine : bool, default=False
            Remove the top and right spines.
        point_kwargs : dict, default=None
            Keywords for the points' `Axes.plot`.

        Returns
        -------
        LabelCalibrationDisplay
            The object itself, with the artists as attributes.
        """
        check_option(sort, "sort", ("count", "error", "label"))
        if max_labels is not None:
            check_integer(max_labels, "max_labels")
        for k in averages:
            check_integer(k, "each of averages")
        tables = list(self.tables.values())
        others = []
        if ax is not None:
            others = drawings_on(ax, LabelDrawing)
            tables = [*(other.table for other in others), *tables]
        labels = sort_labels(tables, sort, max_labels)
        n_rows = len(labels) + len(average_sizes(tables, averages)) + 0.5
        height = 1.2 + n_rows * 0.16 * (1 + 0.35 * len(tables))
        if legend:
            names = list(self.tables) if len(self.tables) > 1 else []
            names += [_ALARM_TEXT] if any(table.alarm.any() for table in tables) else []
            height += legend_inches(names) if names else 0.0
        self.figure_, self.ax_ = new_axes(ax, figsize=(6.0, float(np.clip(height, 2.5, 24.0))))
        ax = self.ax_
        colours = free_colours((o.points.get_color() for o in others), len(self.tables))
        style: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4}
        style |= line_options(point_kwargs)
        self.points_, self.alarms_, self.intervals_, self.averages_ = {}, {}, {}, {}
        drawings = list(others)
        for free, (name, table) in zip(colours, self.tables.items(), strict=True):
            label = plain_text(name or f"model {len(drawings) + 1}")
            hollow = {"color": free, "label": label, "markerfacecolor": "white", "zorder": 3}
            (points,) = ax.plot([], [], **{**hollow, **style})
            colour = points.get_color()
            filled = {**style, "color": colour, "markerfacecolor": colour, "label": "_alarms"}
            (alarms,) = ax.plot([], [], **{"zorder": 3.1, **filled})
            (means,) = ax.plot(
                [], [], **{**style, "color": colour, "marker": "D", "label": "_means"}
            )
            intervals = ax.hlines([], [], [], color=colour, linewidth=1.2, alpha=0.7)
            self.points_[name], self.alarms_[name], self.averages_[name] = points, alarms, means
            self.intervals_[name] = intervals
            drawings.append(LabelDrawing(table, points, alarms, intervals, means))
            remember(points, drawings[-1])
        arrange(ax, drawings, labels, averages)
        if legend:
            handles = [drawing.points for drawing in drawings] if len(drawings) > 1 else []
            if any(drawing.table.alarm.any() for drawing in drawings):
                handles.append(_alarm_handle(style, drawings))
            if handles:
                draw_legend(ax, handles)
        level = tables[0].confidence_level
        ax.set_xlabel(f"Calibration error [{percent(level)} interval]")
        ax.set_ylabel("Label (count)")
        ax.grid(axis="x", color="0.5", alpha=0.25, linewidth=0.8)
        ax.set_axisbelow(True)
        if despine:
            despine_axes(ax)
        return self

    @classmethod
    def _ask(cls, models: Any, ask: Callable[[Any], Any]) -> Any:
        if isinstance(models, Mapping):
            return {name: ask(model) for name, model in models.items()}
        return ask(models)

    @classmethod
    @known_keywords("plot")
    def from_queries(
        cls,
        queries: Any,
        *,
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the errors of queries, label by label.

        Parameters
        ----------
        queries : Queries or QueryScan, or dict of str to these
            What to draw; a dict has one entry per model, by name.
        confidence_level : float, default=0.95
            Level of each interval on its own.
        name : str, default=None
            Name of a single model in the legend.
        ax : matplotlib Axes, default=None
            Where to draw.
        **plot_options
            Further keywords of `plot`.

        Returns
        -------
        LabelCalibrationDisplay
            The drawn display.
        """
        pyplot()
        tables = {
            key: label_calibration(part, confidence_level=confidence_level)
            for key, part in _by_name(queries, name).items()
        }
        return cls(tables).plot(ax=ax, **plot_options)


def _alarm_handle(style: Mapping[str, Any], drawings: Sequence[LabelDrawing]) -> Line2D:
    """Return what a filled point looks like in the legend; grey where it may be of any model."""
    from matplotlib.lines import Line2D

    colour = drawings[0].points.get_color() if len(drawings) == 1 else "0.4"
    look = {**style, "color": colour, "markerfacecolor": colour, "label": _ALARM_TEXT}
    return Line2D([], [], **look)


def _by_name(models: Model | Mapping[str, Model], name: str | None) -> dict[str, Model]:
    """Return models by name; a single one may have none."""
    if not isinstance(models, Mapping):
        return {name or "": models}
    if name is not None:
        raise ValueError(f"name={name!r} is for a single model; the keys of a dict are names.")
    return dict(models)
