"""The version of the package, and what pickled estimators say of it."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

__version__ = "0.1.0"

__all__ = ["OtherVersionWarning", "VersionedEstimator", "__version__"]


class OtherVersionWarning(InconsistentVersionWarning):
    """An estimator was pickled by another version of sklearn-calib.

    It is one of scikit-learn's InconsistentVersionWarning, so that one filter
    serves both.
    """

    def __str__(self) -> str:
        return (
            f"{self.estimator_name} was pickled by sklearn-calib {self.original_sklearn_version} "
            f"and is read by {self.current_sklearn_version}. It may not work, or give other "
            "answers. Fit it again, or use the version that it was made with."
        )


class VersionedEstimator(BaseEstimator):
    """An estimator whose pickle says which version of the package made it."""

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_sklearn_calib_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_sklearn_calib_version", "(before 0.1.0)")
        if version != __version__:
            warnings.warn(
                OtherVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=__version__,
                    original_sklearn_version=version,
                ),
                stacklevel=2,
            )
        super().__setstate__(state)
