"""Small things that every result object shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


class ConfidenceInterval(NamedTuple):
    """An interval, or one interval for each entry of an array.

    Examples
    --------
    >>> from sklearn_calib import ConfidenceInterval
    >>> low, high = ConfidenceInterval(0.1, 0.2)
    >>> low
    0.1
    """

    low: Any
    high: Any


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def percent(level: float) -> str:
    """Return a level as it is written: 95%, or 99.5%."""
    return f"{100.0 * level:g}%"


def cell(value: Any) -> str:
    """Return a value as it stands in a printed table."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        return f"{value:.4f}"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    return str(value)


def format_table(columns: Mapping[str, Sequence[Any]], most: int = 20) -> str:
    """Return a plain-text table with aligned columns; the middle of a long one is left out."""
    rows = len(next(iter(columns.values())))
    shown = list(range(rows))
    if rows > most:
        shown = [*range(most // 2), -1, *range(rows - most // 2, rows)]
    lines = []
    texts = {
        name: ["..." if i < 0 else cell(values[i]) for i in shown]
        for name, values in columns.items()
    }
    widths = {name: max(map(len, [name, *texts[name]])) for name in columns}
    lines.append("  ".join(name.rjust(widths[name]) for name in columns))
    for i in range(len(shown)):
        lines.append("  ".join(texts[name][i].rjust(widths[name]) for name in columns))
    return "\n".join(lines)


def to_frame(columns: Mapping[str, Any], index: Any = None) -> Any:
    """Return a pandas DataFrame, or say how to get pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "to_frame() needs pandas, which is not installed: pip install pandas."
        ) from None
    return pd.DataFrame(dict(columns), index=index)
