"""Documents from the objects of other parsers."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from sklearn_calib.coref._clear_labels import from_clear, recognise_scheme
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._find_mentions import find_mentions

__all__ = ["document_from_spacy", "document_from_stanza"]

# Layers of a document, and what Stanza calls them.
_STANZA = {"lemmas": "lemma", "upos": "upos", "relations": "deprel", "heads": "head"}

# What makes each layer.
_SPACY_COMPONENTS = {
    "upos": "a 'morphologizer', or a 'tagger' with an 'attribute_ruler',",
    "relations": "a 'parser'",
    "lemmas": "a 'lemmatizer' or a 'trainable_lemmatizer'",
}
_STANZA_PROCESSORS = {
    "upos": "the processor 'pos'",
    "relations": "the processor 'depparse'",
    "heads": "the processor 'depparse'",
    "lemmas": "the processor 'lemma'",
}


def document_from_spacy(
    doc: Any,
    *,
    id: str | None = None,
    date: Any = None,
    title: str | None = None,
    mentions: Iterable[Any] | None = None,
    entities: Iterable[Hashable] | None = None,
    metadata: Mapping[str, Any] | None = None,
    scheme: str = "auto",
) -> Document:
    """Make a Document from a spaCy `Doc`.

    The labels may be those of Universal Dependencies or of CLEAR, which spaCy's
    own English pipelines use; the document has Universal Dependencies in either
    case. Tokens of white space are dropped, and the text and the place of each
    token in it are kept. spaCy itself is not imported: any object with the same
    attributes will do.

    Parameters
    ----------
    doc : spacy.tokens.Doc
        A text that a spaCy pipeline has split into sentences and parsed. With
        `mentions` of your own, tags and parse may be missing, and are None in
        the document.
    id : str, default=None
        Name of the document; "document" by default.
    date : date, datetime64 or str, default=None
        When the document was written, as in `Document`.
    title : str, default=None
        What the document is called.
    mentions : sequence of Span, of (start, end) or of (start, end, head), default=None
        Where the mentions are, in tokens of `doc`; by default `find_mentions`
        finds them. They are sorted, and so are the entities.
    entities : sequence, default=None
        The entity of each mention.
    metadata : mapping, default=None
        Anything else, as in `Document`.
    scheme : {"auto", "ud", "clear"}, default="auto"
        What the dependency labels are. "auto" recognises Universal Dependencies
        and CLEAR by the labels in the document, and refuses what is neither.

    Returns
    -------
    Document
        The same text, parse and sentences.

    See Also
    --------
    document_from_stanza : The same for Stanza.
    parse_texts : Runs a spaCy pipeline over many texts.

    Notes
    -----
    From CLEAR, the tree changes along with the labels:

    - `prep` and `pobj`: the noun depends on the verb as `obl` or on the noun as
      `nmod`, and the preposition depends on it as `case`. With `agent` it is
      `obl:agent`; with `pcomp` and a verb it is `advcl` or `acl`, and `mark`.
    - `attr` and `acomp` of "be" become the head of their clause, and "be" their
      `cop`; the `attr` of "there is" becomes its `nsubj`.
    - `cc` depends on the conjunct that follows it, and each `conj` on the first
      conjunct.
    - `nsubjpass`, `csubjpass` and `auxpass` become `nsubj:pass`, `csubj:pass` and
      `aux:pass`; `dobj`, `obj`; `dative`, `iobj` or, with a preposition, `obl`;
      `poss`, `nmod:poss`; `relcl`, `acl:relcl`; `prt`, `compound:prt`; `neg` and
      `quantmod`, `advmod`; `npadvmod`, `obl:npmod` or `nmod:npmod`; `oprd` and the
      other `attr` and `acomp`, `xcomp`; `preconj`, `cc:preconj`; `predet`,
      `det:predet`; `intj`, `discourse`; `meta`, `dep`; and `aux` of an
      infinitive's "to", `mark`. All other labels mean the same in both.

    Examples
    --------
    >>> import spacy
    >>> from sklearn_calib.coref import document_from_spacy
    >>> doc = spacy.tokens.Doc(
    ...     spacy.blank("en").vocab,
    ...     words="Towns were attacked by them".split(),
    ...     lemmas="town be attack by they".split(),
    ...     pos="NOUN AUX VERB ADP PRON".split(),
    ...     heads=[2, 2, 2, 2, 3],
    ...     deps="nsubjpass auxpass ROOT agent pobj".split(),
    ... )
    >>> document = document_from_spacy(doc, id="demo", date="2006-07-12")
    >>> document
    <Document 'demo': 5 tokens, 1 sentence, 2 mentions>
    >>> document.relations.tolist()
    ['nsubj:pass', 'aux:pass', 'root', 'case', 'obl:agent']
    >>> document.heads
    array([ 2,  2, -1,  4,  2])
    """
    name = f"Document {'document' if id is None else id!r}"
    try:
        starts = {sentence.start for sentence in doc.sents}
    except ValueError as error:
        raise ValueError(
            f"{name}: the spaCy doc has no sentences. Add the component 'parser', or else 'senter' "
            "or 'sentencizer', to the pipeline."
        ) from error
    tokens = list(doc)
    # Tokens of white space may begin a sentence, and in a poor parse even have dependents.
    kept = [i for i, token in enumerate(tokens) if not token.text.isspace()]
    place = {i: at for at, i in enumerate(kept)}
    words = [tokens[i] for i in kept]
    layers: dict[str, Any] = {
        "upos": [token.pos_ for token in words],
        "lemmas": [token.lemma_ for token in words],
        "relations": [token.dep_ for token in words],
    }
    # What a pipeline has not found is "" for every token.
    known = {name: values for name, values in layers.items() if any(values) or not words}
    if mentions is None:
        _check_no_entities(entities)
        _check_layers(known, name, _SPACY_COMPONENTS, "spaCy")
    if "relations" in known:
        above = [token.head.i for token in tokens]
        heads = _without(above, place)
        relations = [
            "root" if head < 0 else label
            for head, label in zip(heads, known["relations"], strict=True)
        ]
        if recognise_scheme(known["relations"], scheme, name) == "clear":
            upos = known.get("upos", [""] * len(words))
            lemmas = known.get("lemmas", [token.text for token in words])
            heads, relations = from_clear(heads, relations, upos, lemmas)
        known["heads"], known["relations"] = heads, relations
    text = getattr(doc, "text", None)
    document = Document(
        "document" if id is None else id,
        [token.text for token in words],
        sentence_starts=_starts(starts, kept),
        date=date,
        title=title,
        metadata=metadata,
        text=text,
        offsets=None if text is None else [(t.idx, t.idx + len(t.text)) for t in words],
        **known,
    )
    if mentions is not None:
        spans = [(m.start, m.end, m.root.i) if hasattr(m, "root") else tuple(m) for m in mentions]
        mentions = [_moved(span, kept, place, name) for span in spans]
    return _with_mentions(document, mentions, entities)


def document_from_stanza(
    doc: Any,
    *,
    id: str | None = None,
    date: Any = None,
    title: str | None = None,
    mentions: Iterable[Any] | None = None,
    entities: Iterable[Hashable] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Document:
    """Make a Document from a Stanza `Document`.

    The text and the place of each word in it are kept. Stanza itself is not
    imported: any object with the same attributes will do.

    Parameters
    ----------
    doc : stanza.models.common.doc.Document
        A text that a Stanza pipeline has read, whose labels are those of
        Universal Dependencies. With `mentions` of your own or of Stanza's, tags
        and parse may be missing, and are None in the document.
    id : str, default=None
        Name of the document; "document" by default.
    date : date, datetime64 or str, default=None
        When the document was written, as in `Document`.
    title : str, default=None
        What the document is called.
    mentions : sequence of (start, end) or of (start, end, head), default=None
        Where the mentions are, in words from the start of the document. By
        default they and their entities are those of Stanza's coreference, or
        without it what `find_mentions` finds.
    entities : sequence, default=None
        The entity of each mention.
    metadata : mapping, default=None
        Anything else, as in `Document`.

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
    name = f"Document {'document' if id is None else id!r}"
    words: list[Any] = []
    starts: list[int] = []
    before: list[int] = []
    for sentence in doc.sentences:
        starts.append(len(words))
        before += [len(words) - 1] * len(sentence.words)
        words += sentence.words
    layers: dict[str, Any] = {
        name: [getattr(word, attribute, None) for word in words]
        for name, attribute in _STANZA.items()
    }
    known = {name: values for name, values in layers.items() if None not in values}
    if mentions is None and entities is None and getattr(doc, "coref", None):
        mentions, entities = [], []
        for chain in doc.coref:
            for mention in chain.mentions:
                at = starts[mention.sentence]
                mentions.append((at + mention.start_word, at + mention.end_word))
                entities.append(chain.index)
    if mentions is None:
        _check_no_entities(entities)
        _check_layers(known, name, _STANZA_PROCESSORS, "Stanza")
    if "heads" in known:
        pairs = zip(before, known["heads"], strict=True)
        known["heads"] = [offset + head if head else -1 for offset, head in pairs]
    text = getattr(doc, "text", None)
    document = Document(
        "document" if id is None else id,
        [word.text for word in words],
        sentence_starts=starts,
        date=date,
        title=title,
        metadata=metadata,
        text=text,
        offsets=None if text is None else [_stanza_place(word) for word in words],
        **known,
    )
    return _with_mentions(document, mentions, entities)


def _stanza_place(word: Any) -> tuple[int, int]:
    """Return where a word is; the words of a contraction are where their token is."""
    if getattr(word, "start_char", None) is None:
        word = word.parent
    return word.start_char, word.end_char


def _check_no_entities(entities: object) -> None:
    """Refuse entities that belong to no mentions."""
    if entities is not None:
        raise ValueError("entities needs mentions: pass the mentions that they belong to.")


def _check_layers(
    known: Mapping[str, Any], name: str, components: Mapping[str, str], parser: str
) -> None:
    """Say which component a pipeline lacks: mentions cannot be found without tags and parse."""
    missing = [layer for layer in components if layer not in known and layer != "lemmas"]
    if missing:
        needed = " and ".join(dict.fromkeys(components[layer] for layer in missing))
        raise ValueError(
            f"{name} has no {' and no '.join(missing)}, so that no mentions can be found: add "
            f"{needed} to the {parser} pipeline, or pass mentions of your own."
        )
    if "lemmas" not in known:
        warnings.warn(
            f"{name} has no lemmas, which rules about verbs need: add {components['lemmas']} to "
            f"the {parser} pipeline.",
            UserWarning,
            stacklevel=3,
        )


def _without(heads: Sequence[int], place: Mapping[int, int]) -> list[int]:
    """Return the heads of the tokens that have a place, passing over those that have none.

    What depends on a dropped root depends on the first of its dependents instead.
    """
    found: list[int] = []
    new_root: dict[int, int] = {}
    for token, at in place.items():
        head, below = heads[token], token
        while head not in place and head != below:
            head, below = heads[head], head
        if head in place:
            found.append(-1 if head == token else place[head])
        else:
            root = new_root.setdefault(head, at)
            found.append(-1 if root == at else root)
    return found


def _starts(starts: Iterable[int], kept: Sequence[int]) -> list[int]:
    """Return where sentences start among the tokens that were kept."""
    found = {bisect_left(kept, start) for start in starts}
    return sorted(start for start in found if start < len(kept))


def _moved(
    span: tuple[int, ...], kept: Sequence[int], place: Mapping[int, int], name: str
) -> tuple[int, ...]:
    """Return a mention among the tokens that were kept."""
    start, end = bisect_left(kept, span[0]), bisect_left(kept, span[1])
    if start == end:
        raise ValueError(f"{name}: the mention of tokens {span[0]} to {span[1]} has no words.")
    return (start, end, *(place[head] for head in span[2:] if head in place))


def _with_mentions(
    text: Document, mentions: Iterable[Any] | None, entities: Iterable[Hashable] | None
) -> Document:
    """Return the document with its mentions in order; entities move along with them."""
    if mentions is None:
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
    rows = [mentions[i] for i in order]
    if len({len(row) for row in rows}) > 1:  # some have no head of their own
        found = text.replace(mentions=[row[:2] for row in rows]).mentions.tolist()
        rows = [row if len(row) > 2 else full for row, full in zip(rows, found, strict=True)]
    return text.replace(mentions=rows, entities=entities)
