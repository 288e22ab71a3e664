"""The model file of CRFsuite, read to the last bit."""

import pytest

from sklearn_calib.sequence import CRFTagger
from sklearn_calib.sequence._crfsuite_file import parse_model
from tests.sequence.text import sentences

X, y = sentences()


def test_the_file_has_every_bit():
    tagger = CRFTagger(c2=0.1).fit(X, y)
    model = parse_model(tagger.model_)
    crf = tagger.crf_
    assert model.labels == sorted(crf.tagger_.labels())
    printed = crf.state_features_
    assert len(printed) == model.weights.nnz
    for (attribute, label), weight in printed.items():
        row, column = model.attributes[attribute], model.labels.index(label)
        assert model.weights[row, column] == pytest.approx(weight, abs=1e-6)


@pytest.mark.parametrize(
    "damage", [lambda b: b"", lambda b: b[:100], lambda b: b"x" + b, lambda b: b[: len(b) // 2]]
)
def test_broken_files(tmp_path, damage):
    path = tmp_path / "broken"
    path.write_bytes(damage(CRFTagger().fit(X, y).model_))
    with pytest.raises(ValueError, match="not a complete CRFsuite model"):
        CRFTagger.from_crfsuite(path)
