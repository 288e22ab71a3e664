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
    place = proba * _CELLS
    cell = np.minimum(place.astype(np.intp), _CELLS - 1)
    u = place - cell
    shares = ((1.0 - u) ** 2 / 2.0, 0.5 + u * (1.0 - u), u * u / 2.0)
    rises = (_CELLS * (u - 1.0), _CELLS * (1.0 - 2.0 * u), _CELLS * u)
    residual = proba.copy()
    residual[np.arange(len(tags)), tags] -= 1.0
    each = np.broadcast_to(weight[:, np.newaxis], proba.shape)

    def sums(values: Array) -> Array:
        total = np.zeros(_BINS)
        for bin, share in enumerate(shares):
            total += np.bincount((cell + bin).ravel(), (values * share).ravel(), minlength=_BINS)
        return total

    total, size = sums(each * residual), sums(each)
    gap = np.divide(total, size, out=np.zeros(_BINS), where=size > 0.0)
    slopes = np.zeros_like(proba)
    for bin, (share, rise) in enumerate(zip(shares, rises, strict=True)):
        own = gap[cell + bin]
        slopes += 2.0 * own * (share + rise * residual) - own * own * rise
    slopes *= each
    return float(total @ gap), slopes
