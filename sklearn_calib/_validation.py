"""The only door for user input: every check, and every message.

A message says what was wrong, where, what was found, and what to do. Nothing
here changes its arguments; arrays that need no conversion are passed through
without a copy.
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from sklearn_calib._files import shortened

Array = NDArray[Any]
RandomState = int | np.random.RandomState | np.random.Generator | None

# An array of texts may take 64 MB in NumPy's own form.
_MOST_CHARACTERS = 2**24


def check_array_like(values: object, name: str) -> Array:
    """Return `values` as an array, or explain why they are not one."""
    if type(values) is np.ndarray and values.ndim:
        return values
    if values is None:
        raise TypeError(f"{name} is missing (got None).")
    if isinstance(values, (str, bytes)) or np.isscalar(values):
        raise TypeError(f"{name} must be an array of values, one for each query; got {values!r}.")
    if sparse.issparse(values):
        raise TypeError(f"{name} is a sparse matrix; pass a dense array, e.g. {name}.toarray().")
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array with {np.ma.count_masked(values)} masked values; "
            "remove these rows first, because a calibration error has no place for them."
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is ragged: its rows have different lengths ({error}).") from None
    except (RuntimeError, TypeError) as error:
        # Tensors that need gradients, live on another device or have a dtype that NumPy lacks.
        raise TypeError(
            f"{name} is a {type(values).__module__.split('.')[0]} {type(values).__name__} that "
            f"NumPy cannot read ({error}). Pass {name}.detach().cpu().float().numpy() instead."
        ) from None
    if array.ndim == 0:
        raise TypeError(f"{name} must be an array of values; got {type(values).__name__}.")
    return array


def _column(array: Array, name: str, hint: str) -> Array:
    """Return a 1-D view of a vector or of a single column."""
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {array.shape}. {hint}")
    return array


def _not_empty(array: Array, name: str) -> None:
    if array.shape[0] == 0:
        raise ValueError(f"{name} is empty: at least one query is needed.")


def _where(bad: Array) -> str:
    """Say where the bad entries are: the first position and how many there are."""
    index = np.argwhere(bad)
    first = index[0].tolist()
    position = first[0] if len(first) == 1 else tuple(first)
    return f"at position {position} ({len(index)} of {bad.size} values)"


def check_float_array(values: Any, name: str) -> Array:
    """Return `values` as float64, refusing text, complex numbers, NaN and infinity."""
    array = _as_float(values, name)
    _extremes(array, name)
    return array


def _as_float(values: Any, name: str) -> Array:
    array = check_array_like(values, name)
    if array.dtype != np.float64:
        if array.dtype.kind not in "biufO":
            raise TypeError(f"{name} must hold numbers, got dtype {array.dtype}.")
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must hold numbers only: {error}.") from None
    _not_empty(array, name)
    return array


def _extremes(array: Array, name: str) -> tuple[float, float]:
    """Return the extremes, refusing NaN and infinity.

    One pass for each extreme is cheaper than `isfinite` over the array, and a
    NaN anywhere makes both of them NaN.
    """
    low, high = float(array.min()), float(array.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        bad = ~np.isfinite(array)
        value = array[tuple(np.argwhere(bad)[0])]
        raise ValueError(
            f"{name} contains {value} {_where(bad)}; remove or repair these rows first."
        )
    return low, high


def check_probabilities(values: Any, name: str = "y_prob") -> Array:
    """Return `values` as float64 in [0, 1]."""
    array = _as_float(values, name)
    low, high = _extremes(array, name)
    if low < 0.0 or high > 1.0:
        # A softmax may miss the ends by a rounding error of its own precision.
        excess = max(-low, high - 1.0)
        dtype = np.asarray(values).dtype
        if dtype.kind == "f" and excess <= 4 * np.finfo(dtype).eps:
            warnings.warn(
                f"{name} exceeds [0, 1] by a rounding error of {excess:.1g}; such values count as "
                "0 and 1.",
                UserWarning,
                stacklevel=3,
            )
            return np.clip(array, 0.0, 1.0)
        bad = (array < 0.0) | (array > 1.0)
        value = array[tuple(np.argwhere(bad)[0])]
        raise ValueError(
            f"{name} contains {value} {_where(bad)}, outside [0, 1]: probabilities are needed. "
            "Turn scores or logits into probabilities first (for example with predict_proba)."
        )
    return array


def check_probability_vector(values: Any, name: str = "y_prob") -> Array:
    """Return 1-D probabilities, or explain what to do with a matrix."""
    array = check_array_like(values, name)
    hint = (
        "Pass the column of the class in question, for example "
        f"{name}[:, 1], or build queries over all classes with classifier_queries."
    )
    return check_probabilities(_column(array, name, hint), name)


def check_probability_matrix(values: Any, name: str = "y_prob") -> Array:
    """Return 2-D probabilities."""
    array = check_probabilities(values, name)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have one row per sample and one column per class; got shape "
            f"{array.shape}."
        )
    return array


def check_row_sums(proba: Array, name: str = "y_prob") -> None:
    """Refuse rows that are no probabilities of classes of which exactly one is right.

    Rounded probabilities may miss 1 by a little, which is worth a warning only.
    """
    sums = proba.sum(axis=1)
    off = np.abs(sums - 1.0)
    worst = float(off.max())
    # What float32 and its kin leave of a row that was normalised.
    if worst <= 1e-3:
        return
    row = int(np.argmax(off > 0.05 if worst > 0.05 else off > 1e-3))
    found = f"Row {row} of {name} sums to {sums[row]:.4g}, not to 1"
    if worst > 0.05:
        raise ValueError(
            f"{found} ({np.count_nonzero(off > 0.05)} of {len(proba)} rows are off by more than "
            "0.05). Classes of which exactly one is right need probabilities that sum to 1: "
            "normalise the rows, or apply a softmax to logits. If several may be right, pass "
            "y_true as an indicator matrix."
        )
    warnings.warn(
        f"{found}; if the probabilities were rounded, this does no harm.", UserWarning, stacklevel=3
    )


def refuse_swapped(y_true: Array, y_prob: Array) -> None:
    """Recognise predictions that were passed as labels, and labels as predictions."""
    if (
        y_true.ndim == 2
        and y_true.shape[1] > 1
        and y_true.dtype.kind == "f"
        and y_prob.ndim == 1
        and len(y_true) == len(y_prob)
    ):
        raise ValueError(
            f"y_true is a matrix of shape {y_true.shape} and y_prob has one value per row: they "
            "seem to be swapped. Pass the true labels first, then the predicted probabilities."
        )

    def binary(values: Array) -> bool:
        return bool(np.isin(values[:1000], (0, 1)).all())

    if (
        y_true.ndim == y_prob.ndim == 1
        and y_true.dtype.kind == "f"
        and y_prob.dtype.kind in "biuf"
        and len(y_true)
        and not binary(y_true)
        and binary(y_prob)
        and bool(((y_true >= 0.0) & (y_true <= 1.0)).all())
    ):
        raise ValueError(
            "y_true holds fractions and y_prob holds only 0 and 1: they seem to be swapped. Pass "
            "the true labels first, and the predicted probabilities second."
        )


def warn_if_hard(y_prob: Array) -> None:
    """Warn of 0/1 decisions in the place of probabilities."""
    if len(y_prob) < 10 or not np.isin(y_prob[:2], (0.0, 1.0)).all():
        return
    if bool(((y_prob == 0.0) | (y_prob == 1.0)).all()) and y_prob.min() < y_prob.max():
        warnings.warn(
            "y_prob holds only 0 and 1. Are these decisions, as predict returns them? A "
            "calibration error is about probabilities, as predict_proba returns them.",
            UserWarning,
            stacklevel=4,
        )


def check_same_length(**arrays: Any) -> None:
    """Refuse arrays of unequal length; entries that are None are skipped."""
    sizes = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(sizes.values())) > 1:
        listing = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise ValueError(f"The arguments must have one entry for each query, but {listing}.")


def _some(values: Iterable[Any], most: int = 10) -> str:
    items = [v.item() if isinstance(v, np.generic) else v for v in values]
    shown = ", ".join(shortened(item) for item in items[:most])
    return f"[{shown}{', ...' if len(items) > most else ''}]"


def text_array(texts: list[str]) -> Array:
    """Return an array of texts; one that is very long does not make all of them so.

    NumPy gives each text the place of the longest, and forgets zero bytes at its end,
    unless they stay objects.
    """
    longest = max(map(len, texts), default=0)
    plain = longest * len(texts) <= _MOST_CHARACTERS
    plain = plain and not any(text.endswith("\0") for text in texts)
    return np.array(texts, dtype=None if plain else object)


def check_labels(values: Any, name: str = "y_true") -> Array:
    """Return a 1-D array of class labels without missing values."""
    array = check_array_like(values, name)
    array = _column(array, name, "Class labels are expected, one for each row.")
    _not_empty(array, name)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity {_where(~np.isfinite(array))}.")
    if array.dtype.kind in "mM" and np.isnat(array).any():
        raise ValueError(f"{name} contains missing values {_where(np.isnat(array))}.")
    if array.dtype.kind == "O":
        kinds = set(map(type, array.tolist()))
        if kinds == {str}:
            return array
        missing = np.array([is_missing(v) for v in array])
        if missing.any():
            raise ValueError(
                f"{name} contains missing labels {_where(missing)}; remove these rows first."
            )
        # A column of plain Python or nullable bools and numbers is not really an object column.
        if kinds <= {bool, np.bool_}:
            return array.astype(bool)
        if all(issubclass(kind, numbers.Number) for kind in kinds):
            plain = np.array(array.tolist())
            return plain.astype(float) if plain.dtype.kind == "O" else plain
        if len(kinds) > 1 and not all(issubclass(kind, str) for kind in kinds):
            raise TypeError(
                f"{name} mixes labels of types {sorted(kind.__name__ for kind in kinds)}; "
                "use labels of a single type."
            )
    return array


def is_missing(value: Any) -> bool:
    """Tell None, NaN and pandas' NA, which refuses to be compared, without importing pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def distinct_labels(y: Array) -> Array:
    """Return the sorted distinct labels of an array that `check_labels` returned."""
    if y.dtype.kind == "O" and _all_str(y):
        return text_array(sorted(set(y.tolist())))
    return np.unique(y)


def _all_str(y: Array) -> bool:
    return all(isinstance(v, str) for v in y)


def check_binary_labels(values: Any, pos_label: Any = None, name: str = "y_true") -> Array:
    """Return a boolean array: which queries have the answer yes."""
    y = check_labels(values, name)
    if pos_label is None:
        if y.dtype == bool:
            return y
        # Seen as unsigned, a negative label is huge: one pass finds all that is not 0 or 1.
        if y.dtype.kind in "iu" and y.view(f"u{y.dtype.itemsize}").max() <= 1:
            return y.astype(bool)
    labels = distinct_labels(y)
    if len(labels) > 2:
        raise ValueError(
            f"{name} has {len(labels)} classes {_some(labels)}, but one probability per row "
            "answers a yes/no question. For many classes pass the probabilities of shape "
            "(n_samples, n_classes); for one class against the rest pass y_true == that class."
        )
    if pos_label is None:
        numeric = y.dtype.kind in "biuf"
        if numeric and (np.isin(labels, (0, 1)).all() or np.isin(labels, (-1, 1)).all()):
            return np.asarray(y == 1)
        raise ValueError(
            f"{name} has the labels {_some(labels)}: which of them means yes is not known. "
            "Set pos_label to the label whose probability y_prob gives."
        )
    if len(labels) == 2 and pos_label not in labels.tolist():
        raise ValueError(
            f"pos_label={pos_label!r} is not a valid label: it should be one of {_some(labels)}."
        )
    return np.asarray(y == pos_label, dtype=bool)


def check_sample_weight(values: Any, n: int, *, of: str = "queries") -> Array | None:
    """Return weights as float64, or None; extreme ones are brought within reach."""
    if values is None:
        return None
    weight = check_float_array(values, "sample_weight")
    weight = _column(weight, "sample_weight", f"One weight is expected for each of the {of}.")
    if len(weight) != n:
        raise ValueError(
            f"sample_weight must have one entry for each of the {n} {of}; it has {len(weight)}."
        )
    if weight.min() < 0:
        bad = weight < 0
        raise ValueError(
            f"sample_weight contains {weight[bad][0]} {_where(bad)}; weights must not be negative."
        )
    if not weight.any():
        raise ValueError(f"sample_weight is zero everywhere, so that no {of} are left.")
    return weights_within_reach(weight)


# Powers of two: between what and what the largest weight may lie, and how much smaller others may
# be. Sums and sixth powers are then within what a float can hold, and fractions are not yet lost:
# floats beyond 2 ** 53 are whole numbers, and whole weights stand for copies.
LARGEST_WEIGHT, _SPREAD = 40, 100


def are_within_reach(largest: float, least: float) -> bool:
    """Whether powers and sums of weights that are not 0 neither overflow nor vanish."""
    exponent = math.frexp(largest)[1]
    return abs(exponent) <= LARGEST_WEIGHT and least >= math.ldexp(1.0, exponent - _SPREAD)


def weights_within_reach(weight: Array, largest: float | None = None) -> Array:
    """Return weights whose powers and sums neither overflow nor vanish.

    `largest` is that of all weights, of which these may be some. Where it is above
    2 ** 40 or below 2 ** -40, the weights are divided by a power of two, which
    rounds nothing: the largest is about one then. A weight that is smaller by a
    factor of 2 ** 100 is held there: it counts for nothing beside the largest, and
    still is a query.
    """
    exponent = math.frexp(weight.max() if largest is None else largest)[1]
    within = weight
    if abs(exponent) > LARGEST_WEIGHT:
        # In two steps, since a float does not hold 2 ** 1074.
        half = exponent // 2
        within = np.ldexp(np.ldexp(weight, -half), half - exponent)
        exponent = 0
    least = math.ldexp(1.0, exponent - _SPREAD)
    tiny = (within < least) & (weight > 0.0)
    return np.where(tiny, least, within) if tiny.any() else within


def check_groups(values: Any, n: int, name: str = "groups") -> Array:
    """Return one group for each query."""
    group = check_labels(values, name)
    if len(group) != n:
        raise ValueError(
            f"{name} must have one entry for each of the {n} queries; it has {len(group)}."
        )
    return group


def check_columns(proba: Array, classes: Array, name: str = "y_prob") -> None:
    """Refuse a matrix of probabilities that does not have a column for each class."""
    k = len(classes)
    if proba.ndim != 2 or proba.shape[1] != k:
        raise ValueError(
            f"{name} must have shape (n_samples, {k}), a column for each of the classes "
            f"{_some(classes)}; got shape {proba.shape}."
        )


def check_y_prob(y_prob: Any, classes: Array, name: str = "y_prob") -> Array:
    """Return a matrix of probabilities with a column for each class."""
    proba = check_probabilities(y_prob, name)
    check_columns(proba, classes, name)
    return proba


def check_classes(classes: Any, name: str = "classes") -> Array:
    """Return the class names as a 1-D array of distinct entries."""
    array = check_labels(classes, name)
    if len(np.unique(array)) != len(array):
        raise ValueError(f"{name} names a class twice: {_some(array)}.")
    return array


# What other packages call our options.
_SYNONYMS = {"quantile": "adaptive", "equal_mass": "adaptive", "equal_width": "uniform"}


def check_option(value: Any, name: str, options: Iterable[Any]) -> Any:
    """Refuse a value that is not one of the options, listing them."""
    options = tuple(options)
    if not any(
        value is option or (type(value) is type(option) and value == option) for option in options
    ):
        listing = ", ".join(repr(option) for option in options)
        message = f"{name}={value!r} is not known; it should be one of {listing}."
        if isinstance(value, str):
            words = [option for option in options if isinstance(option, str)]
            near = get_close_matches(value.lower(), words, n=1)
            meant = _SYNONYMS.get(value, near[0] if near else None)
            if meant in options and meant is not None:
                message += f" Did you mean {meant!r}?"
        raise ValueError(message)
    return value


def check_integer(value: Any, name: str, low: int = 1) -> int:
    """Return an int that is at least `low`; floats and bools are refused."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer, got {value!r} ({type(value).__name__}).")
    if value < low:
        raise ValueError(f"{name} must be at least {low}, got {value}.")
    return int(value)


def check_bin_options(bin_size: Any, n_bins: Any, *, sizes: tuple[str, ...] = ("auto",)) -> None:
    """Check `bin_size` and `n_bins`, of which at most one may be set."""
    if n_bins is not None:
        if not (isinstance(bin_size, str) and bin_size in sizes):
            raise ValueError(
                f"bin_size={bin_size!r} and n_bins={n_bins!r} are both set: give the size of the "
                "bins or their number, not both."
            )
        check_integer(n_bins, "n_bins")
    elif isinstance(bin_size, str):
        if bin_size not in sizes:
            raise ValueError(
                f"bin_size={bin_size!r} is not known; it should be an integer or "
                f"{' or '.join(map(repr, sizes))}."
            )
    else:
        check_integer(bin_size, "bin_size")


def check_confidence_level(value: Any) -> float:
    """Return a level strictly between 0 and 1."""
    if isinstance(value, (bool, str)) or not isinstance(value, numbers.Real):
        raise TypeError(f"confidence_level must be a number between 0 and 1, got {value!r}.")
    level = float(value)
    if not 0.0 < level < 1.0:
        hint = f" Did you mean {level / 100:g}?" if 1.0 < level < 100.0 else ""
        raise ValueError(f"confidence_level must lie between 0 and 1, got {value!r}.{hint}")
    return level


def check_zoom(zoom: Any, least: float) -> tuple[float, float]:
    """Return a range of probabilities."""
    low, high = (float(end) for end in zoom)
    if not least <= low < high <= 1.0 - least:
        raise ValueError(f"zoom must be a range (low, high) within (0, 1), got {zoom!r}.")
    return low, high


def check_fold_results(cv_results: Any, X: Any) -> None:
    """Refuse results of `cross_validate` that lack the estimators or the indices."""
    for key, option in (("estimator", "return_estimator"), ("indices", "return_indices")):
        if key not in cv_results:
            raise ValueError(f"cv_results has no {key!r}: call cross_validate(..., {option}=True).")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    largest = max(int(np.max(part)) for part in cv_results["indices"]["test"])
    if largest >= n:
        raise ValueError(
            f"X has {n} rows, but cv_results has a test row {largest}: pass the X and y that were "
            "passed to cross_validate."
        )


def check_generator(random_state: RandomState) -> np.random.Generator:
    """Return a numpy Generator for whatever scikit-learn takes as `random_state`.

    A Generator is used as it is. Anything else goes through scikit-learn's
    `check_random_state`, so that None follows `np.random.seed`.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    seed = check_random_state(random_state).randint(0, 2**31 - 1, size=4)
    return np.random.default_rng(seed)


def check_number(value: Any, name: str, *, positive: bool = False) -> float:
    """Return a finite float from 0, or above it if it has to be positive."""
    wanted = "a positive finite number" if positive else "a finite number from 0"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {wanted}, got {value!r} ({type(value).__name__}).")
    if not math.isfinite(value) or value < 0 or (positive and value == 0):
        raise ValueError(f"{name} must be {wanted}, got {value!r}.")
    return float(value)
