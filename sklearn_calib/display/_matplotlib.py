"""What all displays share: matplotlib on demand, colours and axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_calib._validation import check_zoom
from sklearn_calib.metrics import CalibrationBins

# Okabe & Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "Displays need matplotlib, which is not installed: pip install 'sklearn-calib[plot]'."
        ) from None
    return plt


def line_options(options: dict[str, Any] | None) -> dict[str, Any]:
    """Return keywords for a line under their full names: lw is linewidth."""
    from matplotlib import cbook, lines

    return dict(cbook.normalize_kwargs(options or {}, lines.Line2D))


def plain_text(text: Any) -> str:
    """Return text that matplotlib will not read as mathematics."""
    return str(text).replace("$", r"\$")


def new_axes(ax: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Return the figure and axes to draw on."""
    plt = pyplot()
    if ax is None:
        return plt.subplots(layout="constrained", **kwargs)
    return ax.figure, ax


def next_colour(ax: Any) -> str:
    """Return the first colour that no display on these axes has taken yet."""
    taken = getattr(ax, "_sklearn_calib_colours", 0)
    ax._sklearn_calib_colours = taken + 1
    return COLOURS[taken % len(COLOURS)]


def free_mark_row(ax: Any) -> float:
    """Return the height of the next free row of marks, in units of the axes."""
    row = getattr(ax, "_sklearn_calib_rows", 0)
    ax._sklearn_calib_rows = row + 1
    return 0.02 * row


def despine_axes(ax: Any) -> None:
    """Remove the top and right spines."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def set_probability_axes(
    ax: Any, scale: str, zoom: tuple[float, float] | None, bins: CalibrationBins
) -> tuple[float, float]:
    """Label two axes of probabilities, set scale and limits, and return the limits."""
    ax.set(ylabel="Observed frequency", aspect="auto")
    if not hasattr(ax, "_sklearn_calib_histogram"):
        ax.set_xlabel("Mean predicted probability")
    if scale == "logit":
        ends = [bins.prob_pred.min(), 1.0 - bins.prob_pred.max(), bins.prob_true.min()]
        ends += [1.0 - bins.prob_true.max(), 0.5 / bins.weight.max()]
        # The smallest frequency that can be told from 0 or 1 sets the ends.
        least = float(np.clip(min(ends), 1e-6, 0.01))
        limits = (least, 1.0 - least) if zoom is None else check_zoom(zoom, 1e-12)
        old = getattr(ax, "_sklearn_calib_limits", limits)
        limits = (min(old[0], limits[0]), max(old[1], limits[1]))
        ax.set(xscale="logit", yscale="logit", xlim=limits, ylim=limits)
        ax.xaxis.set_minor_formatter("")
        ax.yaxis.set_minor_formatter("")
        ax._sklearn_calib_limits = limits
        return limits
    limits = (0.0, 1.0) if zoom is None else check_zoom(zoom, 0.0)
    margin = 0.02 * (limits[1] - limits[0])
    wide = (limits[0] - margin, limits[1] + margin)
    ax.set(xlim=wide, ylim=wide, aspect="equal")
    return limits


def shade_confidence(ax: Any, limits: tuple[float, float]) -> None:
    """Shade and name the two regions in which predictions are too extreme."""
    x = np.linspace(*limits, 201)
    low, high = limits
    colour = "#D55E00"
    ax.fill_between(
        x, x, np.where(x < 0.5, high, low), color=colour, alpha=0.07, linewidth=0, zorder=0
    )
    style = {"fontsize": "small", "color": "0.35", "transform": ax.transAxes, "zorder": 1}
    ax.text(0.98, 0.06, "overconfident:\npredictions too high", ha="right", va="bottom", **style)
    ax.text(0.03, 0.62, "overconfident:\npredictions too low", ha="left", va="top", **style)


def add_histogram(ax: Any, bins: CalibrationBins, colour: Any) -> Any:
    """Draw how the predictions are distributed in a small axes below, and return it."""
    below = getattr(ax, "_sklearn_calib_histogram", None)
    if below is None:
        below = ax.inset_axes((0.0, -0.36, 1.0, 0.2), sharex=ax)
        below.set_ylabel("Queries", fontsize="small")
        below.tick_params(labelsize="small")
        below.set_xlabel(ax.get_xlabel())
        ax.set_xlabel("")
        ax._sklearn_calib_histogram = below
    # The bins know how many queries lie between their extremes: spread them evenly.
    edges = np.linspace(0.0, 1.0, 41)
    if ax.get_xscale() == "logit":
        low, high = ax.get_xlim()
        edges = 1.0 / (
            1.0 + np.exp(-np.linspace(np.log(low / (1 - low)), -np.log(1 / high - 1), 41))
        )
    counts = _spread_counts(bins, edges)
    below.stairs(counts, edges, color=colour, fill=True, alpha=0.5)
    positive = counts[counts > 0]
    if len(positive) and positive.max() > 50 * np.median(positive):
        below.set_yscale("log")
    return below


def _spread_counts(bins: CalibrationBins, edges: Any) -> Any:
    """Return the number of queries between edges, taking each bin as evenly spread."""
    running = np.concatenate(([0.0], np.cumsum(bins.weight)))
    points, heights = [], []
    for low, high, before, after in zip(
        bins.low, bins.high, running[:-1], running[1:], strict=True
    ):
        points += [low, max(high, np.nextafter(low, 2.0))]
        heights += [before, after]
    inside = np.interp(edges, points, heights)
    inside[0], inside[-1] = 0.0, running[-1]
    return np.diff(inside)
