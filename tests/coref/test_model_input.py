"""What a coreference model takes."""

import pytest

from sklearn_calib.coref._model_input import check_documents, check_truth, own_entities
from sklearn_calib.datasets import make_coref_documents

DATA = make_coref_documents(3, random_state=0)


def test_documents_are_a_list_of_documents():
    assert check_documents(tuple(DATA.X)) == DATA.X
    with pytest.raises(TypeError, match="X is a single Document; pass a list"):
        check_documents(DATA.X[0])
    with pytest.raises(TypeError, match=r"X\[1\] must be a Document, got str"):
        check_documents([DATA.X[0], "a text"])


def test_entities_come_from_y_or_from_the_documents():
    documents, truth = check_truth(DATA.X, DATA.y)
    assert documents == DATA.X
    assert [len(entities) for entities in truth] == [len(document) for document in DATA.X]
    _, own = check_truth(DATA.X, None)
    assert [a.tolist() for a in own] == [b.tolist() for b in truth]
    with pytest.raises(ValueError, match="has no entities: pass them as y"):
        own_entities([DATA.X[0].replace(entities=None)])


def test_a_wrong_number_of_entities_names_the_document():
    wrong = [DATA.y[0], DATA.y[1][:-1], DATA.y[2]]
    with pytest.raises(ValueError, match=rf"y\[1\], document '{DATA.X[1].id}'"):
        check_truth(DATA.X, wrong)
