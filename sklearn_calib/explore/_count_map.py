"""How a model's expected counts differ from true counts, learnt from answers.

Documents hold several events of a kind, such as the noun phrases of a sentence.
The true count of a document is the whole number nearest to the model's mean,
plus events that this number lacks, minus events that it has too many. Both are
Poisson with rates of two parts: one in proportion to what the model expects
there, and one for what it is sure about and wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from sklearn_calib._validation import Array
from sklearn_calib.explore._slice_sampling import draw_posterior

# There are four factors: what is lacking and what is too much, relative to the model's own
# expectation; then both where the model is sure, relative to the frequency of the key and to
# the count. Priors, as median and spread of logs, are of the product and the ratio of the
# first two, because a model that errs more than it says errs more in both directions.
_MEDIAN = np.log([1.0, 1.0, 0.01, 0.01])
_SPREAD = np.array([0.8, 0.5, 1.5, 1.5])
# No factor is larger, whatever the tails of the priors allow: not more than all can be too much.
_MOST = np.log([1e3, 1e3, 20.0, 1.0])
_N_FACTORS = len(_MEDIAN)
_TURN = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]])
# How far keys differ, and how unsure that is.
_KEY_SPREAD = np.log([0.3, 0.5, 0.8, 0.8])
_KEY_DOUBT = 0.7
# Rows without an error, and where the model expects hardly any, matter through sums only:
# log I0(2 sqrt(lacking extra)) is the product to the first order, and below lacking + extra.
_QUIET = 0.01
# The dispersion of a key is drawn towards that of all keys by as many errors as this.
_COMMON_ERRORS = 10.0


@dataclass(frozen=True, eq=False)
class CountMaps:
    """Draws of how a model's expected counts differ from true counts.

    Attributes
    ----------
    factors : ndarray of shape (n_draws, n_keys, 4)
        Events that are lacking and events that are too many, relative to the
        model's own expectation; the same where the model is sure, relative to
        the key's frequency and to the count.
    frequency : ndarray of shape (n_keys,)
        The mean count of a document, according to the model.
    dispersion : ndarray of shape (n_keys,)
        How much more errors vary than Poisson variables, because they come
        together in some documents; at least 1.
    n_answers : int
        How many answers they were learnt from.
    """

    factors: Array
    frequency: Array
    dispersion: Array
    n_answers: int

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.factors)

    def draw(
        self,
        mean: ArrayLike,
        variance: ArrayLike,
        cell: ArrayLike,
        n_cells: int,
        *,
        key: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        rng: np.random.Generator,
    ) -> Array:
        """Return draws of the counts of cells, of shape (n_draws, n_cells).

        Sums of Poisson variables are Poisson, so that this takes no more memory
        than its answer, however many documents there are.

        Parameters
        ----------
        mean, variance : array-like of shape (n,)
            The model's mean and variance of the count of each unread document.
        cell : array-like of int of shape (n,)
            The cell (such as a period and key) of each; a cell has one key.
        n_cells : int
            Number of cells.
        key : array-like of int of shape (n,), default=None
            Their keys; the first by default.
        weight : array-like of int of shape (n,), default=None
            How many documents each row stands for; 1 by default.
        rng : Generator
            The source of randomness.
        """
        at = np.asarray(cell, dtype=np.int64)
        code = np.zeros(len(at), dtype=np.int64) if key is None else np.asarray(key)
        n = np.ones(len(at)) if weight is None else np.asarray(weight, dtype=float)
        nearest, parts = _parts(mean, variance, self.frequency[code])
        start = np.bincount(at, n * nearest, minlength=n_cells)
        sums = np.array([np.bincount(at, n * part, minlength=n_cells) for part in parts])
        key_of = np.zeros(n_cells, dtype=np.int64)
        key_of[at] = code
        lacking, extra = _rates(self.factors[:, key_of], sums)
        drawn = start + _spread_counts(lacking, self.dispersion[key_of], rng)
        drawn -= _spread_counts(extra, self.dispersion[key_of], rng)
        return np.maximum(drawn, 0.0)


def draw_count_maps(
    mean: ArrayLike,
    variance: ArrayLike,
    answer: ArrayLike,
    *,
    key: ArrayLike | None = None,
    n_keys: int = 1,
    frequency: ArrayLike,
    n_draws: int = 1000,
    rng: np.random.Generator,
) -> CountMaps:
    """Draw how a model's expected counts differ from true counts, given answers.

    Parameters
    ----------
    mean, variance : array-like of shape (n_answers,)
        The model's mean and variance of the count of each document (and key) that
        was read. Keys that a document lacks belong to the answers as well.
    answer : array-like of int of shape (n_answers,)
        The true counts.
    key : array-like of int of shape (n_answers,), default=None
        The place of each answer's key among `n_keys`.
    n_keys : int, default=1
        How many keys there are. They share strength, and may differ.
    frequency : array-like of shape (n_keys,)
        The mean count of a document according to the model, read or not.
    n_draws : int, default=1000
        How many draws.
    rng : Generator
        The source of randomness.

    Returns
    -------
    CountMaps
        The draws.
    """
    y = np.asarray(answer, dtype=float)
    code = np.zeros(len(y), dtype=np.int64) if key is None else np.asarray(key, dtype=np.int64)
    rate = np.array(frequency, dtype=float)
    nearest, parts = _parts(mean, variance, rate[code])
    off = np.rint(y - nearest)
    known, local = np.unique(code, return_inverse=True)
    rows = _Rows.of(off, np.array(parts), local, len(known))
    many = n_keys > 1
    n_parameters = _N_FACTORS * (2 + len(known)) if many else _N_FACTORS

    def factors(z: Array) -> Array:
        """Return the factors, of shape (n, n_known, 4)."""
        own = z[:, 2 * _N_FACTORS :].reshape(len(z), -1, _N_FACTORS) if many else 0.0
        return _factors(z, own)

    dispersion = np.ones(len(known))
    z = np.zeros((1, n_parameters))
    # The dispersion is that around the middle of a first round.
    for last, n_round in ((False, 50), (True, n_draws)):

        def log_likelihood(z: Array, dispersion: Array = dispersion) -> Array:
            return rows.log_likelihood(factors(z), dispersion)

        def slopes(z: Array, dispersion: Array = dispersion) -> tuple[Array, Array]:
            step = 1e-4
            some = factors(np.vstack([z, z + step * np.eye(n_parameters)]))
            return rows.slopes(some, dispersion, step)

        z = draw_posterior(log_likelihood, slopes, n_parameters, n_draws=n_round, rng=rng)
        if not last:
            dispersion = rows.dispersion(np.exp(np.log(factors(z)).mean(axis=0, keepdims=True)))
    found = np.empty((n_draws, n_keys, _N_FACTORS))
    if many:
        found[:] = _factors(z, rng.standard_normal(found.shape))
    found[:, known] = factors(z)
    spread = np.full(n_keys, dispersion.mean() if len(known) else 1.0)
    spread[known] = dispersion
    return CountMaps(found, rate, spread, len(y))


def _factors(z: Array, own: Array | float) -> Array:
    """Return factors of shape (n, n_keys, 4) from common parameters and those of keys."""
    logs = (_SPREAD * z[:, :_N_FACTORS])[:, np.newaxis]
    if not isinstance(own, float):
        spread = np.exp(_KEY_SPREAD + _KEY_DOUBT * z[:, _N_FACTORS : 2 * _N_FACTORS])
        logs = logs + own * spread[:, np.newaxis]
    return np.exp(np.minimum(_MEDIAN + logs @ _TURN, _MOST))


def _parts(mean: ArrayLike, variance: ArrayLike, frequency: Array) -> tuple[Array, list[Array]]:
    """Return the nearest whole counts, and what the rates of errors are made of.

    For a count that is off by one at most, the mean square of how far it is off is
    the probability that it is off.
    """
    mu, v = np.asarray(mean, dtype=float), np.asarray(variance, dtype=float)
    nearest = np.rint(mu)
    off = mu - nearest
    either = v + np.square(off)
    lacking, extra = 0.5 * np.maximum(either + off, 0.0), 0.5 * np.maximum(either - off, 0.0)
    return nearest, [lacking, extra, frequency + 0.0 * mu, nearest]


def _rates(factors: Array, parts: Array) -> tuple[Array, Array]:
    """Return the rates of lacking and of extra events, of shape (n, n_rows)."""
    lacking = factors[..., 0] * parts[0] + factors[..., 2] * parts[2]
    return lacking, factors[..., 1] * parts[1] + factors[..., 3] * parts[3]


def _spread_counts(rate: Array, dispersion: Array, rng: np.random.Generator) -> Array:
    """Draw counts whose variance is the dispersion times their mean."""
    scale = np.maximum(dispersion - 1.0, 1e-9)
    mixed = np.where(dispersion > 1.0 + 1e-9, rng.gamma(rate / scale) * scale, rate)
    return rng.poisson(np.minimum(mixed, 1e15)).astype(float)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Answers: rows that say more than their sums, and the sums of all by key."""

    off: Array
    parts: Array
    key: Array
    sums: Array
    quiet_sums: Array
    products: Array
    all_parts: Array
    all_key: Array

    @classmethod
    def of(cls, off: Array, parts: Array, key: Array, n_keys: int) -> _Rows:
        def by_key(values: Array) -> Array:
            return np.bincount(key, values, minlength=n_keys)

        quiet = (off == 0.0) & (parts[0] * parts[1] <= _QUIET)
        silent = parts * quiet
        products = np.array(
            [[by_key(one * other) for other in silent[1::2]] for one in silent[::2]]
        )
        rows = np.flatnonzero(~quiet)
        rows = rows[np.argsort(np.abs(off[rows]), kind="stable")]
        return cls(
            off=off[rows],
            parts=parts[:, rows],
            key=key[rows],
            sums=np.array([by_key(part) for part in parts]),
            quiet_sums=np.array([by_key(part) for part in silent]),
            products=products,
            all_parts=parts,
            all_key=key,
        )

    def _bessel(self, lacking: Array, extra: Array) -> Array:
        """Return log I(2 sqrt(lacking extra)) of the order of how far each row is off."""
        x = 2.0 * np.sqrt(lacking * extra)
        order = np.abs(self.off)
        ends = np.searchsorted(order, [1.0, 2.0])
        scaled = np.empty_like(x)
        scaled[:, : ends[0]] = special.i0e(x[:, : ends[0]])
        scaled[:, ends[0] : ends[1]] = special.i1e(x[:, ends[0] : ends[1]])
        scaled[:, ends[1] :] = special.ive(order[ends[1] :], x[:, ends[1] :])
        # Where the function is too small for floats, its first term is all there is.
        x = np.maximum(x, 1e-150)
        first = order * np.log(0.5 * x) - special.gammaln(order + 1.0)
        return np.where(x < 1e-3, first, np.log(np.maximum(scaled, 1e-300)) + x)

    def log_likelihood(self, factors: Array, dispersion: Array) -> Array:
        """Return the log-likelihood of differences of Poisson variables (Skellam 1946)."""
        lacking, extra = self._positive(factors)
        ratio = 0.5 * self.off * (np.log(lacking) - np.log(extra))
        total = (ratio + self._bessel(lacking, extra)) @ (1.0 / dispersion[self.key])
        total -= np.add(*_rates(factors, self.sums)) @ (1.0 / dispersion)
        product = np.einsum("nki,nkj,ijk->nk", factors[..., ::2], factors[..., 1::2], self.products)
        most = np.add(*_rates(factors, self.quiet_sums))
        both = product * most / np.maximum(product + most, 1e-300)
        return total + both @ (1.0 / dispersion)

    def _positive(self, factors: Array) -> tuple[Array, Array]:
        lacking, extra = _rates(factors[:, self.key], self.parts)
        return np.maximum(lacking, 1e-12), np.maximum(extra, 1e-12)

    def slopes(self, factors: Array, dispersion: Array, step: float) -> tuple[Array, Array]:
        """Return gradient and information at the first of some factors, a step from the others."""
        heights = self.log_likelihood(factors, dispersion)
        gradient = (heights[1:] - heights[0]) / step
        change = (factors[1:] - factors[0]) / step
        information = np.zeros((len(change), len(change)))
        # As if it were known of each event whether it was lacking or too much.
        for side, rate in enumerate(_rates(factors[0][self.all_key], self.all_parts)):
            parts = self.all_parts[side::2]
            weight = 1.0 / np.maximum(rate, 1e-9)
            for one in (0, 1):
                for other in (0, 1):
                    product = parts[one] * parts[other] * weight
                    by_key = np.bincount(self.all_key, product, minlength=factors.shape[1])
                    left, right = change[..., side + 2 * one], change[..., side + 2 * other]
                    information += (left * (by_key / dispersion)) @ right.T
        return gradient, information

    def dispersion(self, factors: Array) -> Array:
        """Return mean squares of errors relative to their variances by key, at least 1."""
        lacking, extra = self._positive(factors)
        # Quiet rows have next to no error, and their rates are part of the sums.
        square = np.square(self.off - (lacking - extra)[0])
        squares = np.bincount(self.key, square, minlength=factors.shape[1])
        rates = np.add(*_rates(factors, self.sums))[0]
        common = max(1.0, float(squares.sum() / max(rates.sum(), 1e-12)))
        own = (squares + _COMMON_ERRORS * common) / (rates + _COMMON_ERRORS)
        return np.maximum(own, 1.0)
