"""Training a conditional random field on the lattice itself.

CRFsuite trains one objective. Here the objective is any function of the
marginals: they have gradients (`_vjp`), and scipy's L-BFGS does the rest.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning

from sklearn_calib._validation import Array
from sklearn_calib.sequence._crfsuite_file import CRFModel
from sklearn_calib.sequence._lattice import marginals
from sklearn_calib.sequence._log_recursions import ImpossibleError
from sklearn_calib.sequence._packing import starts_of
from sklearn_calib.sequence._soft_bins import soft_squared_error
from sklearn_calib.sequence._vjp import marginals_vjp

__all__ = ["OBJECTIVES", "Objective", "TokenMatrix", "train"]

OBJECTIVES = ("likelihood", "marginal", "calibrated", "softmax_margin")

# The number of past steps that L-BFGS remembers, and the number of iterations over which
# progress is measured: CRFsuite's own.
_MEMORY, _PERIOD = 6, 10
# How far ahead a path is followed, in steps like the last one.
_FURTHEST = 3.0
# A marginal below this has no logarithm worth following.
_LEAST = 1e-300
_TO_INFINITY = (
    "Training went to infinity. Feature values may be too large, or c2 too small: scale the "
    "features, or raise c2."
)


class TokenMatrix:
    """Attributes of tokens as a product of sparse matrices, one row per token.

    Attributes that depend on single words are shared by all tokens with these
    words around them: two small factors stand for one large matrix.
    """

    def __init__(self, factors: Sequence[Any]) -> None:
        self.factors = [factor.tocsr() for factor in factors]
        self.transposed = [factor.T.tocsr() for factor in factors]

    @property
    def n_attributes(self) -> int:
        return int(self.factors[-1].shape[1])

    def scores(self, weights: Array) -> Array:
        """Return the score of each tag of each token."""
        for factor in reversed(self.factors):
            weights = factor @ weights
        return weights

    def sums(self, values: Any) -> Any:
        """Return the sum over tokens of attributes times values: the adjoint of `scores`."""
        for factor in self.transposed:
            values = factor @ values
        return values


@dataclass(frozen=True)
class Objective:
    """What is to be minimised, beside the penalty of the weights.

    Attributes
    ----------
    name : str
        One of OBJECTIVES.
    margin : float
        What a wrong tag costs under "softmax_margin".
    strength : float
        Weight of the calibration error under "calibrated".
    """

    name: str = "likelihood"
    margin: float = 1.0
    strength: float = 1.0

    def __call__(
        self, potentials: Array, transitions: Array, lengths: Array, tags: Array, weight: Array
    ) -> tuple[float, Array, Array]:
        """Return the value and its derivatives by potentials and transitions.

        `tags` has the number of the true tag of each token, `weight` the weight of each
        sentence. The potentials may be overwritten.
        """
        rows = np.arange(len(tags))
        each = np.repeat(weight, lengths)
        unequal = weight if (weight != 1.0).any() else None
        if self.name == "softmax_margin":
            # A wrong tag looks better than it is, so that the right one has to be better still.
            potentials += self.margin
            potentials[rows, tags] -= self.margin
        own = potentials[rows, tags]
        calibrated = self.name == "calibrated" and bool(self.strength)
        # Gradients of marginals need the potentials; without them, marginals take their place.
        found = marginals(
            potentials,
            transitions,
            lengths,
            expected_transitions=self.name != "marginal",
            sequence_weight=unequal,
            out=None if calibrated or self.name == "marginal" else potentials,
        )
        proba = found.proba
        if self.name == "marginal":
            true = np.maximum(proba[rows, tags], _LEAST)
            slopes = np.zeros_like(proba)
            slopes[rows, tags] = -each / true
            gradients = marginals_vjp(potentials, transitions, lengths, proba, slopes)
            return -float(each @ np.log(true)), *gradients
        later = np.ones(len(tags), dtype=bool)
        later[starts_of(lengths)] = False
        at = np.flatnonzero(later)
        value = float(weight @ found.log_normalizer)
        value -= float(each @ own)
        value -= float(each[at] @ transitions[tags[at - 1], tags[at]])
        to_transitions = np.zeros_like(transitions)
        if found.expected_transitions is not None:
            to_transitions += found.expected_transitions
        np.subtract.at(to_transitions, (tags[at - 1], tags[at]), each[at])
        extra = None
        if calibrated:
            error, slopes = soft_squared_error(proba, tags, each)
            value += self.strength * error
            slopes *= self.strength
            extra = marginals_vjp(potentials, transitions, lengths, proba, slopes)
        proba[rows, tags] -= 1.0
        if unequal is not None:
            proba *= each[:, np.newaxis]
        if extra is not None:
            proba += extra[0]
            to_transitions += extra[1]
        return value, proba, to_transitions


def train(
    features: TokenMatrix,
    tags: Array,
    lengths: Array,
    weight: Array,
    *,
    attributes: Sequence[str],
    labels: Sequence[str],
    objective: Objective,
    c2: float,
    max_iterations: int | None,
    tol: float,
    all_transitions: bool,
    path: Sequence[tuple[float, CRFModel]] = (),
    verbose: bool = False,
) -> tuple[CRFModel, optimize.OptimizeResult]:
    """Return the model with the least objective, and what the optimiser says.

    `path` has the penalties and the models of the fits before, where training begins.
    """
    k = len(labels)
    state, seen = _observed(features, tags, lengths, k, all_transitions)
    n_state = len(state)
    weights = np.zeros((features.n_attributes, k))
    transitions = np.zeros((k, k))

    def unpack(theta: Array) -> None:
        weights.ravel()[state] = theta[:n_state]
        transitions[seen] = theta[n_state:]

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        unpack(theta)
        try:
            value, to_potentials, to_transitions = objective(
                features.scores(weights), transitions, lengths, tags, weight
            )
        except ImpossibleError:
            # Training forbids nothing: a path is lost only where scores leave the range of floats.
            raise ValueError(_TO_INFINITY) from None
        gradient = 2.0 * c2 * theta
        gradient[:n_state] += features.sums(to_potentials).ravel()[state]
        gradient[n_state:] += to_transitions[seen]
        return value + c2 * float(theta @ theta), gradient

    known = [
        (penalty, _known_weights(model, attributes, labels, state, seen)) for penalty, model in path
    ]
    first = _start(known, c2, value_and_gradient) if known else np.zeros(n_state + int(seen.sum()))
    result = _minimise(value_and_gradient, first, max_iterations, tol, verbose)
    unpack(result.x)
    # Attributes that no training token has were only names.
    rows = np.unique(state // k)
    names = {attributes[row]: place for place, row in enumerate(rows.tolist())}
    model = CRFModel(
        list(labels), names, sparse.csr_matrix(weights[rows]), transitions.copy(), seen
    )
    return model, result


def _observed(
    features: TokenMatrix, tags: Array, lengths: Array, k: int, all_transitions: bool
) -> tuple[Array, Array]:
    """Return which attributes and tags, and which two tags, were seen together: the weights."""
    n = len(tags)
    truth = sparse.csr_matrix((np.ones(n), (np.arange(n), tags)), shape=(n, k))
    # An attribute of value 0 is there, as in CRFsuite, and so are values that add up to 0.
    pattern = [sparse.csr_matrix(f) for f in features.factors]
    for factor in pattern:
        factor.data = np.ones_like(factor.data)
    found = sparse.coo_matrix(TokenMatrix(pattern).sums(truth))
    state = np.unique(found.row.astype(np.int64) * k + found.col)
    seen = np.full((k, k), all_transitions)
    later = np.ones(n, dtype=bool)
    later[starts_of(lengths)] = False
    at = np.flatnonzero(later)
    seen[tags[at - 1], tags[at]] = True
    return state, seen


def _start(
    known: Sequence[tuple[float, Array]],
    c2: float,
    function: Callable[[Array], tuple[float, Array]],
) -> Array:
    """Return where to begin: at the last weights, or further on along the path, if that is lower.

    The weights of a path change almost linearly with the log of the penalty.
    """
    penalty, last = known[-1]
    if len(known) == 1 or not min(c2, penalty, known[-2][0]) > 0.0:
        return last
    step, ahead = np.log(penalty / known[-2][0]), np.log(c2 / penalty)
    if ahead == 0.0 or not abs(ahead) <= _FURTHEST * abs(step):
        return last
    further = last + ahead / step * (last - known[-2][1])
    # The fits before may have been of other data, or had another objective.
    return min((last, further), key=lambda theta: function(theta)[0])


def _known_weights(
    start: CRFModel, attributes: Sequence[str], labels: Sequence[str], state: Array, seen: Array
) -> Array:
    """Return the weights of an earlier model, where it has the same attributes and tags."""
    k = len(labels)
    column = np.array(
        [start.labels.index(label) if label in start.labels else -1 for label in labels]
    )
    row = np.array([start.attributes.get(name, -1) for name in attributes], dtype=np.intp)
    rows, columns = row[state // k], column[state % k]
    known = (rows >= 0) & (columns >= 0)
    first = np.zeros(len(state) + int(seen.sum()))
    values = start.weights.tocsr()[rows[known], columns[known]]
    first[: len(state)][known] = np.asarray(values).ravel()
    i, j = np.nonzero(seen)
    both = (column[i] >= 0) & (column[j] >= 0)
    first[len(state) :][both] = start.transitions[column[i[both]], column[j[both]]]
    return first


def _minimise(
    function: Callable[[Array], tuple[float, Array]],
    first: Array,
    max_iterations: int | None,
    tol: float,
    verbose: bool,
) -> optimize.OptimizeResult:
    """Run L-BFGS until the value falls by less than a share `tol` in ten iterations."""
    values: list[float] = []
    stopped = False

    def watch(intermediate_result: optimize.OptimizeResult) -> None:
        nonlocal stopped
        values.append(float(intermediate_result.fun))
        if verbose:
            print(f"CRFTagger: iteration {len(values)}, {values[-1]:,.4f}", file=sys.stderr)
        if len(values) > _PERIOD:
            stopped = values[-1 - _PERIOD] - values[-1] <= tol * abs(values[-1])
        if stopped:
            raise StopIteration

    most = 1_000_000 if max_iterations is None else max_iterations
    result = optimize.minimize(
        function,
        first,
        jac=True,
        method="L-BFGS-B",
        callback=watch,
        options={
            "maxiter": most,
            "maxfun": 20 * most,
            "maxcor": _MEMORY,
            "ftol": 0.0,
            "gtol": 1e-10,
        },
    )
    result.converged = bool(stopped or result.success)
    if not np.isfinite(result.fun):
        raise ValueError(_TO_INFINITY)
    if not result.converged and result.nit < most:
        # The line search finds no lower point: as low as floats can tell.
        result.converged = bool(np.abs(result.jac).max() <= 1e-4 * max(1.0, abs(result.fun)))
    if not result.converged:
        what_to_do = (
            "Raise max_iterations, or c2, or tol."
            if result.nit == most
            else "No step lowers the objective, though it is not flat: scale the features, or "
            "raise c2."
        )
        warnings.warn(
            f"Training stopped in iteration {result.nit} before it converged. {what_to_do}",
            ConvergenceWarning,
            stacklevel=5,  # the line that called fit
        )
    return result
