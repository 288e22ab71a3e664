"""How large T is, for perfect calibration, as a normal score.

Where the law of T is close to a Pearson III law, its first three moments tell.
Where it is skewed, because few surprises or few units decide, the law itself
is found: by convolution of the laws of the bins' counts, or by resampling with
a fixed seed, so that the same data always have the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from sklearn_calib._validation import Array
from sklearn_calib.metrics._binning._binned import BinnedQueries
from sklearn_calib.metrics._binning._sorted import SortedQueries
from sklearn_calib.metrics._inference._debiased import debiased_square, pair_factor
from sklearn_calib.metrics._inference._grouped import PairForm, unit_adders
from sklearn_calib.metrics._inference._impossible import CERTAIN, impossible_answers
from sklearn_calib.metrics._inference._moments import ResidualMoments
from sklearn_calib.metrics._inference._null_cells import NullCells
from sklearn_calib.metrics._inference._null_groups import dependent_residuals, within_correlation
from sklearn_calib.metrics._inference._surprises import draw_surprises, expected_surprises

# The Wilson-Hilferty score is accurate up to this skewness, and used up to the larger one.
_ACCURATE = 0.7
MOST_SKEWNESS = 2.0

_SEED = 2015
_RESAMPLES = 999

# Besag and Clifford (1991): once so many draws reach T, more of them change nothing.
_ENOUGH = 30

# Answers that depend on each other are drawn one by one up to so many queries, so often.
DEPENDENT_UP_TO = 20_000
_DEPENDENT_DRAWS = 299

# Sums of groups are symmetric enough for their signs to be flipped where so many have surprises.
_MOSTLY = 0.75

# Cells of the grid on which the laws of the bins are convolved.
_CELLS = 4096

# Bins up to this size have an exact law; larger ones the binomial law of their moments.
_SMALL = 128


def skewed_score(x: float, skewness: float) -> float:
    """Return the normal score of x under a standardised Pearson III law (Wilson-Hilferty)."""
    skewness = min(max(skewness, -MOST_SKEWNESS), MOST_SKEWNESS)
    if abs(skewness) < 1e-8:
        return x
    base = 1.0 + skewness * x / 2.0
    root = math.copysign(abs(base) ** (1.0 / 3.0), base)
    return 6.0 / skewness * (root - 1.0) + skewness / 6.0


def skewness_of(third: float, variance: float) -> float:
    """Return the skewness of a law, or 0 where its variance is lost to rounding."""
    scale = variance**1.5
    return third / scale if scale > 0.0 else 0.0


def skewed_quantile(score: float, skewness: float) -> float:
    """Return the x that has this score: the inverse of `skewed_score`."""
    skewness = min(max(skewness, -MOST_SKEWNESS), MOST_SKEWNESS)
    if abs(skewness) < 1e-8:
        return score
    root = 1.0 + skewness / 6.0 * (score - skewness / 6.0)
    return 2.0 / skewness * (root**3 - 1.0)


def null_score(bins: BinnedQueries, moments: ResidualMoments, form: PairForm | None) -> float:
    """Return the normal score of T if every prediction were right.

    `form` is that of grouped queries, and None where each query is a unit.
    """
    if impossible_answers(bins.queries):
        return math.inf
    sd = math.sqrt(moments.null_variance)
    if sd < CERTAIN:
        return math.inf if moments.square > 1e-12 else -math.inf
    if form is None:
        return _single_score(bins, moments, sd)
    score = _grouped_score(moments, form, sd)
    # Where few answers of a group go against their predictions, its residuals are far from
    # symmetric, and show little of their dependence: answers drawn together have a say as well.
    if len(bins.queries) > DEPENDENT_UP_TO or bins.queries.pool is not None:
        return score
    if score > 0.0 and _rarely_surprised(bins.queries, form.sums.shape[0]):
        return min(score, _dependent_score(bins, moments, form))
    return score


def _rarely_surprised(queries: SortedQueries, n_units: int) -> bool:
    """Tell whether many groups have no answer against its prediction, or should have none."""
    if expected_surprises(queries.q) < n_units:
        return True
    # Answers that go together leave groups without any, however many are expected in all.
    if queries.unit is None:
        return False
    # Both answers to one half are as surprising, whichever class is called positive.
    surprising = (queries.y != (queries.q > 0.5)) | (queries.q == 0.5)
    return len(np.unique(queries.unit[surprising])) < _MOSTLY * n_units


def _single_score(bins: BinnedQueries, moments: ResidualMoments, sd: float) -> float:
    """Return the score where each query is a unit."""
    skewness = skewness_of(moments.null_third, moments.null_variance)
    approximate = skewed_score(moments.square / sd, skewness)
    if abs(skewness) <= _ACCURATE or moments.weights_tell:
        return approximate
    if bins.queries.one_weight:
        pvalue = _convolved_pvalue(bins)
        # Beyond the grid, only a bound is known.
        return max(approximate, 6.0) if math.isnan(pvalue) else _score_of(pvalue)
    redraw = _redrawn_pvalue if bins.queries.pool is None else _pooled_pvalue
    pvalue, draws = redraw(bins, moments)
    return _drawn_score(pvalue, draws / sd, approximate, skewness)


def _grouped_score(moments: ResidualMoments, form: PairForm, sd: float) -> float:
    """Return the score where groups are the units."""
    skewness = skewness_of(moments.null_third, moments.null_variance)
    approximate = skewed_score(moments.square / sd, skewness)
    if abs(skewness) <= _ACCURATE:
        return approximate
    pvalue, draws = _flipped_pvalue(form)
    return _drawn_score(pvalue, draws / sd, approximate, skewness)


def _dependent_score(bins: BinnedQueries, moments: ResidualMoments, form: PairForm) -> float:
    """Return the score by answers that are drawn as dependent as those seen."""
    pvalue, draws = _dependent_pvalue(bins, form)
    sd = float(draws.std())
    if sd == 0.0:
        return _score_of(pvalue)
    draws = draws / sd
    skewness = float(np.mean((draws - draws.mean()) ** 3))
    approximate = skewed_score(moments.square / sd, skewness)
    return _drawn_score(pvalue, draws, approximate, skewness)


def _drawn_score(pvalue: float, draws: Array, approximate: float, skewness: float) -> float:
    """Return the score of a resampled p-value; `draws` are in standard deviations."""
    score = _score_of(pvalue)
    if pvalue < 0.01 and approximate > score:
        # Too few draws reach T: the Pearson III tail, moved to agree with them at 95 %.
        point = float(np.quantile(draws, 0.95))
        gap = -float(special.ndtri(0.05)) - skewed_score(point, skewness)
        score = max(score, approximate + min(0.0, gap))
    return score


def _score_of(pvalue: float) -> float:
    return -float(special.ndtri(pvalue)) if pvalue < 1.0 else -8.0


def _convolved_pvalue(bins: BinnedQueries) -> float:
    """Return the probability of so large a T from the laws of the bins' counts.

    Given its count, T of a bin is replaced by its regression on the count,
    which is T itself where the predictions of the bin are equal. NaN where T
    lies beyond the grid.
    """
    # The weights, if there are any, are all the same: each query counts as one.
    n = None if bins.queries.pool is None else bins.queries.pool.n
    y, q = bins.queries.y, bins.queries.q
    v = q * (1.0 - q)
    some = bins.sum(v) > 0.0
    if not some.any():
        return 1.0
    yes, expected, variance, third = (
        bins.sum(x if n is None else n * x)[some].astype(float)
        for x in (y, q, v, v * (1.0 - 2.0 * q))
    )
    factor = 1.0 / (len(bins.queries) * (bins.count[some] - 1.0))
    slope = third / variance

    def value(b: int | slice, count: Array) -> Array:
        away = count - expected[b]
        return factor[b] * (away * (away - slope[b]) - variance[b])

    square = float(np.sum(value(slice(None), yes)))
    laws = _count_laws(bins, np.flatnonzero(some))
    atoms = [value(b, count) for b, (count, _) in enumerate(laws)]
    spread = sum(float(p @ np.square(x - p @ x)) for x, (_, p) in zip(atoms, laws, strict=True))
    sd = math.sqrt(spread)
    if len(laws) == 1:
        return float(laws[0][1][atoms[0] >= square - 1e-7 * sd].sum())
    low = sum(float(x.min()) for x in atoms)
    span = 30.0 * sd - low
    if square > low + span - sd:
        return math.nan
    step = span / _CELLS
    total = np.ones(_CELLS // 2 + 1, dtype=complex)
    for x, (_, p) in zip(atoms, laws, strict=True):
        place = (x - x.min()) / step
        cell = np.floor(place).astype(int)
        part = place - cell
        grid = np.bincount(cell % _CELLS, p * (1.0 - part), _CELLS)
        grid += np.bincount((cell + 1) % _CELLS, p * part, _CELLS)
        total *= np.fft.rfft(grid)
    law = np.fft.irfft(total, _CELLS)
    # Each bin was spread over two cells: what lies within that reach counts as T.
    first = math.ceil((square - low) / step - 0.5 * math.sqrt(len(laws)) - 0.5)
    return float(min(1.0, max(law[max(first, 0) :].sum(), 1e-15)))


def _count_laws(bins: BinnedQueries, chosen: Array) -> list[tuple[Array, Array]]:
    """Return for each chosen bin the possible numbers of yes, and their probabilities."""
    q, size = bins.queries.q, bins.count
    laws: dict[int, tuple[Array, Array]] = {}
    little = chosen[size[chosen] <= _SMALL]
    mean, squares = bins.sum(q), bins.sum(np.square(q))
    if bins.queries.pool is not None:
        # Single predictions are not known: the binomial laws of the moments serve all bins.
        n, little = bins.queries.pool.n, little[:0]
        mean, squares = bins.sum(n * q), bins.sum(n * np.square(q))
    if len(little):
        most = int(size[little].max())
        place = np.arange(most)
        rows = q[np.minimum(bins.starts[little][:, None] + place, len(q) - 1)]
        rows = np.where(place < size[little][:, None], rows, 0.0)
        law = np.zeros((len(little), most + 1))
        law[:, 0] = 1.0
        for j in range(most):
            p = rows[:, j : j + 1]
            law[:, 1:] = law[:, 1:] * (1.0 - p) + law[:, :-1] * p
            law[:, 0] *= 1.0 - p[:, 0]
        for i, b in enumerate(little.tolist()):
            count = np.flatnonzero(law[i, : int(size[b]) + 1] > 1e-18)
            laws[b] = (count.astype(float), law[i, count])
    return [
        laws[b] if b in laws else _matched_binomial(float(mean[b]), float(squares[b]), int(size[b]))
        for b in chosen.tolist()
    ]


def _matched_binomial(mean: float, squares: float, n: int) -> tuple[Array, Array]:
    """Return the law of a count: binomial, with the mean and variance that it has.

    For equal predictions it is exact. `squares` is the sum of the squared predictions.
    """
    flip = mean > n / 2.0
    if flip:
        squares, mean = n - 2.0 * mean + squares, n - mean
    if mean <= 0.0:
        # So close to all or none that rounding leaves no other count.
        return np.array([float(n) if flip else 0.0]), np.ones(1)
    trials = max(mean * mean / max(squares, 1e-300), mean * (1.0 + 1e-9))
    p = mean / trials
    sd = math.sqrt(mean * (1.0 - p))
    first = max(0, math.floor(mean - 9.0 * sd - 2.0))
    count = np.arange(first, min(n, math.ceil(mean + 9.0 * sd + 12.0)) + 1.0)
    count = count[count < trials + 1.0 - 1e-9]
    rest = np.maximum(trials - count, -1.0 + 1e-9)
    log = special.xlogy(count, p) + special.xlog1py(trials - count, -p)
    log -= special.gammaln(count + 1.0) + special.gammaln(rest + 1.0)
    law = np.exp(log - log.max())
    law /= law.sum()
    return (n - count if flip else count), law


def _redrawn_pvalue(bins: BinnedQueries, moments: ResidualMoments) -> tuple[float, Array]:
    """Return the share of answers drawn from the predictions that give so large a T."""
    q, w, ends = _oriented(bins)
    starts = np.concatenate(([0], ends[:-1]))
    bin_of = np.repeat(np.arange(len(ends)), ends - starts)
    weight, squared = np.add.reduceat(w, starts), np.add.reduceat(np.square(w), starts)
    factor = pair_factor(weight, squared)
    rounded = (q > 0.5).astype(float)
    base = w * (rounded - q)
    # What a surprise adds to a weighted residual, and to its square.
    step = w * (1.0 - 2.0 * rounded)
    square_step = np.square(base + step) - np.square(base)
    sums = np.add.reduceat(base, starts)
    own = np.add.reduceat(np.square(base), starts)
    least = moments.square - 1e-9 * math.sqrt(moments.null_variance) - 1e-12 * abs(moments.square)
    n_bins, rng = len(ends), np.random.default_rng(_SEED)
    above = done = 0
    kept = []
    for size, row, column in draw_surprises(q, _RESAMPLES, rng, 2 * n_bins):
        key = row * n_bins + bin_of[column]
        shape = (size, n_bins)
        more = np.bincount(key, step[column], size * n_bins).reshape(shape)
        more_own = np.bincount(key, square_step[column], size * n_bins).reshape(shape)
        draws = debiased_square(sums + more, own + more_own, factor)
        hits = np.flatnonzero(draws >= least)
        kept.append(draws)
        if above + len(hits) >= _ENOUGH:
            done += int(hits[_ENOUGH - above - 1]) + 1
            return _ENOUGH / done, np.concatenate(kept)
        above += len(hits)
        done += size
    return (above + 1) / (done + 1), np.concatenate(kept)


def _pooled_pvalue(bins: BinnedQueries, moments: ResidualMoments) -> tuple[float, Array]:
    """Return the same for the bins of a scan, whose single queries are not at hand.

    The queries of a bin are drawn as so many of equal weight, and of the bin's
    mean prediction, as have the same variance.
    """
    weight, squared = bins.weight, bins.squared_weight
    number = np.maximum(np.rint(np.square(weight) / squared), 1.0)
    q, each = bins.prob_pred, np.sqrt(squared / number)
    factor = pair_factor(weight, squared)
    rng = np.random.default_rng(_SEED)
    draws = np.empty(_RESAMPLES)
    for i in range(_RESAMPLES):
        yes = rng.binomial(number.astype(np.int64), q)
        sums = each * (yes - number * q)
        own = np.square(each) * (yes * np.square(1.0 - q) + (number - yes) * np.square(q))
        draws[i] = debiased_square(sums, own, factor)
    least = moments.square - 1e-9 * math.sqrt(moments.null_variance) - 1e-12 * abs(moments.square)
    return (np.count_nonzero(draws >= least) + 1) / (_RESAMPLES + 1), draws


def _oriented(bins: BinnedQueries) -> tuple[Array, Array, Array]:
    """Return predictions, weights and ends of bins, with the classes put in one order.

    Of (y, q) and (1 - y, 1 - q) the one whose predictions come first is taken,
    and rows of equal prediction are in order of weight: so neither labels nor
    the name of the positive class decide which row sees which random number.
    """
    n = len(bins.queries)
    forms = []
    for q, w, ends in (
        (bins.queries.q, bins.queries.weights, bins.ends),
        (1.0 - bins.queries.q[::-1], bins.queries.weights[::-1], n - bins.starts[::-1]),
    ):
        if bins.queries.has_ties:
            order = np.lexsort((w, q))
            q, w = q[order], w[order]
        forms.append((q, w, ends))
    return forms[_first_of(forms[0][:2], forms[1][:2])]


def _first_of(one: Sequence[Array], two: Sequence[Array]) -> int:
    """Return which of two sequences of arrays comes first in order: 0 or 1."""
    for here, there in zip(one, two, strict=True):
        differ = np.flatnonzero(here != there)
        if len(differ):
            return int(here[differ[0]] > there[differ[0]])
    return 0


def _dependent_pvalue(bins: BinnedQueries, form: PairForm) -> tuple[float, Array]:
    """Return the share of answers, drawn as dependent as those seen, that give so large a T."""
    cells = _oriented_groups(bins)
    group = cells.group if cells.group is not None else np.arange(len(cells))
    n_bins = len(bins)
    to_cells, to_bins = unit_adders(cells.cell, group, n_bins)
    rng = np.random.default_rng(_SEED)
    correlation = within_correlation(cells, group, rng)
    weight = np.bincount(cells.cell, cells.w, n_bins)
    squared = to_bins @ np.square(to_cells @ cells.w)
    factor = pair_factor(weight, squared)
    least = form.square - 1e-9 * abs(form.square)
    drawn = []
    for residuals in dependent_residuals(cells, group, correlation, _DEPENDENT_DRAWS, rng):
        parts = to_cells @ residuals.T
        drawn.append(debiased_square((to_bins @ parts).T, (to_bins @ np.square(parts)).T, factor))
    draws = np.concatenate(drawn)
    return (int(np.count_nonzero(draws >= least)) + 1) / (len(draws) + 1), draws


def _oriented_groups(bins: BinnedQueries) -> NullCells:
    """Return the queries with their bins as cells, the classes put in one order."""
    queries = bins.queries
    unit = np.arange(len(queries)) if queries.unit is None else queries.unit
    cell = bins.of_queries(np.arange(len(bins)))
    forms = []
    for y, q, b in (
        (queries.y, queries.q, cell),
        (~queries.y, 1.0 - queries.q, len(bins) - 1 - cell),
    ):
        order = np.lexsort((y, queries.weights, unit, q))
        forms.append((q[order], queries.weights[order], b[order], unit[order], y[order]))
    # Predictions that are their own mirror image leave it to the rest.
    q, w, b, unit, y = forms[_first_of(*forms)]
    return NullCells(y, q, w, b, unit)


def _flipped_pvalue(form: PairForm) -> tuple[float, Array]:
    """Return the share of draws with the signs of groups flipped that give so large a T."""
    # More draws than this would take longer than the answer is worth.
    n_draws = int(np.clip(2e8 / max(form.sums.nnz, 1), 99, _RESAMPLES))
    rng = np.random.default_rng(_SEED)
    n_units = form.sums.shape[0]
    least = form.square - 1e-9 * abs(form.square)
    step = max(1, 2_000_000 // n_units)
    kept = []
    for first in range(0, n_draws, step):
        size = min(step, n_draws - first)
        signs = rng.integers(0, 2, (n_units, size)) * 2.0 - 1.0
        kept.append(debiased_square((form.sums.T @ signs).T, form.own_squares, form.factor))
    draws = np.concatenate(kept)
    return (np.count_nonzero(draws >= least) + 1) / (n_draws + 1), draws
