"""Reading a CRFsuite model file, without loss.

CRFsuite's own listing prints weights with six decimals; the file has all of
their bits. All numbers in it are little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib.sequence._token_features import Heads, by_head

__all__ = ["CRFModel", "parse_model"]

HEADER = struct.Struct("<4sI4s9I")
FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
CHUNK_HEAD = 12
# A dictionary is a constant quark database: its records follow a header and 256 hash tables.
RECORDS = 24 + 256 * 8
RECORD = struct.Struct("<II")


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
    def heads(self) -> Heads:
        """The rows of attributes that are named by a head and a value, such as "+1:w=the"."""
        return by_head(self.attributes)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "heads"}


def parse_model(data: bytes) -> CRFModel:
    """Return the model in the bytes of a CRFsuite file."""
    try:
        return _parse(data)
    except (struct.error, ValueError, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"This is not a complete CRFsuite model: {error}.") from None


def _parse(data: bytes) -> CRFModel:
    magic, size, kind, *numbers = HEADER.unpack_from(data)
    if magic != b"lCRF" or kind != b"FOMC":
        raise ValueError("the file does not start as a first-order CRFsuite model does")
    if size > len(data):
        raise ValueError(f"it should have {size:,} bytes and has {len(data):,}")
    version, n_features, n_labels, n_attributes, at_features, at_labels, at_attributes = numbers[:7]
    if version != 100:
        raise ValueError(f"version {version} of the format is not known, only 100")
    # The header leaves the number of features at zero; their own chunk has it.
    count = struct.unpack_from("<I", data, at_features + 8)[0]
    n_features = n_features or count
    records = np.frombuffer(data, FEATURE, n_features, at_features + CHUNK_HEAD)
    labels = _dictionary(data, at_labels, n_labels)
    attributes = _dictionary(data, at_attributes, n_attributes)
    # The file has labels in the order of their first appearance.
    names = sorted(labels)
    place = np.empty(n_labels, dtype=np.intp)
    place[[labels[name] for name in names]] = np.arange(n_labels)
    state, step = records[records["type"] == 0], records[records["type"] == 1]
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


def _dictionary(data: bytes, start: int, n: int) -> dict[str, int]:
    if data[start : start + 4] != b"CQDB":
        raise ValueError(f"no dictionary at byte {start}")
    at = start + RECORDS
    found: dict[str, int] = {}
    for _ in range(n):
        number, size = RECORD.unpack_from(data, at)
        at += RECORD.size
        # The size counts a final zero byte.
        found[data[at : at + size - 1].decode()] = number
        at += size
    return found
