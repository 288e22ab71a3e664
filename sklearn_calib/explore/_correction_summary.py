"""How wrong a model was, and what reading changed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_calib._results import (
    ConfidenceInterval,
    Result,
    counted,
    format_table,
    pvalue_text,
)
from sklearn_calib._validation import Array
from sklearn_calib.explore._expected_width import ExpectedWidth

__all__ = ["CorrectionSummary"]

# A plain interval is said to be off if it holds the count less often than this share of its level.
_HELD = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class CorrectionSummary(Result):
    """How wrong a model was, and what reading changed.

    Attributes
    ----------
    by : str
        What counts were corrected by.
    keys : tuple
        What was counted.
    plain_mean, mean : ndarray of shape (n_keys,)
        Totals over all periods, given the model and corrected.
    plain_interval, confidence_interval : ConfidenceInterval
        Their intervals.
    plain_holds : ndarray of shape (n_keys,)
        Probability that the plain interval holds the count.
    confidence_level : float
        Level of the intervals.
    pvalue : float or None
        Of a test whether the model is calibrated on what was read: all keys
        together and each of them, allowing for the number of tests.
    suspect : object or None
        The key for which the model is most clearly wrong, where it is one.
    n_missed : int or None
        Keys that were read in documents in which the model saw no trace of them.
    expected_width : ExpectedWidth or None
        Widths of the intervals when more is read; its first row is for now.

    See Also
    --------
    CorrectedPosterior.summary : Makes this object.

    Notes
    -----
    Which documents were drawn depends on what the model says about them, and not
    on what they say. So the test, which asks whether documents of a given
    probability are right as often as that, needs no weights.

    Examples
    --------
    >>> from sklearn_calib.explore import counts_from_probabilities, reading_plan
    >>> posterior = counts_from_probabilities([0.9, 0.8, 0.3, 0.1] * 50, period=None)
    >>> plan = reading_plan(posterior, 100, random_state=0)
    >>> nothing = plan.answered(dict.fromkeys(plan.documents, "no"))
    >>> summary = posterior.corrected(nothing, random_state=0).summary()
    >>> summary.pvalue < 0.05, bool(summary.plain_holds[0] < 0.05)
    (True, True)
    """

    by: str
    keys: tuple[Hashable, ...]
    plain_mean: Array
    plain_interval: ConfidenceInterval
    mean: Array
    confidence_interval: ConfidenceInterval
    plain_holds: Array
    confidence_level: float
    pvalue: float | None
    suspect: Hashable | None
    n_missed: int | None
    expected_width: ExpectedWidth | None

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {
            "key": list(self.keys),
            "plain": self.plain_mean,
            "plain_low": self.plain_interval.low,
            "plain_high": self.plain_interval.high,
            "corrected": self.mean,
            "low": self.confidence_interval.low,
            "high": self.confidence_interval.high,
            "plain_holds": self.plain_holds,
        }

    def _sentence(self) -> str:
        first = f"Totals over all periods, given the model (plain) and corrected by {self.by}."
        return f"{first}\n{self.findings}"

    @property
    def findings(self) -> str:
        """Whether the model was wrong and what more reading would bring, a line for each."""
        lines = []
        if self.pvalue is None:
            lines.append("Too little is known to test whether the model is calibrated.")
        elif self.pvalue < 0.05:
            whom = "" if self.suspect is None else f", most clearly for {self.suspect}"
            lines.append(f"The model is miscalibrated ({pvalue_text(self.pvalue)}){whom}.")
        else:
            lines.append(
                f"No sign that the model is miscalibrated ({pvalue_text(self.pvalue)}), as far as "
                "these documents can show."
            )
        worst = int(np.argmin(self.plain_holds))
        if self.plain_holds[worst] < _HELD * self.confidence_level:
            low, high = (end[worst] for end in self.plain_interval)
            plain, (least, most) = (
                self.plain_mean[worst],
                (e[worst] for e in self.confidence_interval),
            )
            # Only a mean that is outside the corrected interval is known to be off.
            off = f"its mean is {abs(plain - self.mean[worst]):.4g} too "
            off += "high" if plain > most else "low"
            lines.append(
                f"The plain interval of {self.keys[worst]}, [{low:.4g}, {high:.4g}], holds the "
                f"count with probability {self.plain_holds[worst]:.2f}; "
                f"{'it is too narrow for what is known' if least <= plain <= most else off}."
            )
        if self.n_missed:
            found = counted(self.n_missed, "key was", "keys were")
            lines.append(f"{found} found where the model saw no trace of them.")
        if self.expected_width is not None and len(self.expected_width.n_documents) > 1:
            widest = int(np.argmax(self.expected_width.width[0]))
            widths = [f"{width:.3g}" for width in self.expected_width.width[:, widest]]
            more = self.expected_width.n_documents - self.expected_width.n_documents[0]
            then = [f"{w} with {n} more" for n, w in zip(more[1:], widths[1:], strict=True)]
            lines.append(
                f"The interval of {self.keys[widest]} is about {widths[0]} wide. Expected when "
                f"more are read: {', '.join(then)}."
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{format_table(self._columns(), 20)}\n{self._sentence()}"
