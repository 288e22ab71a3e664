"""Count documents of which any classifier gives a probability."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import (
    Array,
    check_array_like,
    check_probabilities,
    check_sample_weight,
    is_missing,
)
from sklearn_calib.coref._document import as_date
from sklearn_calib.explore._hits import ExactHits
from sklearn_calib.explore._keys import check_keys, is_hashable
from sklearn_calib.explore._periods import Period, check_period, period_of, span, spanned
from sklearn_calib.explore._posterior import CountPosterior

__all__ = ["counts_from_probabilities"]


def counts_from_probabilities(
    probability: ArrayLike,
    *,
    period: str | Iterable[Hashable] | None,
    dates: Iterable[Any] | None = None,
    key: Iterable[Hashable] | None = None,
    keys: Iterable[Hashable] | None = None,
    document: Iterable[Hashable] | None = None,
    title: Iterable[str] | None = None,
    sample_weight: ArrayLike | None = None,
    exclusive: bool | None = None,
) -> CountPosterior:
    """Count documents by period from the probabilities of any classifier.

    Nothing is sampled: the count of a period is a sum of independent yes/no
    answers with these probabilities, and its distribution is computed exactly.

    Parameters
    ----------
    probability : array-like of shape (n_rows,) or (n_rows, n_keys)
        The probability that each document is to be counted; or one column per
        key, for example the output of `predict_proba`.
    period : array-like of shape (n_rows,), {"D", "W", "M", "Q", "Y"} or None
        The period of each row. Periods that are written as 2003, 2003-02,
        2003-Q1, 2003-W05 or 2003-02-14, also as datetime64, run from the first to
        the last without gaps; all others are names. A letter makes periods
        of `dates`, and None puts all documents into one.
    dates : array-like of shape (n_rows,), default=None
        The date of each row, where `period` is a letter.
    key : array-like of shape (n_rows,), default=None
        What each row is about, where probabilities are in one column; by
        default "yes". Rows with the same document and different keys are about
        one document.
    keys : list, default=None
        Names of the columns; by default those of a data frame. With `key`, the
        keys to count and their order.
    document : array-like of shape (n_rows,), default=None
        The name of each row's document; numbers by default.
    title : array-like of str of shape (n_rows,), default=None
        What each document is called, or how it begins: it stands in the list of
        a `reading_plan`.
    sample_weight : array-like of shape (n_rows,), default=None
        What each document counts.
    exclusive : bool, default=None
        Whether a document has at most one of the keys, as with the classes of a
        classifier; otherwise its keys are independent. This matters for
        differences and pools. By default keys are exclusive if the columns of a
        matrix add up to 1 in every row.

    Returns
    -------
    CountPosterior
        Mean, intervals and more, by period and key, given these probabilities.

    See Also
    --------
    count_documents : Counts what a rule finds in sampled structures.
    reading_plan : Which documents to read to see whether the probabilities are right.

    Examples
    --------
    >>> from sklearn_calib.explore import counts_from_probabilities
    >>> months = ["2003-01", "2003-01", "2003-03"]
    >>> counts_from_probabilities([0.9, 0.2, 0.5], period=months)
     period  key   mean  low  high  n_documents
    2003-01  yes  1.100    0     2            2
    2003-02  yes  0.000    0     0            0
    2003-03  yes  0.500    0     1            1
    3 documents in 3 months, 2003-01 to 2003-03, each with its probability.
    The intervals have a level of 95%, given the model.
    """
    columns = getattr(probability, "columns", None)
    proba = check_probabilities(probability, "probability")
    if proba.ndim == 2 and proba.shape[1] == 1 and keys is None and columns is None:
        proba = proba[:, 0]
    if proba.ndim not in (1, 2):
        raise ValueError(f"probability must have one or two dimensions, got shape {proba.shape}.")
    n = len(proba)
    if not (exclusive is None or isinstance(exclusive, (bool, np.bool_))):
        raise TypeError(f"exclusive must be True, False or None, got {exclusive!r}.")
    row_id, named = _names(document, n)
    row_weight = check_sample_weight(sample_weight, n)
    row_title = None if title is None else [str(text) for text in _column(title, n, "title")]
    when, periods, row_period = _periods(period, dates, n, row_id)
    if proba.ndim == 2:
        if key is not None:
            raise ValueError("key names single rows; the columns of a matrix are named by keys.")
        names = _column_names(keys, columns, proba.shape[1])
        if exclusive is None:
            exclusive = len(names) > 1 and bool(np.allclose(proba.sum(axis=1), 1.0, atol=1e-6))
        if named and len(set(row_id)) < n:
            twice = next(name for name in row_id if row_id.count(name) > 1)
            raise ValueError(f"document names {twice!r} twice: a matrix has one row per document.")
        row_document = np.arange(n)
        ids = row_id
        hit_row, hit_key = np.nonzero(proba)
        hit_probability = proba[hit_row, hit_key]
    else:
        names, row_key = _row_keys(key, keys, n)
        ids, row_document = _distinct(row_id) if named else (row_id, np.arange(n))
        _refuse_repeats(row_document, row_key, ids, names)
        hit_row = np.flatnonzero((proba > 0.0) & (row_key >= 0))
        hit_key, hit_probability = row_key[hit_row], proba[hit_row]
    first = np.unique(row_document, return_index=True)[1]
    _refuse_difference(row_period, row_document, first, ids, "periods")
    weight = np.ones(len(ids))
    if row_weight is not None:
        _refuse_difference(row_weight, row_document, first, ids, "weights")
        weight = row_weight[first]
    # One hit after the other, document by document.
    order = np.lexsort((hit_key, row_document[hit_row]))
    return CountPosterior(
        keys=names,
        periods=periods,
        period=when,
        documents=tuple(ids),
        document_period=row_period[first],
        document_weight=weight,
        hit_document=row_document[hit_row[order]],
        hit_key=hit_key[order],
        hits=ExactHits(hit_probability[order], bool(exclusive)),
        hit_best=None,
        hit_mentions=((),) * len(order),
        titles=() if row_title is None else tuple(row_title[i] for i in first),
    )


def _column(values: Any, n: int, name: str) -> list[Any]:
    """Return one entry for each row."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(
            f"{name} must be a list or an array with one entry for each of the {n} rows, got "
            f"{values!r}."
        )
    found = list(values)
    if len(found) != n:
        raise ValueError(f"{name} has {len(found)} entries, but probability has {n} rows.")
    for number, value in enumerate(found):
        if is_missing(value) or (isinstance(value, np.datetime64) and np.isnat(value)):
            raise ValueError(f"{name} has no value for row {number}.")
        if not is_hashable(value):
            raise TypeError(f"{name}: {value!r} of row {number} cannot be used, as no key can.")
    return found


def _names(document: Iterable[Hashable] | None, n: int) -> tuple[list[str], bool]:
    """Return the name of each row's document, and whether it was given."""
    if document is None:
        return [f"document {number}" for number in range(n)], False
    return [str(name) for name in _column(document, n, "document")], True


def _distinct(names: Sequence[str]) -> tuple[list[str], Array]:
    """Return distinct names in order of appearance, and the place of each name."""
    place = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return list(place), np.array([place[name] for name in names])


def _periods(
    period: Any, dates: Iterable[Any] | None, n: int, names: Sequence[str]
) -> tuple[Period, Array, Array]:
    """Return what a period is, the periods, and the place of each row among them."""
    if period is None or isinstance(period, str) or callable(period):
        if callable(period) or dates is None:
            if period is not None:
                raise ValueError(
                    f"period={period!r} needs the dates of the rows: pass dates=, or one period "
                    "for each row."
                )
            return None, *span(["all"] * n, None, names)
        check_period(period, other="an array with one period for each row")
        found = [
            period_of(None, as_date(date, f"Row {number}"), period, name=f"Row {number}")
            for number, date in enumerate(_column(dates, n, "dates"))
        ]
        return period, *span(found, period, names)
    if dates is not None:
        raise ValueError("dates are of use where period is a letter, such as period='M'.")
    if not isinstance(period, Iterable):
        raise TypeError(f"period must be an array, a letter or None, got {period!r}.")
    if getattr(getattr(period, "dtype", None), "kind", "") == "M":
        array = check_array_like(period, "period")
        if np.datetime_data(array.dtype)[0] not in ("Y", "M", "W", "D"):
            array = array.astype("datetime64[D]")
        period = list(array)
    return spanned(_column(period, n, "period"), names)


def _column_names(keys: Iterable[Hashable] | None, columns: Any, n: int) -> tuple[Hashable, ...]:
    """Return the names of the columns of a matrix."""
    if keys is None and columns is None:
        raise ValueError(
            f"probability has {n} columns: name them with keys=, for example keys=clf.classes_, or "
            "pass a single column."
        )
    names = check_keys(columns if keys is None else keys)
    names = tuple(key.item() if isinstance(key, np.generic) else key for key in names)
    if len(names) != n:
        raise ValueError(f"keys has {len(names)} names, but probability has {n} columns.")
    return names


def _row_keys(
    key: Iterable[Hashable] | None, keys: Iterable[Hashable] | None, n: int
) -> tuple[tuple[Hashable, ...], Array]:
    """Return the keys, and the place of each row's key among them; -1 if it is not counted."""
    if key is None:
        names = ("yes",) if keys is None else check_keys(keys)
        if len(names) != 1:
            raise ValueError(f"probability has one column, but keys has {len(names)} names.")
        return names, np.zeros(n, dtype=np.int64)
    found = [v.item() if isinstance(v, np.generic) else v for v in _column(key, n, "key")]
    names = tuple(sorted(set(found), key=str)) if keys is None else check_keys(keys)
    place = {name: i for i, name in enumerate(names)}
    return names, np.array([place.get(value, -1) for value in found])


def _refuse_repeats(
    row_document: Array, row_key: Array, ids: Sequence[str], names: Sequence[Hashable]
) -> None:
    """Refuse two probabilities of one document and key."""
    pair = row_document * (len(names) + 1) + row_key + 1
    distinct, often = np.unique(pair, return_counts=True)
    twice = distinct[(often > 1) & (distinct % (len(names) + 1) > 0)]
    if len(twice):
        at, key = divmod(int(twice[0]), len(names) + 1)
        raise ValueError(
            f"There are two probabilities of {names[key - 1]!r} for document {ids[at]!r}."
        )


def _refuse_difference(
    values: Array, row_document: Array, first: Array, ids: Sequence[str], what: str
) -> None:
    """Refuse rows of one document that disagree."""
    wrong = np.flatnonzero(values != values[first][row_document])
    if len(wrong):
        raise ValueError(
            f"The rows of document {ids[row_document[wrong[0]]]!r} have different {what}."
        )
