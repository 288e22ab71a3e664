"""Sentences side by side: how a batch is laid out for step-by-step recursions.

Sentences are sorted by length, longest first. Step t then holds the first n[t]
of them, so that every step of a recursion is one dense product over a prefix,
and no cell is padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sklearn_calib._validation import Array

__all__ = ["CHUNK_TOKENS", "Chunk", "chunks", "pair_rows", "starts_of"]

# Small enough for the working arrays to stay in cache; measured with 47 tags.
CHUNK_TOKENS = 4096


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some sentences, packed.

    Attributes
    ----------
    sentences : ndarray of shape (n_sentences,)
        Which sentences, longest first.
    rows : ndarray of shape (n_tokens,)
        The flat token behind each packed row.
    steps : list of (start, stop)
        The packed rows of each step; a step has at most as many rows as the one before.
    rank : ndarray of shape (n_tokens,)
        The sentence of each packed row, as a position in `sentences`.
    """

    sentences: Array
    rows: Array
    steps: list[tuple[int, int]]
    rank: Array

    @property
    def later(self) -> Array:
        """The packed rows that have a token before them."""
        return np.arange(self.steps[0][1], len(self.rows))

    @property
    def before(self) -> Array:
        """For each of the rows `later`, the packed row of the token before it."""
        first = np.array([start for start, _ in self.steps[:-1]], dtype=np.intp)
        sizes = np.array([stop - start for start, stop in self.steps[1:]], dtype=np.intp)
        return np.repeat(first, sizes) + self.rank[self.steps[0][1] :]


def pair_rows(chunk: Chunk) -> Array:
    """Return the row, among all pairs of neighbours, of each packed row that has one before it."""
    # Each sentence has one pair fewer than tokens, and so has each sentence before it.
    return chunk.rows[chunk.later] - chunk.sentences[chunk.rank[chunk.later]] - 1


def starts_of(lengths: Array) -> Array:
    """Return where each sentence starts in the flat tokens."""
    starts = np.zeros(len(lengths), dtype=np.intp)
    np.cumsum(lengths[:-1], out=starts[1:])
    return starts


def chunks(lengths: Array, tokens: int = CHUNK_TOKENS) -> Iterator[Chunk]:
    """Yield all sentences in chunks of about so many tokens; a longer sentence has its own."""
    order = np.argsort(-lengths, kind="stable")
    starts = starts_of(lengths)
    total = np.cumsum(lengths[order])
    begin = 0
    while begin < len(order):
        done = total[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, done + tokens, side="right")))
        yield _pack(order[begin:end], lengths, starts)
        begin = end


def _pack(sentences: Array, lengths: Array, starts: Array) -> Chunk:
    length = lengths[sentences]
    # How many sentences are longer than t; the lengths fall.
    sizes = len(length) - np.searchsorted(length[::-1], np.arange(length[0]), side="right")
    stops = np.cumsum(sizes)
    begins = stops - sizes
    step = np.repeat(np.arange(length[0]), sizes)
    rank = np.arange(stops[-1]) - np.repeat(begins, sizes)
    steps = list(zip(begins.tolist(), stops.tolist(), strict=True))
    return Chunk(sentences, starts[sentences][rank] + step, steps, rank)
