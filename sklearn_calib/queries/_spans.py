"""How spans with probabilities become queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import Array, check_probabilities, check_sample_weight
from sklearn_calib._validation_sequences import check_tags, flatten
from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._span_schemes import SpanScheme, read_scheme, read_spans

__all__ = ["SpanQuestions", "span_queries"]


def span_queries(
    y: Iterable[Sequence[str]],
    spans: Iterable[Iterable[tuple[int, int, str, float]]],
    *,
    scheme: str = "auto",
    sample_weight: ArrayLike | None = None,
) -> Queries:
    """Turn spans with probabilities into queries.

    Each span asks a question: are these tokens, from the first to the last, a
    PER? The spans may come from any model, but must have been chosen without a
    look at the truth.

    Parameters
    ----------
    y : list of lists of str
        The true tags of each sentence, in a scheme such as BIO.
    spans : list of lists of (int, int, str, float)
        For each sentence its spans: the first token, the token after the last,
        the type, and the probability, as `Span` of `predict_spans` has them.
    scheme : {"auto", "BIO", "BIOES", "BILOU", "IO"}, default="auto"
        How the tags spell spans; "auto" looks at their prefixes.
    sample_weight : array-like of shape (n_sentences,), default=None
        Weights of the sentences.

    Returns
    -------
    Queries
        The label of a query is the type of its span, its group the sentence.

    See Also
    --------
    tag_queries : The same for the marginals of tags.
    sklearn_calib.sequence.span_probabilities : Exact probabilities of spans.

    Examples
    --------
    >>> from sklearn_calib.queries import span_queries
    >>> y = [["B-PER", "I-PER", "O"], ["O", "O"]]
    >>> spans = [[(0, 2, "PER", 0.8), (0, 1, "PER", 0.2)], [(1, 2, "LOC", 0.1)]]
    >>> queries = span_queries(y, spans)
    >>> queries
    <Queries: 3 queries, 1 of them true, 2 labels, 2 groups>
    >>> queries.y_true
    array([ True, False, False])
    """
    tags = check_tags(y)
    found = read_scheme(sorted(set(flatten(tags))), scheme).scheme
    rows = [list(row) for row in spans]
    if len(rows) != len(tags):
        raise ValueError(f"spans has {len(rows)} sentences, but y has {len(tags)}.")
    lengths = np.array([len(row) for row in tags], dtype=np.intp)
    flat = flatten(rows)
    for span in flat:
        if not isinstance(span, tuple) or len(span) != 4:
            raise TypeError(
                f"spans has {span!r}; a tuple such as (0, 2, 'PER', 0.9) is due: first token, "
                "token after the last, type and probability."
            )
    sentence = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    bounds = np.array([span[:2] for span in flat]).reshape(-1, 2)
    if len(bounds) and bounds.dtype.kind not in "iu":
        raise TypeError("The first two numbers of a span must be integers: where it is.")
    start, stop = bounds.astype(np.intp).T
    bad = (start < 0) | (stop <= start) | (stop > lengths[sentence])
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(
            f"Sentence {sentence[at]} has {lengths[sentence[at]]} tokens, but the span "
            f"{tuple(flat[at])!r}."
        )
    types = sorted({span[2] for span in flat})
    code = {kind: j for j, kind in enumerate(types)}
    proba = check_probabilities([span[3] for span in flat], "spans") if flat else np.empty(0)
    questions = SpanQuestions(
        sentence,
        start,
        stop,
        np.array([code[span[2]] for span in flat], dtype=np.intp),
        proba,
        lengths,
        types=types,
        scheme=found,
        sample_weight=sample_weight,
    )
    return questions._answered(tags)


class SpanQuestions:
    """The spans of some sentences with their probabilities, to be answered by any tags.

    `calibration_questions(X, unit="span")` of a tagger returns this object: the
    tagger has predicted once, and any number of truths can answer. The spans
    are chosen without a look at the truth, so that some true spans may not be
    among them; `missed_share` says how many.

    Parameters
    ----------
    sentence, start, stop, kind : ndarray of int of shape (n_spans,)
        Where each span is, and the number of its type. They are taken as they
        are; `span_queries` checks those of other models.
    y_prob : ndarray of shape (n_spans,)
        The probability of each span.
    lengths : ndarray of int of shape (n_sentences,)
        Number of tokens of each sentence.
    types : list of str
        What a span can be.
    scheme : SpanScheme
        How tags spell spans.
    sample_weight : array-like of shape (n_sentences,), default=None
        Weights of the sentences.

    See Also
    --------
    span_queries : Questions and answers in one step, for any spans.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_chunked_sequences
    >>> data = make_chunked_sequences(20, random_state=0)
    >>> questions = data.true_tagger().calibration_questions(data.X, unit="span", min_proba=0.1)
    >>> questions
    <SpanQuestions: 119 spans in 20 sentences>
    >>> questions.answer(data.y)
    <Queries: 119 queries, 56 of them true, 3 labels, 20 groups>
    >>> round(questions.missed_share(data.y), 3)
    0.067
    """

    def __init__(
        self,
        sentence: Array,
        start: Array,
        stop: Array,
        kind: Array,
        y_prob: Array,
        lengths: Array,
        *,
        types: Sequence[str],
        scheme: SpanScheme,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        self._sentence = sentence
        self._kind = kind
        self._y_prob = y_prob
        self._lengths = lengths
        self._types = list(types)
        self._scheme = scheme
        self._weights = check_sample_weight(sample_weight, len(lengths), of="sentences")
        self._keys = self._key(sentence, start, stop, kind)
        # A sentence without spans leaves a gap in the numbers of the groups.
        counts = np.bincount(sentence, minlength=len(lengths))
        self._numbered = bool((counts > 0).all())

    def __repr__(self) -> str:
        return f"<SpanQuestions: {len(self._y_prob):,} spans in {len(self._lengths):,} sentences>"

    def _key(self, sentence: Array, start: Array, stop: Array, kind: Array) -> Array:
        """Return one number for each span, by which spans are compared."""
        longest = int(self._lengths.max(initial=0)) + 1
        return ((sentence * longest + start) * longest + stop) * (len(self._types) + 1) + kind

    def answer(self, y: Iterable[Sequence[str]]) -> Queries:
        """Return the queries with the answers that some tags give.

        Parameters
        ----------
        y : list of lists of str
            Tags of each sentence.

        Returns
        -------
        Queries
            The label of a query is the type of its span, its group the
            sentence.
        """
        return self._answered(check_tags(y, lengths=self._lengths))

    def _answered(self, tags: Sequence[Sequence[str]]) -> Queries:
        """Return the queries for tags that are known to fit."""
        weight = None if self._weights is None else self._weights[self._sentence]
        return Queries._from_checked(
            np.isin(self._keys, self._true_keys(tags)[0]),
            self._y_prob,
            codes=self._kind,
            names=np.array(self._types, dtype=str),
            group=self._sentence,
            weight=weight,
            numbered=self._numbered,
        )

    def _true_keys(self, tags: Sequence[Sequence[str]]) -> tuple[Array, Array]:
        """Return the key and the sentence of each true span; a type of its own has no number."""
        true = read_spans(tags, self._scheme)
        code = {kind: j for j, kind in enumerate(self._types)}
        kind = np.array([code.get(kind, len(code)) for kind in true.kind], dtype=np.intp)
        return self._key(true.sentence, true.start, true.stop, kind), true.sentence

    def missed_share(self, y: Iterable[Sequence[str]]) -> float:
        """Return the share of true spans that no question asks about.

        Parameters
        ----------
        y : list of lists of str
            Tags of each sentence.

        Returns
        -------
        float
            Share of the spans of `y` whose probability is below `min_proba`,
            spans of types that the tagger never met among them. NaN where `y`
            has no spans.
        """
        keys, sentence = self._true_keys(check_tags(y, lengths=self._lengths))
        if len(keys) == 0:
            return float("nan")
        weight = None if self._weights is None else self._weights[sentence]
        return float(np.average(~np.isin(keys, self._keys), weights=weight))
