"""The only door to private scikit-learn.

Each name is fetched here, with the reason and the versions it was checked on.
If one of them has moved, `missing` names it; the package then warns once and
does without.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["SCORERS", "ScorerBase", "call_method", "missing", "register_scorers", "safe_indexing"]

missing: list[str] = []

try:
    # Scorers that share predictions in a multi-metric run are instances of this
    # class; there is no public base class. The same since 1.4, checked 1.6 to 1.9.
    from sklearn.metrics._scorer import _BaseScorer as ScorerBase
except ImportError:  # pragma: no cover - run in a test with a doctored scikit-learn
    missing.append("sklearn.metrics._scorer._BaseScorer")

    class ScorerBase:  # type: ignore[no-redef]
        """What is left of a scorer without scikit-learn's own: it can be called."""

        def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
            """Score an estimator."""
            options = {} if sample_weight is None else {"sample_weight": sample_weight}
            return self._score(call_method, estimator, X, y, **options)  # type: ignore[attr-defined]

        # Metadata routing reads the signature of `score`.
        def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
            """Score an estimator."""
            return self(estimator, X, y, sample_weight=sample_weight)


try:
    # The registry behind get_scorer and get_scorer_names; there is no public way
    # to add to it. A plain dict in every version from 1.0 to 1.9.
    from sklearn.metrics._scorer import _SCORERS as SCORERS
except ImportError:  # pragma: no cover - as above
    missing.append("sklearn.metrics._scorer._SCORERS")
    SCORERS = None

try:
    # Parameter checks hold the names of the scorers as they were when a module
    # was imported, in objects of this class. Checked 1.6 to 1.9.
    from sklearn.utils._param_validation import StrOptions
except ImportError:  # pragma: no cover - as above
    missing.append("sklearn.utils._param_validation.StrOptions")
    StrOptions = None


try:
    # Rows of arrays, frames, sparse matrices and lists alike. Imported from
    # sklearn.utils in every version; private by its underscore only.
    from sklearn.utils import _safe_indexing as safe_indexing
except ImportError:  # pragma: no cover - as above
    missing.append("sklearn.utils._safe_indexing")

    def safe_indexing(X: Any, indices: Any) -> Any:
        """Return the chosen rows of an array, a frame or a list."""
        if hasattr(X, "iloc"):
            return X.iloc[indices]
        return X[indices] if hasattr(X, "shape") else [X[i] for i in indices]


def call_method(estimator: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    """Call a method; the stand-in for scikit-learn's caching caller."""
    kwargs.pop("pos_label", None)
    return getattr(estimator, method)(*args)


def _scoring_constraints() -> Iterator[Any]:
    """Yield the constraints on `scoring` of every scikit-learn module imported so far."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] != "sklearn" or module is None:
            continue
        for thing in list(vars(module).values()):
            for attribute in ("_parameter_constraints", "_skl_parameter_constraints"):
                # Looked up in the object's own dictionary: some modules hold lazy
                # objects that react to getattr.
                constraints = getattr(thing, "__dict__", {}).get(attribute)
                if isinstance(constraints, Mapping):
                    found = constraints.get("scoring", ())
                    yield from found if isinstance(found, (list, tuple)) else ()


def register_scorers(scorers: Mapping[str, Any]) -> None:
    """Make scorer strings known to scikit-learn, wherever it checks them."""
    if missing:
        warnings.warn(
            f"scikit-learn has moved {', '.join(missing)}. The strings {sorted(scorers)} may not "
            "work as scoring=...; pass the scorer object AdaptiveBinCalibrationError() instead.",
            UserWarning,
            stacklevel=3,
        )
    if SCORERS is None:
        return
    SCORERS.update(scorers)
    if StrOptions is None:
        return
    for constraint in _scoring_constraints():
        # Only sets of scorer names: other options of a parameter are not ours to extend.
        if isinstance(constraint, StrOptions) and "neg_log_loss" in constraint.options:
            constraint.options = constraint.options | set(scorers)
