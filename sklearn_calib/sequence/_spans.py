"""Exact probabilities of spans: whole entities or chunks, under the posterior of a linear chain.

The posterior of a linear chain is itself a Markov chain: given the tag of a
token, the next tag depends on nothing before it, with

    P(next = j | this = i) = P(this = i, next = j) / P(this = i).

The probability of a span is therefore that of its first tag, times one such
factor for each token that goes on, times the probability that it ends there.
The product never grows from token to token, so that a span is given up as soon
as it falls below the threshold, and no span above it can be lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._results import Columns, Result, counted
from sklearn_calib._validation import Array, check_number
from sklearn_calib._validation_sequences import check_lattice, check_tag_names
from sklearn_calib.queries._span_schemes import SchemeTags, read_scheme
from sklearn_calib.sequence._lattice import marginals
from sklearn_calib.sequence._packing import starts_of

__all__ = ["SentenceSpans", "Span", "check_min_proba", "find_spans", "span_probabilities"]

# The threshold of public functions: a span that is less probable is seldom worth a look.
MIN_PROBA = 0.01


class Span(NamedTuple):
    """A run of tokens that a model may take for an entity, or for a chunk.

    Attributes
    ----------
    start : int
        Number of its first token in the sentence, from 0.
    stop : int
        Number of the token after its last.
    label : str
        Its type, such as "PER"; empty where the tags have none.
    proba : float
        Probability that exactly these tokens are a span of this type.

    See Also
    --------
    span_probabilities : Makes these objects.

    Examples
    --------
    >>> from sklearn_calib.sequence import Span
    >>> span = Span(0, 2, "PER", 0.75)
    >>> ["Ada", "Lovelace", "wrote"][span.start : span.stop]
    ['Ada', 'Lovelace']
    """

    start: int
    stop: int
    label: str
    proba: float


def span_probabilities(
    log_potentials: ArrayLike,
    log_transitions: ArrayLike,
    lengths: ArrayLike | None = None,
    *,
    classes: ArrayLike,
    min_proba: float = MIN_PROBA,
    scheme: str = "auto",
) -> SentenceSpans:
    """Exact probabilities of the spans of linear chains.

    How likely is it that exactly the tokens from here to there are a PER? The
    answer is the summed probability of all tag sequences that say so. No
    product or mean of tag marginals equals it, because neighbouring tags
    depend on each other.

    Parameters
    ----------
    log_potentials : array-like of shape (n_tokens, n_tags)
        Score of each tag of each token, as in `forward_backward`.
    log_transitions : array-like of shape (n_tags, n_tags)
        Score of going from a tag (row) to a tag (column).
    lengths : array-like of int of shape (n_sequences,), default=None
        Length of each sequence; by default there is one.
    classes : array-like of str of shape (n_tags,)
        The tag of each column.
    min_proba : float, default=0.01
        Return the spans with this probability or a larger one, all of them. 0
        asks for every possible span: their number grows with the square of the
        length of a sentence.
    scheme : {"auto", "BIO", "BIOES", "BILOU", "IO"}, default="auto"
        How tags spell spans; "auto" looks at the prefixes of the tags.

    Returns
    -------
    SentenceSpans
        For each sequence a list of its spans, most probable first.

    See Also
    --------
    forward_backward : The probabilities of single tags and of pairs.
    sklearn_calib.queries.span_queries : Turn spans into queries.

    Notes
    -----
    A span of type X is, under "BIO", B-X and all I-X that follow it at once.
    An I-X that continues nothing, at the start of a sentence or after another
    tag than B-X and I-X, starts no span and belongs to none. Under "BIOES"
    (and "BILOU", with L and U for E and S) a span is S-X, or B-X, any number
    of I-X, and E-X; what is begun and not ended, or ended and not begun, is no
    span. Under "IO" it is the longest run of I-X, so that two spans of one
    type never touch. Tags without a type (B, I, O) make spans whose label is
    empty.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_calib.sequence import span_probabilities
    >>> classes = ["B-PER", "I-PER", "O"]
    >>> potentials = np.log([[0.8, 0.1, 0.1], [0.1, 0.6, 0.3], [0.1, 0.1, 0.8]])
    >>> transitions = np.log([[0.1, 0.5, 0.4], [0.1, 0.5, 0.4], [0.3, 0.01, 0.69]])
    >>> for span in span_probabilities(potentials, transitions, classes=classes)[0][:2]:
    ...     print(span.start, span.stop, span.label, round(span.proba, 3))
    0 2 PER 0.434
    0 1 PER 0.323
    """
    potentials, transitions, length = check_lattice(log_potentials, log_transitions, lengths)
    names = check_tag_names(classes)
    if len(names) != len(transitions):
        raise ValueError(
            f"classes names {len(names)} tags, but log_transitions has {len(transitions)}."
        )
    least = check_min_proba(min_proba)
    tags = read_scheme(names.tolist(), scheme)
    return find_spans(potentials, transitions, length, tags, least)


def check_min_proba(min_proba: float) -> float:
    """Return a threshold for probabilities."""
    if check_number(min_proba, "min_proba") > 1.0:
        raise ValueError(f"min_proba must lie in [0, 1], got {min_proba!r}.")
    return float(min_proba)


@dataclass(frozen=True, eq=False, repr=False)
class SentenceSpans(Result, Sequence[list[Span]]):
    """The spans of some sentences: one list of `Span` for each, most probable first.

    It is read like a list of lists, and `to_frame` has all spans as one table.
    The probabilities are computed at once, as arrays; the objects of a sentence
    are made when it is asked for, because that takes longer than the
    probabilities do.

    Attributes
    ----------
    sentence, start, stop, kind : ndarray of int of shape (n_spans,)
        Where each span is, and the number of its type: sentence after
        sentence, and within a sentence in no particular order.
    proba : ndarray of shape (n_spans,)
        Its probability.
    types : list of str
        The types.
    n_sentences : int
        Number of sentences, those without spans included.

    See Also
    --------
    span_probabilities : Makes this object.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_chunked_sequences
    >>> data = make_chunked_sequences(3, random_state=0)
    >>> spans = data.true_tagger().predict_spans(data.X, min_proba=0.5)
    >>> len(spans)
    3
    >>> spans[2][0]
    Span(start=..., stop=..., label=..., proba=...)
    """

    sentence: Array
    start: Array
    stop: Array
    kind: Array
    proba: Array
    types: list[str]
    n_sentences: int

    def __len__(self) -> int:
        return self.n_sentences

    @overload
    def __getitem__(self, index: int) -> list[Span]: ...

    @overload
    def __getitem__(self, index: slice) -> list[list[Span]]: ...

    def __getitem__(self, index: int | slice) -> list[Span] | list[list[Span]]:
        if isinstance(index, slice):
            return [self[i] for i in range(self.n_sentences)[index]]
        sentence = range(self.n_sentences)[index]
        return self._lists(sentence, sentence + 1)[0]

    def __iter__(self) -> Iterator[list[Span]]:
        return iter(self._lists(0, self.n_sentences))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (SentenceSpans, list)):
            return NotImplemented
        return list(self) == list(other)

    # As a list, it has no hash.
    __hash__ = None  # type: ignore[assignment]

    def _sentence(self) -> str:
        spans = counted(len(self.proba), "span")
        return f"{spans} in {counted(self.n_sentences, 'sentence')}"

    def _columns(self) -> Columns:
        """Return one row per span: sentences in their order, the most probable span first."""
        sorted_ = self.most_probable_first()
        return {
            "sentence": sorted_.sentence,
            "start": sorted_.start,
            "stop": sorted_.stop,
            "label": sorted_._labels(slice(None)),
            "proba": sorted_.proba,
        }

    def most_probable_first(self) -> SentenceSpans:
        """Return the same spans with their columns in the order of the lists."""
        order = self._order(slice(None))
        names = ("sentence", "start", "stop", "kind", "proba")
        return replace(self, **{name: getattr(self, name)[order] for name in names})

    def _labels(self, rows: Array | slice) -> Array:
        return np.array(self.types, dtype=object).take(self.kind[rows])

    def _order(self, rows: slice) -> Array:
        """Return rows in order of sentences, then of probability; equals as they were found."""
        order = np.lexsort((-self.proba[rows], self.sentence[rows]))
        return order + (rows.start or 0)

    def _lists(self, first: int, last: int) -> list[list[Span]]:
        """Return the spans of some consecutive sentences."""
        ends = np.searchsorted(self.sentence, np.arange(first, last + 1)).tolist()
        order = self._order(slice(ends[0], ends[-1]))
        columns = zip(
            self.start[order].tolist(),
            self.stop[order].tolist(),
            self._labels(order).tolist(),
            self.proba[order].tolist(),
            strict=True,
        )
        # Span._make without its check of the number of fields: a third of the time.
        spans: list[Span] = list(map(partial(tuple.__new__, Span), columns))
        return [spans[a - ends[0] : b - ends[0]] for a, b in pairwise(ends)]


def find_spans(
    potentials: Array,
    transitions: Array,
    lengths: Array,
    tags: SchemeTags,
    min_proba: float,
    *,
    out: Array | None = None,
) -> SentenceSpans:
    """Return all spans of checked scores that are not below a threshold.

    `out` takes the marginals on the way, and may be the potentials themselves.
    """
    wanted = _Pairs(tags)
    pairs = np.array(wanted.pairs, dtype=np.intp).reshape(-1, 2)
    found = marginals(potentials, transitions, lengths, pairs=pairs, out=out)
    pair_proba = np.empty((0, 0)) if found.pair_proba is None else found.pair_proba
    chain = _Posterior(found.proba, pair_proba, lengths, incomplete=wanted.incomplete)
    none = np.empty(0, dtype=np.intp)
    parts = [(none, none, none, np.empty(0))]

    # What is impossible is no span, whatever the threshold.
    least = max(min_proba, np.nextafter(0.0, 1.0))

    def keep(start: Array, stop: Array, kind: Array, proba: Array) -> None:
        good = np.flatnonzero(proba >= least)
        parts.append((start.take(good), stop.take(good), kind.take(good), proba.take(good)))

    if tags.scheme.single is not None:
        token, kind, p = chain.where(tags.single, least)
        keep(token, token + 1, kind, p)
    begin, kind, p = chain.where(tags.first, least)
    given = p
    if tags.scheme.first == tags.scheme.inside:
        # A run begins where the token before it is not of the same run. Before the first token
        # of a sentence stands the last of another (for token 0, of the last), which is in no pair.
        p = np.maximum(p - chain.joint(begin - 1, wanted.inside[kind]), 0.0)
    token = begin
    onward, ending = wanted.first, wanted.first_last
    while len(token):
        go_on = chain.conditional(token, given, onward.take(kind))
        if tags.scheme.last is None:
            keep(begin, token + 1, kind, p * (1.0 - go_on))
        else:
            keep(begin, token + 2, kind, p * chain.conditional(token, given, ending.take(kind)))
        p = p * go_on
        alive = np.flatnonzero(p >= least)
        begin, token, kind, p = (values.take(alive) for values in (begin, token, kind, p))
        token += 1
        given = chain.tag(token, tags.inside.take(kind))
        onward, ending = wanted.inside, wanted.inside_last
    start, stop, kind, proba = (np.concatenate(column) for column in zip(*parts, strict=True))
    sentence = chain.sentence[start]
    # A stable sort of small integers takes linear time. Sorting by probability takes more than
    # all of the above, and waits until somebody looks.
    small = sentence.astype(np.min_scalar_type(len(lengths)))
    order = np.argsort(small, kind="stable")
    sentence = sentence[order]
    offset = starts_of(lengths)[sentence]
    return SentenceSpans(
        sentence,
        start[order] - offset,
        stop[order] - offset,
        kind[order],
        np.minimum(proba[order], 1.0),
        tags.types,
        len(lengths),
    )


class _Pairs:
    """The pairs of neighbouring tags within spans, and the column of each for each type.

    `incomplete` says that some type lacks a pair; its column is then -1.
    """

    def __init__(self, tags: SchemeTags) -> None:
        self.pairs: list[tuple[int, int]] = []
        self.incomplete = False
        self.first = self._columns(tags.first, tags.inside)
        self.inside = (
            self.first
            if tags.scheme.first == tags.scheme.inside
            else self._columns(tags.inside, tags.inside)
        )
        self.first_last = self._columns(tags.first, tags.last)
        self.inside_last = self._columns(tags.inside, tags.last)

    def _columns(self, here: Array, after: Array) -> Array:
        columns = np.full(len(here), -1, dtype=np.intp)
        for kind, pair in enumerate(zip(here.tolist(), after.tolist(), strict=True)):
            if min(pair) >= 0:
                columns[kind] = len(self.pairs)
                self.pairs.append(pair)
            else:
                self.incomplete = True
        return columns


class _Posterior:
    """The posterior as a Markov chain: tags, and the tag that follows a given one."""

    def __init__(
        self, proba: Array, pair_proba: Array, lengths: Array, *, incomplete: bool
    ) -> None:
        self.proba = proba
        self.incomplete = incomplete
        self.n_tags = proba.shape[1]
        self.flat = proba.ravel()
        # Without pairs there is nothing to look up, but there must be a place to look.
        self.pairs = pair_proba.ravel() if pair_proba.size else np.zeros(1)
        self.sentence = np.repeat(np.arange(len(lengths)), lengths)
        # A sentence has one pair fewer than tokens, and so has each sentence before it. Its last
        # token begins no pair; where it points does not matter.
        self.first_pair = (np.arange(len(proba)) - self.sentence) * pair_proba.shape[1]
        self.is_last = np.zeros(len(proba), dtype=bool)
        self.is_last[np.cumsum(lengths) - 1] = True

    def where(self, codes: Array, least: float) -> tuple[Array, Array, Array]:
        """Return token, type and probability wherever the tag of a type is probable enough."""
        kinds = np.flatnonzero(codes >= 0)
        columns = self.proba.take(codes[kinds], axis=1)
        at = np.flatnonzero(columns >= least)
        token, kind = np.divmod(at, max(len(kinds), 1))
        return token, kinds[kind], columns.ravel()[at]

    def joint(self, token: Array, column: Array) -> Array:
        """Return the probability of a pair of tags at a token and its next."""
        place = self.first_pair.take(token, mode="wrap")
        place += column
        proba = self.pairs.take(place, mode="clip")
        proba[self.is_last.take(token, mode="wrap")] = 0.0
        if self.incomplete:
            proba[column < 0] = 0.0
        return proba

    def tag(self, token: Array, code: Array) -> Array:
        """Return the probability of a tag at a token."""
        return self.flat.take(token * self.n_tags + code)

    def conditional(self, token: Array, given: Array, column: Array) -> Array:
        """Return the probability of the second tag of a pair, given that of the first tag."""
        both = self.joint(token, column)
        # Below the smallest float a pair may be left where its first tag is not.
        if given.all():
            both /= given
        else:
            both = np.divide(both, given, out=np.zeros(len(token)), where=given > 0.0)
        return np.minimum(both, 1.0, out=both)
