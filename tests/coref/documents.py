"""A parsed sentence, and what tests ask of a document."""

from sklearn_calib.coref import Document, MentionFeatures, surface_features

# Word, part of speech, head and relation.
PARSE = [
    ("Ada", "PROPN", 2, "nsubj"),
    ("is", "AUX", 2, "cop"),
    ("queen", "NOUN", -1, "root"),
    ("of", "ADP", 5, "case"),
    ("the", "DET", 5, "det"),
    ("sea", "NOUN", 2, "nmod"),
    ("and", "CCONJ", 7, "cc"),
    ("air", "NOUN", 5, "conj"),
    (".", "PUNCT", 2, "punct"),
]


def parsed():
    """Return the sentence as a document without mentions."""
    words, upos, heads, relations = zip(*PARSE, strict=True)
    return Document("d", words, upos=upos, heads=heads, relations=relations)


def spans(doc):
    """Return the words and the entity of each mention."""
    return [(doc.mention_text(i), int(doc.entities[i])) for i in range(len(doc))]


def types_and_pairs(document):
    """Features that the simulated documents were made with, and no others."""
    seen = surface_features(document)
    return MentionFeatures(seen.types, pair=seen.pair)
