"""What all displays share: matplotlib on demand, colours and axes."""

from __future__ import annotations

from typing import Any

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


def despine_axes(ax: Any) -> None:
    """Remove the top and right spines."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
