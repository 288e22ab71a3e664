"""Queries: the yes/no questions that every model becomes before it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sklearn_calib._validation import (
    Array,
    check_array_like,
    check_binary_labels,
    check_groups,
    check_labels,
    check_probability_vector,
    check_same_length,
    check_sample_weight,
)

__all__ = ["Queries", "as_queries", "object_array"]


def _read_only(array: Array | None) -> Array | None:
    if array is None:
        return None
    view = array.view()
    view.flags.writeable = False
    return view


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

    See Also
    --------
    classifier_queries : Turn the predictions of a classifier into queries.

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
        y_true: Any,
        y_prob: Any,
        *,
        label: Any = None,
        group: Any = None,
        sample_weight: Any = None,
    ) -> None:
        # Copies, so that nobody can change the queries from outside.
        y = np.array(check_binary_labels(y_true))
        q = np.array(check_probability_vector(y_prob))
        codes = names = None
        if label is not None:
            label = label if hasattr(label, "__len__") else list(label)
        check_same_length(y_true=y, y_prob=q, label=label)
        if label is not None:
            codes, names = _encode(label)
        if group is not None:
            group = np.array(check_groups(group, len(q), "group"))
        weight = check_sample_weight(sample_weight, len(q))
        self._set(y, q, codes, names, group, None if weight is None else np.array(weight))

    def _set(
        self,
        y: Array,
        q: Array,
        codes: Array | None,
        names: Array | None,
        group: Array | None,
        weight: Array | None,
    ) -> None:
        self._y = _read_only(y)
        self._q = _read_only(q)
        self._codes = _read_only(codes)
        self._names = _read_only(names)
        self._group = _read_only(group)
        self._weight = _read_only(weight)

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
    ) -> Queries:
        """Build queries from arrays that are known to be right, without a copy or a check."""
        self = cls.__new__(cls)
        self._set(y, q, codes, names, group, weight)
        return self

    @property
    def y_true(self) -> Array:
        """The answers, as bools."""
        assert self._y is not None
        return self._y

    @property
    def y_prob(self) -> Array:
        """The predicted probabilities."""
        assert self._q is not None
        return self._q

    @cached_property
    def label(self) -> Array | None:
        """Which question each query asks, or None."""
        if self._codes is None or self._names is None:
            return None
        return _read_only(self._names[self._codes])

    @property
    def labels(self) -> Array | None:
        """The distinct labels, or None."""
        return self._names

    @property
    def group(self) -> Array | None:
        """The group of each query, or None."""
        return self._group

    @property
    def sample_weight(self) -> Array | None:
        """The weight of each query, or None."""
        return self._weight

    def __len__(self) -> int:
        return len(self.y_prob)

    def __repr__(self) -> str:
        parts = [f"{len(self):,} queries, {np.count_nonzero(self.y_true):,} of them true"]
        if self._names is not None:
            parts.append(f"{len(self._names):,} labels")
        if self._group is not None:
            parts.append(f"{len(np.unique(self._group)):,} groups")
        if self._weight is not None:
            parts.append("weighted")
        return f"<Queries: {', '.join(parts)}>"

    def where(self, *, label: Any = None, mask: Any = None) -> Queries:
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
        if label is not None:
            keep &= self._codes == self._code_of(label)
        if mask is not None:
            mask = check_array_like(mask, "mask")
            if mask.dtype != bool or mask.shape != keep.shape:
                raise ValueError(
                    f"mask must be a boolean array of shape {keep.shape}; got dtype {mask.dtype} "
                    f"and shape {mask.shape}."
                )
            keep &= mask
        chosen = self._take(np.flatnonzero(keep))
        if label is not None:
            assert chosen._codes is not None
            code = self._code_of(label)
            chosen._names = _read_only(self._names[code : code + 1])  # type: ignore[index]
            chosen._codes = _read_only(np.zeros(len(chosen), dtype=np.intp))
        return chosen

    def _code_of(self, label: Any) -> int:
        if self._names is None:
            raise ValueError("These queries have no labels, so that none can be chosen.")
        for code, name in enumerate(self._names.tolist()):
            if name == label:
                return code
        raise ValueError(f"label={label!r} is not among the labels {self._names.tolist()[:10]}.")

    def _take(self, rows: Array) -> Queries:
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

    def with_groups(self, group: Any) -> Queries:
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
        group = None if group is None else check_groups(group, len(self), "group")
        return Queries._from_checked(
            self.y_true,
            self.y_prob,
            codes=self._codes,
            names=self._names,
            group=group,
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
            present in all parts or in none.
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
        if parts[0]._names is not None:
            names = object_array(list(dict.fromkeys(n for part in parts for n in _names_of(part))))
            index = {name: code for code, name in enumerate(names)}
            codes = np.concatenate(
                [np.array([index[n] for n in _names_of(p)], dtype=np.intp)[p._codes] for p in parts]
            )
            names = _tidy(names)
        if parts[0]._group is not None:
            groups: list[Any] = [part.group for part in parts]
            if not shared_groups:
                groups = _distinct_groups(groups)
            group = np.concatenate(groups)
        if parts[0]._weight is not None:
            weights: list[Any] = [part.sample_weight for part in parts]
            weight = np.concatenate(weights)
        return Queries._from_checked(
            np.concatenate([part.y_true for part in parts]),
            np.concatenate([part.y_prob for part in parts]),
            codes=codes,
            names=names,
            group=group,
            weight=weight,
        )


def _distinct_groups(groups: list[Any]) -> list[Any]:
    """Give the groups numbers so that no two parts share one."""
    numbered, offset = [], 0
    for group in groups:
        ids, inverse = np.unique(group, return_inverse=True)
        numbered.append(inverse + offset)
        offset += len(ids)
    return numbered


def _names_of(part: Queries) -> list[Any]:
    assert part._names is not None
    return part._names.tolist()


def _tidy(names: Array) -> Array:
    """Return names in their natural dtype, or as objects where they are tuples."""
    if any(isinstance(name, tuple) for name in names):
        return names
    return np.array(names.tolist())


def _encode(label: Any) -> tuple[Array, Array]:
    """Return codes and distinct names of a sequence of labels."""
    values = label.tolist() if isinstance(label, np.ndarray) else list(label)
    if any(isinstance(v, tuple) for v in values):
        distinct = sorted(set(values))
        index = {name: code for code, name in enumerate(distinct)}
        return np.array([index[v] for v in values], dtype=np.intp), object_array(distinct)
    names, codes = np.unique(check_labels(label, "label"), return_inverse=True)
    return codes, names


def as_queries(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: Any = None
) -> Queries:
    """Return the queries behind (y_true, y_prob), or those given in their place."""
    if isinstance(y_true, Queries):
        extra = {"y_prob": y_prob, "sample_weight": sample_weight, "pos_label": pos_label}
        for name, value in extra.items():
            if value is not None:
                raise TypeError(f"{name} is part of the Queries object; do not pass it as well.")
        if len(y_true) == 0:
            raise ValueError("The Queries object is empty: at least one query is needed.")
        if y_true.sample_weight is not None and not y_true.sample_weight.any():
            raise ValueError("All queries have weight zero, so that no query is left.")
        return y_true
    if y_prob is None:
        raise TypeError("Pass y_true and y_prob, or a single Queries object.")
    q = check_probability_vector(y_prob)
    y = check_binary_labels(y_true, pos_label)
    check_same_length(y_true=y, y_prob=q)
    return Queries._from_checked(y, q, weight=check_sample_weight(sample_weight, len(q)))
