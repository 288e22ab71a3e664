"""Isotonic maps of answers: one for each label, shrunk towards the one of all."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression

from sklearn_calib._validation import Array, check_option
from sklearn_calib._validation_sequences import flatten
from sklearn_calib.coref._clusters import links
from sklearn_calib.coref._entities import Entity
from sklearn_calib.queries._estimator import check_query_options
from sklearn_calib.queries._links import LinkQuestions
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._tags import TagQuestions
from sklearn_calib.sequence._spans import SentenceSpans
from sklearn_calib.sequence._tagger import METHODS

__all__ = ["AnswerMaps", "IsotonicModel", "IsotonicRanker", "IsotonicTagger"]

# As many true answers of a label count as much as the map of all labels.
_PSEUDOCOUNT = 20.0
# Every map keeps this much of the prediction itself, so that it says neither 0 nor 1 where the
# model did not.
_KEPT = 0.005


class AnswerMaps:
    """Monotone maps from what a model says to how often that is true."""

    def __init__(self, queries: Queries) -> None:
        self._pooled = _isotonic(queries)
        self._own: dict[Hashable, tuple[float, IsotonicRegression]] = {}
        if queries.labels is None or len(queries.labels) < 2:
            return
        for label, part in queries.by_label():
            weight = part.sample_weight
            true = float(part.y_true.sum() if weight is None else weight[part.y_true].sum())
            if true > 0.0:
                self._own[label] = true / (true + _PSEUDOCOUNT), _isotonic(part)

    def __call__(self, y_prob: Array, label: Hashable = None) -> Array:
        """Return the mended answers to questions of one label."""
        shape, q = y_prob.shape, y_prob.ravel()
        mended = self._pooled.predict(q)
        if label in self._own:
            share, own = self._own[label]
            mended = share * own.predict(q) + (1.0 - share) * mended
        return ((1.0 - _KEPT) * mended + _KEPT * q).reshape(shape)

    def queries(self, queries: Queries) -> Queries:
        """Return queries with mended answers."""
        mended = np.empty(len(queries))
        if queries._codes is None or queries._names is None:
            mended[:] = self(queries.y_prob)
        else:
            for code, name in enumerate(queries._names.tolist()):
                rows = np.flatnonzero(queries._codes == code)
                mended[rows] = self(queries.y_prob[rows], name) if len(rows) else 0.0
        return Queries._from_checked(
            queries.y_true,
            mended,
            codes=queries._codes,
            names=queries._names,
            group=queries.group,
            weight=queries.sample_weight,
        )


def _isotonic(queries: Queries) -> IsotonicRegression:
    regression = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return regression.fit(
        queries.y_prob, queries.y_true.astype(float), sample_weight=queries.sample_weight
    )


class _IsotonicQuestions:
    """Questions whose answers are mended."""

    def __init__(self, questions: Any, maps: AnswerMaps) -> None:
        self._questions = questions
        self._maps = maps

    def __getattr__(self, name: str) -> Any:
        # What else the questions know, such as the share of true spans that they leave out.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._questions, name)

    def __repr__(self) -> str:
        return f"<mended {self._questions!r}>"

    def answer(self, y: Any) -> Queries:
        """Return the queries with the answers that a truth gives."""
        return self._maps.queries(self._questions.answer(y))


class IsotonicModel:
    """A fitted model with its answers mended, one by one; the model itself is as it was."""

    default_unit = ""

    def __init__(self, model: Any, maps: AnswerMaps, unit: str) -> None:
        self.model = model
        self.maps = maps
        self.unit = unit

    def _check_unit(self, unit: str) -> None:
        if unit != self.unit:
            raise ValueError(
                f"unit={unit!r} was not recalibrated: method='isotonic' mends the answers to one "
                f"kind of question, here unit={self.unit!r}. Set query_options={{'unit': "
                f"{unit!r}}}, or choose 'temperature' or 'scaling', which mend the distribution."
            )

    def predict(self, X: Any, **options: Any) -> Any:
        """Predict as the model itself does."""
        return self.model.predict(X, **options)

    def sample(self, X: Any, n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Draw from the model as it was, and say so."""
        warnings.warn(
            "method='isotonic' mends answers only: samples are those of the model as it was, and "
            "do not agree with its mended answers. 'temperature' and 'scaling' mend samples too.",
            UserWarning,
            stacklevel=3,
        )
        return self.model.sample(X, n_samples, random_state=random_state)

    def score(self, X: Any, y: Any = None, **options: Any) -> float:
        """Return the score of the predictions."""
        return self.model.score(X, y, **options)

    def calibration_questions(self, X: Any, **options: Any) -> Any:
        """Predict once, and return the questions with mended answers."""
        self._check_unit(options.get("unit", self.default_unit))
        return _IsotonicQuestions(self.model.calibration_questions(X, **options), self.maps)

    def calibration_queries(self, X: Any, y: Any, **options: Any) -> Queries:
        """Return the queries with mended answers."""
        check_query_options(self.model, options)
        self._check_unit(options.get("unit", self.default_unit))
        return self.maps.queries(self.model.calibration_queries(X, y, **options))


class IsotonicTagger(IsotonicModel):
    """A fitted tagger with its marginals mended: each tag, or each pair, on its own."""

    default_unit = "tag"

    @property
    def classes_(self) -> Array:
        """The tags."""
        return self.model.classes_

    @property
    def pairs_(self) -> list[tuple[str, str]]:
        """The tag pairs of training."""
        return self.model.pairs_

    def predict_proba(self, X: Any, *, unit: str = "tag", pairs: Any = None) -> Array:
        """Predict mended marginals; those of a token sum to 1."""
        self._check_unit(unit)
        if unit == "tag":
            raw = self.model.predict_proba(X, unit=unit, pairs=pairs)
            return mended_rows(raw, self.classes_.tolist(), self.maps)
        chosen = self.model._check_pairs(unit, pairs)
        raw = self.model.predict_proba(X, unit=unit, pairs=chosen)
        columns = [self.maps(raw[:, j], pair) for j, pair in enumerate(chosen)]
        return np.column_stack(columns)

    def predict_log_proba(self, X: Any, **options: Any) -> Array:
        """Predict the logarithms of mended marginals."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, **options))

    def predict(self, X: Any, *, method: str = "viterbi", **options: Any) -> list[list[str]]:
        """Predict tags: the model's own best sequence, or the best by mended marginals."""
        check_option(method, "method", METHODS)
        if method == "viterbi" or self.unit != "tag":
            return self.model.predict(X, method=method, **options)
        sentences = list(X)
        best = iter(self.classes_[self.predict_proba(sentences).argmax(axis=1)].tolist())
        return [[next(best) for _ in sentence] for sentence in sentences]

    def predict_spans(self, X: Any, **options: Any) -> SentenceSpans:
        """Predict spans with mended probabilities, chosen by those of the model as it was."""
        self._check_unit("span")
        spans = self.model.predict_spans(X, **options)
        mended = np.empty_like(spans.proba)
        for code, name in enumerate(spans.types):
            rows = np.flatnonzero(spans.kind == code)
            mended[rows] = self.maps(spans.proba[rows], name) if len(rows) else 0.0
        return replace(spans, proba=mended)

    def calibration_questions(
        self,
        X: Any,
        *,
        unit: str = "tag",
        pairs: Any = None,
        average: str = "micro",
        pos_label: str | None = None,
        sample_weight: Any = None,
        **others: Any,
    ) -> Any:
        """Predict once, and return the questions with mended answers."""
        self._check_unit(unit)
        if unit not in ("tag", "pair"):
            own = {"unit": unit, "sample_weight": sample_weight, **others}
            return super().calibration_questions(X, **own)
        sentences = list(X)
        chosen = None if unit == "tag" else self.model._check_pairs(unit, pairs)
        return TagQuestions(
            self.predict_proba(sentences, unit=unit, pairs=pairs),
            np.array([len(sentence) for sentence in sentences], dtype=np.intp),
            classes=self.classes_,
            pairs=chosen,
            average=average,
            pos_label=pos_label,
            sample_weight=sample_weight,
        )

    def calibration_queries(self, X: Any, y: Any, **options: Any) -> Queries:
        """Return the queries with mended answers."""
        check_query_options(self.model, options)
        return self.calibration_questions(X, **options).answer(y)


class IsotonicRanker(IsotonicModel):
    """A fitted mention ranker with its links mended, one by one."""

    default_unit = "link"

    def predict_proba(self, X: Any) -> list[Array]:
        """Predict mended link probabilities; they belong to no clustering."""
        self._check_unit("link")
        return list(self._links(self.model._check(X)))

    def _links(self, documents: list[Any]) -> Iterable[Array]:
        for proba in self.model._antecedents(documents):
            mended = self.maps(links(proba))
            np.fill_diagonal(mended, 1.0)
            yield mended

    def predict_entities(self, X: Any, **options: Any) -> list[list[Entity]]:
        """Predict entities with mended probabilities, chosen by those of the model as it was."""
        self._check_unit("entity")
        found = self.model.predict_entities(X, **options)
        flat = [entity.proba for entities in found for entity in entities]
        mended = iter(self.maps(np.array(flat)).tolist() if flat else ())
        # The map rises, so that the most probable one stays first.
        return [[entity._replace(proba=next(mended)) for entity in own] for own in found]

    def calibration_questions(self, X: Any, **options: Any) -> Any:
        """Predict once, and return the questions with mended answers."""
        if options.get("unit", "link") != "link" or self.unit != "link":
            return super().calibration_questions(X, **options)
        options = {name: value for name, value in options.items() if name != "unit"}
        if options.get("min_proba", 0.0) is None:
            del options["min_proba"]
        return LinkQuestions(self._links(self.model._check(X)), **options)

    def calibration_queries(self, X: Any, y: Any, **options: Any) -> Queries:
        """Return the queries with mended answers."""
        check_query_options(self.model, options)
        if y is None:
            y = [document.entities for document in X]
        return self.calibration_questions(X, **options).answer(y)


def mended_rows(raw: Array, names: Sequence[Hashable], maps: AnswerMaps) -> Array:
    """Return the marginals of tags, each mended by its own map, with rows that sum to 1."""
    mended = np.column_stack([maps(raw[:, j], name) for j, name in enumerate(names)])
    total = mended.sum(axis=1, keepdims=True)
    # Where every map says 0 there is nothing to divide, and the model's own answer stands.
    return np.where(total > 0.0, mended / np.where(total > 0.0, total, 1.0), raw)


def tag_answers(raw: Array, classes: Array, y: Sequence[Sequence[str]], weight: Any) -> Queries:
    """Return every tag of every token as a query, whatever the number of tags."""
    true = np.array(flatten(y))
    return Queries._from_checked(
        (true[:, None] == classes).ravel(),
        np.ascontiguousarray(raw).ravel(),
        codes=np.tile(np.arange(len(classes)), len(raw)),
        names=classes,
        weight=None if weight is None else np.repeat(weight, len(classes)),
    )
