"""From raw columns of a chunk to queries: every check, with the place of what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sklearn_calib._files import FileError, shortened
from sklearn_calib._results import printable
from sklearn_calib._validation import Array, is_missing, text_array
from sklearn_calib.queries._queries import Queries

# The bits of 1.0.
_ONE = int(np.float64(1.0).view(np.uint64))

# The columns of a scan, by what they hold.
Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Coded:
    """A column of text as numbers of its distinct values."""

    codes: Array
    names: Array


@dataclass(frozen=True)
class Piece:
    """Raw columns, and a function that says where one of their rows is."""

    columns: Columns
    place: Callable[[int], str]


@dataclass
class QueryMaker:
    """Turns pieces into queries; it remembers which labels it has seen.

    Attributes
    ----------
    pos_label : object
        The label that means yes; None where 0 and 1, or -1 and 1, say it.
    names : Mapping
        What messages call each column.
    """

    pos_label: object
    names: Mapping[str, object]
    negative: list[object] = field(default_factory=list)

    def queries(self, piece: Piece) -> Queries:
        """Return the queries of a piece, or say which row is wrong."""
        columns = piece.columns
        for role, column in columns.items():
            shape = np.shape(_values(column))
            if len(shape) != 1:
                raise self._fail(role, piece, 0, f"must be 1-D, and has the shape {shape}.")
        lengths = {role: len(_values(column)) for role, column in columns.items()}
        if len(set(lengths.values())) > 1:
            listing = ", ".join(f"{self._name(role)} has {n}" for role, n in lengths.items())
            raise FileError(f"{piece.place(0)}: columns of unequal length: {listing}.")
        q = self._probabilities(columns["y_prob"], piece)
        y = self._answers(columns["y_true"], piece)
        codes = names = group = weight = None
        if "label" in columns:
            coded = self._coded(columns["label"], "label", piece)
            codes, names = coded.codes, coded.names
        if "group" in columns:
            group = self._group(columns["group"], piece)
        if "sample_weight" in columns:
            weight = self._weights(columns["sample_weight"], piece)
        return Queries._from_checked(y, q, codes=codes, names=names, group=group, weight=weight)

    def _name(self, role: str) -> str:
        return str(self.names.get(role, role))

    def _fail(self, role: str, piece: Piece, row: int, problem: str) -> FileError:
        return FileError(f"{piece.place(row)}: {self._name(role)} {problem}")

    def _numbers(self, column: Any, role: str, piece: Piece) -> Array:
        values = _values(column)
        array = np.asarray(values)
        if isinstance(column, Coded) or array.dtype.kind not in "biufO":
            is_text = isinstance(column, Coded) or array.dtype.kind in "UST"
            held = "text" if is_text else f"values of type {array.dtype}"
            raise self._fail(role, piece, 0, f"must hold numbers, and holds {held}.")
        if array.dtype.kind == "O":
            missing = _missing(array)
            if missing.any():
                raise self._fail(role, piece, int(np.argmax(missing)), "is missing.")
        try:
            return np.ascontiguousarray(array, dtype=np.float64)
        except (TypeError, ValueError) as error:
            said = printable(str(error))[:200]
            raise self._fail(role, piece, 0, f"must hold numbers only: {said}.") from None

    def _probabilities(self, column: Any, piece: Piece) -> Array:
        q = self._numbers(column, "y_prob", piece)
        if len(q) == 0:
            return q
        # As whole numbers, the bits of what is below 0 or not a number exceed those of 1.
        if int(q.view(np.uint64).max()) <= _ONE:
            return q
        low, high = float(q.min()), float(q.max())
        if not (low >= 0.0 and high <= 1.0):
            given = np.asarray(_values(column)).dtype
            slack = 4 * np.finfo(given).eps if given.kind == "f" else 0.0
            # A softmax may miss the ends by a rounding error of its own precision.
            bad = ~((q >= -slack) & (q <= 1.0 + slack))
            if bad.any():
                row = int(np.argmax(bad))
                what = "is missing (NaN)" if np.isnan(q[row]) else f"is {q[row]:.6g}"
                raise self._fail(
                    "y_prob", piece, row, f"{what}: a probability in [0, 1] is needed."
                )
            q = np.clip(q, 0.0, 1.0)
        # Zero may have a sign, which says nothing.
        return q + 0.0 if low <= 0.0 else q

    def _weights(self, column: Any, piece: Piece) -> Array:
        weight = self._numbers(column, "sample_weight", piece)
        good = np.isfinite(weight) & (weight >= 0.0)
        if not good.all():
            row = int(np.argmin(good))
            raise self._fail(
                "sample_weight", piece, row, f"is {weight[row]:g}: weights are finite, from 0 on."
            )
        return weight + 0.0

    def _answers(self, column: Any, piece: Piece) -> Array:
        if isinstance(column, Coded):
            yes = column.names == self.pos_label if self.pos_label is not None else None
            if yes is None:
                raise self._which_means_yes(column.names[:1].tolist(), piece)
            yes = np.asarray(yes, dtype=bool)
            for code in np.flatnonzero(~yes):
                self._remember(column.names.tolist()[code], column.codes == code, piece)
            return yes[column.codes]
        y = np.asarray(column)
        if y.dtype == bool and self.pos_label is None:
            return y
        if y.dtype.kind not in "biuf":
            return self._answers(self._coded(column, "y_true", piece), piece)
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            row = int(np.argmin(np.isfinite(y)))
            raise self._fail("y_true", piece, row, "is missing (NaN).")
        answers = np.asarray(y == (1 if self.pos_label is None else self.pos_label), dtype=bool)
        others = np.flatnonzero(~answers)
        if len(others):
            first = y[others[0]]
            self._remember(first.item(), None, piece, int(others[0]))
            differ = others[y[others] != first]
            if len(differ):
                self._remember(y[differ[0]].item(), None, piece, int(differ[0]))
        return answers

    def _remember(self, label: Any, where: Array | None, piece: Piece, row: int = 0) -> None:
        """Refuse a third label, and two of which it is not known which means yes."""
        if label in self.negative:
            return
        row = row if where is None else int(np.argmax(where))
        if where is not None and not where.any():
            return
        if self.pos_label is None and label not in (0, -1):
            raise self._which_means_yes([label], piece, row)
        if self.negative:
            known = [1 if self.pos_label is None else self.pos_label, *self.negative]
            raise self._fail(
                "y_true",
                piece,
                row,
                f"is {shortened(label)}, after {shortened(known[1])} and {shortened(known[0])}: "
                "one probability per row answers a yes/no question. For one class against the "
                "rest, make the column true where it is that class.",
            )
        self.negative.append(label)

    def _which_means_yes(self, labels: Any, piece: Piece, row: int = 0) -> FileError:
        shown = shortened(labels[0] if len(labels) else "")
        return self._fail(
            "y_true",
            piece,
            row,
            f"is {shown}: which label means yes is not known. Set pos_label to the label whose "
            "probability y_prob gives.",
        )

    def _coded(self, column: Any, role: str, piece: Piece) -> Coded:
        if isinstance(column, Coded):
            return column
        values = np.asarray(column)
        if values.dtype.kind == "O":
            missing = _missing(values)
            if missing.any():
                raise self._fail(role, piece, int(np.argmax(missing)), "is missing.")
            values = _plain(values.tolist())
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise self._fail(role, piece, row, "is missing (NaN).")
        names, codes = np.unique(values, return_inverse=True)
        return Coded(codes, names)

    def _group(self, column: Any, piece: Piece) -> Array:
        if isinstance(column, Coded):
            return column.names[column.codes]
        values = np.asarray(column)
        if values.dtype.kind in "biu":
            return values
        coded = self._coded(values, "group", piece)
        return coded.names[coded.codes]


def _plain(values: list[Any]) -> Array:
    """Return values that were objects as an array of their own kind."""
    return text_array(values) if {*map(type, values)} == {str} else np.array(values)


def _values(column: Any) -> Any:
    return column.codes if isinstance(column, Coded) else column


def _missing(values: Array) -> Array:
    return np.array([is_missing(value) for value in values.tolist()], dtype=bool)
