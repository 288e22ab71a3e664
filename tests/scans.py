"""Scans for tests: the same queries as in memory, in chunks of any size and order."""

import numpy as np

from sklearn_calib import Queries, scan_queries
from sklearn_calib.queries import _scan


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
