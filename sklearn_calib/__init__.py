"""Can I trust this model's probabilities, and what may I conclude from its uncertain output?

Importing the package registers its scorer strings with scikit-learn. The names here are the core;
taggers, coreference, counts and data are in `sklearn_calib.sequence`, `.coref`, `.explore` and
`.datasets`, which load when they are first asked for, as the displays and the report do.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from sklearn_calib import _interrupt as _interrupt  # before all that takes time to load
from sklearn_calib._results import ConfidenceInterval
from sklearn_calib._version import __version__ as __version__
from sklearn_calib.metrics import (
    AdaptiveBinCalibrationError,
    adaptive_bin_calibration_error,
    best_calibrated,
    bin_size_curve,
    calibration_band,
    calibration_bins,
    calibration_error_interval,
    calibration_null,
    calibration_test,
    compare_calibration,
    gaussian_process_calibration_curve,
    isotonic_calibration_curve,
    label_calibration,
    sample_size_curve,
    score_decomposition,
    select_bin_size,
    smooth_calibration_curve,
)
from sklearn_calib.queries import (
    Queries,
    classifier_queries,
    estimator_queries,
    link_queries,
    scan_queries,
    tag_queries,
)

if TYPE_CHECKING:
    from sklearn_calib import (
        coref,
        datasets,
        display,
        explore,
        metrics,
        queries,
        recalibration,
        report,
        sequence,
    )
    from sklearn_calib.display import (
        AdaptiveCalibrationDisplay,
        BinSizeDisplay,
        CountDisplay,
        LabelCalibrationDisplay,
    )
    from sklearn_calib.recalibration import CalibratedStructureCV

    # The report stands above this file, so that nothing is imported from it here.
    calibration_report = report.calibration_report


__all__ = [
    "AdaptiveBinCalibrationError",
    "AdaptiveCalibrationDisplay",
    "BinSizeDisplay",
    "CalibratedStructureCV",
    "ConfidenceInterval",
    "CountDisplay",
    "LabelCalibrationDisplay",
    "Queries",
    "adaptive_bin_calibration_error",
    "best_calibrated",
    "bin_size_curve",
    "calibration_band",
    "calibration_bins",
    "calibration_error_interval",
    "calibration_null",
    "calibration_report",
    "calibration_test",
    "classifier_queries",
    "compare_calibration",
    "coref",
    "datasets",
    "display",
    "estimator_queries",
    "explore",
    "gaussian_process_calibration_curve",
    "isotonic_calibration_curve",
    "label_calibration",
    "link_queries",
    "metrics",
    "queries",
    "recalibration",
    "report",
    "sample_size_curve",
    "scan_queries",
    "score_decomposition",
    "select_bin_size",
    "sequence",
    "smooth_calibration_curve",
    "tag_queries",
]

# What loads when it is first asked for: a room, or a name and the room that holds it.
_ROOMS = (
    "coref",
    "datasets",
    "display",
    "explore",
    "metrics",
    "queries",
    "recalibration",
    "report",
    "sequence",
)
_LAZY = {
    "AdaptiveCalibrationDisplay": "display",
    "BinSizeDisplay": "display",
    "CalibratedStructureCV": "recalibration",
    "CountDisplay": "display",
    "LabelCalibrationDisplay": "display",
    "calibration_report": "report",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return _import_module(f"sklearn_calib.{name}")
    if name in _LAZY:
        found = getattr(_import_module(f"sklearn_calib.{_LAZY[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(_where_is(name))


def _where_is(name: str) -> str:
    """Say which room holds a name that is not at the top level."""
    for room in _ROOMS if not name.startswith("_") else ():
        if name in _import_module(f"sklearn_calib.{room}").__all__:
            return (
                f"sklearn_calib has no {name!r} at its top level: it is in sklearn_calib.{room} "
                f"(from sklearn_calib.{room} import {name})."
            )
    return f"module 'sklearn_calib' has no attribute {name!r}"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
