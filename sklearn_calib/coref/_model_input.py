"""What a coreference model takes: documents, and the true entities of their mentions."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from sklearn_calib._validation import Array
from sklearn_calib._validation_documents import check_entities, check_lists
from sklearn_calib.coref._document import Document

__all__ = ["check_documents", "check_truth", "own_entities", "truth_names"]


def check_documents(X: Sequence[Document]) -> list[Document]:
    """Return a list of documents, refusing anything else."""
    if isinstance(X, Document):
        raise TypeError("X is a single Document; pass a list of documents.")
    (documents,) = check_lists("X", X=X)
    for i, document in enumerate(documents):
        if not isinstance(document, Document):
            raise TypeError(f"X[{i}] must be a Document, got {type(document).__name__}.")
    return documents


def own_entities(documents: list[Document]) -> list[ArrayLike]:
    """Return the entities that the documents hold themselves."""
    for i, document in enumerate(documents):
        if document.entities is None and len(document):
            raise ValueError(f"X[{i}], document {document.id!r}, has no entities: pass them as y.")
    return [() if document.entities is None else document.entities for document in documents]


def truth_names(documents: list[Document]) -> list[str]:
    """Return what messages call the true entities of each document."""
    return [f"y[{i}], document {document.id!r}," for i, document in enumerate(documents)]


def check_truth(
    X: Sequence[Document], y: Sequence[ArrayLike] | None
) -> tuple[list[Document], list[Array]]:
    """Return documents and the entities of their mentions as numbers."""
    documents = check_documents(X)
    truths = own_entities(documents) if y is None else y
    _, truths = check_lists("X and y", X=documents, y=truths)
    return documents, [
        check_entities(truth, len(document), name)
        for document, truth, name in zip(documents, truths, truth_names(documents), strict=True)
    ]
