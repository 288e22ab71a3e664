"""Documents from the objects of other parsers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from sklearn_calib.coref._document import Document
from sklearn_calib.coref._find_mentions import find_mentions

__all__ = ["document_from_spacy", "document_from_stanza"]

# Layers of a document, and what Stanza calls them.
_STANZA = {"lemmas": "lemma", "upos": "upos", "relations": "deprel", "heads": "head"}


def document_from_spacy(
    doc: Any,
    *,
    id: str = "document",
    mentions: Iterable[Any] | None = None,
    entities: Iterable[Hashable] | None = None,
) -> Document:
    """Make a Document from a spaCy `Doc`.

    spaCy itself is not imported: any object with the same attributes will do.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        A text that a spaCy pipeline has split into sentences. What the
        pipeline leaves out, such as lemmas or the parse, is None in the
        document.
    id : str, default="document"
        Name of the document.
    mentions : sequence of Span, of (start, end) or of (start, end, head), default=None
        Where the mentions are; by default `find_mentions` finds them. They
        are sorted, and so are the entities.
    entities : sequence, default=None
        The entity of each mention.

    Returns
    -------
    Document
        The same text, parse and sentences.

    See Also
    --------
    document_from_stanza : The same for Stanza.

    Examples
    --------
    >>> from types import SimpleNamespace as Token
    >>> from sklearn_calib.coref import document_from_spacy
    >>> class Doc(list):
    ...     sents = [Token(start=0)]
    >>> sleeps = Token(text="sleeps", lemma_="sleep", pos_="VERB", dep_="ROOT", i=1)
    >>> sleeps.head = sleeps
    >>> ada = Token(text="Ada", lemma_="Ada", pos_="PROPN", dep_="nsubj", i=0, head=sleeps)
    >>> document_from_spacy(Doc([ada, sleeps]))
    <Document 'document': 2 tokens, 1 sentence, 1 mention>
    """
    tokens = list(doc)
    layers: dict[str, Any] = {
        "lemmas": [token.lemma_ for token in tokens],
        "upos": [token.pos_ for token in tokens],
        "relations": [token.dep_ for token in tokens],
    }
    # What a pipeline has not found is "" for every token.
    known = {name: values for name, values in layers.items() if any(values) or not tokens}
    if "relations" in known:
        known["heads"] = [-1 if token.head.i == token.i else token.head.i for token in tokens]
    starts = [sentence.start for sentence in doc.sents]
    text = Document(id, [token.text for token in tokens], sentence_starts=starts, **known)
    if mentions is not None:
        mentions = [
            (m.start, m.end, m.root.i) if hasattr(m, "root") else tuple(m) for m in mentions
        ]
    return _with_mentions(text, mentions, entities)


def document_from_stanza(
    doc: Any,
    *,
    id: str = "document",
    mentions: Iterable[Any] | None = None,
    entities: Iterable[Hashable] | None = None,
) -> Document:
    """Make a Document from a Stanza `Document`.

    Stanza itself is not imported: any object with the same attributes will do.

    Parameters
    ----------
    doc : stanza.models.common.doc.Document
        A text that a Stanza pipeline has read. What the pipeline leaves out,
        such as lemmas or the parse, is None in the document.
    id : str, default="document"
        Name of the document.
    mentions : sequence of (start, end) or of (start, end, head), default=None
        Where the mentions are, in words from the start of the document. By
        default they and their entities are those of Stanza's coreference, or
        without it what `find_mentions` finds.
    entities : sequence, default=None
        The entity of each mention.

    Returns
    -------
    Document
        The same text, parse and sentences.

    See Also
    --------
    document_from_spacy : The same for spaCy.

    Examples
    --------
    >>> from types import SimpleNamespace as Word
    >>> from sklearn_calib.coref import document_from_stanza
    >>> ada = Word(text="Ada", lemma="Ada", upos="PROPN", head=2, deprel="nsubj")
    >>> sleeps = Word(text="sleeps", lemma="sleep", upos="VERB", head=0, deprel="root")
    >>> document_from_stanza(Word(sentences=[Word(words=[ada, sleeps])]))
    <Document 'document': 2 tokens, 1 sentence, 1 mention>
    """
    words: list[Any] = []
    starts: list[int] = []
    offsets: list[int] = []
    for sentence in doc.sentences:
        starts.append(len(words))
        offsets += [len(words) - 1] * len(sentence.words)
        words += sentence.words
    layers: dict[str, Any] = {
        name: [getattr(word, attribute, None) for word in words]
        for name, attribute in _STANZA.items()
    }
    known = {name: values for name, values in layers.items() if None not in values}
    if "heads" in known:
        pairs = zip(offsets, known["heads"], strict=True)
        known["heads"] = [offset + head if head else -1 for offset, head in pairs]
    text = Document(id, [word.text for word in words], sentence_starts=starts, **known)
    if mentions is None and entities is None and getattr(doc, "coref", None):
        mentions, entities = [], []
        for chain in doc.coref:
            for mention in chain.mentions:
                at = starts[mention.sentence]
                mentions.append((at + mention.start_word, at + mention.end_word))
                entities.append(chain.index)
    return _with_mentions(text, mentions, entities)


def _with_mentions(
    text: Document, mentions: Iterable[Any] | None, entities: Iterable[Hashable] | None
) -> Document:
    """Return the document with its mentions in order; entities move along with them."""
    if mentions is None:
        if entities is not None:
            raise ValueError("entities needs mentions: pass the mentions that they belong to.")
        return text.replace(mentions=find_mentions(text))
    mentions = [tuple(m) for m in mentions]
    order = sorted(range(len(mentions)), key=lambda i: mentions[i][:2])
    if entities is not None:
        entities = list(entities)
        if len(entities) != len(mentions):
            raise ValueError(
                f"Document {text.id!r}: entities must have one entry for each of the "
                f"{len(mentions)} mentions; it has {len(entities)}."
            )
        entities = [entities[i] for i in order]
    return text.replace(mentions=[mentions[i] for i in order], entities=entities)
