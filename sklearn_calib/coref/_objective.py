"""Scores of antecedents, and the likelihood of the true entities with its gradient."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib.coref._encoding import EncodedDocument, Encoder, Weights

__all__ = ["Costs", "Objective", "antecedent_probabilities", "check_costs"]

# Rows of a document that are scored together: small enough for the processor's cache.
_ROWS = 64


class Costs(NamedTuple):
    """What each kind of mistake adds to its score in training (softmax-margin)."""

    false_anaphor: float
    false_new: float
    wrong_link: float


DURRETT_KLEIN = Costs(false_anaphor=0.1, false_new=3.0, wrong_link=1.0)


def check_costs(cost: str | Iterable[float] | None) -> Costs | None:
    """Return the costs of mistakes, or None for none."""
    if cost is None:
        return None
    if isinstance(cost, str) and cost == "durrett-klein":
        return DURRETT_KLEIN
    try:
        costs = Costs(*(float(c) for c in cost))
    except (TypeError, ValueError):
        costs = None
    if costs is None or not all(np.isfinite(c) and c >= 0 for c in costs):
        raise ValueError(
            f"cost={cost!r} is not known; it should be None, 'durrett-klein', or three numbers "
            "from 0: of a false anaphor, a false new entity and a wrong link."
        )
    return costs


def _mention_scores(alone: Any, typed: Any, weights: Weights) -> tuple[Array, Array, Array]:
    """Return the scores of a new entity, U and V.

    U and V have one more column, for a type that training has not seen.
    """
    new = alone @ weights.new + typed @ weights.new_typed
    U = np.empty((len(new), weights.current_typed.shape[1] + 1))
    V = np.empty_like(U)
    for table, one, two in (
        (U, weights.current, weights.current_typed),
        (V, weights.antecedent, weights.antecedent_typed),
    ):
        table[:] = (alone @ one)[:, None]
        table[:, :-1] += typed @ two
    return new, U, V


def _pair_scores(matrices: tuple[Any, Any], weights: Weights) -> Array:
    """Return P, with minus infinity at its end for pairs that are no candidates."""
    alone, typed = matrices
    return np.append(alone @ weights.pair + typed @ weights.pair_typed.ravel(), -np.inf)


def antecedent_probabilities(
    document: EncodedDocument, encoder: Encoder, weights: Weights
) -> Array:
    """Return the lower triangular matrix of antecedent probabilities."""
    new, U, V = _mention_scores(document.alone, document.typed, weights)
    P = _pair_scores(encoder.pair_matrix(document.pairs), weights)
    scores = P[document.codes]
    scores += U[:, document.types]
    scores += V[:, document.types].T
    n = len(new)
    scores[np.arange(n), np.arange(n)] = new
    scores -= scores.max(axis=1, keepdims=True, initial=-np.inf) if n else 0.0
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


class _Block(NamedTuple):
    """Some rows of one document."""

    rows: slice  # of the mentions of all documents
    columns: slice
    reach: int  # mentions of the document up to the last row
    entries: slice  # of the flat arrays over pairs
    gold: Array  # entries of right antecedents, from the start of the block
    gold_row: Array  # and their rows
    starts: Array  # rows whose mention starts its entity


class Objective:
    """Minus the log-likelihood of the true entities plus a penalty, with its gradient."""

    def __init__(
        self,
        documents: Sequence[EncodedDocument],
        entities: Sequence[Array],
        encoder: Encoder,
        *,
        C: float,
        costs: Costs | None,
        document_weight: Array | None = None,
    ) -> None:
        self.encoder = encoder
        self.C = C
        self.costs = costs
        self.alone = sparse.vstack([d.alone for d in documents], format="csr")
        self.typed = sparse.vstack([d.typed for d in documents], format="csr")
        # Transposed once: a product with it is faster than one with a transposed view.
        self.alone_t, self.typed_t = self.alone.T.tocsr(), self.typed.T.tocsr()
        self.types = np.concatenate([d.types for d in documents])
        self.one_hot = np.eye(encoder.n_types + 1)[self.types]
        self.weight = np.repeat(
            np.ones(len(documents)) if document_weight is None else document_weight,
            [len(d.types) for d in documents],
        )
        pairs = np.concatenate([d.pairs for d in documents])
        example, inverse = encoder.distinct(pairs.T)
        self.pairs = encoder.pair_matrix(pairs[example])
        self.pairs_t = tuple(matrix.T.tocsr() for matrix in self.pairs)
        self.n_pairs = len(example)
        numbers = np.split(inverse, np.cumsum([len(d.pairs) for d in documents])[:-1])
        window = encoder.max_antecedents
        self.blocks: list[_Block] = []
        codes = []
        start = entry = 0
        for document, entity, present in zip(documents, entities, numbers, strict=True):
            n = len(entity)
            number = np.append(present, self.n_pairs)
            for low in range(0, n, _ROWS):
                high = min(low + _ROWS, n)
                first = 0 if window is None else max(0, low - window)
                block = number[document.codes[low:high, first:high]]
                right = entity[low:high, None] == entity[first:high]
                right &= block < self.n_pairs
                gold = np.flatnonzero(right)
                size = block.size
                self.blocks.append(
                    _Block(
                        slice(start + low, start + high),
                        slice(start + first, start + high),
                        high,
                        slice(entry, entry + size),
                        gold,
                        gold // (high - first),
                        ~right.any(axis=1),
                    )
                )
                codes.append(block.ravel())
                entry += size
            start += n
        self.codes = np.concatenate([np.empty(0, dtype=np.intp), *codes])
        self.residual = np.zeros(len(self.codes))

    def scale(self) -> Array:
        """Return a step for each weight, smaller where the weight is used more often.

        In units of these steps the curvature is alike in all directions, and
        L-BFGS needs a third of the iterations. The power and the factor were
        found by trying: they matter little.
        """
        encoder = self.encoder
        used = np.zeros(encoder.n_weights)
        out = Weights.of(used, encoder)
        alone, typed = self.alone_t @ self.weight, self.typed_t @ self.weight
        share = np.average(self.one_hot[:, :-1], axis=0, weights=self.weight)
        for name in ("new", "current", "antecedent"):
            getattr(out, name)[:] = alone
        out.new_typed[:] = typed
        out.current_typed[:] = out.antecedent_typed[:] = typed[:, None] * share
        # A pair counts for less where there are more candidates to choose from.
        sizes = [block.entries.stop - block.entries.start for block in self.blocks]
        one_of = [self.weight[block.rows.start] / block.reach for block in self.blocks]
        pairs = np.bincount(self.codes, np.repeat(one_of, sizes), minlength=self.n_pairs + 1)[:-1]
        out.pair[:] = self.pairs_t[0] @ pairs
        out.pair_typed[:] = (self.pairs_t[1] @ pairs).reshape(out.pair_typed.shape)
        # Steps that vanish would look like convergence.
        return (1.0 + 0.1 * min(self.C, 1e8) * used) ** -0.35

    # Where all right answers underflow, the loss is infinite and the line search steps back.
    @np.errstate(divide="ignore", over="ignore", invalid="ignore")
    def __call__(self, vector: Array) -> tuple[float, Array]:
        """Return the objective and its gradient."""
        weights = Weights.of(vector, self.encoder)
        new, U, V = _mention_scores(self.alone, self.typed, weights)
        P = _pair_scores(self.pairs, weights)
        V = np.ascontiguousarray(V.T)
        d_new, d_U, d_V = np.zeros_like(new), np.zeros_like(U), np.zeros_like(V)
        loss = 0.0
        for block in self.blocks:
            loss += self._block(block, new, U, V, P, d_new, d_U, d_V)
        d_P = np.bincount(self.codes, self.residual, minlength=self.n_pairs + 1)[: self.n_pairs]
        gradient = vector / self.C
        out = Weights.of(gradient, self.encoder)
        out.new[:] += self.alone_t @ d_new
        out.new_typed[:] += self.typed_t @ d_new
        for table, one, two in (
            (d_U, out.current, out.current_typed),
            (d_V.T, out.antecedent, out.antecedent_typed),
        ):
            one += self.alone_t @ table.sum(axis=1)
            two += self.typed_t @ np.ascontiguousarray(table[:, :-1])
        out.pair[:] += self.pairs_t[0] @ d_P
        out.pair_typed[:] += (self.pairs_t[1] @ d_P).reshape(out.pair_typed.shape)
        return loss + 0.5 / self.C * float(vector @ vector), gradient

    def _block(
        self,
        block: _Block,
        new: Array,
        U: Array,
        V: Array,
        P: Array,
        d_new: Array,
        d_U: Array,
        d_V: Array,
    ) -> float:
        """Add the gradient of some rows, and return their loss."""
        rows, columns = block.rows, block.columns
        scores = P[self.codes[block.entries]].reshape(rows.stop - rows.start, -1)
        scores += U[rows][:, self.types[columns]]
        scores += V[self.types[rows], columns]
        start_score = new[rows].copy()
        if self.costs is not None:
            false_anaphor, false_new, wrong_link = self.costs
            right = scores.ravel()[block.gold]
            scores += np.where(block.starts, false_anaphor, wrong_link)[:, None]
            scores.ravel()[block.gold] = right
            start_score += np.where(block.starts, 0.0, false_new)
        top = np.maximum(scores.max(axis=1), start_score)
        scores -= top[:, None]
        odds = np.exp(scores, out=scores)
        start_odds = np.exp(start_score - top)
        total = odds.sum(axis=1) + start_odds
        right_odds = odds.ravel()[block.gold]
        right_total = np.where(block.starts, start_odds, 0.0)
        right_total += np.bincount(block.gold_row, right_odds, minlength=len(total))
        weight = self.weight[rows]
        odds *= (weight / total)[:, None]
        loss = float(weight @ (np.log(total) - np.log(right_total)))
        share = weight / right_total
        odds.ravel()[block.gold] -= right_odds * share[block.gold_row]
        d_new[rows] = start_odds * (weight / total - np.where(block.starts, share, 0.0))
        self.residual[block.entries] = odds.ravel()
        one_hot = self.one_hot[columns]
        d_U[rows] = odds @ one_hot
        d_V[:, columns] += self.one_hot[rows].T @ odds
        return loss
