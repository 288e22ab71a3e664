"""Rows of labels: every model on the same axes has its points in them, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_calib.display._axes import plain_text
from sklearn_calib.metrics._labels import LabelCalibration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D


@dataclass(eq=False)
class LabelDrawing:
    """One model on its axes: its numbers and its artists."""

    table: LabelCalibration
    points: Line2D
    alarms: Line2D
    intervals: LineCollection
    averages: Line2D

    def place(self, rows: dict[Any, int], offset: float) -> None:
        """Put the points and intervals into their rows."""
        labels = self.table.labels.tolist()
        shown = [k for k, label in enumerate(labels) if label in rows]
        y = np.array([rows[labels[k]] + offset for k in shown])
        error = self.table.error[shown]
        low, high = (limit[shown] for limit in self.table.confidence_interval)
        self.points.set_data(error, y)
        alarm = self.table.alarm[shown]
        self.alarms.set_data(error[alarm], y[alarm])
        known = np.isfinite(error)
        self.intervals.set_segments(
            [
                [(a, height), (b, height)]
                for a, b, height in zip(low[known], high[known], y[known], strict=True)
            ]
        )


def count_labels(tables: Sequence[LabelCalibration]) -> dict[Any, int]:
    """Return how often each label is right, in the table that has it most often."""
    counts: dict[Any, int] = {}
    for table in tables:
        for label, count in zip(table.labels.tolist(), table.count.tolist(), strict=True):
            counts[label] = max(counts.get(label, 0), count)
    return counts


def _unknown(tables: Sequence[LabelCalibration]) -> set[Any]:
    """Return the labels of which no table can tell an error."""
    told = {
        label
        for table in tables
        for label, error in zip(table.labels.tolist(), table.error, strict=True)
        if np.isfinite(error)
    }
    return {label for table in tables for label in table.labels.tolist()} - told


def sort_labels(tables: Sequence[LabelCalibration], sort: str, most: int | None) -> list[Any]:
    """Return the labels to draw, from top to bottom."""
    counts = count_labels(tables)
    # Which labels are shown is a matter of how common they are, whatever the order.
    labels = sorted(counts, key=lambda label: -counts[label])[:most]
    if sort == "error":
        errors: dict[Any, float] = {}
        for table in tables:
            for label, error in zip(table.labels.tolist(), table.error, strict=True):
                errors.setdefault(label, float(np.nan_to_num(error, nan=-1.0)))
        labels.sort(key=lambda label: -errors[label])
    elif sort == "label":
        labels.sort(key=str if isinstance(labels[0], str) else lambda label: label)
    return labels


def average_sizes(tables: Sequence[LabelCalibration], averages: Sequence[int]) -> list[int]:
    """Return over how many labels to average: the sizes asked for, and all labels."""
    every = max(len(table) for table in tables)
    return [*(k for k in averages if k < every), every]


def arrange(
    ax: Axes, drawings: list[LabelDrawing], labels: list[Any], averages: Sequence[int]
) -> None:
    """Put every model on these axes into rows of labels, and averages below them."""
    tables = [drawing.table for drawing in drawings]
    rows = {label: row for row, label in enumerate(labels)}
    sizes = average_sizes(tables, averages)
    lowest = len(labels) + 0.5 + np.arange(len(sizes))
    step = 0.6 / len(drawings)
    for i, drawing in enumerate(drawings):
        offset = (i - (len(drawings) - 1) / 2) * step
        drawing.place(rows, offset)
        means = [drawing.table.most_common(k).mean_error for k in sizes]
        drawing.averages.set_data(means, lowest + offset)
        # Collections do not tell the axes how far they reach.
        table = drawing.table
        shown = np.array([label in rows for label in table.labels.tolist()], dtype=bool)
        reach = table.confidence_interval.high[shown & np.isfinite(table.error)]
        ax.update_datalim([(0.0, 0.0), (np.max(reach, initial=0.0), 0.0)])
    counts, unknown = count_labels(tables), _unknown(tables)
    ticks = [
        f"{_text(label)}  ({counts[label]:,}{', too few' if label in unknown else ''})"
        for label in labels
    ]
    ticks += [f"mean of {k} most common" for k in sizes[:-1]] + [f"mean of all {sizes[-1]}"]
    ax.set_yticks([*range(len(labels)), *lowest], ticks)
    ax.tick_params(axis="y", labelsize="small" if len(labels) <= 40 else "x-small", length=0)
    ax.set_ylim(lowest[-1] + 0.7, -0.7)
    ax.autoscale_view(scaley=False)
    for line in ax.get_lines():
        if line.get_gid() == "separator":
            line.remove()
    ax.axhline(len(labels) - 0.25, color="0.7", linewidth=0.8, gid="separator")


def _legend_shape(names: Sequence[str]) -> tuple[int, int]:
    """Return the rows and columns of a legend that is about as wide as the figure."""
    columns = max(1, min(len(names), 60 // (max(map(len, names)) + 5)))
    return -(-len(names) // columns), columns


def legend_inches(names: Sequence[str]) -> float:
    """Return how much room a legend of these names needs."""
    return 0.15 + 0.2 * _legend_shape(names)[0]


def draw_legend(ax: Axes, handles: list[Line2D]) -> None:
    """Draw a legend in a strip of its own above the first row, where it hides no points."""
    names = [str(handle.get_label()) for handle in handles]
    ax.legend(
        handles=handles, loc="upper right", ncols=_legend_shape(names)[1], fontsize="small",
        frameon=False,
    )  # fmt: skip
    inches = legend_inches(names)
    bottom, top = ax.get_ylim()
    height = ax.get_window_extent().height / ax.figure.dpi
    ax.set_ylim(bottom, top - inches * (bottom - top) / max(height - inches, inches))


def _text(label: Any) -> str:
    return plain_text(" ".join(map(str, label)) if isinstance(label, tuple) else label)
