"""A calibration error that can be differentiated: bins with soft borders."""

from __future__ import annotations

import numpy as np

from sklearn_calib._validation import Array

__all__ = ["soft_squared_error"]

# Bins are quadratic B-splines over cells of equal width: three neighbours share each
# prediction, and their shares have continuous derivatives, which L-BFGS needs.
_CELLS = 15
_BINS = _CELLS + 2


def soft_squared_error(proba: Array, tags: Array, weight: Array) -> tuple[float, Array]:
    """Return the squared calibration error of all tag queries, summed, and its derivatives.

    A query of probability q belongs to the three bins around it, to each by how near
    it is. With R the summed residuals q - y of a bin and W its weight, the error is
    the sum of R²/W over bins: a bin's squared error once for each of its queries.
    The sum grows with the number of queries, as a log-likelihood does.

    Parameters
    ----------
    proba : ndarray of shape (n_tokens, n_tags)
        Probability of each tag of each token.
    tags : ndarray of int of shape (n_tokens,)
        The true tags.
    weight : ndarray of shape (n_tokens,)
        The weight of each token.

    Returns
    -------
    error : float
        The error.
    slopes : ndarray of shape (n_tokens, n_tags)
        Its derivative with respect to each probability.
    """
    k = proba.shape[1]
    u = proba * _CELLS
    # Nearly all queries ask about a wrong tag of next to no probability. They lie in the first
    # cell with the residual u / _CELLS, where sums and slopes are polynomials in u.
    others = u >= 1.0
    others[np.arange(len(tags)), tags] = True
    at = np.flatnonzero(others)
    own = _Entries(u.ravel()[at], proba.ravel()[at], weight[at // k])
    own.residual[tags[at // k] == at % k] -= 1.0
    u.ravel()[at] = 0.0
    square = u * u
    power = [
        weight @ (k - np.count_nonzero(others, axis=1)),
        (weight @ u).sum(),
        (weight @ square).sum(),
        np.einsum("i,ij,ij->", weight, u, square),
    ]
    size = own.sums(own.weight)
    size[:3] += _shares_of_powers(*power[:3])
    total = own.sums(own.weight * own.residual)
    total[:3] += _shares_of_powers(*power[1:]) / _CELLS
    gap = np.divide(total, size, out=np.zeros(_BINS), where=size > 0.0)
    first, second, third = gap[:3]
    slopes = np.multiply(u, 3.0 * (first - 2.0 * second + third), out=square)
    slopes += 4.0 * (second - first) - _CELLS * (first**2 - 2.0 * second**2 + third**2)
    slopes *= u
    slopes += first + second + _CELLS * (first**2 - second**2)
    slopes.ravel()[at] = own.slopes(gap)
    slopes *= weight[:, np.newaxis]
    return float(total @ gap), slopes


def _shares_of_powers(zero: float, one: float, two: float) -> Array:
    """Return the summed shares of the first three bins, from sums of powers of u."""
    return np.array([(zero - 2.0 * one + two) / 2.0, zero / 2.0 + one - two, two / 2.0])


class _Entries:
    """Queries of any cell, one by one."""

    def __init__(self, place: Array, residual: Array, weight: Array) -> None:
        self.cell = np.minimum(place.astype(np.intp), _CELLS - 1)
        u = place - self.cell
        self.shares = ((1.0 - u) ** 2 / 2.0, 0.5 + u * (1.0 - u), u * u / 2.0)
        self.rises = (_CELLS * (u - 1.0), _CELLS * (1.0 - 2.0 * u), _CELLS * u)
        self.residual, self.weight = residual, weight

    def sums(self, values: Array) -> Array:
        """Return the sum of each bin."""
        total = np.zeros(_BINS)
        for bin, share in enumerate(self.shares):
            total += np.bincount(self.cell + bin, values * share, minlength=_BINS)
        return total

    def slopes(self, gap: Array) -> Array:
        """Return the derivative of the error with respect to each probability of weight 1."""
        slopes = np.zeros(len(self.cell))
        for bin, (share, rise) in enumerate(zip(self.shares, self.rises, strict=True)):
            own = gap[self.cell + bin]
            slopes += 2.0 * own * (share + rise * self.residual) - own * own * rise
        return slopes
