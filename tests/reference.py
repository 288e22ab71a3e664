"""Slow and literal transcriptions of the published algorithms, to test against."""

from __future__ import annotations

import math

import numpy as np


def algorithm_1_bins(y, q, beta):
    """Bins of Algorithm 1: lists of (q, y), by the floor((k - 1) / beta) + 1 rule."""
    ordered = sorted(zip(q, y, strict=True), key=lambda pair: pair[0])
    bins: dict[int, list] = {}
    for k, pair in enumerate(ordered, start=1):
        bins.setdefault(math.floor((k - 1) / beta) + 1, []).append(pair)
    out = [bins[i] for i in sorted(bins)]
    if len(out) > 1 and len(out[-1]) < beta:
        short = out.pop()
        out[-1] = out[-1] + short
    return out


def tied_bins(y, q, beta):
    """The same, closing a bin only when its last run of equal predictions is complete."""
    ordered = sorted(zip(q, y, strict=True), key=lambda pair: pair[0])
    out, current = [], []
    for i, pair in enumerate(ordered):
        current.append(pair)
        complete = i + 1 == len(ordered) or ordered[i + 1][0] != pair[0]
        if len(current) >= beta and complete:
            out.append(current)
            current = []
    if current:
        if out:
            out[-1] = out[-1] + current
        else:
            out.append(current)
    return out


def error_of_bins(bins, squared=False, norm="l2"):
    n = sum(len(b) for b in bins)
    total, largest = 0.0, 0.0
    for b in bins:
        q_hat = sum(q for q, _ in b) / len(b)
        p_hat = sum(y for _, y in b) / len(b)
        gap = abs(q_hat - p_hat)
        largest = max(largest, gap)
        total += len(b) * (gap**2 if norm == "l2" else gap)
    if norm == "max":
        return largest
    mean = total / n
    return mean if squared or norm == "l1" else math.sqrt(mean)


def algorithm_2(bins, n_resamples, rng, squared=False, z=1.96):
    """Draw each bin's frequency from N(p, p(1-p)/n), clip, recompute; mean +- z sd."""
    n = sum(len(b) for b in bins)
    draws = []
    for _ in range(n_resamples):
        total = 0.0
        for b in bins:
            q_hat = sum(q for q, _ in b) / len(b)
            p_hat = sum(y for _, y in b) / len(b)
            p = rng.normal(p_hat, math.sqrt(p_hat * (1 - p_hat) / len(b)))
            p = min(1.0, max(0.0, p))
            total += len(b) * (q_hat - p) ** 2
        draws.append(total / n if squared else math.sqrt(total / n))
    mean, sd = np.mean(draws), np.std(draws, ddof=1)
    return mean - z * sd, mean + z * sd


def debiased_square(bins):
    """Mean over queries of the bin's mean product of two different residuals."""
    n, total = 0, 0.0
    for b in bins:
        r = [y - q for q, y in b]
        pairs = [r[i] * r[j] for i in range(len(r)) for j in range(len(r)) if i != j]
        total += len(b) * sum(pairs) / len(pairs)
        n += len(b)
    return total / n


def leave_one_out_risk(bins):
    total, n = 0.0, 0
    for b in bins:
        r = [y - q for q, y in b]
        for i in range(len(r)):
            rest = r[:i] + r[i + 1 :]
            total += (r[i] - sum(rest) / len(rest)) ** 2
        n += len(b)
    return total / n
