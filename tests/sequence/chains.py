"""Linear chains by enumeration: slow, literal, and independent of the package."""

import itertools

import numpy as np


def enumerate_chain(potentials, transitions):
    """Return tag marginals, pair marginals (t, i, j), log normalizer, paths and their shares."""
    n, k = potentials.shape
    paths = list(itertools.product(range(k), repeat=n))
    log_weight = np.array(
        [
            sum(potentials[t, path[t]] for t in range(n))
            + sum(transitions[path[t - 1], path[t]] for t in range(1, n))
            for path in paths
        ]
    )
    top = log_weight.max()
    if top == -np.inf:
        return None
    share = np.exp(log_weight - top)
    log_z = top + np.log(share.sum())
    share /= share.sum()
    tags, pairs = np.zeros((n, k)), np.zeros((n - 1, k, k))
    for path, weight in zip(paths, share, strict=True):
        for t in range(n):
            tags[t, path[t]] += weight
        for t in range(1, n):
            pairs[t - 1, path[t - 1], path[t]] += weight
    return tags, pairs, log_z, paths, share


def random_chains(seed, scale=1.0, step=1.0, forbid=0.0, k=None, n=None):
    """Return potentials, transitions and lengths of a few short sequences."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 4)) if k is None else k
    lengths = rng.integers(1, 6, size=rng.integers(1, 5)) if n is None else np.array(n)
    potentials = scale * rng.normal(size=(lengths.sum(), k))
    transitions = step * rng.normal(size=(k, k))
    transitions[rng.random((k, k)) < forbid] = -np.inf
    potentials[rng.random(potentials.shape) < forbid / 2] = -np.inf
    return potentials, transitions, lengths


def long_chains(seed=0, k=7, n=40, step=1.0):
    """Return potentials, transitions and lengths of sequences too long to enumerate."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 60, size=n)
    return rng.normal(size=(lengths.sum(), k)), step * rng.normal(size=(k, k)), lengths


def sequences(array, lengths):
    return np.split(array, np.cumsum(lengths)[:-1])
