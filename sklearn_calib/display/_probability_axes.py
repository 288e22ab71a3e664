"""Two axes of probabilities: their limits, the diagonal, and what is drawn on them already."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_calib._validation import Array, check_zoom
from sklearn_calib.display._axes import COLOURS, drawings_on
from sklearn_calib.display._histogram import PredictionCounts, restore_axes
from sklearn_calib.metrics._band import CalibrationBand
from sklearn_calib.metrics._bins import CalibrationBins
from sklearn_calib.metrics._curves import CalibrationCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

# What a line can go through.
Points = CalibrationBins | CalibrationCurve | CalibrationBand

# As near to 0 and 1 as a logit axis goes.
_NEAREST = 1e-12


@dataclass(eq=False)
class CurveDrawing:
    """One curve on its axes: what the next one must know, and how to adapt to it."""

    scale: str
    limits: tuple[float, float]
    zoomed: bool
    colour: Any = None
    artists: list[Line2D | Collection] = field(default_factory=list)
    marks: Collection | None = None
    reference: bool = False
    shaded: bool = False
    counts: PredictionCounts | None = None
    below: Axes | None = None
    bars: StepPatch | None = None

    @property
    def ends(self) -> Array:
        """The places of 0 and 1 in each direction, on a logit axis, which has none for them."""
        across = (_NEAREST, 1.0 - _NEAREST) if self.zoomed else self.limits
        return np.array([across, self.limits])

    def x(self, values: Array) -> Array:
        """Return where predictions are drawn."""
        return values if self.scale == "linear" else np.clip(values, *self.ends[0])

    def y(self, values: Array) -> Array:
        """Return where frequencies are drawn: on a logit axis, 0 and 1 at its ends."""
        if self.scale == "linear" or not self.zoomed:
            return self.x(values)
        low, high = self.limits
        return np.where(values <= 0.0, low, np.where(values >= 1.0, high, values))

    def add_bars(self, below: Axes, counts: PredictionCounts) -> None:
        """Draw the histogram of the predictions."""
        self.counts, self.below = counts, below
        heights, edges = counts.bars(self.scale, self.limits, self.zoomed)
        self.bars = below.stairs(heights, edges, color=self.colour, fill=True, alpha=0.5)

    def adapt(self, limits: tuple[float, float], zoomed: bool) -> None:
        """Move what is drawn at the ends of the axes to their new ends."""
        old = self.ends
        self.limits, self.zoomed = limits, zoomed
        if self.scale == "logit":
            for artist in self.artists:
                _move(artist, old, self.ends)
            if self.marks is not None:
                _move(self.marks, old[:1], self.ends[:1])
        if self.counts is not None and self.bars is not None:
            self.bars.set_data(*self.counts.bars(self.scale, limits, zoomed))


def _move(artist: Line2D | Collection, old: Array, new: Array) -> None:
    """Move the vertices of an artist that lie at old ends to the new ones."""

    def moved(vertices: Array) -> Array:
        there = np.array(vertices, dtype=float)
        for column, (before, after) in enumerate(zip(old, new, strict=True)):
            for place, end in zip(before, after, strict=True):
                there[vertices[:, column] == place, column] = end
        return there

    if hasattr(artist, "get_paths"):
        for path in artist.get_paths():
            path.vertices = moved(np.asarray(path.vertices))
    else:
        artist.set_data(*moved(np.asarray(artist.get_path().vertices)).T)
    artist.stale = True


def open_axes(
    ax: Axes,
    scale: str,
    zoom: tuple[float, float] | None,
    points: Points,
) -> tuple[CurveDrawing, list[CurveDrawing]]:
    """Set scale, limits and labels; return a new drawing, and those that are there already."""
    others = drawings_on(ax, CurveDrawing)
    if not others:
        restore_axes(ax)
    for other in others:
        if other.scale != scale:
            raise ValueError(
                f"These axes have a {other.scale} scale: pass scale={other.scale!r}, or other axes."
            )
    limits, zoomed = _limits(scale, zoom, points, others)
    for other in others:
        if (other.limits, other.zoomed) != (limits, zoomed):
            other.adapt(limits, zoomed)
    ax.set_ylabel("Observed frequency")
    if not any(other.below for other in others):
        ax.set_xlabel("Mean predicted probability")
    if scale == "logit":
        ax.set(xscale="logit", yscale="logit", xlim=limits, ylim=limits, aspect="auto")
        ax.xaxis.set_minor_formatter("")
        ax.yaxis.set_minor_formatter("")
    else:
        margin = 0.02 * (limits[1] - limits[0])
        wide = (limits[0] - margin, limits[1] + margin)
        ax.set(xlim=wide, ylim=wide, aspect="equal")
    return CurveDrawing(scale, limits, zoomed), others


def _limits(
    scale: str,
    zoom: tuple[float, float] | None,
    points: Points,
    others: list[CurveDrawing],
) -> tuple[tuple[float, float], bool]:
    """Return the range to show: the one asked for, now or before, or else all of it."""
    if zoom is not None:
        return check_zoom(zoom, 0.0 if scale == "linear" else _NEAREST), True
    for other in others:
        if other.zoomed:
            return other.limits, True
    if scale == "linear":
        return (0.0, 1.0), False
    # The smallest probability that is no 0, and the smallest frequency that a bin can tell
    # from 0, set the ends.
    values = np.concatenate((points.prob_pred, points.prob_true))
    values = np.concatenate((values, 1.0 - values))
    least = float(np.min(values[values > 0.0]))
    if isinstance(points, CalibrationBins):
        least = min(least, 0.5 / float(points.weight.max()))
    least = float(np.clip(least, 1e-6, 0.01))
    least = min([least, *(other.limits[0] for other in others)])
    return (least, 1.0 - least), False


def draw_diagonal(ax: Axes) -> Line2D:
    """Draw the line of perfect calibration, through whatever range the axes show."""
    return ax.axline(
        (0.25, 0.25), (0.75, 0.75), linestyle="--", color="0.4", linewidth=1,
        label="perfectly calibrated", zorder=1,
    )  # fmt: skip


def shade_confidence(ax: Axes, scale: str) -> None:
    """Shade the regions in which predictions are too extreme, or not extreme enough."""
    x = np.linspace(0.0, 0.5, 101)
    if scale == "logit":
        x = 1.0 / (1.0 + np.exp(np.linspace(28.0, 0.0, 101)))
    x = np.concatenate((x, 1.0 - x[::-1]))
    top, bottom = x[-1], x[0]
    # Left of one half, predictions are too extreme where too low; right of it, where too high.
    extreme = np.repeat([top, bottom], len(x) // 2)
    style: dict[str, Any] = {"alpha": 0.1, "linewidth": 0, "zorder": 0}
    ax.fill_between(x, x, extreme, color=COLOURS[1], label="overconfident", **style)
    ax.fill_between(x, x, extreme[::-1], color=COLOURS[0], label="underconfident", **style)
