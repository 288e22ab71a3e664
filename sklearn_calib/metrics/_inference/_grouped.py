"""The debiased error as a sum over pairs of units that do not depend on each other.

A unit is a query, or a group of queries (a sentence, a document). Within a
bin, the residuals of two different units are multiplied:

    T = sum over pairs of units g != h of K(g, h),
    K(g, h) = sum over bins b of c_b s_gb s_hb,

with s_gb the (weighted) sum of the residuals of unit g in bin b. Pairs within
a group are left out, so that T is unbiased however strongly the queries of a
group depend on each other. All moments of T come from the matrix of the s_gb,
which is sparse, because a unit touches few bins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._inference._debiased import debiased_square, pair_factor
from sklearn_calib.metrics._inference._moments import ResidualMoments

# Up to so many bins their products are kept in a square array, beyond as few as there are.
_DENSE = 2000

# The share of bins that a unit touches, from which on it is written out in full.
_CROWDED = 0.2

# Numbers made at a time, where a row of bins is made for each of them.
_ENTRIES = 4_000_000


def _summed_products(one: sparse.csr_array, two: sparse.csr_array) -> sparse.csr_array:
    """Return the products of bins, summed over units."""
    n_units, n_bins = one.shape
    if one.nnz < _CROWDED * n_units * n_bins:
        return sparse.csr_array(one.T @ two)
    # Units that touch many of the bins: rows of zeros and all are the faster way.
    whole = np.zeros((n_bins, two.shape[1]))
    part = max(1, _ENTRIES // n_bins)
    for first in range(0, n_units, part):
        rows = slice(first, first + part)
        whole += one[rows].toarray().T @ two[rows].toarray()
    return sparse.csr_array(whole)


@dataclass(frozen=True, eq=False)
class PairForm:
    """The quadratic form behind T.

    Attributes
    ----------
    sums : sparse array of shape (n_units, n_bins)
        Sum of weight x residual of each unit in each bin.
    weights : sparse array of shape (n_units, n_bins)
        Sum of weights.
    """

    sums: sparse.csr_array
    weights: sparse.csr_array

    @cached_property
    def bin_weight(self) -> Array:
        """Weight of each bin."""
        return np.asarray(self.weights.sum(axis=0)).ravel()

    @cached_property
    def bin_sum(self) -> Array:
        """Sum of residuals of each bin."""
        return np.asarray(self.sums.sum(axis=0)).ravel()

    @cached_property
    def share(self) -> Array:
        """Share of each bin in the total weight."""
        return self.bin_weight / self.bin_weight.sum()

    @cached_property
    def factor(self) -> Array:
        """The c_b: the share of the bin over the weight of its pairs of units."""
        return pair_factor(self.bin_weight, self.own_weight)

    @cached_property
    def own_weight(self) -> Array:
        """Sum over units of their squared weight in each bin."""
        return np.asarray(self.weights.multiply(self.weights).sum(axis=0)).ravel()

    @cached_property
    def unit_weight(self) -> Array:
        """Weight of each unit."""
        return np.asarray(self.weights.sum(axis=1)).ravel()

    @cached_property
    def self_terms(self) -> Array:
        """K(g, g) of each unit, which T leaves out."""
        return self.sums.multiply(self.sums) @ self.factor

    @cached_property
    def rows(self) -> Array:
        """Sum of K(g, h) over all h != g, for each unit g."""
        return self.sums @ (self.factor * self.bin_sum) - self.self_terms

    @cached_property
    def square(self) -> float:
        """T: the unbiased estimate of the squared error."""
        return float(debiased_square(self.bin_sum, self.own_squares, self.factor))

    @cached_property
    def own_squares(self) -> Array:
        """Sum over units of their squared residual sums in each bin."""
        return np.asarray(self.sums.multiply(self.sums).sum(axis=0)).ravel()

    @cached_property
    def products(self) -> Array:
        """Mean product of the residuals of two units in each bin: its squared error."""
        return self.factor * (np.square(self.bin_sum) - self.own_squares) / self.share

    @cached_property
    def n_units(self) -> float:
        """Kish's effective number of units."""
        return float(self.unit_weight.sum() ** 2 / np.square(self.unit_weight).sum())

    @cached_property
    def bin_units(self) -> Array:
        """Kish's effective number of units of each bin."""
        return np.square(self.bin_weight) / self.own_weight

    @cached_property
    def _without_centring(self) -> Array:
        """What undoes the loss of spread of a bin whose mean is taken away."""
        return np.sqrt(self.bin_units / np.maximum(self.bin_units - 1.0, 0.5))

    @cached_property
    def centred(self) -> PairForm:
        """The form of the residuals without their bin means, as spread out as they were."""
        mean = self.bin_sum / self.bin_weight
        scale = self._without_centring
        fitted = self.weights.multiply((scale * mean)[None, :])
        sums = self.sums.multiply(scale[None, :]) - fitted
        return PairForm(sparse.csr_array(sums), self.weights)

    @cached_property
    def _without_pairing(self) -> Array:
        """What undoes the loss of influence of a unit that others are compared with as well."""
        return 1.0 + 1.0 / np.maximum(self.bin_units - 2.0, 1.0)

    @cached_property
    def _others(self) -> sparse.csr_array:
        """The share of a bin over its weight and over that of all its units but one."""
        mine = self.weights.tocoo()
        # Where there are no others, there is no pair, and the bin does not count.
        share = np.where(self.factor > 0.0, self.share / self.bin_weight, 0.0)
        rest = self.bin_weight[mine.col] - mine.data
        values = np.divide(share[mine.col], rest, out=np.zeros_like(rest), where=rest > 0.0)
        return sparse.csr_array((values, (mine.row, mine.col)), shape=mine.shape)

    @cached_property
    def influence(self) -> Array:
        """How much each unit adds to T beyond what is expected of its weights in the bins.

        It is paired with the mean of all others. What is expected is estimated
        from pairs of different units, like T: the square of a bin's own noise
        would be the same for all units, and add up.
        """
        scale = self._without_centring * self._without_pairing
        reach = sparse.csr_array(self.sums.multiply(self._others))
        rows = reach @ (scale * self.bin_sum) - reach.multiply(self.sums) @ scale
        expected = self.share * scale * self.products / self.bin_weight
        return np.asarray(rows - self.weights @ expected)

    @cached_property
    def influence_noise(self) -> float:
        """Sum of the squared influence of units that is there without an error."""
        centred = self.centred
        scale = np.sqrt(self._without_pairing) / self._without_centring
        reach = sparse.csr_array(centred.sums.multiply(self._others))
        own = reach.multiply(centred.sums) @ scale
        whole = _summed_products(reach, reach).multiply(centred.inner)
        return float(scale @ (whole @ scale)) - float(np.sum(np.square(own)))

    @cached_property
    def inner(self) -> sparse.csr_array:
        """M: products of two bins' residuals of one unit, summed over units."""
        return _summed_products(self.sums, self.sums)

    def cross_moment(self, other: PairForm) -> float:
        """Return the sum of K(g, h) K'(g, h) over pairs of units."""
        between = self.inner if other is self else _summed_products(self.sums, other.sums)
        whole = between.multiply(between)
        total = float(self.factor @ (whole @ other.factor))
        return total - float(np.sum(self.self_terms * other.self_terms))

    def between(self, along: Array) -> float:
        """Return the sum of a(g) K(g, h) a(h) over pairs of units, with a number a of each unit."""
        whole = float(np.dot(self.factor, np.square(self.sums.T @ along)))
        return whole - float(np.dot(np.square(along), self.self_terms))

    def third_moment(self) -> float:
        """Return the sum of K(g, h) K(h, l) K(l, g) over distinct g, h, l."""
        own = self.self_terms
        # M once more, each unit counted as often as its K(g, g): the sum of (K K)(g, g) K(g, g)
        # over units needs no row of bins for each unit.
        weighted = _summed_products(self.sums, self.sums.multiply(own[:, None]).tocsr())
        cube = twice = 0.0
        scaled = self.inner.multiply(self.factor[:, None]).tocsr()  # C M
        n_bins = scaled.shape[0]
        whole = scaled.toarray() if n_bins <= _DENSE else scaled
        part = max(1, _ENTRIES // n_bins)
        for first in range(0, n_bins, part):
            rows = slice(first, first + part)
            square = whole[rows] @ whole  # C M C M
            turned = scaled[:, rows].T
            cube += float(turned.multiply(square).sum())
            # The last factor of C M C is that of the column.
            some = weighted[rows].multiply(self.factor[None, :])
            twice += float(some.multiply(whole[rows]).sum())
        return cube - 3.0 * twice + 2.0 * float(np.sum(own**3))


def unit_adders(
    bin_of: Array, unit: Array, n_bins: int
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return two matrices: one adds queries up by unit within a bin, one adds these up by bin."""
    n, n_units = len(unit), int(unit.max()) + 1
    cell, code = np.unique(bin_of * n_units + unit, return_inverse=True)
    to_cells = sparse.csr_array((np.ones(n), (code, np.arange(n))), shape=(len(cell), n))
    to_bins = sparse.csr_array(
        (np.ones(len(cell)), (cell // n_units, np.arange(len(cell)))), shape=(n_bins, len(cell))
    )
    return to_cells, to_bins


def pair_form(bins: BinnedQueries, residuals: Array | None = None) -> PairForm:
    """Return the form for queries in bins; where they have no units, each is one.

    Other weighted residuals may stand in for those of the queries.
    """
    queries = bins.queries
    values = queries.weighted_residuals if residuals is None else residuals
    unit = np.arange(len(queries)) if queries.unit is None else queries.unit
    cells = (unit, bins.of_queries(np.arange(len(bins))))
    shape = (int(unit.max()) + 1, len(bins))
    sums = sparse.coo_array((values, cells), shape=shape).tocsr()
    weights = sparse.coo_array((queries.weights, cells), shape=shape).tocsr()
    return PairForm(sums, weights)


def _composition_variance(form: PairForm, noise: Array) -> float:
    """Return the variance of T that comes from which predictions were drawn.

    `noise` holds the sum over units of squared centred residuals in each bin.
    It makes the bins' own squared errors vary, which is taken away here.
    """
    total = form.bin_weight.sum()
    product = form.products
    contribution = (form.weights @ product - form.unit_weight * form.square) / total
    variance = noise / np.square(form.bin_weight)
    product_variance = 2.0 * np.square(variance) + 4.0 * np.maximum(product, 0.0) * variance
    excess = float(np.dot(form.own_weight, product_variance)) / total**2
    return max(0.0, float(np.sum(np.square(contribution))) - excess)


def grouped_moments(form: PairForm, null_variance: Array) -> ResidualMoments:
    """Return the moments of T for units that are groups of queries.

    `null_variance` holds the mean of q (1 - q) in each bin. It gives the
    pattern of an error that is worth detecting; how strongly residuals vary
    together is estimated from the residuals themselves.
    """
    t, n = form.square, form.n_units
    centred = form.centred
    null_noise = max(0.0, 2.0 * form.cross_moment(form))
    variance = max(0.0, 2.0 * centred.cross_moment(centred))
    third = centred.third_moment()

    # Variance of T that grows with the error, given the predictions, and the third cumulant.
    influence = form.influence
    linear = 4.0 * (float(np.sum(np.square(influence))) - form.influence_noise)
    inner = centred.inner
    spread = n * _composition_variance(form, inner.diagonal()) / t**2 if t**2 > 0.0 else 0.0
    mean_square = max(0.0, centred.between(influence) - third) * n**2

    # The same for an error in proportion to the null variance.
    v0 = null_variance
    scale = float(np.dot(form.share, v0**2))
    scale = scale if scale**2 > 0.0 else 1.0
    step = form.share / form.bin_weight * v0
    along = centred.sums @ step
    # An error of one sign adds up over a group whose residuals vary together, and
    # one of changing sign cancels. Which it is cannot be known: meet half way.
    apart = float(np.dot(np.square(step), inner.diagonal()))
    null_linear = (float(np.sum(np.square(along))) + apart) / 2.0
    unit_square = form.weights @ v0**2
    uneven = (unit_square - form.unit_weight * scale) / form.bin_weight.sum()
    return ResidualMoments(
        n=n,
        square=t,
        null_variance=null_noise,
        null_third=8.0 * form.third_moment(),
        variance=variance,
        third=8.0 * third,
        # An error makes the first larger, and few groups the second uncertain.
        noise=math.sqrt(null_noise * variance),
        linear=linear,
        spread=spread,
        mean_variance=linear * n / 4.0,
        null_mean_variance=null_linear * n / scale,
        mean_square_variance=mean_square,
        null_mean_square_variance=max(0.0, centred.between(along)) * n**2 / scale,
        mean_cube=0.0,
        null_spread=n * float(np.sum(np.square(uneven))) / scale**2,
        unit_variance=0.0,
        residual_variance=float(np.dot(form.share, v0**3)) / scale,
    )
