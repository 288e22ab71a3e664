"""Simulated news with known events, and a model whose uncertainty is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_calib._results import counted
from sklearn_calib._validation import Array, check_generator, check_integer
from sklearn_calib.coref import Document
from sklearn_calib.coref._clusters import best_entities, draw_entities
from sklearn_calib.datasets._corpus import Dataset, DocumentTable, entities_of

__all__ = ["EventCorpus", "make_event_corpus"]

ADJECTIVES = {"IRN": "Iranian", "IRQ": "Iraqi", "KWT": "Kuwaiti", "USA": "American"}
_FIRST, _LAST = np.datetime64("2001-01-01"), np.datetime64("2004-01-01")
# Sentences: tokens and lemmas; parts of speech, heads and relations.
_ARMY = (
    ("{} troops crossed the river .", "{} troop cross the river ."),
    ("ADJ NOUN VERB DET NOUN PUNCT", "1 2 -1 4 2 2", "amod nsubj root det obj punct"),
)
_DEED = (
    ("They {} the town .", "they {} the town ."),
    ("PRON VERB DET NOUN PUNCT", "1 -1 3 1 1", "nsubj root det obj punct"),
)
# Past of verbs of war and speech that are not regular.
_PAST = {
    "fight": "fought",
    "hit": "hit",
    "hold": "held",
    "leave": "left",
    "say": "said",
    "shoot": "shot",
    "strike": "struck",
    "take": "took",
    "tell": "told",
    "win": "won",
}


class KnownAntecedents:
    """A coreference model that knows the law of the antecedents."""

    def __init__(self, proba: dict[str, Array]) -> None:
        self.proba = proba

    def __repr__(self) -> str:
        return f"<KnownAntecedents of {counted(len(self.proba), 'document')}>"

    def predict_antecedent_proba(self, X: Sequence[Document]) -> list[Array]:
        """Return the antecedent probabilities of each document."""
        return [self.proba[document.id] for document in X]

    def sample(
        self, X: Sequence[Document], n_samples: int = 1, random_state: Any = None
    ) -> list[Array]:
        """Draw entities for each document."""
        n_samples, rng = check_integer(n_samples, "n_samples"), check_generator(random_state)
        return [draw_entities(self.proba[document.id], n_samples, rng) for document in X]

    def predict(self, X: Sequence[Document]) -> list[Array]:
        """Return the entities that follow from the most probable antecedents."""
        return [best_entities(proba) for proba in self.predict_antecedent_proba(X)]


@dataclass(frozen=True, eq=False, repr=False)
class EventCorpus(DocumentTable, Dataset):
    """Documents with the truth behind them.

    Attributes
    ----------
    X : list of Document
        Short, dated news with parses, with their entities.
    y : list of ndarray of int of shape (n_mentions,)
        The true entity of each mention of each document.
    model : object
        Knows the probability of each antecedent; it has `predict` and `sample`
        as a coreference model does, and needs no fit.

    See Also
    --------
    make_event_corpus : Makes this object.
    """

    X: list[Document]
    y: list[Array]
    model: KnownAntecedents

    def _sentence(self) -> str:
        return f"Simulated news: {self._counts()}"


def make_event_corpus(
    n_documents: int = 1000,
    *,
    verbs: Sequence[str] = ("attack", "warn"),
    concentration: float = 0.5,
    temperature: float = 1.0,
    favour: Mapping[str, float] | None = None,
    missed: float = 0.0,
    random_state: Any = None,
) -> EventCorpus:
    """Simulate dated news about troops of four countries, and who attacked.

    A document names two to four armies ("Iraqi troops crossed the river") and
    says once or more what somebody did ("They attacked the town"). Who "they"
    are is drawn from a law that is known, so that a model that knows it has the
    right uncertainty.

    Parameters
    ----------
    n_documents : int, default=1000
        Number of documents. They are dated 2001 to 2003.
    verbs : sequence of str, default=("attack", "warn")
        What somebody does, one of these lemmas at random. The past of regular
        verbs is formed by rule, that of some others is known ("struck").
    concentration : float, default=0.5
        How clear it is who "they" are: the parameter of the Dirichlet law from
        which the probabilities of the antecedents are drawn. Near 0 one of them
        is nearly certain; large values make all equally probable.
    temperature : float, default=1.0
        The model's probabilities are the true ones to the power of one over
        this, scaled to sum to 1. Below 1 the model is overconfident.
    favour : mapping of str to float, default=None
        What the model adds to the log of the probability of antecedents that are
        armies of a country (IRN, IRQ, KWT or USA): {"USA": 1} makes it see
        Americans too often.
    missed : float, default=0.0
        Share of the sentences about what somebody did in which the model is sure
        that "they" are nobody who was named before, so that it misses what is said.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    EventCorpus
        The documents and the model.

    See Also
    --------
    count_documents : Counts the events.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_event_corpus
    >>> corpus = make_event_corpus(3, random_state=0)
    >>> doc = corpus.X[0]
    >>> print(" ".join(doc.tokens[-11:]))
    Kuwaiti troops crossed the river . They warned the town .
    >>> str(doc.date), doc.entities
    ('2001-09-04', array([0, 1, 2, 0]))
    """
    n_documents = check_integer(n_documents, "n_documents")
    if not (concentration > 0.0 and temperature > 0.0):
        raise ValueError(
            f"concentration and temperature must be positive, got {concentration!r} and "
            f"{temperature!r}."
        )
    lemmas = _check_verbs(verbs)
    favoured = _check_favour(favour)
    if not 0.0 <= missed <= 1.0:
        raise ValueError(f"missed must lie between 0 and 1, got {missed!r}.")
    rng = check_generator(random_state)
    days = int((_LAST - _FIRST).astype(int))
    dates = np.sort(rng.integers(days, size=n_documents))
    documents, proba = [], {}
    for number, day in enumerate(dates.tolist()):
        # Countries have their times: the share of each one rises and falls.
        share = 1.0 + np.cos(2.0 * np.pi * (day / days + np.arange(len(ADJECTIVES)) / 4.0))
        share = (share + 0.2) / (share + 0.2).sum()
        names = rng.choice(list(ADJECTIVES), size=rng.integers(2, 5), replace=False, p=share)
        deeds = rng.choice(lemmas, size=rng.integers(1, 3))
        truth = _antecedents(len(names), len(deeds), concentration, rng)
        id = f"news-{number:05d}"
        entities = draw_entities(truth, 1, rng)[0]
        date = _FIRST + np.timedelta64(int(day), "D")
        documents.append(_document(id, names.tolist(), deeds.tolist(), entities, date))
        proba[id] = _sharpen(truth, temperature)
        if favoured:
            odds = np.exp([favoured.get(name, 0.0) for name in names])
            proba[id] = _tilted(proba[id], odds)
    if missed > 0.0:  # last, so that the same seed makes the same documents
        for document in documents:
            proba[document.id] = _missing(proba[document.id], missed, rng)
    return EventCorpus(documents, entities_of(documents), KnownAntecedents(proba))


def _antecedents(armies: int, deeds: int, concentration: float, rng: np.random.Generator) -> Array:
    """Return a law: armies are new, and each "they" is some mention before it."""
    n = armies + deeds
    law = np.zeros((n, n))
    law[np.arange(armies), np.arange(armies)] = 1.0
    for i in range(armies, n):
        law[i, :i] = rng.dirichlet(np.full(i, concentration))
    return law


def _document(
    id: str, names: Sequence[str], deeds: Sequence[str], entities: Array, date: np.datetime64
) -> Document:
    tokens: list[str] = []
    lemmas, upos, relations, heads, starts, mentions = [], [], [], [], [], []
    sentences = [(_ARMY, ADJECTIVES[name], ADJECTIVES[name], 2) for name in names]
    sentences += [(_DEED, _past(deed), deed, 1) for deed in deeds]
    for ((text, lemma), (tags, above, kinds)), word, base, length in sentences:
        start = len(tokens)
        starts.append(start)
        mentions.append((start, start + length))
        tokens += text.format(word).split()
        lemmas += lemma.format(base).split()
        upos += tags.split()
        heads += [-1 if h == "-1" else int(h) + start for h in above.split()]
        relations += kinds.split()
    return Document(
        id, tokens, mentions=mentions, entities=entities, sentence_starts=starts, lemmas=lemmas,
        upos=upos, heads=heads, relations=relations, date=date, genre="simulated news",
    )  # fmt: skip


def _sharpen(law: Array, temperature: float) -> Array:
    """Return probabilities to the power of one over a temperature, scaled to sum to 1."""
    with np.errstate(divide="ignore"):
        log = np.log(law)
    # By the largest of a row first, so that small temperatures leave something.
    sharp = np.exp((log - log.max(axis=1, keepdims=True)) / temperature)
    return sharp / sharp.sum(axis=1, keepdims=True)


def _tilted(law: Array, odds: Array) -> Array:
    """Return probabilities of antecedents in which armies count more or less than they should."""
    tilted = law.copy()
    tilted[:, : len(odds)] *= odds
    return tilted / tilted.sum(axis=1, keepdims=True)


def _missing(law: Array, missed: float, rng: np.random.Generator) -> Array:
    """Return a law in which some of what is said is about nobody who was named."""
    new = np.eye(len(law))
    return np.where(rng.random((len(law), 1)) < missed, new, law)


def _check_favour(favour: Mapping[str, float] | None) -> dict[str, float]:
    found = dict(favour or {})
    for name, value in found.items():
        if name not in ADJECTIVES:
            raise ValueError(f"favour: {name!r} is not one of {', '.join(ADJECTIVES)}.")
        if not np.isfinite(value):
            raise ValueError(f"favour: {value!r} of {name!r} is not a finite number.")
    return found


def _check_verbs(verbs: Sequence[str]) -> list[str]:
    if isinstance(verbs, str):
        raise TypeError(f"verbs must be a list of lemmas, such as [{verbs!r}].")
    found = list(verbs)
    if not found:
        raise ValueError("verbs is empty: somebody must do something.")
    for verb in found:
        if not isinstance(verb, str) or not verb.isalpha():
            raise ValueError(f"verbs: {verb!r} is not a verb.")
    return found


def _past(verb: str) -> str:
    if verb in _PAST:
        return _PAST[verb]
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")
