"""Calibration errors of labels side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sklearn_calib._results import percent
from sklearn_calib._validation import check_integer, check_option
from sklearn_calib.display._matplotlib import (
    COLOURS,
    despine_axes,
    line_options,
    new_axes,
    plain_text,
    pyplot,
)
from sklearn_calib.metrics import AdaptiveBinCalibrationError, LabelCalibration, label_calibration

__all__ = ["LabelCalibrationDisplay"]


class LabelCalibrationDisplay:
    """Calibration error with its interval for each label, for one model or several.

    It is recommended to use `from_estimator` or `from_predictions`.

    Parameters
    ----------
    tables : dict of str to LabelCalibration, or LabelCalibration
        The errors of each model.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        What was drawn on.
    points_ : dict of str to matplotlib Line2D
        The errors of each model.
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

    def __init__(self, tables: Mapping[str, LabelCalibration] | LabelCalibration) -> None:
        self.tables = {"": tables} if isinstance(tables, LabelCalibration) else dict(tables)
        if not self.tables:
            raise ValueError("There is nothing to draw: pass at least one LabelCalibration.")

    def _rows(self, sort: str, most: int | None) -> list[Any]:
        """Return the labels to draw, from top to bottom."""
        counts = self._counts()
        errors: dict[Any, float] = {}
        for table in self.tables.values():
            for label, error in zip(table.labels.tolist(), table.error, strict=True):
                errors.setdefault(label, float(np.nan_to_num(error, nan=-1.0)))
        # Which labels are shown is a matter of how common they are, whatever the order.
        labels = sorted(counts, key=lambda label: -counts[label])[:most]
        if sort == "error":
            labels.sort(key=lambda label: -errors[label])
        elif sort == "label":
            labels.sort(key=str if isinstance(labels[0], str) else lambda label: label)
        return labels

    def plot(
        self,
        ax: Any = None,
        *,
        sort: str = "count",
        max_labels: int | None = None,
        averages: Sequence[int] = (5, 10),
        legend: bool = True,
        despine: bool = False,
        point_kwargs: dict[str, Any] | None = None,
    ) -> LabelCalibrationDisplay:
        """Draw a row for each label.

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
            Draw a legend where there are several models.
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
        labels = self._rows(sort, max_labels)
        every = max(len(table) for table in self.tables.values())
        means = [k for k in averages if k < every] + [every]
        n_rows = len(labels) + len(means) + 0.5
        height = float(np.clip(1.2 + n_rows * 0.16 * (1 + 0.35 * len(self.tables)), 2.5, 24.0))
        self.figure_, self.ax_ = new_axes(ax, figsize=(6.0, height))
        ax = self.ax_
        place = {label: row for row, label in enumerate(labels)}
        lowest = [len(labels) + 0.5 + i for i in range(len(means))]
        self.points_, self.intervals_, self.averages_ = {}, {}, {}
        step = 0.6 / len(self.tables)
        style = {"linestyle": "none", "marker": "o", "markersize": 4}
        style |= line_options(point_kwargs)
        for i, (name, table) in enumerate(self.tables.items()):
            colour = COLOURS[i % len(COLOURS)]
            offset = (i - (len(self.tables) - 1) / 2) * step
            shown = [k for k, label in enumerate(table.labels.tolist()) if label in place]
            y = np.array([place[table.labels.tolist()[k]] + offset for k in shown])
            low, high = (limit[shown] for limit in table.confidence_interval)
            known = np.isfinite(table.error[shown])
            self.intervals_[name] = ax.hlines(
                y[known], low[known], high[known], color=colour, linewidth=1.2, alpha=0.7
            )
            (self.points_[name],) = ax.plot(
                table.error[shown],
                y,
                **{"color": colour, "label": plain_text(name or "label"), **style},
            )
            mean_errors = [table.most_common(k).mean_error for k in means]
            (self.averages_[name],) = ax.plot(
                mean_errors, np.array(lowest) + offset, **{"color": colour, **style, "marker": "D"}
            )
        ax.axhline(len(labels) - 0.25, color="0.7", linewidth=0.8)
        counts = self._counts()
        ticks = [f"{_text(label)}  ({counts[label]:,})" for label in labels]
        ticks += [f"mean of {k} most common" for k in means[:-1]] + [f"mean of all {every}"]
        ax.set_yticks([*range(len(labels)), *lowest], ticks)
        ax.tick_params(axis="y", labelsize="small" if len(labels) <= 40 else "x-small", length=0)
        ax.set_ylim(lowest[-1] + 0.7, -0.7)
        # A little room, so that points at zero are seen whole.
        ax.set_xlim(left=-0.015 * ax.get_xlim()[1])
        level = next(iter(self.tables.values())).confidence_level
        ax.set_xlabel(f"Calibration error [{percent(level)} interval]")
        ax.set_ylabel("Label (number of times it is right)")
        ax.grid(axis="x", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        if legend and len(self.tables) > 1:
            ax.legend(handles=list(self.points_.values()), fontsize="small", loc="best")
        if despine:
            despine_axes(ax)
        return self

    def _counts(self) -> dict[Any, int]:
        counts: dict[Any, int] = {}
        for table in self.tables.values():
            for label, count in zip(table.labels.tolist(), table.count.tolist(), strict=True):
                counts[label] = max(counts.get(label, 0), count)
        return counts

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: Any = None,
        *,
        classes: Any = None,
        sample_weight: Any = None,
        confidence_level: float = 0.95,
        ax: Any = None,
        **plot_options: Any,
    ) -> LabelCalibrationDisplay:
        """Draw the errors of given predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or Queries
            True classes, or queries with labels in place of both arrays.
        y_proba : array-like of shape (n_samples, n_classes) or dict of such
            Predicted probabilities; a dict has one entry a model, by name.
        classes : array-like of shape (n_classes,)
            The class of each column.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        confidence_level : float, default=0.95
            Level of each interval on its own.
        ax : matplotlib Axes, default=None
            Where to draw.
        **plot_options
            Keywords of `plot`.

        Returns
        -------
        LabelCalibrationDisplay
            The drawn display.
        """
        pyplot()
        models = y_proba if isinstance(y_proba, Mapping) else {"": y_proba}
        tables = {
            name: label_calibration(
                y_true, proba, classes=classes, sample_weight=sample_weight,
                confidence_level=confidence_level,
            )
            for name, proba in models.items()
        }  # fmt: skip
        return cls(tables).plot(ax=ax, **plot_options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        unit: str = "tag",
        pairs: Any = None,
        sample_weight: Any = None,
        confidence_level: float = 0.95,
        ax: Any = None,
        **plot_options: Any,
    ) -> LabelCalibrationDisplay:
        """Draw the errors of a fitted estimator, or of several.

        Parameters
        ----------
        estimator : estimator or dict of str to estimator
            With `predict_proba` and `classes_`, or with `calibration_queries`.
        X, y : array-like
            Data to predict, and the truth.
        unit : {"tag", "pair"}, default="tag"
            As in `AdaptiveBinCalibrationError`.
        pairs : int or list, default=None
            As in `AdaptiveBinCalibrationError`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        confidence_level : float, default=0.95
            Level of each interval on its own.
        ax : matplotlib Axes, default=None
            Where to draw.
        **plot_options
            Keywords of `plot`.

        Returns
        -------
        LabelCalibrationDisplay
            The drawn display.
        """
        pyplot()
        models = estimator if isinstance(estimator, Mapping) else {"": estimator}
        scorer = AdaptiveBinCalibrationError(unit=unit, pairs=pairs)
        tables = {
            name: label_calibration(
                scorer.queries(model, X, y, sample_weight=sample_weight),
                confidence_level=confidence_level,
            )
            for name, model in models.items()
        }
        return cls(tables).plot(ax=ax, **plot_options)


def _text(label: Any) -> str:
    return plain_text(" ".join(map(str, label)) if isinstance(label, tuple) else label)
