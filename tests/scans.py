"""Scans for tests: the same queries as in memory, in chunks of any size and order."""

import pickle

import numpy as np

from sklearn_calib import Queries, scan_queries
from sklearn_calib.queries import _scan
from sklearn_calib.queries._scan_sources import FunctionSource


def read_as_a_scan(monkeypatch):
    """Read even the smallest scan in chunks, so that the tests of scans test them."""
    monkeypatch.setattr(_scan, "MOST_IN_MEMORY", 0)


def scan_of(queries, n_chunks=3, seed=0):
    """Return a scan of queries, shuffled anew on every pass and cut into chunks."""
    rng = np.random.default_rng(seed)

    def chunks():
        order = rng.permutation(len(queries))
        for part in np.array_split(order, n_chunks):
            if len(part):
                yield queries._take(part)

    return scan_queries(chunks)


def in_order(queries, sizes=()):
    """Return a scan of queries in their order, in chunks of these sizes and one more."""

    def chunks():
        for part in np.split(np.arange(len(queries)), np.cumsum(sizes).astype(int)):
            if len(part):
                yield queries._take(part)

    return scan_queries(chunks)


class Workers(FunctionSource):
    """Chunks that go to several workers, whose results are sent and put together in any order."""

    def __init__(self, chunks, columns, pos_label, number, seed=0):
        super().__init__(chunks, columns, pos_label)
        self._number, self._rng = number, np.random.default_rng(seed)

    def reduce(self, make, progress):
        found = [make() for _ in range(self._number)]
        for chunk in self.chunks():
            found[self._rng.integers(self._number)].add(chunk)
        found = [pickle.loads(pickle.dumps(part)) for part in found]
        self._rng.shuffle(found)
        while len(found) > 1:
            last = found.pop()
            found[self._rng.integers(len(found))].merge(last)
        return found[0]


def scan_of_columns(columns, n_chunks, n_workers=1, pos_label=None, seed=0):
    """Return a scan of plain columns, shuffled on every pass; some of the chunks are empty."""
    rng, n = np.random.default_rng(seed), len(columns["y_prob"])

    def chunks():
        order = rng.permutation(n)
        for part in np.split(order, np.sort(rng.integers(0, n + 1, n_chunks))):
            yield {name: values[part] for name, values in columns.items()}

    source = Workers(chunks, {name: name for name in columns}, pos_label, n_workers, seed)
    return _scan.QueryScan(
        source,
        labelled="label" in columns,
        grouped="group" in columns,
        weighted="sample_weight" in columns,
    )


def laws(n, seed=0):
    """Return predictions of many shapes, by name."""
    rng = np.random.default_rng(seed)
    spread = rng.beta(0.5, 1.5, n)
    return {
        "spread": spread,
        "narrow": 0.3 + 1e-5 * rng.random(n),
        "rounded": spread.round(2),
        "single precision": spread.astype(np.float32).astype(float),
        "constant": np.full(n, 0.25),
        "tiny": 10.0 ** -rng.uniform(0, 40, n),
        "ends": np.where(rng.random(n) < 0.5, rng.integers(0, 2, n).astype(float), spread),
        "near one": 1.0 - spread * 1e-4,
    }


def answers(q, seed=1):
    """Return answers that are not quite as predicted, but never impossible."""
    rng = np.random.default_rng(seed)
    return rng.random(len(q)) < np.where((q > 0.0) & (q < 1.0), q**1.1, q)


def queries_of(q, weights=None, seed=1, **options):
    """Return queries, and with weights "whole" or "real" weighted ones."""
    rng = np.random.default_rng(seed + 1)
    w = None
    if weights == "whole":
        w = rng.integers(0, 4, len(q)).astype(float)
        w[0] = 1.0
    elif weights == "real":
        w = rng.exponential(size=len(q))
    return Queries(answers(q, seed), q, sample_weight=w, **options)


def assert_same(found, expected, rtol=1e-9):
    """Compare numbers to a relative tolerance."""
    np.testing.assert_allclose(
        np.asarray(found, dtype=float), np.asarray(expected, dtype=float), rtol=rtol, atol=1e-14
    )
