"""Which documents to read by hand, with known inclusion probabilities."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_calib._files import FileError, listed, open_text, shortened
from sklearn_calib._output import check_target, write_whole
from sklearn_calib._results import Result, counted
from sklearn_calib._validation import (
    Array,
    RandomState,
    check_generator,
    check_integer,
    is_missing,
)
from sklearn_calib.explore._expected_width import ExpectedWidth, expected_width
from sklearn_calib.explore._keys import some_keys
from sklearn_calib.explore._posterior import CountPosterior
from sklearn_calib.explore._read_documents import ReadDocuments
from sklearn_calib.explore._survey import (
    draw_sample,
    permanent_numbers,
    sampling_sizes,
    scaled_to,
)

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["ReadingPlan", "reading_plan"]

# Keys of a document that are less probable than this are not asked about one by one.
_PLAUSIBLE = 0.01
# The share of the sample that is in proportion to uncertainty; the rest is for all alike.
UNCERTAIN_SHARE = 0.6
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]*)?")
_YES = {"yes", "y", "true", "t", "1", "1.0", "x"}
_NO = {"no", "n", "false", "f", "0", "0.0"}
# So many gaps where the model sees nothing are no accident.
_MANY_GAPS = 5
_COLUMNS = ("document", "period", "title", "key", "why", "answer")
_FORMAT = "sklearn-calib reading plan 1"

# How often each key was found in a document; keys that are absent were not.
Found = Mapping[Hashable, int]


@dataclass(frozen=True, eq=False, repr=False)
class ReadingPlan(Result):
    """Documents to read by hand, drawn with known probabilities.

    Attributes
    ----------
    posterior : CountPosterior
        The counts that are to be corrected.
    n_documents : int
        How many documents are to be read.
    seed : int
        Fixes which documents are drawn.
    answers : mapping of str to mapping of key to int
        What was found in the documents that were read: how often each key
        occurs. Keys that are not listed do not.

    See Also
    --------
    reading_plan : Makes this object.
    CountPosterior.corrected : Takes an answered plan.

    Notes
    -----
    Documents are in the order in which they should be read. Whoever stops early
    has read the plan of fewer documents, and nothing is lost. An extended plan
    begins with the documents of the shorter one.

    A document counts as read when it has at least one answer. Its other keys,
    whether they are listed or not, are then "no". Documents without any answer
    count as unread: the inclusion probabilities of the others become those of a
    plan of as many documents, or, where the answers have gaps, are multiplied by
    the share that was answered. The latter assumes that gaps have nothing to do
    with what the documents say.

    Examples
    --------
    >>> from sklearn_calib.explore import counts_from_probabilities, reading_plan
    >>> p = [0.9, 0.2, 0.5, 0.01, 0.0, 0.03]
    >>> posterior = counts_from_probabilities(p, period=None, document=list("abcdef"))
    >>> plan = reading_plan(posterior, 3, random_state=0)
    >>> plan.documents
    ('a', 'f', 'b')
    >>> answered = plan.answered({"a": "yes", "b": "no", "f": "no"})
    >>> answered.n_answered
    3
    """

    posterior: CountPosterior
    n_documents: int
    seed: int
    answers: Mapping[str, Found] = field(default_factory=dict)

    # --- what was drawn

    @cached_property
    def _sizes(self) -> Array:
        return document_sizes(self.posterior)

    @cached_property
    def _numbers(self) -> Array:
        """The random number that each document keeps, however far the plan is extended."""
        counts = self.posterior
        n = len(counts.documents)
        # Neighbours are of one period, are about the same key, and are as uncertain.
        key, top = np.full(n, -1), np.zeros(n)
        order = np.argsort(counts.hits.mean, kind="stable")
        key[counts.hit_document[order]] = counts.hit_key[order]
        top[counts.hit_document[order]] = counts.hits.mean[order]
        alike = np.lexsort((top, key, counts.document_period))
        return permanent_numbers(n, rng=np.random.default_rng(self.seed), order=alike)

    @cached_property
    def _drawn(self) -> tuple[Array, Array]:
        places, inclusion = draw_sample(self._sizes, self._numbers, self.n_documents)
        return places, inclusion[places]

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """The documents, in the order in which they should be read."""
        return tuple(self.posterior.documents[i] for i in self._drawn[0])

    @property
    def inclusion_probability(self) -> Array:
        """The probability with which each of the documents was drawn."""
        return self._drawn[1]

    @property
    def n_answered(self) -> int:
        """How many documents have been read."""
        return len(self.answers)

    def extended(self, n_more: int) -> ReadingPlan:
        """Return a plan of more documents, which begins with those of this one.

        Parameters
        ----------
        n_more : int
            How many documents to add. Answers are kept.

        Returns
        -------
        ReadingPlan
            The longer plan. Its inclusion probabilities are those of all its
            documents together.
        """
        n = self.n_documents + check_integer(n_more, "n_more")
        return replace(self, n_documents=min(n, len(self.posterior.documents)))

    def expected_width(
        self, n_documents: Iterable[int] = (50, 100, 200, 500), *, confidence_level: float = 0.95
    ) -> ExpectedWidth:
        """Say how wide corrected intervals will be, if the model is about right.

        Parameters
        ----------
        n_documents : iterable of int, default=(50, 100, 200, 500)
            How many documents might be read.
        confidence_level : float, default=0.95
            Level of the intervals.

        Returns
        -------
        ExpectedWidth
            Widths of the intervals of each key's total, by number of documents.
            A model that is wrong makes other intervals, wider as a rule.
        """
        sizes = [check_integer(n, "n_documents") for n in n_documents]
        return expected_width(self.posterior, self._sizes, sizes, confidence_level, self.seed)

    # --- what was found

    def answered(
        self, answers: Mapping[Hashable, Any] | str | Path | DataFrame | Series
    ) -> ReadingPlan:
        """Return the plan with answers.

        Parameters
        ----------
        answers : mapping, path, DataFrame or Series
            A mapping (or series) of documents to answers: "yes" or "no", True or
            False, or a number where documents count more than once; or to a mapping of keys
            to such answers, or to a list of the keys that were found. Or the
            CSV file of `to_csv`, or a data frame of that form, with the answers
            filled in; rows may be added for further keys of a document.

        Returns
        -------
        ReadingPlan
            The same plan with these answers, beside those that it has already.
        """
        source = f"{answers}: " if isinstance(answers, (str, Path)) else ""
        found: dict[str, dict[Hashable, int]] = {}
        planned = set(self.documents)
        strangers: list[str] = []
        for where, document, key, value in self._rows_of(answers):
            if document not in planned:
                strangers.append(document)
                continue
            number = self._number_of(value, where)
            if number is None:
                continue
            name = self._key_of(key, number, where)
            mine = found.setdefault(document, {})
            if name is None:
                continue
            if mine.setdefault(name, number) != number:
                raise ValueError(
                    f"{where} contradicts another answer about {name!r} in {document!r}: "
                    f"{number} here, {mine[name]} there."
                )
        if strangers:
            names = list(dict.fromkeys(strangers))
            known = set(self.posterior.documents)
            kind = "in the plan" if names[0] in known else "among the documents that were counted"
            raise ValueError(
                f"{source}{counted(len(names), 'document')} with answers "
                f"{'is' if len(names) == 1 else 'are'} not {kind}: {listed(names)}. Answers "
                "for documents that were not drawn would bias the counts: leave them out, or "
                "extend the plan until it has them."
            )
        return replace(self, answers={**self.answers, **self._merged(found, source)})

    def _merged(self, found: Mapping[str, dict[Hashable, int]], source: str) -> dict[str, Found]:
        """Return new answers, which may not contradict old ones."""
        kept: dict[str, Found] = {}
        for document, mine in found.items():
            kept[document] = {key: number for key, number in mine.items() if number}
            old = self.answers.get(document)
            if old is not None and dict(old) != kept[document]:
                raise ValueError(
                    f"{source}The answers about {document!r} contradict those that the plan has "
                    f"already: {_written(kept[document])} now, {_written(old)} before."
                )
        return kept

    def _rows_of(self, answers: Any) -> Iterator[tuple[str, str, Any, Any]]:
        """Yield where an answer stands, its document, its key (None for all) and itself."""
        if isinstance(answers, (str, Path)):
            yield from self._rows_of_file(Path(answers))
        elif hasattr(answers, "columns"):
            _check_header(answers.columns, "The data frame")
            keys = answers["key"] if "key" in answers.columns else [None] * len(answers)
            rows = zip(answers["document"], keys, answers["answer"], strict=True)
            for number, (document, key, value) in enumerate(rows):
                yield f"Row {number}", str(document), None if is_missing(key) else key, value
        elif isinstance(answers, Mapping) or hasattr(answers, "items"):
            # A mapping, or a series of pandas.
            for document, value in answers.items():
                where = f"The answer for {document!r}"
                if isinstance(value, Mapping):
                    for key, number in value.items():
                        yield where, str(document), key, number
                    if not value:
                        yield where, str(document), None, 0
                elif isinstance(value, (list, tuple, set, frozenset)):
                    for key in value:
                        yield where, str(document), key, 1
                    if not value:
                        yield where, str(document), None, 0
                else:
                    yield where, str(document), None, value
        else:
            raise TypeError(
                "answers must be a mapping of documents to answers, the path of a CSV file or a "
                f"data frame; got {type(answers).__name__}."
            )

    def _rows_of_file(self, path: Path) -> Iterator[tuple[str, str, Any, Any]]:
        with path.open("rb") as raw:
            start = raw.read(4)
        if start == b"PK\x03\x04":
            raise ValueError(
                f"{path} is not a CSV file in UTF-8. Save it as CSV in UTF-8; a workbook such as "
                ".xlsx can be passed as the data frame that pandas reads from it."
            )
        # Spreadsheets write this mark in front of their "Unicode text".
        encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        # Names and titles may hold line breaks of any kind, and they are not ends of rows.
        with open_text(path, newline="", encoding=encoding) as file:
            first = file.readline()
            # Spreadsheets of some countries write semicolons.
            delimiter = max(",;\t", key=first.count)
            reader = csv.reader(chain([first], file), delimiter=delimiter)
            try:
                header = next(reader, [])
                _check_header(header, str(path))
                for cells in reader:
                    row = dict(zip(header, cells, strict=False))
                    where = f"{path}, line {reader.line_num}"
                    if row and "answer" not in row and any(map(str.strip, cells)):
                        raise ValueError(
                            f"{where}: {counted(len(header), 'column')} are expected, as in the "
                            f"header, but there are {len(cells)}."
                        )
                    if row:
                        yield (
                            where,
                            row.get("document", ""),
                            row.get("key") or None,
                            row.get("answer", ""),
                        )
            except csv.Error as error:
                raise ValueError(f"{path}, line {reader.line_num}: {error}.") from None

    def _number_of(self, value: Any, where: str) -> int | None:
        """Return how often a key was found according to an answer; None if there is none."""
        if is_missing(value):
            return None
        if isinstance(value, (bool, np.bool_)):
            return int(value)
        if isinstance(value, str):
            word = value.strip().lower()
            if not word:
                return None
            if word in _YES or word in _NO:
                return int(word in _YES)
            value = float(word) if _NUMBER.fullmatch(word) else value
        if isinstance(value, (int, float, np.number)) and 0 <= value < 1e15 and value == int(value):
            number = int(value)
            if number > 1 and not self._counts_more:
                raise ValueError(
                    f"{where}: the answer is {number}, but a document counts once here: it is yes "
                    "or no."
                )
            return number
        wanted = "a whole number" if self._counts_more else "yes or no"
        raise ValueError(f"{where}: the answer is {shortened(value)}; it should be {wanted}.")

    @property
    def _counts_more(self) -> bool:
        return self.posterior.hits.several

    @cached_property
    def _key_names(self) -> dict[str, Hashable]:
        names = {str(key): key for key in self.posterior.keys}
        if len(names) < len(self.posterior.keys):
            raise ValueError("Two keys look the same as text, so that answers would be ambiguous.")
        return names

    def _key_of(self, key: Any, number: int, where: str) -> Hashable | None:
        """Return the key that an answer is about; None for an answer that is no to all."""
        keys = self.posterior.keys
        if key is None:
            if len(keys) == 1:
                return keys[0]
            if number:
                raise ValueError(
                    f"{where} is yes, but does not say to which key; the keys are "
                    f"{some_keys(keys)}."
                )
            return None
        if key in keys:
            return key
        if isinstance(key, np.generic) and key.item() in keys:
            return key.item()
        if str(key).strip() in self._key_names:
            return self._key_names[str(key).strip()]
        raise ValueError(
            f"{where} is about the key {shortened(key)}, which was not counted. Name it in keys= "
            "when counting, so that it is a series of its own."
        )

    def read(self) -> ReadDocuments:
        """Return the documents that were read, as arrays; see the notes of the class."""
        order = {name: i for i, name in enumerate(self.documents)}
        rows = np.array(sorted(order[name] for name in self.answers), dtype=np.int64)
        places, inclusion = self._drawn
        n, k = len(places), len(rows)
        if k == n:
            mended = inclusion[rows]
        elif k and rows[-1] == k - 1:
            # The beginning of a plan is the plan of fewer documents.
            mended = scaled_to(self._sizes, k)[places[rows]]
        else:
            self._warn_of_gaps(rows)
            mended = inclusion[rows] * (k / n)
        column = {key: i for i, key in enumerate(self.posterior.keys)}
        counts = np.zeros((k, len(column)), dtype=np.int64)
        for at, row in enumerate(rows):
            for key, number in self.answers[self.documents[row]].items():
                counts[at, column[key]] = number
        return ReadDocuments(places[rows], mended, counts)

    def _warn_of_gaps(self, rows: Array) -> None:
        """Warn where those documents alone have no answer in which the model sees nothing."""
        trace = np.array([len(hits) > 0 for hits in self._plausible()])
        open_rows = np.ones(len(trace), dtype=bool)
        open_rows[rows] = False
        if open_rows.sum() >= _MANY_GAPS and not trace[open_rows].any():
            warnings.warn(
                f"{counted(int(open_rows.sum()), 'document')} in which the model sees nothing "
                f"{'has' if open_rows.sum() == 1 else 'have'} no answer, and all others have one. "
                "Answer 'no' if they were read and have none of the keys: what the model misses "
                "can only be found there.",
                UserWarning,
                stacklevel=2,
            )

    def answers_for(self, posterior: CountPosterior) -> ReadDocuments:
        """Return the answers for counts of the same documents: all keys, or a choice of them.

        Parameters
        ----------
        posterior : CountPosterior
            The counts of the plan, or what `total` or `select` made of them.
        """
        if not self.answers:
            raise ValueError(
                "The plan has no answers yet: read the documents, and pass what "
                "plan.answered(answers) returns."
            )
        own = self.posterior
        read = self.read()
        if posterior is own:
            return read
        another = "The plan was drawn for other counts"
        if posterior.documents != own.documents:
            raise ValueError(f"{another}: the documents are not the same.")
        lacking = [key for key in posterior.keys if key not in own.keys]
        if lacking:
            raise ValueError(
                f"{another}: they do not have the key {lacking[0]!r}. Correct first and pool then."
            )
        for key in posterior.keys:
            before, now = own.probability(key), posterior.probability(key)
            wrong = np.flatnonzero(~np.isclose(before, now, rtol=0.0, atol=1e-9))
            if len(wrong):
                at = int(wrong[0])
                raise ValueError(
                    f"{another}: the probability of {key!r} in {own.documents[at]!r} is "
                    f"{now[at]:.4g} here and was {before[at]:.4g} there."
                )
        return read.select([own.keys.index(key) for key in posterior.keys])

    # --- on paper

    def _questions(self) -> dict[str, list[Any]]:
        """Return one row per document and plausible key."""
        counts = self.posterior
        labels = counts.period_labels
        columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        # The share of the sample that is for all documents alike.
        even = (1.0 - UNCERTAIN_SHARE) / len(counts.documents)
        for place, hits in zip(self._drawn[0].tolist(), self._plausible(), strict=True):
            name = counts.documents[place]
            answers = self.answers.get(name)
            asked: dict[Hashable | None, tuple[str, ...]] = {
                counts.keys[counts.hit_key[i]]: counts.hit_mentions[i] for i in hits
            }
            asked |= {key: () for key in answers or () if key not in asked}
            if not asked:
                asked = {counts.keys[0] if len(counts.keys) == 1 else None: ()}
            unsure = self._sizes[place] > 2.0 * even
            why = "the model is unsure" if unsure else "drawn from all documents"
            for key, mentions in asked.items():
                columns["document"].append(name)
                columns["period"].append(labels[counts.document_period[place]])
                columns["title"].append(counts.titles[place] if counts.titles else "")
                columns["key"].append("" if key is None else str(key))
                columns["why"].append(f"{why}: {', '.join(mentions)}" if mentions else why)
                columns["answer"].append(self._answer_text(answers, key))
        return columns

    def _plausible(self) -> list[Array]:
        """Return the hits of each document of the plan that are worth a row, likely ones first."""
        counts, places = self.posterior, self._drawn[0]
        rank = np.full(len(counts.documents), -1)
        rank[places] = np.arange(len(places))
        mean = counts.hits.mean
        rows = np.flatnonzero((rank[counts.hit_document] >= 0) & (mean >= _PLAUSIBLE))
        rows = rows[np.lexsort((-mean[rows], rank[counts.hit_document[rows]]))]
        ends = np.searchsorted(rank[counts.hit_document[rows]], np.arange(1, len(places)))
        return np.split(rows, ends)

    def _answer_text(self, answers: Found | None, key: Hashable | None) -> str:
        if answers is None:
            return ""
        number = 0 if key is None else answers.get(key, 0)
        return str(number) if self._counts_more else ("no", "yes")[number > 0]

    def to_csv(self, path: str | Path, *, force: bool = False) -> None:
        """Write the documents to read, with an empty column for the answers.

        Parameters
        ----------
        path : str or Path
            The file. There is one row for each document and plausible key, in the
            order of reading, with the columns document, period, title, key, why
            and answer. Answer yes or no, or with a number where documents count
            more than once; add a row for a key that is not listed. A document
            with one answer has been read, and what is left empty in it is no.
            Answers that the plan has already are filled in.
        force : bool, default=False
            Whether to replace a file that is there. Without it, only a list of this
            kind is replaced in which nothing is answered that the plan does not know.
        """
        kind = "a list to fill in whose answers the plan has"
        target = check_target(path, force, self._holds, kind)
        columns = self._questions()
        table = io.StringIO(newline="")
        writer = csv.writer(table)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        write_whole(target, table.getvalue())

    def _holds(self, path: Path) -> bool:
        """Tell whether a file is a list to fill in, with no answer that the plan lacks."""
        try:
            return self.answered(path).answers == self.answers
        except ValueError:
            return False

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the plan and its answers to a file of JSON.

        Parameters
        ----------
        path : str or Path
            The file. It names the counts by their fingerprint and does not hold
            them. A plan that is there already is replaced.
        force : bool, default=False
            Whether to replace a file that is not a plan.
        """
        target = check_target(path, force, _is_plan, "a plan that was saved")
        content = {
            "format": _FORMAT,
            "fingerprint": self.posterior.fingerprint,
            "n_documents": self.n_documents,
            "seed": self.seed,
            "documents": list(self.documents),
            "inclusion_probability": self.inclusion_probability.tolist(),
            "answers": {
                name: {str(key): number for key, number in found.items()}
                for name, found in self.answers.items()
            },
        }
        self._key_names  # noqa: B018 refuses keys that look the same
        write_whole(target, json.dumps(content, indent=1))

    @classmethod
    def load(cls, path: str | Path, posterior: CountPosterior) -> ReadingPlan:
        """Read a plan that was saved.

        Parameters
        ----------
        path : str or Path
            The file.
        posterior : CountPosterior
            The counts for which it was drawn.

        Returns
        -------
        ReadingPlan
            The plan, with its answers.
        """
        content = _saved(Path(path))
        if content["fingerprint"] != posterior.fingerprint:
            raise ValueError(
                f"{path} is a plan for other counts: their fingerprint is "
                f"{shortened(content['fingerprint'])}, and that of these counts "
                f"{posterior.fingerprint!r}. Count the same documents with the same model, rule, "
                "keys and seed."
            )
        n_documents = content["n_documents"]
        if not 1 <= n_documents <= len(posterior.documents):
            raise ValueError(
                f"{path}: the plan is of {shortened(n_documents)} documents, but "
                f"{len(posterior.documents):,} were counted."
            )
        plan = cls(posterior, n_documents, content["seed"])
        if list(plan.documents) != content["documents"]:
            raise ValueError(
                f"{path} lists other documents than are drawn here, perhaps by another version of "
                "NumPy. Its answers are intact: draw a plan anew and pass those that it has."
            )
        names = plan._key_names
        answers: dict[str, Found] = {}
        for name, found in content["answers"].items():
            unknown = [key for key in found if key not in names]
            if unknown or name not in plan.documents:
                raise ValueError(
                    f"{path}: there is an answer about {listed(unknown or [name])}, which was not "
                    f"{'counted' if unknown else 'drawn'}."
                )
            where = f"{path}, the answer about {shortened(name)}"
            numbers = {names[key]: plan._number_of(number, where) for key, number in found.items()}
            answers[name] = {key: number for key, number in numbers.items() if number}
        return replace(plan, answers=answers)

    # --- how it shows itself

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return self._questions()

    def _sentence(self) -> str:
        done = f", {self.n_answered:,} of them read" if self.answers else ""
        return (
            f"{counted(len(self.documents), 'document')} to read{done}, of "
            f"{len(self.posterior.documents):,}."
        )


def _is_plan(path: Path) -> bool:
    try:
        with open_text(path) as file:
            return f'"format": "{_FORMAT}"' in file.read(1000)
    except FileError:
        return False


def _saved(path: Path) -> dict[str, Any]:
    """Return what a file of `ReadingPlan.save` holds, as far as its form goes."""
    with open_text(path) as file:
        text = file.read()
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a plan that was saved: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"{path} is not a plan that was saved by ReadingPlan.save.")
    kinds = {
        "fingerprint": str,
        "n_documents": int,
        "seed": int,
        "documents": list,
        "answers": dict,
    }
    for name, kind in kinds.items():
        if type(content.get(name)) is not kind:
            raise ValueError(f"{path} is not a plan that was saved: its {name} is damaged.")
    if not 0 <= content["seed"] < 2**64 or not all(
        type(found) is dict for found in content["answers"].values()
    ):
        raise ValueError(f"{path} is not a plan that was saved: its seed or answers are damaged.")
    return content


def _check_header(names: Iterable[str], whose: str) -> None:
    there = set(names)
    lacking = [name for name in ("document", "answer") if name not in there]
    if lacking:
        raise ValueError(f"{whose} has no column {lacking[0]!r}; it has {listed(names)}.")


def _written(found: Found) -> str:
    return ", ".join(f"{key}: {number}" for key, number in found.items()) or "none"


def document_sizes(posterior: CountPosterior) -> Array:
    """Return how much each document is worth to read, summing to 1.

    Uncertain keys matter, and those that are rare matter more than in proportion
    to what they add to the variance of all counts.
    """
    variance = np.nan_to_num(posterior.hits.spread) ** 2
    whole = np.bincount(posterior.hit_key, variance, minlength=len(posterior.keys))
    share = variance / np.sqrt(np.maximum(whole, 1e-300))[posterior.hit_key]
    n = len(posterior.documents)
    spread = np.sqrt(np.bincount(posterior.hit_document, share, minlength=n))
    return sampling_sizes(posterior.document_weight * spread, share_uniform=1.0 - UNCERTAIN_SHARE)


def reading_plan(
    posterior: CountPosterior, n_documents: int, *, random_state: RandomState = None
) -> ReadingPlan:
    """Draw documents to read by hand, so that counts can be corrected.

    Parameters
    ----------
    posterior : CountPosterior
        The counts.
    n_documents : int
        How many documents to read; at most all of them are drawn.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    ReadingPlan
        The documents, in the order in which they should be read, with their
        inclusion probabilities. It writes a list to fill in (`to_csv`), takes the
        answers (`answered`), grows (`extended`), and says how wide intervals will
        be (`expected_width`).

    See Also
    --------
    CountPosterior.corrected : Corrects the counts by the answers.
    CountPosterior.most_uncertain : Documents that are uncertain, but no random sample.

    Notes
    -----
    Documents are drawn without replacement, with probabilities of which six
    tenths are in proportion to how unsure the model is and four tenths are equal,
    because confident errors and missed events hide where the model is sure. Each
    document keeps one random number, so that a plan can be extended (sequential
    Poisson sampling, Ohlsson 1998). The numbers of neighbours by period, key
    and probability are spread evenly, which has the effect of strata.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_event_corpus
    >>> from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon, reading_plan
    >>> corpus = make_event_corpus(300, random_state=0)
    >>> rule = AgentRule(country_lexicon())
    >>> posterior = count_corpus(corpus.X, corpus.model, rule, random_state=0)
    >>> plan = reading_plan(posterior, 30, random_state=0)
    >>> len(plan.documents), float(plan.inclusion_probability.max()) <= 1.0
    (30, True)
    """
    if not isinstance(posterior, CountPosterior):
        raise TypeError(
            f"reading_plan needs the counts (a CountPosterior), got {type(posterior).__name__}. "
            "For spans, count chunks in samples: count_tags(sentences, samples, 'chunk')."
        )
    if type(posterior) is not CountPosterior:
        raise TypeError(
            "These counts are corrected already: read more with plan.extended(n_more), which keeps "
            "the answers, and correct the plain counts by all of them."
        )
    n = check_integer(n_documents, "n_documents")
    if not posterior.keys:
        raise ValueError("Nothing was counted: name the keys (keys=) when counting.")
    if len(set(posterior.documents)) < len(posterior.documents):
        seen: set[str] = set()
        for name in posterior.documents:
            if name in seen:
                raise ValueError(
                    f"Two documents are called {name!r}, so that answers would be ambiguous. Give "
                    "each document a name of its own and count again."
                )
            seen.add(name)
    seed = int(check_generator(random_state).integers(2**32))
    return ReadingPlan(posterior, min(n, len(posterior.documents)), seed)
