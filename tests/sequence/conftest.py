"""Both taggers, so that a test about taggers runs with each."""

import pytest
from sklearn.base import clone

from sklearn_calib.sequence import CRFTagger, HMMTagger
from tests.sequence.text import sentences

TAGGERS = [HMMTagger(emission_pseudocount=0.1), CRFTagger(features="rich", c2=0.1)]


@pytest.fixture(params=TAGGERS, ids=lambda tagger: type(tagger).__name__)
def tagger(request):
    """A tagger that is not fitted."""
    return clone(request.param)


@pytest.fixture
def fitted(tagger):
    """A tagger that has seen the first twelve sentences of the text."""
    X, y = sentences()
    return tagger.fit(X[:12], y[:12])
