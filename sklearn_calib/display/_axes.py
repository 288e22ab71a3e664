"""What all displays share: matplotlib on demand, colours, and what is on the axes already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, cycle, islice
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn_calib._validation import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

# Okabe & Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

Drawing = TypeVar("Drawing")


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            'Displays need matplotlib, which is not installed: pip install "sklearn-calib[plot]".'
        ) from None
    return plt


def line_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return keywords for a line under their full names: lw is linewidth."""
    from matplotlib import cbook, lines

    return dict(cbook.normalize_kwargs(dict(options or {}), lines.Line2D))


def plain_text(text: object) -> str:
    """Return text that matplotlib neither reads as mathematics nor leaves out of a legend."""
    plain = str(text).replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def new_axes(ax: Axes | None, figsize: tuple[float, float]) -> tuple[Figure | SubFigure, Axes]:
    """Return the figure and axes to draw on."""
    plt = pyplot()
    if ax is None:
        figure, ax = plt.subplots(layout="constrained", figsize=figsize)
        return figure, ax
    return ax.figure, ax


def draw_band(
    ax: Axes,
    x: Array,
    low: Array,
    high: Array,
    *,
    joined: bool = True,
    width: float = 10.0,
    **style: Any,
) -> Collection:
    """Shade a range; points that are alone or not joined, which have no width, as broad lines."""
    if joined and len(x) > 1:
        return ax.fill_between(x, low, high, linewidth=0, **style)
    return ax.vlines(x, low, high, linewidth=width, **style)


def despine_axes(ax: Axes) -> None:
    """Remove the top and right spines."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def remember(line: Line2D, drawing: object) -> None:
    """Keep what was drawn with the line that shows it: it goes when the line goes."""
    line._sklearn_calib_drawing = drawing  # type: ignore[attr-defined]


def drawings_on(ax: Axes, kind: type[Drawing]) -> list[Drawing]:
    """Return what displays have drawn on these axes, refusing what does not go together."""
    found = [getattr(line, "_sklearn_calib_drawing", None) for line in ax.get_lines()]
    drawings = [drawing for drawing in found if drawing is not None]
    for drawing in drawings:
        if not isinstance(drawing, kind):
            raise ValueError(
                "These axes already show a display of another kind, whose axes mean something "
                "else; draw on axes of its own, or leave ax out."
            )
    return drawings


def free_colours(taken: Iterable[Any], number: int = 1) -> list[str]:
    """Return the first colours that are not taken; when none is left they begin again."""
    from matplotlib.colors import to_hex

    used = [to_hex(colour).upper() for colour in taken]
    free = [colour for colour in COLOURS if colour not in used]
    # Taken colours come back after the free ones, and none twice before all were used.
    again = [colour for colour in COLOURS if colour not in free] or COLOURS
    return list(islice(chain(free, cycle([*again, *free])), number))
