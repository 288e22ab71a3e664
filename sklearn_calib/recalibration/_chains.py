"""Recalibration of taggers: scales of their scores, and a bias for each tag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from sklearn_calib._validation import Array
from sklearn_calib._validation_sequences import check_sentences, check_tags, flatten
from sklearn_calib.recalibration._held_out import HeldOut
from sklearn_calib.recalibration._marginal_loss import Chains, marginal_loss
from sklearn_calib.sequence._tagger import SequenceTagger

__all__ = ["ChainNumbers", "ScaledTagger", "aligned_codes", "fit_chain", "is_chain"]

# Where the logarithm of a scale may lie: without bounds it runs away on data that are separated.
_BOUND = np.log(20.0)
# Weight of a penalty on the squares of biases and of logarithms of scales, against a Brier score
# that is summed over tokens: it keeps what few tokens say about a rare tag from being believed.
_SHRINKAGE = 2.5


class ChainNumbers(NamedTuple):
    """What is done to the scores of a tagger."""

    temperature: float  # potentials are divided by it
    transition_temperature: float  # and transition scores by this one
    bias: Array  # is added to the potentials of each tag


def is_chain(model: Any) -> bool:
    """Tell whether a model is a linear chain: a tagger of ours, or one with its scores."""
    return isinstance(model, SequenceTagger) or all(
        hasattr(model, name) for name in ("log_potentials", "log_transitions_", "classes_")
    )


def _potentials(tagger: Any, sentences: list[Any]) -> Array:
    if isinstance(tagger, SequenceTagger):
        return tagger._potentials(sentences)
    return np.array(tagger.log_potentials(sentences), dtype=np.float64)


def _transitions(tagger: Any) -> Array:
    if isinstance(tagger, SequenceTagger):
        return tagger._log_transitions
    return np.asarray(tagger.log_transitions_, dtype=np.float64)


class ScaledTagger(SequenceTagger):
    """A fitted tagger with its scores scaled: one distribution, like the tagger itself.

    Parameters
    ----------
    tagger : fitted tagger
        A linear chain.
    numbers : ChainNumbers
        Temperatures and biases.
    """

    def __init__(self, tagger: Any, numbers: ChainNumbers) -> None:
        self.tagger = tagger
        self.numbers = numbers
        self.classes_ = np.asarray(tagger.classes_)
        self.pairs_ = list(getattr(tagger, "pairs_", []))

    def fit(self, X: object, y: object) -> ScaledTagger:
        """Do nothing: the tagger is fitted, and an estimator has this method."""
        return self

    def _potentials(self, sentences: list[Any]) -> Array:
        potentials = _potentials(self.tagger, sentences)
        potentials /= self.numbers.temperature
        potentials += self.numbers.bias
        return potentials

    @property
    def _log_transitions(self) -> Array:
        return _transitions(self.tagger) / self.numbers.transition_temperature


def aligned_codes(classes: Array, tags: Sequence[str]) -> Array:
    """Return the column of each tag in sorted classes; -1 for one that has none."""
    index = {tag: code for code, tag in enumerate(classes.tolist())}
    return np.array([index.get(tag, -1) for tag in tags], dtype=np.intp)


def _chains_of(part: HeldOut, classes: Array) -> Chains:
    """Return the scores of a held-out fold, with a column for each tag of the final model."""
    sentences = check_sentences(part.X)
    lengths = np.array([len(sentence) for sentence in sentences], dtype=np.intp)
    gold = aligned_codes(classes, flatten(check_tags(part.y, lengths=lengths)))
    weight = np.ones(len(lengths)) if part.weight is None else part.weight
    columns = aligned_codes(classes, np.asarray(part.model.classes_).tolist())
    # A tag that the fold knows and the final model does not: a frozen model with other tags.
    kept = columns >= 0
    k = len(classes)
    potentials = np.full((int(lengths.sum()), k), -np.inf)
    potentials[:, columns[kept]] = _potentials(part.model, sentences)[:, kept]
    transitions = np.full((k, k), -np.inf)
    inner = _transitions(part.model)[np.ix_(kept, kept)]
    transitions[np.ix_(columns[kept], columns[kept])] = inner
    return Chains(potentials, transitions, lengths, gold, np.repeat(weight, lengths))


def fit_chain(held_out: Sequence[HeldOut], classes: Array, *, biases: bool) -> ChainNumbers:
    """Return the numbers for which held-out marginals have the least Brier score.

    Without biases there is one temperature for potentials and transitions. Log
    loss would listen to the few tokens about which a model that has learned its
    training sentences by heart is very sure and wrong.
    """
    chains = [_chains_of(part, classes) for part in held_out]
    finite = [
        tuple(np.where(np.isfinite(score), score, 0.0) for score in own[:2]) for own in chains
    ]
    k = len(classes)
    total = sum(float(own.weight.sum()) for own in chains)

    def split(x: Array) -> tuple[float, float, Array]:
        scales = np.exp(x[:2]) if biases else np.exp(np.repeat(x, 2))
        return float(scales[0]), float(scales[1]), x[2:] if biases else np.zeros(k)

    def loss(x: Array) -> tuple[float, Array]:
        scale, step, bias = split(x)
        value, gradient = 0.0, np.zeros(2 + k)
        for own, (potentials, transitions) in zip(chains, finite, strict=True):
            found = marginal_loss(
                own._replace(
                    potentials=scale * own.potentials + bias, transitions=step * own.transitions
                )
            )
            value += found.value
            gradient[0] += scale * np.vdot(found.potentials, potentials)
            gradient[1] += step * np.vdot(found.transitions, transitions)
            gradient[2:] += found.potentials.sum(axis=0)
        free = gradient if biases else gradient[:2].sum(keepdims=True)
        return (
            (value + 0.5 * _SHRINKAGE * float(x @ x)) / total,
            (free + _SHRINKAGE * x) / total,
        )

    result = minimize(
        loss,
        np.zeros(2 + k if biases else 1),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-_BOUND, _BOUND)] * (2 + k if biases else 1),
        options={"maxiter": 100, "ftol": 1e-7},
    )
    scale, step, bias = split(result.x)
    return ChainNumbers(1.0 / scale, 1.0 / step, bias)
