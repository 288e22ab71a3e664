"""Antecedent probabilities, and all clusterings by enumeration: slow and literal."""

import itertools

import numpy as np


def random_proba(n, seed=0, spread=2.0, window=None):
    """Return random antecedent probabilities."""
    rng = np.random.default_rng(seed)
    proba = np.tril(np.exp(spread * rng.standard_normal((n, n))))
    if window is not None:
        proba *= np.arange(n)[:, None] - np.arange(n) <= window
    return proba / proba.sum(axis=1, keepdims=True)


def enumerated(proba):
    """Return link probabilities and the law of clusterings, over all choices."""
    n = len(proba)
    links = np.zeros((n, n))
    law = {}
    for choice in itertools.product(*(range(i + 1) for i in range(n))):
        weight = np.prod([proba[i, a] for i, a in enumerate(choice)])
        root = []
        for i, a in enumerate(choice):
            root.append(i if a == i else root[a])
        root = np.array(root)
        links += weight * (root[:, None] == root)
        law[tuple(root.tolist())] = law.get(tuple(root.tolist()), 0.0) + weight
    return links, law


def enumerated_entities(proba):
    """Return the probability of each set of mentions being an entity."""
    found = {}
    for root, weight in enumerated(proba)[1].items():
        for first in set(root):
            members = tuple(i for i, r in enumerate(root) if r == first)
            found[members] = found.get(members, 0.0) + weight
    return found
