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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sorted import ranges
from sklearn_calib.metrics._inference._debiased import debiased_square, pair_factor
from sklearn_calib.metrics._inference._moments import ResidualMoments

# Up to so many bins their products are kept in a square array, beyond as few as there are.
_DENSE = 2000

# The share of bins that a unit touches, from which on a row of zeros and all is the faster way.
_CROWDED = 0.07

# Numbers made at a time.
_ENTRIES = 1_000_000

# So many numbers of crowded units are added up in single precision, where that is enough.
_MANY = 4_000_000


def _summed_products(one: sparse.csr_array, two: sparse.csr_array) -> sparse.csr_array:
    """Return the products of the bins of two cuts, summed over units."""
    n_units, n_bins = one.shape
    if one.nnz < 3.0 * _CROWDED * n_units * n_bins:
        return sparse.csr_array(one.T @ two)
    whole = np.zeros((n_bins, two.shape[1]))
    part = max(1, _ENTRIES // n_bins)
    for first in range(0, n_units, part):
        rows = slice(first, first + part)
        whole += one[rows].toarray().T @ two[rows].toarray()
    return sparse.csr_array(whole)


def _squared(sums: sparse.csr_array, rough: bool = False) -> Array | sparse.csr_array:
    """Return the products of two bins, summed over units.

    A unit that touches few of the bins is taken pair by pair of these, another
    as a row of zeros and all. `rough` allows single precision where there are
    very many numbers.
    """
    n_units, n_bins = sums.shape
    if n_bins > _DENSE:
        return sparse.csr_array(sums.T @ sums)
    length = np.diff(sums.indptr)
    crowded = length > (_CROWDED * n_bins if n_units * n_bins > _ENTRIES else 1)
    whole = np.zeros(n_bins * n_bins)
    for units in _of_equal_length(length, ~crowded):
        whole += _of_pairs(sums, units, int(length[units[0]]))
    whole = whole.reshape(n_bins, n_bins)
    whole += whole.T
    few = np.repeat(~crowded, length)
    own = np.bincount(sums.indices[few], np.square(sums.data[few]), n_bins)
    whole.ravel()[:: n_bins + 1] += own
    return whole + _of_rows(sums, np.flatnonzero(crowded), rough)


def _of_equal_length(length: Array, chosen: Array) -> Iterator[Array]:
    """Yield the chosen units that touch two bins or more, in parts of as many bins each."""
    units = np.flatnonzero(chosen & (length > 1))
    # Short numbers are sorted in a single pass.
    units = units[np.argsort(length[units].astype(np.uint16), kind="stable")]
    ends = np.append(np.flatnonzero(np.diff(length[units])) + 1, len(units))
    first = 0
    for end in ends[ends > 0].tolist():
        n = int(length[units[first]])
        part = max(1, 2 * _ENTRIES // (n * (n - 1)))
        for at in range(first, end, part):
            yield units[at : min(at + part, end)]
        first = end


def _of_pairs(sums: sparse.csr_array, units: Array, n: int) -> Array:
    """Return the products of bins with later ones, for units that touch n bins each."""
    n_bins = sums.shape[1]
    cells = sums.indptr[units] + np.arange(n)[:, None]
    at, value = sums.indices[cells].astype(np.intp), sums.data[cells]
    row = at * n_bins
    key = np.empty((n * (n - 1) // 2, len(units)), dtype=np.intp)
    product = np.empty(key.shape)
    done = 0
    for apart in range(1, n):
        here = slice(done, done + n - apart)
        np.add(row[:-apart], at[apart:], out=key[here])
        np.multiply(value[:-apart], value[apart:], out=product[here])
        done = here.stop
    found: Array = np.bincount(key.ravel(), product.ravel(), n_bins * n_bins)
    return found


def _of_rows(sums: sparse.csr_array, units: Array, rough: bool) -> Array:
    """Return the products of bins for units that are written out in full."""
    n_bins = sums.shape[1]
    single = rough and len(units) * n_bins > _MANY
    # Numbers of single precision may neither overflow nor vanish.
    scale = (float(np.abs(sums.data).max()) or 1.0) if single else 1.0
    found = np.zeros((n_bins, n_bins), dtype=np.float32 if single else float)
    length = np.diff(sums.indptr)
    part = max(1, 4 * _ENTRIES // n_bins)
    for first in range(0, len(units), part):
        some = units[first : first + part]
        cells = ranges(sums.indptr[some], sums.indptr[some + 1] - 1)
        whole = np.zeros((len(some), n_bins), dtype=found.dtype)
        row = np.repeat(np.arange(len(some)) * n_bins, length[some])
        whole.ravel()[row + sums.indices[cells]] = sums.data[cells] / scale
        found += whole.T @ whole
    return found.astype(float) * scale**2


@dataclass(frozen=True, eq=False)
class PairForm:
    """The quadratic form behind T.

    Attributes
    ----------
    sums : sparse array of shape (n_units, n_bins)
        Sum of weight x residual of each unit in each bin.
    weights : sparse array of shape (n_units, n_bins)
        Sum of weights: there is one for each of the sums, in the same order.
    """

    sums: sparse.csr_array
    weights: sparse.csr_array

    def _with(self, values: Array) -> sparse.csr_array:
        """Return an array that has other numbers in the same places."""
        return sparse.csr_array((values, self.sums.indices, self.sums.indptr), self.sums.shape)

    def _by_bin(self, values: Array) -> Array:
        """Return numbers in the same places, summed over units."""
        found: Array = np.bincount(self.sums.indices, values, self.sums.shape[1])
        return found

    @cached_property
    def bin_weight(self) -> Array:
        """Weight of each bin."""
        return self._by_bin(self.weights.data)

    @cached_property
    def bin_sum(self) -> Array:
        """Sum of residuals of each bin."""
        return self._by_bin(self.sums.data)

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
        return self._by_bin(np.square(self.weights.data))

    @cached_property
    def unit_weight(self) -> Array:
        """Weight of each unit."""
        return np.asarray(self.weights.sum(axis=1)).ravel()

    @cached_property
    def self_terms(self) -> Array:
        """K(g, g) of each unit, which T leaves out."""
        return self._with(np.square(self.sums.data)) @ self.factor

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
        return self._by_bin(np.square(self.sums.data))

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
        mean, at = self.bin_sum / self.bin_weight, self.sums.indices
        values = self.sums.data - self.weights.data * mean[at]
        return PairForm(self._with(values * self._without_centring[at]), self.weights)

    @cached_property
    def _without_pairing(self) -> Array:
        """What undoes the loss of influence of a unit that others are compared with as well."""
        return 1.0 + 1.0 / np.maximum(self.bin_units - 2.0, 1.0)

    @cached_property
    def influence(self) -> Array:
        """How much each unit adds to T beyond what is expected of its weights in the bins.

        It is paired with the mean of all others. What is expected is estimated
        from pairs of different units, like T: the square of a bin's own noise
        would be the same for all units, and add up.
        """
        at, mine, weight = self.sums.indices, self.sums.data, self.weights.data
        # Where there are no others, there is no pair, and the bin does not count.
        rest = np.where(self.factor[at] > 0.0, self.bin_weight[at] - weight, 0.0)
        others = np.divide(self.bin_sum[at] - mine, rest, out=np.zeros_like(rest), where=rest > 0.0)
        scale = self._without_centring * self._without_pairing * self.share / self.bin_weight
        return self._with(mine * others - weight * self.products[at]) @ scale

    @cached_property
    def influence_noise(self) -> float:
        """Sum of the squared influence of units that is there without an error."""
        centred = self.centred
        factor = self.factor * np.sqrt(self._without_pairing) / self._without_centring
        own = centred._with(np.square(centred.sums.data)) @ factor
        total = float(factor @ (centred.inner * centred.inner @ factor))
        return total - float(np.sum(np.square(own)))

    @cached_property
    def inner(self) -> Array | sparse.csr_array:
        """M: products of two bins' residuals of one unit, summed over units."""
        return _squared(self.sums)

    def cross_moment(self, other: PairForm) -> float:
        """Return the sum of K(g, h) K'(g, h) over pairs of units."""
        between = self.inner if other is self else _summed_products(self.sums, other.sums)
        total = float(self.factor @ (between * between @ other.factor))
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
        root = np.repeat(np.sqrt(own), np.diff(self.sums.indptr))
        weighted = _squared(self._with(self.sums.data * root), rough=True)
        twice = float(self.factor @ (weighted * self.inner @ self.factor))
        return self._cube() - 3.0 * twice + 2.0 * float(np.sum(own**3))

    def _cube(self) -> float:
        """Return the sum of K(g, h) K(h, l) K(l, g) over all g, h, l."""
        root, inner = np.sqrt(self.factor), self.inner
        if isinstance(inner, np.ndarray):
            whole = root[:, None] * inner * root
            return float(np.vdot(whole @ whole.T, whole))
        scaled = sparse.csr_array(inner.multiply(root[:, None]).multiply(root[None, :]))
        part = max(1, _ENTRIES // scaled.shape[0])
        rows = (slice(a, a + part) for a in range(0, scaled.shape[0], part))
        return sum(float(((scaled[some] @ scaled) * scaled[some]).sum()) for some in rows)


def squared_difference(one: PairForm, two: PairForm) -> float:
    """Return the sum over pairs of units of the squared difference of their products."""
    return max(0.0, one.cross_moment(one) + two.cross_moment(two) - 2.0 * one.cross_moment(two))


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
    cell = bins.of_queries(np.arange(len(bins)))
    return form_of_cells(unit, cell, values, queries.weights, (int(unit.max()) + 1, len(bins)))


def form_of_cells(
    unit: Array, cell: Array, residuals: Array, weights: Array, shape: tuple[int, int]
) -> PairForm:
    """Return the form of weighted residuals and weights that are in order of their bins."""
    n = len(unit)
    # One step for each query: turning it over puts them in order of units, and keeps that of bins.
    turned = sparse.csc_array((np.arange(n), unit, np.arange(n + 1)), (shape[0], n)).tocsr()
    order, cell = turned.data, cell[turned.data]
    new = np.ones(n, dtype=bool)
    new[1:] = cell[1:] != cell[:-1]
    new[turned.indptr[turned.indptr < n]] = True
    starts = np.flatnonzero(new)
    indices, ends = cell[starts], np.searchsorted(starts, turned.indptr)
    sums, held = (np.add.reduceat(values[order], starts) for values in (residuals, weights))
    # The two share the places of their numbers.
    found = sparse.csr_array((sums, indices, ends), shape)
    return PairForm(found, sparse.csr_array((held, found.indices, found.indptr), shape))


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


def _kept_together(form: PairForm, variance: float, query_weight: float) -> float:
    """Return how much of the variance of an answer the mean residual of a unit keeps.

    Every query has the same say in how strongly the residuals of a unit depend
    on each other, and the sizes of all units, which are known, say what follows:
    whether it was large units or small ones that had surprises is chance.
    """
    weight = form.unit_weight
    weight, residual = weight[weight > 0.0], form.centred.sums.sum(axis=1)[weight > 0.0]
    if variance <= 0.0:
        return 1.0
    seen = float(np.sum(np.square(residual) / weight)) / variance
    alone = query_weight * len(weight)
    pairs = float(weight.sum()) - alone
    correlation = min(max((seen - alone) / pairs, 0.0), 1.0) if pairs > 0.0 else 1.0
    apart = query_weight * float(weight.sum() / np.square(weight).sum())
    return correlation + (1.0 - correlation) * min(apart, 1.0)


def grouped_moments(
    form: PairForm, null_variance: Array, prob_pred: Array, query_weight: float
) -> ResidualMoments:
    """Return the moments of T for units that are groups of queries.

    `null_variance` and `prob_pred` hold the means of q (1 - q) and of q in each
    bin. The first gives the pattern of an error that is worth detecting; how
    strongly residuals vary together is estimated from the residuals themselves.
    `query_weight` is the mean weight of a query.
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
    prob_true = np.clip(prob_pred + form.bin_sum / form.bin_weight, 0.0, 1.0)
    answer_variance = float(np.dot(form.share, prob_true * (1.0 - prob_true)))
    lean = abs(1.0 - 2.0 * float(np.dot(form.share, prob_pred)))
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
        one_sided_variance=lean * answer_variance,
        together=_kept_together(form, answer_variance, query_weight),
    )
