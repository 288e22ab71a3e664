"""Queries: the yes/no questions that every model becomes before it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._results import counted, read_only, to_frame
from sklearn_calib._validation import (
    Array,
    check_array_like,
    check_binary_labels,
    check_groups,
    check_labels,
    check_probability_vector,
    check_same_length,
    check_sample_weight,
    text_array,
)
from sklearn_calib.queries._numbered import numbered

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Queries"]


def _frozen(array: Array | None) -> Array | None:
    return None if array is None else read_only(array)


def object_array(values: Any) -> Array:
    """Return a 1-D object array; tuples stay whole."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


class Queries:
    """Yes/no questions with their predicted probabilities and their answers.

    Parameters
    ----------
    y_true : array-like of shape (n_queries,)
        The answers: binary labels (bools, 0/1 or -1/1).
    y_prob : array-like of shape (n_queries,)
        The predicted probability that the answer is yes.
    label : array-like of shape (n_queries,), default=None
        Which question was asked, e.g. a class or a pair of tags.
    group : array-like of shape (n_queries,), default=None
        Which sentence, document or row the query belongs to. Queries of one
        group may depend on each other.
    sample_weight : array-like of shape (n_queries,), default=None
        Non-negative weights.

    Attributes
    ----------
    labels : ndarray or None
        The distinct labels.
    n_groups : int
        Number of distinct groups; without groups, of queries.
    units : ndarray of int or None
        The groups as numbers from 0; None where every query stands for itself.

    See Also
    --------
    classifier_queries : Turn the predictions of a classifier into queries.
    estimator_queries : Ask a fitted model for its queries.

    Examples
    --------
    >>> from sklearn_calib import Queries
    >>> queries = Queries([0, 1, 1], [0.2, 0.7, 0.6], label=["a", "a", "b"])
    >>> len(queries)
    3
    >>> queries.where(label="a").y_prob
    array([0.2, 0.7])
    """

    def __init__(
        self,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        label: ArrayLike | Sequence[object] | None = None,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        # Copies, so that nobody can change the queries from outside.
        y = np.array(check_binary_labels(y_true))
        q = np.array(check_probability_vector(y_prob))
        codes = names = groups = None
        if label is not None:
            asked = label if hasattr(label, "__len__") else list(label)  # type: ignore[call-overload]
            check_same_length(y_true=y, y_prob=q, label=asked)
            codes, names = _encode(asked)
        else:
            check_same_length(y_true=y, y_prob=q)
        if group is not None:
            groups = np.array(check_groups(group, len(q), "group"))
        weight = check_sample_weight(sample_weight, len(q))
        self._set(y, q, codes, names, groups, None if weight is None else np.array(weight))

    def _set(
        self,
        y: Array,
        q: Array,
        codes: Array | None,
        names: Array | None,
        group: Array | None,
        weight: Array | None,
    ) -> None:
        self._y = read_only(y)
        self._q = read_only(q)
        self._codes = _frozen(codes)
        self._names = _frozen(names)
        self._group = _frozen(group)
        self._weight = _frozen(weight)

    @classmethod
    def _from_checked(
        cls,
        y: Array,
        q: Array,
        *,
        codes: Array | None = None,
        names: Array | None = None,
        group: Array | None = None,
        weight: Array | None = None,
        numbered: bool = False,
    ) -> Queries:
        """Build queries from arrays that are known to be right, without a copy or a check.

        `numbered` says that the groups are whole numbers from 0, none of them left out.
        """
        self = cls.__new__(cls)
        self._set(y, q, codes, names, group, weight)
        if numbered and group is not None:
            self.__dict__["_group_codes"] = self._group
        return self

    @property
    def y_true(self) -> Array:
        """The answers, as bools."""
        return self._y

    @property
    def y_prob(self) -> Array:
        """The predicted probabilities."""
        return self._q

    @cached_property
    def label(self) -> Array | None:
        """Which question each query asks, or None."""
        if self._codes is None or self._names is None:
            return None
        return read_only(self._names[self._codes])

    @property
    def labels(self) -> Array | None:
        """The distinct labels, or None."""
        return self._names

    @property
    def group(self) -> Array | None:
        """The group of each query, or None."""
        return self._group

    @cached_property
    def _group_codes(self) -> Array | None:
        """The groups as numbers from 0."""
        return None if self._group is None else numbered(self._group)

    @cached_property
    def n_groups(self) -> int:
        """Number of distinct groups; without groups, of queries."""
        codes = self._group_codes
        return len(self) if codes is None else int(codes.max(initial=-1)) + 1

    @property
    def units(self) -> Array | None:
        """The groups as numbers from 0, or None where every query stands for itself."""
        return None if self.n_groups == len(self) else self._group_codes

    @property
    def sample_weight(self) -> Array | None:
        """The weight of each query, or None."""
        return self._weight

    def __len__(self) -> int:
        return len(self.y_prob)

    def __repr__(self) -> str:
        true = np.count_nonzero(self.y_true)
        parts = [f"{counted(len(self), 'query', 'queries')}, {true:,} of them true"]
        if self._names is not None:
            parts.append(counted(len(self._names), "label"))
        if self._group is not None:
            parts.append(counted(self.n_groups, "group"))
        if self._weight is not None:
            parts.append("weighted")
        return f"<Queries: {', '.join(parts)}>"

    def to_frame(self) -> DataFrame:
        """Return the queries as a pandas DataFrame, one row per query."""
        columns = {
            "y_true": self.y_true,
            "y_prob": self.y_prob,
            "label": None if self.label is None else self.label.tolist(),
            "group": self.group,
            "sample_weight": self.sample_weight,
        }
        return to_frame({name: column for name, column in columns.items() if column is not None})

    def where(self, *, label: object = None, mask: ArrayLike | None = None) -> Queries:
        """Return the queries of one label, or those that a boolean mask keeps.

        Parameters
        ----------
        label : object, default=None
            Keep the queries with this label.
        mask : array-like of bool of shape (n_queries,), default=None
            Keep the queries for which the mask is true.

        Returns
        -------
        Queries
            The chosen queries.

        Examples
        --------
        >>> from sklearn_calib import Queries
        >>> queries = Queries([0, 1, 1], [0.2, 0.7, 0.6])
        >>> len(queries.where(mask=queries.y_prob > 0.5))
        2
        """
        keep = np.ones(len(self), dtype=bool)
        code, names = 0, self._names
        if label is not None:
            if self._codes is None or names is None:
                raise ValueError("These queries have no labels, so that none can be chosen.")
            if label not in names.tolist():
                raise ValueError(f"label={label!r} is not among the labels {names.tolist()[:10]}.")
            code = names.tolist().index(label)
            keep &= self._codes == code
        if mask is not None:
            chosen_rows = check_array_like(mask, "mask")
            if chosen_rows.dtype != bool or chosen_rows.shape != keep.shape:
                raise ValueError(
                    f"mask must be a boolean array of shape {keep.shape}; got dtype "
                    f"{chosen_rows.dtype} and shape {chosen_rows.shape}."
                )
            keep &= chosen_rows
        chosen = self._take(np.flatnonzero(keep))
        if label is not None and names is not None:
            chosen._names = read_only(names[code : code + 1])
            chosen._codes = read_only(np.zeros(len(chosen), dtype=np.intp))
        return chosen

    def _take(self, rows: Array | slice) -> Queries:
        def pick(array: Array | None) -> Array | None:
            return None if array is None else array[rows]

        return Queries._from_checked(
            self.y_true[rows],
            self.y_prob[rows],
            codes=pick(self._codes),
            names=self._names,
            group=pick(self._group),
            weight=pick(self._weight),
        )

    def _with_predictions(self, q: Array) -> Queries:
        """Return the same queries with predictions that are known to be right."""
        return Queries._from_checked(
            self.y_true,
            q,
            codes=self._codes,
            names=self._names,
            group=self._group,
            weight=self._weight,
        )

    def _with_weights(self, weight: Array) -> Queries:
        """Return the same queries with weights that are known to be right."""
        return Queries._from_checked(
            self.y_true,
            self.y_prob,
            codes=self._codes,
            names=self._names,
            group=self._group,
            weight=weight,
        )

    def with_groups(self, group: ArrayLike | None) -> Queries:
        """Return the same queries with other groups.

        Parameters
        ----------
        group : array-like of shape (n_queries,) or None
            Which sentence, document or person each query belongs to.

        Returns
        -------
        Queries
            The queries with these groups.
        """
        return self._grouped(None if group is None else check_groups(group, len(self), "group"))

    def _grouped(self, group: Array | None) -> Queries:
        """Return the same queries with groups that are known to be right."""
        return Queries._from_checked(
            self.y_true,
            self.y_prob,
            codes=self._codes,
            names=self._names,
            group=group,
            weight=self._weight,
        )

    def with_labels(self, label: ArrayLike | Sequence[object] | None) -> Queries:
        """Return the same queries with other labels.

        Parameters
        ----------
        label : array-like of shape (n_queries,) or None
            Which question each query asks, or which slice it belongs to.

        Returns
        -------
        Queries
            The queries with these labels.
        """
        codes = names = None
        if label is not None:
            asked = label if hasattr(label, "__len__") else list(label)  # type: ignore[call-overload]
            check_same_length(y_prob=self.y_prob, label=asked)
            codes, names = _encode(asked)
        return Queries._from_checked(
            self.y_true,
            self.y_prob,
            codes=codes,
            names=names,
            group=self._group,
            weight=self._weight,
        )

    def by_label(self) -> list[tuple[Any, Queries]]:
        """Return pairs of a label and its queries, in the order of `labels`.

        A label that no query has is left out.
        """
        if self._codes is None or self._names is None:
            raise ValueError("These queries have no labels: pass label= when making them.")
        order = np.argsort(self._codes, kind="stable")
        bounds = np.searchsorted(self._codes[order], np.arange(len(self._names) + 1))
        return [
            (name, self._take(order[start:stop]))
            for name, start, stop in zip(self._names.tolist(), bounds[:-1], bounds[1:], strict=True)
            if stop > start
        ]

    @staticmethod
    def concat(parts: Sequence[Queries], *, shared_groups: bool = False) -> Queries:
        """Put queries end to end.

        Parameters
        ----------
        parts : sequence of Queries
            What to join. Labels, groups and weights are kept; they must be
            present in all parts or in none. A part whose largest weight was
            beyond 2 ** 40, or below 2 ** -40, had its weights divided when it
            was made, and no longer compares with other parts.
        shared_groups : bool, default=False
            By default group 3 of one part and group 3 of another are two
            different groups, as they are when the parts come from the folds
            of a cross-validation. True says that equal groups are the same.

        Returns
        -------
        Queries
            All queries.

        Examples
        --------
        >>> from sklearn_calib import Queries
        >>> one, two = Queries([0], [0.2]), Queries([1], [0.9])
        >>> Queries.concat([one, two]).y_prob
        array([0.2, 0.9])
        """
        parts = list(parts)
        if not parts or not all(isinstance(part, Queries) for part in parts):
            raise TypeError("concat takes a sequence of at least one Queries object.")
        for attribute in ("labels", "group", "sample_weight"):
            have = [getattr(part, attribute) is not None for part in parts]
            if any(have) and not all(have):
                raise ValueError(
                    f"{attribute} is set for {sum(have)} of {len(parts)} parts: set it for all "
                    "of them or for none."
                )
        codes = names = group = weight = None
        labelled = [(p._names.tolist(), p._codes) for p in parts if p._names is not None]
        if labelled:
            distinct = list(dict.fromkeys(name for own, _ in labelled for name in own))
            index = {name: code for code, name in enumerate(distinct)}
            codes = np.concatenate(
                [np.array([index[n] for n in own], dtype=np.intp)[c] for own, c in labelled]
            )
            names = _tidy(distinct)
        groups = [part._group for part in parts if part._group is not None]
        if groups and shared_groups:
            group = np.concatenate(groups)
        elif groups:
            numbered = [part._group_codes for part in parts if part._group_codes is not None]
            first = np.cumsum([0, *(part.n_groups for part in parts)])
            group = np.concatenate([c + n for c, n in zip(numbered, first[:-1], strict=True)])
        weights = [part._weight for part in parts if part._weight is not None]
        if weights:
            weight = np.concatenate(weights)
        return Queries._from_checked(
            np.concatenate([part.y_true for part in parts]),
            np.concatenate([part.y_prob for part in parts]),
            codes=codes,
            names=names,
            group=group,
            weight=weight,
            numbered=not shared_groups,
        )


def _tidy(names: Sequence[Any]) -> Array:
    """Return names in their natural dtype, or as objects where they are tuples."""
    if any(isinstance(name, tuple) for name in names):
        return object_array(names)
    if {*map(type, names)} == {str}:
        return text_array(list(names))
    return np.array(names)


def _encode(label: Any) -> tuple[Array, Array]:
    """Return codes and distinct names of a sequence of labels."""
    values = label.tolist() if isinstance(label, np.ndarray) else list(label)
    if any(isinstance(v, tuple) for v in values):
        distinct = sorted(set(values))
        index = {name: code for code, name in enumerate(distinct)}
        return np.array([index[v] for v in values], dtype=np.intp), object_array(distinct)
    names, codes = np.unique(check_labels(label, "label"), return_inverse=True)
    return codes, names
