"""Documents of two mentions, and samples in which they are linked as often as is wanted."""

import numpy as np

from sklearn_calib.coref import Document
from sklearn_calib.explore import count_documents


def document(id="d", n=2, date="2003-02-14", **options):
    return Document(id, ["w"] * n, mentions=[(i, i + 1) for i in range(n)], date=date, **options)


def linked(document, entity):
    """Holds for an entity with more than one mention."""
    return len(entity) > 1


def samples(p, n_samples=100):
    """Return samples of a document of two mentions that are linked with probability p."""
    rows = np.tile([0, 1], (n_samples, 1))
    rows[: round(p * n_samples), 1] = 0
    return rows


def two_keys(document, entity):
    return {"A", "B"} if len(entity) > 1 else ()


def counted(n=3, p=0.5, n_samples=100, **options):
    docs = [document(str(i)) for i in range(n)]
    return count_documents(docs, [samples(p, n_samples)] * n, linked, **options)
