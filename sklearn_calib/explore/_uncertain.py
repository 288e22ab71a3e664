"""Documents to look at: those that are uncertain, and those that were left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_calib._validation import check_integer

if TYPE_CHECKING:
    from sklearn_calib.explore._posterior import CountPosterior

__all__ = ["SkippedDocument", "UncertainDocument"]


@dataclass(frozen=True, eq=False)
class UncertainDocument:
    """A document whose answer is far from certain.

    Attributes
    ----------
    id : str
        Name of the document.
    key : object
        What is uncertain about it.
    period : str
        Its period.
    probability : float
        Probability that the document has the key at all.
    mean, standard_deviation : float
        Of the document's count; where a document counts once, they are the
        probability p and the root of p (1 - p).
    mentions : tuple of str
        Mentions of the entity for which the rule found the key most often, ten
        at most; for tags, the sentence.

    See Also
    --------
    CountPosterior.most_uncertain : Makes these objects.
    """

    id: str
    key: Any
    period: str
    probability: float
    mean: float
    standard_deviation: float
    mentions: tuple[str, ...]

    def __str__(self) -> str:
        words = ", ".join(self.mentions)
        answer = f"{self.probability:.2f}"
        if self.mean > self.probability:  # it counts more than once
            answer = f"{self.mean:.1f} ± {self.standard_deviation:.1f}"
        return f"{self.id} ({self.period}): {self.key} {answer} [{words}]"


@dataclass(frozen=True, eq=False)
class SkippedDocument:
    """A document that was left out on request.

    Attributes
    ----------
    number : int
        Its place among the documents, from 0.
    id : str
        Its name.
    reason : str
        Why it could not be counted.

    See Also
    --------
    CountPosterior : Lists the skipped documents.
    """

    number: int
    id: str
    reason: str


def most_uncertain(posterior: CountPosterior, k: int, key: Any) -> list[UncertainDocument]:
    """Return the documents with the largest posterior variance."""
    check_integer(k, "k")
    counts = posterior.hit_counts
    mean, spread = counts.mean(axis=1), counts.std(axis=1)
    rows = np.flatnonzero(spread > 0.0)
    if key is not None:
        rows = rows[posterior.hit_key[rows] == posterior._key_index(key)]
    labels = posterior.period_labels
    return [
        UncertainDocument(
            posterior.documents[posterior.hit_document[i]],
            posterior.keys[posterior.hit_key[i]],
            labels[posterior.document_period[posterior.hit_document[i]]],
            float((counts[i] > 0).mean()),
            float(mean[i]),
            float(spread[i]),
            posterior.hit_mentions[i],
        )
        for i in rows[np.argsort(-spread[rows], kind="stable")][:k]
    ]
