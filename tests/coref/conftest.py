"""Simulated documents, and a model that has seen most of them."""

import pytest

from sklearn_calib.coref import AntecedentModel
from sklearn_calib.datasets import make_coref_documents


@pytest.fixture(scope="module")
def data():
    """Sixty documents."""
    return make_coref_documents(60, n_sentences=6, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    """A model that was trained on the first forty."""
    return AntecedentModel().fit(data.X[:40], data.y[:40])
