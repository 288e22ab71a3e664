"""Do intervals of counts hold the truth when the model is wrong?

2,000 documents in ten periods, with common and rare events, and probabilities that are wrong in
many ways. A few documents are read. Every method's 95 % intervals are held against the true
counts, by period and in total. With the packages installed, prediction-powered inference
(ppi-python) and quantification (quapy) see as many documents, drawn uniformly as they ask. With a
folder of corpora, counts of chunks and tags are corrected by 100 sentences. Run with

    python -P benchmarks/counts.py --out benchmarks/results/counts.json --data-home FOLDER

and with --replications 10 for a rough look. Without -P, numba takes coverage.py of this folder for
another package.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin

from sklearn_calib.explore._count_map import draw_count_maps
from sklearn_calib.explore._design_estimate import design_estimate
from sklearn_calib.explore._probability_map import draw_maps
from sklearn_calib.explore._survey import draw_sample, permanent_numbers, sampling_sizes

try:
    from ppi_py import ppi_mean_ci
except ImportError:
    ppi_mean_ci = None
try:
    from quapy.method.aggregative import PACC
except ImportError:
    PACC = None

Array = np.ndarray
Rng = np.random.Generator

N_DOCUMENTS, N_PERIODS, N_DRAWS, N_BOOTSTRAP = 2000, 10, 400, 60
LAWS: dict[str, Callable[[Rng], Array]] = {
    "common": lambda rng: expit(rng.normal(-0.5, 2.0, N_DOCUMENTS)),
    "rare": lambda rng: expit(rng.normal(-4.7, 2.2, N_DOCUMENTS)),
}
# From the model's probability to the chance of truth.
MAPS: dict[str, Callable[[Array], Array]] = {
    "calibrated": lambda p: p,
    "overconfident": lambda p: expit(logit(p) / 1.6),
    "underconfident": lambda p: expit(logit(p) * 1.6),
    "shifted by 1": lambda p: expit(logit(p) + 1.0),
    "shifted by -1": lambda p: expit(logit(p) - 1.0),
    "2 % missed": lambda p: p + 0.02 * (1.0 - p),
    "truth capped at .7": lambda p: np.minimum(p, 0.7),
    "step": lambda p: np.where(p < 0.5, 0.3 * p, 0.5 + 0.5 * p),
    "S": lambda p: expit(np.sinh(np.clip(logit(p), -20, 20)) / 2.0),
    "missed and capped": lambda p: 0.02 + 0.65 * p,
    "flat": lambda p: expit(1.2 * np.cbrt(logit(p)) - 1.0),
}
# The true chance is that of the law, and the model's probability is something else.
MODELS: dict[str, Callable[[Array, Array, Rng], Array]] = {
    "model capped at .7": lambda q, y, rng: np.minimum(q, 0.7),
    "two values": lambda q, y, rng: np.where(q > 0.5, 0.97, 0.01),
    "noise": lambda q, y, rng: expit(logit(q) + rng.normal(0.0, 1.5, len(q))),
    "noise by answer": lambda q, y, rng: expit(
        logit(q) + np.abs(rng.normal(size=len(q))) * np.where(y, 1.5, -0.5)
    ),
    "100 samples": lambda q, y, rng: rng.binomial(100, q) / 100,
}
# The settings that were asked for; the others show that the method was not made for them.
ASKED = (
    "calibrated",
    "overconfident",
    "underconfident",
    "shifted by 1",
    "shifted by -1",
    "2 % missed",
    "truth capped at .7",
    "model capped at .7",
)


def make(rng: Rng, law: str, shape: str) -> tuple[Array, Array]:
    """Return a model's probabilities, and the truth."""
    p = LAWS[law](rng)
    if shape in MAPS:
        return p, rng.random(len(p)) < MAPS[shape](p)
    y = rng.random(len(p)) < p
    return MODELS[shape](p, y, rng), y


def ends(drawn: Array) -> tuple[Array, Array]:
    low = np.quantile(drawn, 0.025, axis=0, method="lower")
    return low, np.quantile(drawn, 0.975, axis=0, method="higher")


Found = dict[str, tuple[tuple[Array, Array] | None, tuple[float, float]]]


def drawn_counts(chance: Array, period: Array, rng: Rng) -> Array:
    """Draw the counts of periods; documents are in the order of their periods."""
    yes = rng.random((N_DRAWS, len(period)), dtype=np.float32) < chance
    start = np.searchsorted(period, np.arange(N_PERIODS))
    return np.add.reduceat(yes, start, axis=1, dtype=np.int64)


def intervals(rng: Rng, p: Array, y: Array, period: Array, n: int, peers: bool) -> Found:
    """Return the intervals of all periods, and that of their sum, by method."""
    plain = drawn_counts(p, period, rng)
    order = np.lexsort((p, period))
    numbers = permanent_numbers(len(p), rng=rng, order=order)
    read, inclusion = draw_sample(sampling_sizes(np.sqrt(p * (1.0 - p))), numbers, n)
    maps = draw_maps(p[read], y[read], frequency=[p.mean()], n_draws=N_DRAWS, rng=rng)
    # Log-odds that agree to 1 in 50 are asked for once.
    alike, place = np.unique(np.rint(50.0 * logit(p)), return_inverse=True)
    chance = maps.chance(expit(alike / 50.0))[:, place]
    chance[:, read] = y[read]
    mended = drawn_counts(chance, period, rng)

    def design(cell: Array, n_cells: int) -> tuple[Array, Array]:
        found = design_estimate(
            y[read],
            p[read],
            cell[read],
            inclusion=inclusion[read],
            prediction_total=np.bincount(cell, p, minlength=n_cells),
            cell_size=np.bincount(cell, minlength=n_cells),
            rng=rng,
        )
        return found.low, found.high

    total = design(np.zeros(len(p), dtype=int), 1)
    found: Found = {
        "plain": (ends(plain), ends(plain.sum(axis=1))),
        "recalibrated": (ends(mended), ends(mended.sum(axis=1))),
        "design": (design(period, N_PERIODS), (float(total[0][0]), float(total[1][0]))),
    }
    if not peers:
        return found
    uniform = rng.choice(len(p), size=n, replace=False)
    if ppi_mean_ci is not None:
        cells = [prediction_powered(p, y, uniform, period == t) for t in range(N_PERIODS)]
        low, high = np.array(cells).T
        everywhere = np.ones(len(p), dtype=bool)
        found["PPI++"] = ((low, high), prediction_powered(p, y, uniform, everywhere))
    if PACC is not None:
        found["QuaPy (PACC)"] = (None, quantified(p, y, uniform, rng))
    return found


def prediction_powered(p: Array, y: Array, read: Array, inside: Array) -> tuple[float, float]:
    """Return the interval of PPI++ for a count; NaN where fewer than two were read."""
    rows = read[inside[read]]
    if len(rows) < 2:
        return np.nan, np.nan
    rest = np.setdiff1d(np.flatnonzero(inside), rows)
    with np.errstate(all="ignore"):
        low, high = ppi_mean_ci(y[rows].astype(float), p[rows], p[rest], alpha=0.05)
    size = inside.sum()
    return size * float(np.ravel(low)[0]), size * float(np.ravel(high)[0])


def quantified(p: Array, y: Array, read: Array, rng: Rng) -> tuple[float, float]:
    """Return the bootstrap interval of probabilistic adjusted counting."""
    both = np.column_stack([1.0 - p, p])
    if not 0 < y[read].sum() < len(read):
        return np.nan, np.nan
    found = []
    for _ in range(N_BOOTSTRAP):
        rows = rng.choice(read, size=len(read))
        everyone = rng.integers(len(p), size=len(p))
        if 0 < y[rows].sum() < len(rows):
            quantifier = PACC(Given().fit(), fit_classifier=False, val_split=None)
            quantifier.fit(p[rows][:, np.newaxis], y[rows].astype(int))
            found.append(len(p) * quantifier.aggregate(both[everyone])[1])
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are its only feature, as QuaPy wants one."""

    def fit(self, X: Any = None, y: Any = None) -> Given:
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X: Array) -> Array:
        return np.column_stack([1.0 - X[:, 0], X[:, 0]])

    def predict(self, X: Array) -> Array:
        return (X[:, 0] > 0.5).astype(int)


def simulate(
    law: str, shape: str, n: int, replications: int, peers: int, seed: int
) -> list[dict[str, Any]]:
    """Return one row per method: coverage, widths, and limits below 0."""
    seen: dict[str, list[list[float]]] = {}
    for i in range(replications):
        rng = np.random.default_rng([zlib.crc32(f"{law} {shape} {n}".encode()), seed, i])
        p, y = make(rng, law, shape)
        period = np.sort(rng.integers(N_PERIODS, size=len(p)))
        truth = np.bincount(period, y, minlength=N_PERIODS)
        # The peers are slow, and fewer runs show how they do.
        for method, (cells, total) in intervals(rng, p, y, period, n, i < peers).items():
            row = [np.nan] * 3
            if cells is not None:
                low, high = cells
                known = np.isfinite(low)
                row = [
                    np.mean(((low <= truth) & (truth <= high))[known]),
                    np.mean((high - low)[known]),
                    np.mean((low < 0.0)[known]),
                ]
            row += [float(total[0] <= y.sum() <= total[1]), total[1] - total[0], y.sum()]
            seen.setdefault(method, []).append(row)
    rows = []
    for method, values in seen.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            means = np.nanmean(np.array(values, dtype=float), axis=0)
        names = ("period_coverage", "period_width", "below_zero")
        names += ("total_coverage", "total_width", "events")
        rows.append(
            {"law": law, "shape": shape, "n": n, "method": method, "replications": len(values)}
            | {
                name: round(float(v), 4) if np.isfinite(v) else None
                for name, v in zip(names, means, strict=True)
            }
        )
    return rows


# --- real text


def tagged(data_home: str) -> dict[str, tuple[Array, Array, Array, list[str]]]:
    """Return gold counts, and means and variances of sampled counts, by corpus and model."""
    from sklearn_calib.datasets import load_ark_tweets, load_conll2000
    from sklearn_calib.explore._count_tags import _chunks
    from sklearn_calib.sequence import CRFTagger, HMMTagger

    load = {"data_home": data_home, "download": False}
    news = [load_conll2000(split=split, tags="chunk", **load) for split in ("train", "test")]
    tweets = [load_ark_tweets(split=split, **load) for split in ("train", "test")]
    found = {}
    for corpus, (train, test), kinds in (
        ("CoNLL-2000 chunks", news, lambda tags: _chunks([], tags)),
        ("ARK tags", tweets, list),
    ):
        for name, model in (
            ("CRF", CRFTagger(features="rich", c2=0.1, max_iterations=60)),
            ("HMM", HMMTagger(emission_pseudocount=0.1)),
        ):
            model.fit(train.X[:3000], train.y[:3000])
            samples = model.sample(test.X, 100, random_state=0)
            gold = [Counter(kinds(list(tags))) for tags in test.y]
            drawn = [[Counter(kinds(t)) for t in np.asarray(s).tolist()] for s in samples]
            every = set().union(*gold, *(c for row in drawn for c in row))
            keys = sorted(str(key) for key in every)
            counts = np.array([[[c[k] for k in keys] for c in row] for row in drawn])
            true = np.array([[c[k] for k in keys] for c in gold])
            parts = (true, counts.mean(axis=1), counts.var(axis=1, ddof=1), keys)
            found[f"{corpus}, {name}"] = parts
    return found


def corrected_counts(
    gold: Array, mean: Array, variance: Array, n: int, rng: Rng
) -> tuple[Array, Array]:
    """Return intervals of the counts of all keys, given n sentences with their true counts."""
    n_sentences, n_keys = gold.shape
    numbers = permanent_numbers(n_sentences, rng=rng, order=np.argsort(mean.sum(axis=1)))
    read, _ = draw_sample(sampling_sizes(np.sqrt(variance.sum(axis=1))), numbers, n)
    key = np.tile(np.arange(n_keys), n)
    maps = draw_count_maps(
        mean[read].ravel(),
        variance[read].ravel(),
        gold[read].ravel(),
        key=key,
        n_keys=n_keys,
        frequency=mean.mean(axis=0),
        n_draws=N_DRAWS,
        rng=rng,
    )
    rest = np.setdiff1d(np.arange(n_sentences), read)
    key = np.tile(np.arange(n_keys), len(rest))
    drawn = maps.draw(mean[rest].ravel(), variance[rest].ravel(), key, n_keys, key=key, rng=rng)
    return ends(drawn + gold[read].sum(axis=0))


def real_text(data_home: str, n: int, draws: int) -> list[dict[str, Any]]:
    rows = []
    for name, (gold, mean, variance, keys) in tagged(data_home).items():
        truth = gold.sum(axis=0)
        half = 1.96 * np.sqrt(variance.sum(axis=0)) + 0.5
        plain = np.abs(truth - mean.sum(axis=0)) <= half
        held, width = [], []
        for i in range(draws):
            low, high = corrected_counts(gold, mean, variance, n, np.random.default_rng([4, i]))
            held.append((low <= truth) & (truth <= high))
            width.append((high - low) / (2.0 * half))
        rows.append(
            {
                "corpus": name,
                "n_sentences": len(gold),
                "n_keys": len(keys),
                "n": n,
                "draws": draws,
                "plain": round(float(plain.mean()), 4),
                "corrected": round(float(np.mean(held)), 4),
                "width_ratio": round(float(np.median(width)), 2),
                "worst_key": keys[int(np.argmin(np.mean(held, axis=0)))],
                "worst": round(float(np.mean(held, axis=0).min()), 3),
            }
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--peers", type=int, default=50, help="replications with other packages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shapes", nargs="+", default=[*MAPS, *MODELS])
    parser.add_argument("--read", nargs="+", type=int, default=[100, 300])
    parser.add_argument("--data-home", help="folder of the corpora (see load_conll2000)")
    parser.add_argument("--only", choices=["simulation", "text"])
    options = parser.parse_args()

    result: dict[str, Any] = {"simulation": [], "text": []}
    if options.out and options.out.exists():
        result |= json.loads(options.out.read_text())

    def save() -> None:
        if options.out:
            options.out.write_text(json.dumps(result, indent=1) + "\n")

    if options.only != "text":
        start = time.perf_counter()
        result["simulation"] = []
        for law in LAWS:
            for shape in options.shapes:
                for n in options.read:
                    rows = simulate(
                        law, shape, n, options.replications, options.peers, options.seed
                    )
                    result["simulation"] += rows
                    for row in rows:
                        print(*row.values(), flush=True)
                    save()
        result["seconds"] = round(time.perf_counter() - start)
    if options.only != "simulation" and options.data_home:
        result["text"] = real_text(options.data_home, 100, 20)
    save()


if __name__ == "__main__":
    main()
