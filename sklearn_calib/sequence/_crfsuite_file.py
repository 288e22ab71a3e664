"""Reading a CRFsuite model file, without loss.

CRFsuite's own listing prints weights with six decimals; the file has all of
their bits. All numbers in it are little-endian.

CRFsuite itself believes every offset and number of a file, and reads outside of
its memory where one is wrong. So everything that it would follow is checked
here, and no bytes reach it that have not passed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib._validation_sequences import MAX_SCORE
from sklearn_calib.sequence._token_features import WordColumns, WordFeatures

__all__ = ["CRFModel", "parse_model"]

HEADER = struct.Struct("<4sI4s9I")
FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
STATE, TRANSITION = 0, 1
# Name, size and number of entries of a chunk.
CHUNK = struct.Struct("<4sII")
# A dictionary is a constant quark database: a header, the places of 256 hash tables, the records,
# the tables, and the places of the records by number.
DICTIONARY = struct.Struct("<4s5I")
TABLES = 256
RECORDS = DICTIONARY.size + TABLES * 8
RECORD = struct.Struct("<II")
BYTE_ORDER = 0x62445371
NUMBER = np.dtype("<u4")

# Transitions take the square of it: 150 MB, long before training would be possible.
MAX_LABELS = 4096


@dataclass(frozen=True, eq=False)
class CRFModel:
    """A linear-chain CRF as it stands in its file.

    Attributes
    ----------
    labels : list of str
        The labels, sorted.
    attributes : dict of str to int
        The row of each attribute.
    weights : sparse matrix of shape (n_attributes, n_labels)
        State weights.
    transitions : ndarray of shape (n_labels, n_labels)
        Transition weights; 0 for a transition without a feature.
    seen : ndarray of bool of shape (n_labels, n_labels)
        Which transitions have a feature.
    """

    labels: list[str]
    attributes: dict[str, int]
    weights: Any
    transitions: Array
    seen: Array

    @cached_property
    def _columns(self) -> dict[WordFeatures, WordColumns]:
        return {}

    def columns(self, features: WordFeatures) -> WordColumns:
        """Return where the attributes of words are, as far as features make them."""
        if features not in self._columns:
            self._columns[features] = WordColumns(features, self.attributes)
        return self._columns[features]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_columns"}


def parse_model(data: bytes, name: str = "This") -> CRFModel:
    """Return the model in the bytes of a CRFsuite file; `name` is what messages call it."""
    try:
        return _parse(data)
    except (struct.error, ValueError, IndexError) as error:
        raise ValueError(f"{name} is not a complete CRFsuite model: {error}.") from None


def _parse(data: bytes) -> CRFModel:
    magic, size, kind, version, n_features, n_labels, n_attributes, *places = HEADER.unpack_from(
        data
    )
    if magic != b"lCRF" or kind != b"FOMC":
        raise ValueError("the file does not start as a first-order CRFsuite model does")
    if size != len(data):
        raise ValueError(f"it should have {size:,} bytes and has {len(data):,}")
    if version != 100:
        raise ValueError(f"version {version} of the format is not known, only 100")
    if not 0 < n_labels <= MAX_LABELS:
        raise ValueError(f"it has {n_labels:,} labels; 1 to {MAX_LABELS:,} are possible")
    at_features, at_labels, at_attributes, at_label_features, at_attribute_features = places
    records = _features(data, at_features, n_features, n_labels, n_attributes)
    labels = _dictionary(data, at_labels, n_labels, "label")
    attributes = _dictionary(data, at_attributes, n_attributes, "attribute")
    # The last two label references, of the start and the end of a sentence, are not used.
    _check_references(data, at_label_features, b"LFRF", n_labels, 2, records, TRANSITION)
    _check_references(data, at_attribute_features, b"AFRF", n_attributes, 0, records, STATE)
    # The file has labels in the order of their first appearance.
    names = sorted(labels)
    place = np.empty(n_labels, dtype=np.intp)
    place[[labels[name] for name in names]] = np.arange(n_labels)
    state, step = records[records["type"] == STATE], records[records["type"] == TRANSITION]
    weights = sparse.csr_matrix(
        (state["weight"], (state["source"].astype(np.intp), place[state["target"]])),
        shape=(n_attributes, n_labels),
    )
    transitions = np.zeros((n_labels, n_labels))
    seen = np.zeros((n_labels, n_labels), dtype=bool)
    where = place[step["source"]], place[step["target"]]
    transitions[where] = step["weight"]
    seen[where] = True
    return CRFModel(names, attributes, weights, transitions, seen)


def _numbers(data: bytes, at: int, n: int, kind: np.dtype[Any] = NUMBER) -> Array:
    """Return n numbers or records that start at a byte, all of them inside the file."""
    if at + n * kind.itemsize > len(data):
        raise ValueError(
            f"{n:,} entries of {kind.itemsize} bytes at byte {at:,} do not fit into its "
            f"{len(data):,} bytes"
        )
    return np.frombuffer(data, kind, n, at)


def _chunk(data: bytes, at: int, name: bytes) -> int:
    """Return how many entries a chunk says that it has."""
    found, size, n = CHUNK.unpack_from(data, at)
    if found != name:
        raise ValueError(f"no chunk {name.decode()} at byte {at:,}")
    if at + size > len(data):
        raise ValueError(f"the chunk {name.decode()} goes beyond the end of the file")
    return int(n)


def _features(data: bytes, at: int, n_features: int, n_labels: int, n_attributes: int) -> Array:
    # The header leaves the number of features at zero; their own chunk has it.
    count = _chunk(data, at, b"FEAT")
    if n_features not in (0, count):
        raise ValueError(f"the header counts {n_features:,} features and their chunk {count:,}")
    records = _numbers(data, at + CHUNK.size, count, FEATURE)
    kind, source, target = records["type"], records["source"], records["target"]
    _refuse(kind > TRANSITION, "feature {}: its type is neither state nor transition")
    limit = np.where(kind == STATE, n_attributes, n_labels)
    _refuse(source >= limit, "feature {}: there is no such attribute or label as it starts from")
    _refuse(target >= n_labels, "feature {}: there is no such label as it points to")
    # What is not a number is not below anything.
    bad = ~(np.abs(records["weight"]) < MAX_SCORE)
    _refuse(bad, "feature {}: its weight is not finite, or too large to be added up")
    # Type, source and target as one number; 64 bits hold it, since labels are few.
    keys = (source.astype(np.uint64) * np.uint64(2) + kind) * np.uint64(MAX_LABELS) + target
    order = np.argsort(keys, kind="stable")
    twice = np.zeros(count, dtype=bool)
    twice[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    _refuse(twice, "feature {}: an earlier one is the same")
    return records


def _refuse(bad: Array, message: str) -> None:
    if bad.any():
        raise ValueError(message.format(int(np.argmax(bad))))


def _dictionary(data: bytes, start: int, n: int, what: str) -> dict[str, int]:
    """Return the number of each name, and check all that looking a name up would follow."""
    magic, size, _, order, n_back, at_back = DICTIONARY.unpack_from(data, start)
    if magic != b"CQDB" or order != BYTE_ORDER:
        raise ValueError(f"no dictionary at byte {start:,}")
    if start + size > len(data):
        raise ValueError(f"the dictionary of {what}s goes beyond the end of the file")
    if n_back != n:
        raise ValueError(f"the dictionary has {n_back:,} {what}s and the header {n:,}")
    if n * (RECORD.size + 1) > size:
        raise ValueError(f"{n:,} {what}s do not fit into {size:,} bytes")
    back = _numbers(data, start + at_back, n)
    found: dict[str, int] = {}
    at, end = RECORDS, size
    for _ in range(n):
        number, length = RECORD.unpack_from(data, start + at)
        first = start + at + RECORD.size
        # The length counts a final zero byte.
        name = data[first : first + length]
        if at + RECORD.size + length > end or name.find(b"\0") != length - 1:
            raise ValueError(f"the {what} at byte {first:,} does not end where it should")
        if number >= n or back[number] != at:
            raise ValueError(f"{what}: the number {number:,} is out of range or taken")
        try:
            found[name[:-1].decode()] = number
        except UnicodeDecodeError:
            raise ValueError(f"the {what} at byte {first:,} is not UTF-8") from None
        at += RECORD.size + length
    if len(found) != n:
        raise ValueError(f"two {what}s have the same name")
    _check_tables(data, start, back, what)
    return found


def _check_tables(data: bytes, start: int, records: Array, what: str) -> None:
    """Refuse hash tables that lead elsewhere than to records, or have no end."""
    tables = _numbers(data, start + DICTIONARY.size, 2 * TABLES).reshape(-1, 2).tolist()
    if sum(buckets for _, buckets in tables) > len(data):
        raise ValueError(f"the hash tables of the {what}s overlap")
    used = []
    for at, buckets in tables:
        if not buckets:
            continue
        places = _numbers(data, start + at, 2 * buckets)[1::2]
        used.append(places[places != 0])
        # A search goes from bucket to bucket until it meets an empty one.
        if len(used[-1]) == buckets:
            raise ValueError(f"a hash table of the {what}s is full")
    if not np.array_equal(np.sort(np.concatenate([records[:0], *used])), np.sort(records)):
        raise ValueError(f"the hash tables do not lead to each {what} once")


def _check_references(
    data: bytes, start: int, name: bytes, n: int, unused: int, records: Array, kind: int
) -> None:
    """Refuse lists of features, one for each label or attribute, that are not the features."""
    what = "label" if name == b"LFRF" else "attribute"
    count = _chunk(data, start, name)
    if count != n + unused:
        raise ValueError(f"there are {count:,} lists of features for {n:,} {what}s")
    places = _numbers(data, start + CHUNK.size, count)[:n].astype(np.intp)
    _refuse((places % 4 != 0) | (places + 4 > len(data)), what + " {} has no list of features")
    words = np.frombuffer(data, NUMBER, len(data) // 4)
    places //= 4
    lengths = words[places].astype(np.intp)
    _refuse(places + 1 + lengths > len(words), what + " {}: its list of features has no end")
    total = int(lengths.sum())
    # Lists that overlap could be longer together than the file.
    if total != np.count_nonzero(records["type"] == kind):
        raise ValueError(f"the lists of the {what}s do not have all features once")
    before = np.cumsum(lengths) - lengths
    numbers = words[np.repeat(places + 1 - before, lengths) + np.arange(total)]
    owners = np.repeat(np.arange(n), lengths)
    bad = numbers >= len(records)
    if not bad.any():
        listed = records[numbers]
        bad = (listed["type"] != kind) | (listed["source"] != owners)
    if bad.any():
        raise ValueError(f"{what} {owners[np.argmax(bad)]} lists a feature that is not its own")
    if len(np.unique(numbers)) != total:
        raise ValueError(f"the lists of the {what}s do not have all features once")
