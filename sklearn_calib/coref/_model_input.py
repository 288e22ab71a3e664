"""What a coreference model takes: documents, and the true entities of their mentions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from sklearn_calib._validation import Array
from sklearn_calib._validation_documents import check_entities, check_lists
from sklearn_calib.coref._document import Document

__all__ = ["check_documents", "check_truth", "own_entities", "true_entities", "truth_names"]


def check_documents(X: Sequence[Document]) -> list[Document]:
    """Return a list of documents, refusing anything else."""
    if isinstance(X, Document):
        raise TypeError("X is a single Document; pass a list of documents.")
    (documents,) = check_lists("X", X=X)
    for i, document in enumerate(documents):
        if not isinstance(document, Document):
            raise TypeError(f"X[{i}] must be a Document, got {type(document).__name__}.")
    return documents


def own_entities(documents: list[Any]) -> list[ArrayLike]:
    """Return the entities that the documents hold themselves."""
    found = [getattr(document, "entities", None) for document in documents]
    for i, (document, entities) in enumerate(zip(documents, found, strict=True)):
        if entities is None and len(document):
            raise ValueError(f"X[{i}]{_called(document)} has no entities: pass them as y.")
    return [() if entities is None else entities for entities in found]


def truth_names(documents: list[Any]) -> list[str]:
    """Return what messages call the true entities of each document."""
    return [f"y[{i}]{_called(document)}" for i, document in enumerate(documents)]


def _called(document: Any) -> str:
    """Return the name of a document within a message; a matrix of scores has none."""
    return f", document {document.id!r}," if isinstance(document, Document) else ""


def check_truth(
    X: Sequence[Document], y: Sequence[ArrayLike] | None
) -> tuple[list[Document], list[Array]]:
    """Return documents and the entities of their mentions as numbers."""
    documents = check_documents(X)
    return documents, true_entities(documents, y)


def true_entities(documents: list[Any], y: Sequence[ArrayLike] | None) -> list[Array]:
    """Return the entities of the mentions of checked documents as numbers."""
    truths = own_entities(documents) if y is None else y
    _, truths = check_lists("X and y", X=documents, y=truths)
    return [
        check_entities(truth, len(document), name)
        for document, truth, name in zip(documents, truths, truth_names(documents), strict=True)
    ]
