"""Calibration errors of labels side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sklearn_calib._results import percent
from sklearn_calib._validation import check_integer, check_option
from sklearn_calib.display._label_rows import (
    LabelDrawing,
    arrange,
    average_sizes,
    legend_above_rows,
    sort_labels,
)
from sklearn_calib.display._matplotlib import (
    despine_axes,
    drawings_on,
    free_colours,
    line_options,
    new_axes,
    plain_text,
    pyplot,
    remember,
)
from sklearn_calib.display._models import fold_queries
from sklearn_calib.metrics import AdaptiveBinCalibrationError, LabelCalibration, label_calibration
from sklearn_calib.queries import Queries

__all__ = ["LabelCalibrationDisplay"]


class LabelCalibrationDisplay:
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

    def __init__(
        self,
        tables: Mapping[str, LabelCalibration] | LabelCalibration,
        *,
        name: str | None = None,
    ) -> None:
        self.tables = _by_name(tables, name)
        if not self.tables:
            raise ValueError("There is nothing to draw: pass at least one LabelCalibration.")

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
            Draw a legend where there are several models. Models that are on the
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
        height = float(np.clip(1.2 + n_rows * 0.16 * (1 + 0.35 * len(tables)), 2.5, 24.0))
        self.figure_, self.ax_ = new_axes(ax, figsize=(6.0, height))
        ax = self.ax_
        colours = free_colours((o.points.get_color() for o in others), len(self.tables))
        style = {"linestyle": "none", "marker": "o", "markersize": 4}
        style |= line_options(point_kwargs)
        self.points_, self.intervals_, self.averages_ = {}, {}, {}
        drawings = list(others)
        for colour, (name, table) in zip(colours, self.tables.items(), strict=True):
            label = plain_text(name or f"model {len(drawings) + 1}")
            (points,) = ax.plot([], [], **{"color": colour, "label": label, **style})
            colour = points.get_color()
            (means,) = ax.plot(
                [], [], **{**style, "color": colour, "marker": "D", "label": "_means"}
            )
            intervals = ax.hlines([], [], [], color=colour, linewidth=1.2, alpha=0.7)
            self.points_[name], self.averages_[name] = points, means
            self.intervals_[name] = intervals
            drawings.append(LabelDrawing(table, points, intervals, means))
            remember(points, drawings[-1])
        arrange(ax, drawings, labels, averages)
        if legend and len(drawings) > 1:
            legend_above_rows(ax, [drawing.points for drawing in drawings])
        level = tables[0].confidence_level
        ax.set_xlabel(f"Calibration error [{percent(level)} interval]")
        ax.set_ylabel("Label (count)")
        ax.grid(axis="x", color="0.5", alpha=0.25, linewidth=0.8)
        ax.set_axisbelow(True)
        if despine:
            despine_axes(ax)
        return self

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any = None,
        *,
        classes: Any = None,
        sample_weight: Any = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> LabelCalibrationDisplay:
        """Draw the errors of given predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or Queries
            True classes, or queries with labels in place of both arrays.
        y_prob : array-like of shape (n_samples, n_classes) or dict of such
            Predicted probabilities; a dict has one entry a model, by name.
        classes : array-like of shape (n_classes,)
            The class of each column.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        confidence_level : float, default=0.95
            Level of each interval on its own.
        name : str, default=None
            Name of a single model in the legend.
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
        models = _by_name(y_prob, name)
        tables = {
            key: label_calibration(
                y_true, proba, classes=classes, sample_weight=sample_weight,
                confidence_level=confidence_level,
            )
            for key, proba in models.items()
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
        name: str | None = None,
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
        name : str, default=None
            Name of a single model in the legend; by default that of the class.
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
        if not isinstance(estimator, Mapping) and name is None:
            name = type(estimator).__name__
        scorer = AdaptiveBinCalibrationError(unit=unit, pairs=pairs)
        tables = {
            key: label_calibration(
                scorer.queries(model, X, y, sample_weight=sample_weight),
                confidence_level=confidence_level,
            )
            for key, model in _by_name(estimator, name).items()
        }
        return cls(tables).plot(ax=ax, **plot_options)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict[str, Any],
        X: Any,
        y: Any,
        *,
        unit: str = "tag",
        pairs: Any = None,
        sample_weight: Any = None,
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> LabelCalibrationDisplay:
        """Draw the errors of a cross-validation, the test folds pooled.

        Parameters
        ----------
        cv_results : dict
            What `sklearn.model_selection.cross_validate` returned with
            `return_estimator=True` and `return_indices=True`.
        X, y : array-like
            The data that were passed to it.
        unit : {"tag", "pair"}, default="tag"
            As in `AdaptiveBinCalibrationError`.
        pairs : int or list, default=None
            As in `AdaptiveBinCalibrationError`.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights.
        confidence_level : float, default=0.95
            Level of each interval on its own.
        name : str, default=None
            Name in the legend; by default that of the class of the estimators.
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
        scorer = AdaptiveBinCalibrationError(unit=unit, pairs=pairs)
        queries = Queries.concat(fold_queries(scorer, cv_results, X, y, sample_weight))
        name = type(cv_results["estimator"][0]).__name__ if name is None else name
        table = label_calibration(queries, confidence_level=confidence_level)
        return cls(table, name=name).plot(ax=ax, **plot_options)


def _by_name(models: Any, name: str | None) -> dict[str, Any]:
    """Return models by name; a single one may have none."""
    if not isinstance(models, Mapping):
        return {name or "": models}
    if name is not None:
        raise ValueError(f"name={name!r} is for a single model; the keys of a dict are names.")
    return dict(models)
