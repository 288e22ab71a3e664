"""Checks of documents and of their entities."""

from __future__ import annotations

from typing import Any

from sklearn_calib._validation import Array
from sklearn_calib._validation_documents import check_entities, check_lists
from sklearn_calib.coref._document import Document

__all__ = ["check_documents", "check_truth"]


def check_documents(X: Any) -> list[Document]:
    """Return a list of documents, refusing anything else."""
    if isinstance(X, Document):
        raise TypeError("X is a single Document; pass a list of documents.")
    (documents,) = check_lists("X", X=X)
    for i, document in enumerate(documents):
        if not isinstance(document, Document):
            raise TypeError(f"X[{i}] must be a Document, got {type(document).__name__}.")
    return documents


def check_truth(X: Any, y: Any) -> tuple[list[Document], list[Array]]:
    """Return documents and the entities of their mentions as numbers."""
    documents = check_documents(X)
    if y is None:
        for i, document in enumerate(documents):
            if document.entities is None and len(document):
                raise ValueError(
                    f"X[{i}], document {document.id!r}, has no entities: pass them as y."
                )
        y = [() if doc.entities is None else doc.entities for doc in documents]
    documents, truths = check_lists("X and y", X=documents, y=y)
    return documents, [
        check_entities(truth, len(document), f"y[{i}], document {document.id!r},")
        for i, (document, truth) in enumerate(zip(documents, truths, strict=True))
    ]
