"""How predictions are distributed: counted once on fine grids, then drawn in bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._scanned import sort_or_scan
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Edges of the cells: one in ten thousand apart, and a quarter apart in log-odds.
GRIDS = {
    "linear": np.arange(10_001) / 10_000,
    "logit": np.concatenate(([0.0], special.expit(np.arange(-112, 113) / 4), [1.0])),
}

# A bar is so many cells wide: the first width that makes few enough bars.
_WIDTHS = {"linear": (1, 2, 5, 10, 20, 50, 100, 200), "logit": (1, 2, 4)}
_MOST_BARS = 60


@dataclass(frozen=True, eq=False)
class PredictionCounts:
    """The number of predictions, or their weight, in the cells of two fine grids.

    Attributes
    ----------
    linear, logit : ndarray
        Number or weight in each cell: of equal width, and of equal width in
        log-odds. A cell holds its lower edge; the last one holds 1 as well.
    weighted : bool
        Whether the predictions have weights.
    """

    linear: Array
    logit: Array
    weighted: bool

    @classmethod
    def of(cls, queries: Queries | QueryScan) -> PredictionCounts:
        """Count the predictions of queries; those of a scan by their narrow buckets."""
        if isinstance(queries, QueryScan):
            rows = sort_or_scan(queries)
            cells = [
                np.bincount(
                    np.searchsorted(edges[1:-1], rows.q, side="right"),
                    weights=rows.weights,
                    minlength=len(edges) - 1,
                )
                for edges in GRIDS.values()
            ]
            return cls(cells[0], cells[1], queries.weighted)
        w = queries.sample_weight
        if w is None:
            # One sort is cheaper than looking up the cell of every prediction.
            ordered = np.sort(queries.y_prob)
            cells = [
                np.diff(np.searchsorted(ordered, edges[1:-1]), prepend=0, append=len(ordered))
                for edges in GRIDS.values()
            ]
        else:
            cells = [
                np.bincount(
                    np.searchsorted(edges[1:-1], queries.y_prob, side="right"),
                    weights=w,
                    minlength=len(edges) - 1,
                )
                for edges in GRIDS.values()
            ]
        return cls(cells[0], cells[1], w is not None)

    def bars(
        self, scale: str, limits: tuple[float, float], zoomed: bool = False
    ) -> tuple[Array, Array]:
        """Return the heights and the edges of the bars that cover a range of predictions."""
        edges, cells = GRIDS[scale], getattr(self, scale)
        # The outer cells of log-odds reach to 0 and 1, which have no place on such an axis.
        outer = int(scale == "logit")
        first = max(int(np.searchsorted(edges, limits[0], side="right")) - 1, outer)
        last = min(int(np.searchsorted(edges, limits[1])), len(cells) - outer)
        widths = _WIDTHS[scale]
        width = next((w for w in widths if last - first <= w * _MOST_BARS), widths[-1])
        first -= (first - outer) % width
        last += (outer - last) % width
        starts = np.arange(first, last, width)
        shown = edges[np.append(starts, last)]
        if outer and not zoomed:
            # What lies beyond the ends of the axis is drawn at its ends, as the points are.
            starts[0], last = 0, len(cells)
        return np.add.reduceat(cells[:last], starts), shown


# In inches: the gap between axes and histogram, and the height of the histogram.
_GAP, _HEIGHT = 0.12, 0.78


def histogram_axes(ax: Axes) -> Axes:
    """Return a small axes below, for the histograms of all curves on these axes."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    # Clearing the axes takes the histogram away and leaves them as this function makes them:
    # `restore_axes` needs to know where they were.
    ax._sklearn_calib_place = ax.get_position(original=True)  # type: ignore[attr-defined]
    if ax.figure.get_layout_engine() is None:
        # Nobody else makes room for it.
        _raise_bottom(ax)
    # As wide as the axes, and in inches from their lower edge: a layout engine can make room
    # for it, which it cannot for something that grows with the axes.
    corner = ScaledTranslation(0, 0, ax.transAxes)  # type: ignore[arg-type]
    inches = ax.figure.dpi_scale_trans + corner
    below = ax.inset_axes(
        (0.0, -_GAP - _HEIGHT, 1.0, _HEIGHT),
        transform=blended_transform_factory(ax.transAxes, inches),
        sharex=ax,
    )
    below.tick_params(labelsize="small")
    below.set_xlabel(ax.get_xlabel())
    ax.set_xlabel("")
    ax.tick_params(axis="x", labelbottom=False)
    return below


def _raise_bottom(ax: Axes) -> None:
    """Move the lower edge of axes up, by at most half their height."""
    box, figure = ax.get_position(original=True), ax.figure
    up = min((_GAP + _HEIGHT) * figure.dpi / figure.bbox.height, box.height / 2)
    ax.set_position((box.x0, box.y0 + up, box.width, box.height - up))
    # A layout that comes later may still move the axes.
    ax.set_in_layout(True)


def restore_axes(ax: Axes) -> None:
    """Undo what `histogram_axes` did to axes that have been cleared since."""
    place = getattr(ax, "_sklearn_calib_place", None)
    if place is not None:
        ax.tick_params(axis="x", labelbottom=True)
        ax.set_position(place)
        ax.set_in_layout(True)
        ax._sklearn_calib_place = None  # type: ignore[attr-defined]


def name_counts(below: Axes, counts: list[PredictionCounts]) -> None:
    """Say what the bars count, and use powers of ten where they are very uneven."""
    weighted = sorted({part.weighted for part in counts})
    name = " or ".join("weight" if part else "queries" for part in weighted).capitalize()
    below.set_ylabel(name, fontsize="small")
    for patch in below.patches:
        heights = patch.get_data().values  # type: ignore[attr-defined]
        positive = heights[heights > 0]
        if len(positive) and positive.max() > 50 * np.median(positive):
            below.set_yscale("log")
