"""Simulated documents whose coreference model is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_calib._validation import Array, check_generator, check_integer, check_number
from sklearn_calib.coref import Document, surface_features
from sklearn_calib.coref._clusters import draw_entities
from sklearn_calib.datasets._corpus import Dataset, DocumentTable, entities_of

__all__ = ["SimulatedDocuments", "make_coref_documents"]

_NAMES = ("Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana")
_NOUNS = ("doctor", "pilot", "queen", "farmer", "teacher", "baker")
_PRONOUNS = ("he", "she", "they")
_VERBS = {"met": "meet", "saw": "see", "called": "call", "thanked": "thank", "followed": "follow"}


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedDocuments(DocumentTable, Dataset):
    """Documents with the model that their entities were drawn from.

    Attributes
    ----------
    X : list of Document
        The documents, with their entities.
    y : list of ndarray of int of shape (n_mentions,)
        The entity of each mention of each document.
    antecedent_proba : list of ndarray of shape (n_mentions, n_mentions)
        The true antecedent probabilities of each document.

    See Also
    --------
    make_coref_documents : Makes this object.
    """

    X: list[Document]
    y: list[Array]
    antecedent_proba: list[Array]

    def _sentence(self) -> str:
        return f"Simulated: {self._counts()}"


def make_coref_documents(
    n_documents: int = 100,
    *,
    n_sentences: int = 10,
    sharpness: float = 1.0,
    random_state: Any = None,
) -> SimulatedDocuments:
    """Simulate documents whose true link probabilities are known.

    The words come first: sentences such as "Ada met the doctor ." with names,
    nouns and pronouns at random. Then each mention draws its antecedent from a
    log-linear model of the words, which prefers near mentions and equal words.
    Its features are among those of `surface_features`, so that
    `AntecedentModel` can learn it.

    Parameters
    ----------
    n_documents : int, default=100
        Number of documents.
    n_sentences : int, default=10
        Mean number of sentences per document; each has two mentions.
    sharpness : float, default=1.0
        Factor of all scores: larger values make surer choices.
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Returns
    -------
    SimulatedDocuments
        The documents, and the true probability of each antecedent.

    See Also
    --------
    make_queries : Simulated queries without a model behind them.

    Examples
    --------
    >>> from sklearn_calib.datasets import make_coref_documents
    >>> data = make_coref_documents(3, random_state=0)
    >>> data.X[0]
    <Document 'simulated-0': 61 tokens, 13 sentences, 26 mentions, 7 entities>
    >>> data.antecedent_proba[0].shape
    (26, 26)
    """
    n_documents = check_integer(n_documents, "n_documents")
    n_sentences = check_integer(n_sentences, "n_sentences")
    sharpness = check_number(sharpness, "sharpness", positive=True)
    rng = check_generator(random_state)
    documents, probas = [], []
    for number in range(n_documents):
        text = _text(f"simulated-{number}", 1 + int(rng.poisson(n_sentences - 1)), rng)
        proba = _antecedents(text, sharpness)
        documents.append(text.replace(entities=draw_entities(proba, 1, rng)[0]))
        probas.append(proba)
    return SimulatedDocuments(documents, entities_of(documents), probas)


def _text(id: str, n_sentences: int, rng: np.random.Generator) -> Document:
    """Return a document with sentences of a subject, a verb, an object and a full stop."""
    tokens: list[str] = []
    lemmas: list[str] = []
    upos: list[str] = []
    heads: list[int] = []
    relations: list[str] = []
    starts: list[int] = []
    mentions: list[tuple[int, int, int]] = []

    def add(word: str, lemma: str, tag: str, head: int, relation: str) -> None:
        tokens.append(word)
        lemmas.append(lemma)
        upos.append(tag)
        heads.append(head)
        relations.append(relation)

    for _ in range(n_sentences):
        starts.append(len(tokens))
        phrases = [_phrase(rng) for _ in range(2)]
        verb = len(tokens) + len(phrases[0][0])
        for (words, tag), relation in zip(phrases, ("nsubj", "obj"), strict=True):
            first, last = len(tokens), len(tokens) + len(words) - 1
            for word in words[:-1]:
                add(word, word, "DET", last, "det")
            add(words[-1], words[-1], tag, verb, relation)
            mentions.append((first, last + 1, last))
            if relation == "nsubj":
                form = str(rng.choice(list(_VERBS)))
                add(form, _VERBS[form], "VERB", -1, "root")
        add(".", ".", "PUNCT", verb, "punct")
    return Document(
        id,
        tokens,
        mentions=mentions,
        sentence_starts=starts,
        lemmas=lemmas,
        upos=upos,
        heads=heads,
        relations=relations,
    )


def _phrase(rng: np.random.Generator) -> tuple[list[str], str]:
    """Return the words of a mention and the part of speech of its head."""
    kind = rng.random()
    if kind < 0.4:
        return [str(rng.choice(_NAMES))], "PROPN"
    if kind < 0.7:
        return ["the", str(rng.choice(_NOUNS))], "NOUN"
    return [str(rng.choice(_PRONOUNS))], "PRON"


def _antecedents(text: Document, sharpness: float) -> Array:
    """Return the antecedent probabilities of the true model."""
    seen = surface_features(text)
    n = len(text)
    pronoun = np.array([kind not in ("PROPER", "NOMINAL") for kind in seen.types])
    alike = np.asarray(seen.types)[:, None] == np.asarray(seen.types)
    scores = -0.3 * seen.pair["distance"].astype(float)
    # A name or a noun goes back to its like with the same words, or to nothing.
    scores += np.where(seen.pair["same_text"] == 2, 3.0, -2.0) * ~pronoun[:, None]
    # A pronoun goes back to what is near, best to a like pronoun.
    scores += np.where(alike, 1.0, 0.0) * pronoun[:, None]
    scores *= sharpness
    scores[np.triu_indices(n, 1)] = -np.inf
    scores[np.arange(n), np.arange(n)] = sharpness * np.where(pronoun, -1.0, 0.5)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)
