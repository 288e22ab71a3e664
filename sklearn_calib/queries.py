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
    check_classes,
    check_labels,
    check_option,
    check_probability_vector,
    check_same_length,
    check_sample_weight,
    check_y_proba,
    distinct_labels,
)

__all__ = ["Queries", "classifier_queries"]

AVERAGES = ("micro", "macro", "top_label")


def _read_only(array: Array | None) -> Array | None:
    if array is None:
        return None
    view = array.view()
    view.flags.writeable = False
    return view


def _object_array(values: Any) -> Array:
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
        y = check_binary_labels(y_true)
        q = check_probability_vector(y_prob)
        check_same_length(y_true=y, y_prob=q, label=label, group=group)
        codes = names = None
        if label is not None:
            codes, names = _encode(label)
        if group is not None:
            group = check_array_like(group, "group")
            if group.ndim != 1:
                raise ValueError(f"group must be 1-D, got shape {group.shape}.")
        self._set(y, q, codes, names, group, check_sample_weight(sample_weight, len(q)))

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
        return self._take(np.flatnonzero(keep))

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
            names = _object_array(list(dict.fromkeys(n for part in parts for n in _names_of(part))))
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
        return np.array([index[v] for v in values], dtype=np.intp), _object_array(distinct)
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
        return y_true
    if y_prob is None:
        raise TypeError("Pass y_true and y_prob, or a single Queries object.")
    q = check_probability_vector(y_prob)
    y = check_binary_labels(y_true, pos_label)
    check_same_length(y_true=y, y_prob=q)
    return Queries._from_checked(y, q, weight=check_sample_weight(sample_weight, len(q)))


def classifier_queries(
    y_true: Any,
    y_proba: Any,
    *,
    classes: Any,
    average: str = "micro",
    pos_label: Any = None,
    sample_weight: Any = None,
) -> Queries:
    """Turn the predictions of a classifier into queries.

    With two classes there is one query a row: is it the positive class? With
    more there is one for each row and class: is this row of class c?

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_classes)
        The true classes, or a 0/1 indicator matrix for multilabel problems.
        Classes that the model never met are allowed: it gave them
        probability 0, and their queries say so.
    y_proba : array-like of shape (n_samples, n_classes)
        What `predict_proba` returned.
    classes : array-like of shape (n_classes,)
        The class of each column, e.g. `classifier.classes_`.
    average : {"micro", "macro", "top_label"}, default="micro"
        "micro" and "macro" ask about every class; "top_label" asks only
        whether the class with the largest probability is the right one.
    pos_label : object, default=None
        With two classes, the positive one; by default the last.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    Queries
        With labels (the class asked about). With more than two classes, the
        queries of one row form a group, because they depend on each other.

    See Also
    --------
    adaptive_bin_calibration_error : The calibration error of queries.

    Examples
    --------
    >>> from sklearn_calib import classifier_queries
    >>> proba = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    >>> queries = classifier_queries(["a", "b"], proba, classes=["a", "b", "c"])
    >>> queries
    <Queries: 6 queries, 2 of them true, 3 labels, 2 groups>
    >>> queries.where(label="b").y_prob
    array([0.2, 0.3])
    """
    check_option(average, "average", AVERAGES)
    classes = check_classes(classes)
    proba = check_y_proba(y_proba, classes)
    y = check_array_like(y_true, "y_true")
    if y.ndim == 2 and y.shape[1] > 1:
        return _multilabel_queries(y, proba, classes, average, pos_label, sample_weight)
    y = check_labels(y_true)
    check_same_length(y_true=y, y_proba=proba)
    weight = check_sample_weight(sample_weight, len(y))

    if average == "top_label":
        top = proba.argmax(axis=1)
        # Equality, not look-up: a true class without a column is simply not the top one.
        return Queries._from_checked(
            np.asarray(classes[top] == y, dtype=bool),
            proba[np.arange(len(y)), top],
            codes=top,
            names=classes,
            weight=weight,
        )

    classes, proba = _with_unmet_classes(y, proba, classes)
    if len(classes) <= 2:
        positive = len(classes) - 1 if pos_label is None else _index(classes, pos_label)
        return Queries._from_checked(
            np.asarray(y == classes[positive], dtype=bool),
            proba[:, positive],
            codes=np.zeros(len(y), dtype=np.intp),
            names=classes[[positive]],
            weight=weight,
        )
    if pos_label is not None:
        raise ValueError(
            f"pos_label={pos_label!r} is set, but there are {len(classes)} classes, and every one "
            "of them is asked about. Leave pos_label out."
        )
    return _matrix_queries(y[:, None] == classes[None, :], proba, classes, weight)


def _with_unmet_classes(y: Array, proba: Array, classes: Array) -> tuple[Array, Array]:
    """Give a column of zeros to every true class that has none, keeping the classes in order."""
    known = set(classes.tolist())
    unmet = [label for label in distinct_labels(y).tolist() if label not in known]
    if not unmet:
        return classes, proba
    if isinstance(unmet[0], str) != isinstance(classes.tolist()[0], str):
        raise TypeError(
            f"y_true has labels such as {unmet[0]!r} and classes has {classes.tolist()[0]!r}: "
            "they must be of one type to be compared."
        )
    joined = np.concatenate([classes, np.array(unmet)])
    order = np.argsort(joined, kind="stable")
    padded = np.hstack([proba, np.zeros((len(y), len(unmet)))])
    return joined[order], padded[:, order]


def _index(classes: Array, label: Any) -> int:
    found = np.flatnonzero(classes == label)
    if len(found) == 0:
        raise ValueError(
            f"pos_label={label!r} is not a valid label: it should be one of {classes.tolist()}."
        )
    return int(found[0])


def _matrix_queries(y: Array, proba: Array, names: Array, weight: Array | None) -> Queries:
    """Return one query for each entry of a matrix; the entries of a row form a group."""
    n, k = proba.shape
    return Queries._from_checked(
        np.ascontiguousarray(y, dtype=bool).ravel(),
        np.ascontiguousarray(proba).ravel(),
        codes=np.tile(np.arange(k), n),
        names=names,
        group=np.repeat(np.arange(n), k),
        weight=None if weight is None else np.repeat(weight, k),
    )


def _multilabel_queries(
    y: Array, proba: Array, classes: Array, average: str, pos_label: Any, sample_weight: Any
) -> Queries:
    if average == "top_label" or pos_label is not None:
        raise ValueError(
            "y_true is an indicator matrix, where a row may have several labels: "
            "average='top_label' and pos_label do not apply."
        )
    if y.shape != proba.shape:
        raise ValueError(
            f"y_true has shape {y.shape} and y_proba has shape {proba.shape}: an indicator matrix "
            "needs the same shape as the probabilities."
        )
    answers = check_binary_labels(y.ravel()).reshape(y.shape)
    return _matrix_queries(answers, proba, classes, check_sample_weight(sample_weight, len(y)))
