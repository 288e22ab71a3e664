"""The model file of CRFsuite, read to the last bit."""

import struct
import subprocess
import sys

import numpy as np
import pytest

from sklearn_calib.sequence import CRFTagger
from sklearn_calib.sequence._crfsuite_file import MAX_LABELS, parse_model
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


def word_at(data, at, value, kind="I"):
    changed = bytearray(data)
    struct.pack_into(f"<{kind}", changed, at, value)
    return bytes(changed)


@pytest.fixture(scope="module")
def model():
    X = [["the", "dog", "barks"], ["the", "cat"], ["dogs", "bark"]]
    y = [["D", "N", "V"], ["D", "N"], ["N", "V"]]
    return CRFTagger(c2=0.1).fit(X, y).model_


# Where the parts of this model are: header, features of 20 bytes, labels, attributes, lists.
FEATURES, LABELS, ATTRIBUTES, LABEL_LISTS, ATTRIBUTE_LISTS = 48, 220, 2382, 4664, 4716
RECORDS = 24 + 256 * 8


def test_where_the_parts_are(model):
    places = (FEATURES, LABELS, ATTRIBUTES, LABEL_LISTS, ATTRIBUTE_LISTS)
    assert struct.unpack_from("<5I", model, 28) == places


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (4, 10**9, "it should have 1,000,000,000 bytes and has 4,800"),
        (12, 101, "version 101"),
        (16, 7, "the header counts 7 features and their chunk 8"),
        (20, 0, "it has 0 labels; 1 to 4,096 are possible"),
        (20, 2**32 - 1, "it has 4,294,967,295 labels"),
        (24, 2**32 - 1, "the dictionary has 6 attributes and the header 4,294,967,295"),
        (28, 2**31, "unpack_from requires"),
        (32, 48, "no dictionary at byte 48"),
        (40, 48, "no chunk LFRF at byte 48"),
        (FEATURES + 8, 2**32 - 1, "4,294,967,295 entries of 20 bytes at byte 60 do not fit"),
        (FEATURES + 12, 2, "feature 0: its type is neither state nor transition"),
        (FEATURES + 16, 6, "feature 0: there is no such attribute or label as it starts from"),
        (FEATURES + 20, 3, "feature 0: there is no such label as it points to"),
        (FEATURES + 36, 0, "attribute 1 lists a feature that is not its own"),
        (LABELS + 4, 2**31, "the dictionary of labels goes beyond the end of the file"),
        (LABELS + 16, 4, "the dictionary has 4 labels and the header 3"),
        (LABELS + RECORDS, 1, "label: the number 1 is out of range or taken"),
        (LABELS + RECORDS, 3, "label: the number 3 is out of range or taken"),
        (LABELS + RECORDS + 4, 0, "does not end where it should"),
        (LABELS + RECORDS + 4, 2**32 - 1, "does not end where it should"),
        (LABELS + RECORDS + 8, 0x00FF, "the label at byte 2,300 is not UTF-8"),
        (LABEL_LISTS + 8, 3, "there are 3 lists of features for 3 labels"),
        (LABEL_LISTS + 12, 0, None),
        (LABEL_LISTS + 12, 2**31, "label 0 has no list of features"),
        (LABEL_LISTS + 32, 2**32 - 1, "label 0: its list of features has no end"),
        (LABEL_LISTS + 36, 8, "label 0 lists a feature that is not its own"),
        (LABEL_LISTS + 36, 7, "label 0 lists a feature that is not its own"),
        (ATTRIBUTE_LISTS + 36, 0, "the lists of the attributes do not have all features once"),
    ],
)
def test_one_wrong_number(model, at, value, message):
    with pytest.raises(ValueError, match="not a complete CRFsuite model") as caught:
        CRFTagger.from_crfsuite(word_at(model, at, value))
    assert message is None or message in str(caught.value)


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf, 1.7e308])
def test_weights_that_cannot_be_added_up(model, weight):
    with pytest.raises(ValueError, match="feature 0: its weight is not finite, or too large"):
        CRFTagger.from_crfsuite(word_at(model, FEATURES + 24, weight, "d"))


def test_features_that_are_the_same(model):
    first = model[FEATURES + 12 : FEATURES + 32]
    with pytest.raises(ValueError, match="feature 1: an earlier one is the same"):
        CRFTagger.from_crfsuite(model[: FEATURES + 32] + first + model[FEATURES + 52 :])


def test_two_names_that_are_the_same(model):
    # The second label gets the name of the first.
    name = model[LABELS + RECORDS + 8 : LABELS + RECORDS + 9]
    second = LABELS + RECORDS + 10 + 8
    with pytest.raises(ValueError, match="two labels have the same name"):
        CRFTagger.from_crfsuite(model[:second] + name + model[second + 1 :])


def test_a_full_hash_table_would_be_searched_for_ever(model):
    tables = np.frombuffer(model, "<u4", 512, LABELS + 24).reshape(-1, 2)
    at = LABELS + int(tables[tables[:, 1] > 0][0, 0])
    full = word_at(word_at(model, at + 4, RECORDS), at + 12, RECORDS)
    with pytest.raises(ValueError, match="a hash table of the labels is full"):
        CRFTagger.from_crfsuite(full)
    elsewhere = word_at(model, at + 4, RECORDS + 1)
    with pytest.raises(ValueError, match="the hash tables do not lead to each label once"):
        CRFTagger.from_crfsuite(elsewhere)


def test_as_many_labels_as_fit_into_a_file_are_not_squared():
    header = struct.pack("<4sI4s9I", b"lCRF", 48, b"FOMC", 100, 0, 90_000, 0, 48, 48, 48, 48, 48)
    with pytest.raises(ValueError, match=f"90,000 labels; 1 to {MAX_LABELS:,}"):
        CRFTagger.from_crfsuite(header)


def test_the_message_names_the_file(model, tmp_path):
    path = tmp_path / "half.crfsuite"
    path.write_bytes(model[:2000])
    with pytest.raises(ValueError, match=r"half\.crfsuite is not a complete CRFsuite model"):
        CRFTagger.from_crfsuite(path)


def mutations(data, n, random_state):
    """Yield copies with one to three changes: bits, numbers and lengths, all of the same size."""
    rng = np.random.default_rng(random_state)
    sizes = [0, 1, 2, 3, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, len(data), len(data) - 4]
    # Half of the changes hit what matters; hash tables are most of a small model.
    records = [LABELS + RECORDS, ATTRIBUTES + RECORDS]
    parts = [range(48), range(FEATURES, LABELS)]
    parts += [range(at, at + 120) for at in records] + [range(LABEL_LISTS, len(data))]
    for _ in range(n):
        changed = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            part = parts[rng.integers(len(parts))] if rng.random() < 0.5 else range(len(data))
            at = int(rng.integers(part.start, part.stop))
            if rng.random() < 0.5:
                changed[at] ^= 1 << int(rng.integers(8))
            else:
                at = min(at // 2 * 2, len(data) - 4)
                value = sizes[rng.integers(len(sizes))] if rng.random() < 0.7 else at
                struct.pack_into("<I", changed, at, value)
        yield bytes(changed)


USE = """
import sys, warnings
from pathlib import Path
from sklearn_calib.sequence import CRFTagger
warnings.simplefilter("ignore")
words = [[["the", "dogs", "bark"]], [[["the"], ["dogs"], ["bark"]]]]
for path in sorted(Path(sys.argv[1]).iterdir()):
    tagger = CRFTagger.from_crfsuite(path, features="word")
    tagger.predict_proba(words[0])
    tagger.crf_.predict(words[1])
print("all used")
"""


def test_mutations_are_refused_or_harmless(model, tmp_path):
    accepted, messages = [], []
    for data in mutations(model, 4000, random_state=0):
        try:
            CRFTagger.from_crfsuite(data)
        except ValueError as error:
            messages.append(str(error))
        else:
            accepted.append(data)
    assert all(text.startswith("This is not a complete CRFsuite model: ") for text in messages)
    # Weights and names may be anything, and unused bytes as well.
    assert 100 < len(accepted) < 2000
    for i, data in enumerate(accepted):
        (tmp_path / f"{i:04}").write_bytes(data)
    # CRFsuite itself must be able to live with what was accepted. Elsewhere, in case it cannot.
    done = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "all used", done
