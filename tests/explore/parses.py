"""Small parses that are written by hand."""

from sklearn_calib.coref import Document


def parse(text, mentions, **options):
    """Make a document from word/lemma/upos/head/relation, heads counting from 1 as in CoNLL-U."""
    rows = [word.split("/") for word in text.split()]
    return Document(
        "demo",
        [row[0] for row in rows],
        lemmas=[row[1] for row in rows],
        upos=[row[2] for row in rows],
        heads=[int(row[3]) - 1 for row in rows],
        relations=[row[4] for row in rows],
        mentions=mentions,
        **options,
    )
