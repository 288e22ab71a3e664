"""From antecedents to entities: exact link probabilities, and samples.

A mention chooses one earlier mention as its antecedent, or none and starts a
new entity. Choices are independent, and choices make entities: two mentions
share one if their chains of antecedents meet. Plain arrays in, plain arrays out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from sklearn_calib._results import Columns, Result
from sklearn_calib._validation import Array, check_generator, check_integer
from sklearn_calib._validation_documents import check_antecedent_proba

__all__ = [
    "SampledLinks",
    "link_probabilities",
    "sample_entities",
    "sampled_link_probabilities",
]

# Rows that are solved together; larger blocks leave more to the slow loop over rows.
_BLOCK = 64


def link_probabilities(antecedent_proba: ArrayLike) -> Array:
    """Probability that two mentions share an entity, for every pair, exactly.

    Parameters
    ----------
    antecedent_proba : array-like of shape (n_mentions, n_mentions)
        Lower triangular; row i holds the probability of each earlier mention
        being the antecedent of mention i, and on the diagonal that of a new
        entity. Rows sum to 1.

    Returns
    -------
    ndarray of shape (n_mentions, n_mentions)
        Symmetric, with ones on the diagonal.

    See Also
    --------
    sampled_link_probabilities : The same by sampling.
    sample_entities : Draw whole clusterings.

    Notes
    -----
    The antecedent of mention j is independent of how the mentions before it
    are clustered. So P(i ~ j) is the sum over a of P(a_j = a) P(i ~ a), which
    gives one row from the rows before. Rows are taken in blocks, so that
    nearly all of the work is matrix products: about 2/3 n³ operations, or
    less where antecedents are never far away. All terms are positive, so that
    nothing is lost to cancellation.

    Examples
    --------
    >>> from sklearn_calib.coref import link_probabilities
    >>> link_probabilities([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    array([[1.  , 0.5 , 0.35],
           [0.5 , 1.  , 0.4 ],
           [0.35, 0.4 , 1.  ]])
    """
    return links(check_antecedent_proba(antecedent_proba))


def links(proba: Array) -> Array:
    """Return exact link probabilities from checked antecedent probabilities."""
    n = len(proba)
    C = np.eye(n)
    nearest = np.argmax(proba > 0.0, axis=1) if n else np.empty(0, dtype=np.intp)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        inner = np.tril(proba[start:stop, start:stop], -1)
        corner = np.zeros_like(inner)
        low = int(nearest[start:stop].min())
        if low < start:
            outer = proba[start:stop, low:start]
            before = outer @ C[low:start, :start]
            before = linalg.solve_triangular(
                np.eye(stop - start) - inner,
                before,
                lower=True,
                unit_diagonal=True,
                check_finite=False,
            )
            C[start:stop, :start] = before
            C[:start, start:stop] = before.T
            corner = outer @ C[low:start, start:stop]
        block = C[start:stop, start:stop]
        for i in range(1, stop - start):
            block[i, :i] = corner[i, :i] + inner[i, :i] @ block[:i, :i]
            block[:i, i] = block[i, :i]
    return np.minimum(C, 1.0, out=C)  # rounding only


def sample_entities(
    antecedent_proba: ArrayLike, n_samples: int = 1, random_state: Any = None
) -> Array:
    """Draw clusterings of the mentions of a document.

    Parameters
    ----------
    antecedent_proba : array-like of shape (n_mentions, n_mentions)
        As in `link_probabilities`.
    n_samples : int, default=1
        How many clusterings to draw.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    ndarray of int of shape (n_samples, n_mentions)
        The entity of each mention in each sample: the index of the entity's
        first mention.

    See Also
    --------
    link_probabilities : What the samples say about pairs, exactly.

    Examples
    --------
    >>> from sklearn_calib.coref import sample_entities
    >>> P = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    >>> samples = sample_entities(P, 100, random_state=0)
    >>> samples.shape
    (100, 3)
    >>> bool((samples[:, 1] == samples[:, 2]).all())
    True
    """
    proba = check_antecedent_proba(antecedent_proba)
    n_samples = check_integer(n_samples, "n_samples")
    return draw_entities(proba, n_samples, check_generator(random_state))


def draw_entities(proba: Array, n_samples: int, rng: np.random.Generator) -> Array:
    """Return samples from checked antecedent probabilities."""
    n = len(proba)
    # A mention's root is its antecedent's root, so that one pass over mentions settles all samples.
    root = np.empty((n, n_samples), dtype=np.intp)
    samples = np.arange(n_samples)
    for i in range(n):
        total = np.cumsum(proba[i, : i + 1])
        # Scaled to the total, so that a rounding error in it makes no antecedent out of nothing.
        choice = np.searchsorted(total, rng.random(n_samples) * total[-1], side="right")
        root[i] = i
        if i:
            linked = choice < i
            root[i, linked] = root[choice[linked], samples[linked]]
    return np.ascontiguousarray(root.T)


def best_entities(proba: Array) -> Array:
    """Return the entities that follow from the most probable antecedents."""
    root = np.arange(len(proba))
    if len(proba):
        for i, antecedent in enumerate(proba.argmax(axis=1).tolist()):
            root[i] = root[antecedent]
    return root


@dataclass(frozen=True, eq=False, repr=False)
class SampledLinks(Result):
    """Link probabilities estimated from sampled clusterings.

    Attributes
    ----------
    probability : ndarray of shape (n_mentions, n_mentions)
        In what share of the samples two mentions share an entity.
    standard_error : ndarray of shape (n_mentions, n_mentions)
        Standard error of each share.
    n_samples : int
        Number of samples.

    See Also
    --------
    sampled_link_probabilities : Makes this object.
    """

    probability: Array
    standard_error: Array
    n_samples: int

    _shows_table = False

    def _sentence(self) -> str:
        return (
            f"Links of {len(self.probability):,} mentions, from {self.n_samples:,} samples; "
            f"largest standard error {np.max(self.standard_error, initial=0.0):.4f}"
        )

    def _columns(self) -> Columns:
        """Return one row per link."""
        mention, earlier = np.tril_indices(len(self.probability), -1)
        return {
            "mention": mention,
            "earlier": earlier,
            "probability": self.probability[mention, earlier],
            "standard_error": self.standard_error[mention, earlier],
        }


def sampled_link_probabilities(
    antecedent_proba: ArrayLike, n_samples: int = 1000, random_state: Any = None
) -> SampledLinks:
    """Probability that two mentions share an entity, by sampling.

    `link_probabilities` is exact and faster. This function is kept for
    comparison, and as a pattern for questions that have no exact answer.

    Parameters
    ----------
    antecedent_proba : array-like of shape (n_mentions, n_mentions)
        As in `link_probabilities`.
    n_samples : int, default=1000
        How many clusterings to draw.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    SampledLinks
        The estimates and their standard errors.

    See Also
    --------
    link_probabilities : The exact answer.

    Examples
    --------
    >>> from sklearn_calib.coref import sampled_link_probabilities
    >>> result = sampled_link_probabilities([[1.0, 0.0], [0.5, 0.5]], 400, random_state=0)
    >>> result
    Links of 2 mentions, from 400 samples; largest standard error 0.0250
    >>> float(result.probability[0, 1].round(2)), float(result.standard_error[0, 1].round(3))
    (0.52, 0.025)
    """
    samples = sample_entities(antecedent_proba, n_samples, random_state)
    share = pair_counts(samples) / len(samples)
    return SampledLinks(share, np.sqrt(share * (1.0 - share) / len(samples)), len(samples))


def pair_counts(samples: Array) -> Array:
    """Return how often two mentions share an entity, over samples of shape (n_samples, n)."""
    n_samples, n = samples.shape
    counts = np.zeros((n, n))
    # A column for each entity of each sample: the product counts the pairs within entities.
    step = max(1, 1_000_000 // max(n, 1))
    for start in range(0, n_samples, step):
        chunk = samples[start : start + step]
        columns = (chunk + n * np.arange(len(chunk))[:, None]).ravel()
        rows = np.tile(np.arange(n), len(chunk))
        member = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(n, n * len(chunk)))
        counts += (member @ member.T).toarray()
    return counts
