"""Documents to look at: those that are uncertain, and those that were left out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn_calib._results import Result

__all__ = ["SkippedDocument", "UncertainDocument"]


@dataclass(frozen=True, eq=False, repr=False)
class UncertainDocument(Result):
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

    Examples
    --------
    >>> from sklearn_calib.explore import count_tags
    >>> samples = [[["P", "N"]] * 12 + [["P", "V"]] * 8]
    >>> [found] = count_tags([["they", "fish"]], samples).most_uncertain(1)
    >>> found
    sentence 0 (all): N 0.60 [they fish]
    """

    id: str
    key: Hashable
    period: str
    probability: float
    mean: float
    standard_deviation: float
    mentions: tuple[str, ...]

    _shows_table = False

    def _sentence(self) -> str:
        answer = f"{self.probability:.2f}"
        if self.mean > self.probability:  # it counts more than once
            answer = f"{self.mean:.1f} ± {self.standard_deviation:.1f}"
        return f"{self.id} ({self.period}): {self.key} {answer} [{', '.join(self.mentions)}]"

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {name: [value] for name, value in vars(self).items()}


@dataclass(frozen=True, eq=False, repr=False)
class SkippedDocument(Result):
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

    Examples
    --------
    >>> from sklearn_calib.explore import SkippedDocument
    >>> SkippedDocument(3, "news-0003", "OSError: the file ends in the middle")
    news-0003 was skipped: OSError: the file ends in the middle
    """

    number: int
    id: str
    reason: str

    _shows_table = False

    def _sentence(self) -> str:
        return f"{self.id} was skipped: {self.reason}"

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {name: [value] for name, value in vars(self).items()}
