"""Antecedent models in files that hold numbers and names, and nothing that runs."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_calib._files import expansion_limit, shortened
from sklearn_calib._output import check_target, whole_file
from sklearn_calib._results import printable
from sklearn_calib._validation import Array, check_number
from sklearn_calib.coref._antecedent_model import AntecedentModel
from sklearn_calib.coref._chosen_features import NAMED
from sklearn_calib.coref._encoding import Encoder

__all__ = ["load_antecedent_model", "save_antecedent_model"]

_FORMAT, _VERSION = "sklearn-calib antecedent model", 1
_ARRAYS = ("header", "typed", "places", "weights")

# A file that asks for more weights than this is broken: the largest real models have 10 million.
_MOST_WEIGHTS = 200_000_000
_MOST_BYTES = 12 * _MOST_WEIGHTS  # unpacked

# Models that come with the package, in the folder `data`.
_SHIPPED = ("english",)


def save_antecedent_model(
    model: AntecedentModel, path: str | Path, *, min_weight: float = 0.0, force: bool = False
) -> None:
    """Write a fitted model to a file that holds no code.

    Parameters
    ----------
    model : AntecedentModel
        A fitted model. Its features must be known by name, because functions
        cannot be saved.
    path : str or Path
        The file; its name should end in ".npz". A model that is there already is
        replaced, once the new one is whole.
    min_weight : float, default=0.0
        Weights closer to zero than this are left out, which makes the file
        smaller.
    force : bool, default=False
        Whether to replace a file that is not such a model.

    See Also
    --------
    load_antecedent_model : Reads it again.

    Notes
    -----
    The file is a compressed NumPy archive with the weights in single
    precision, and a header in JSON with the parameters and the names of all
    features. Neither needs pickle.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn_calib.coref import (
    ...     AntecedentModel,
    ...     load_antecedent_model,
    ...     save_antecedent_model,
    ... )
    >>> from sklearn_calib.datasets import make_coref_documents
    >>> X = make_coref_documents(10, random_state=0).X
    >>> model = AntecedentModel().fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_antecedent_model(model, Path(folder) / "model.npz")
    ...     again = load_antecedent_model(Path(folder) / "model.npz")
    >>> bool((again.predict(X)[0] == model.predict(X)[0]).all())
    True
    """
    if not isinstance(model, AntecedentModel):
        raise TypeError(f"model must be an AntecedentModel, got {type(model).__name__}.")
    check_is_fitted(model)
    least = check_number(min_weight, "min_weight")
    target = check_target(path, force, _is_ours, "a model that save_antecedent_model wrote")
    used = model._features
    kinds = list(used) if isinstance(used, (list, tuple)) else [used]
    for kind in kinds:
        if not isinstance(kind, str):
            raise TypeError(
                f"The model has the features {kind!r}, and functions cannot be saved: use features "
                f"with a name ({', '.join(map(repr, NAMED))}), or pickle the model."
            )
    encoder = model._encoder
    parameters = {**model.get_params(deep=False), "features": kinds}
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        # What the weights were learnt with; parameters that changed since do not count.
        "parameters": {
            **parameters,
            "min_count": encoder.min_count,
            "max_antecedents": encoder.max_antecedents,
        },
        "loss": model.loss_,
        "n_iter": model.n_iter_,
        **encoder.names(),
    }
    places = np.flatnonzero((np.abs(model.coef_) >= least) & (model.coef_ != 0.0))
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, default=_plain)
    with whole_file(target) as file:
        np.savez_compressed(
            file,
            header=np.frombuffer(text.encode(), dtype=np.uint8),
            # Steps from one number to the next are small, and compress well.
            typed=np.diff(encoder.typed, prepend=0).astype(np.uint32),
            places=np.diff(places, prepend=0).astype(np.uint32),
            weights=model.coef_[places].astype(np.float32),
        )


def _is_ours(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return set(archive.namelist()) == {f"{name}.npy" for name in _ARRAYS}
    except zipfile.BadZipFile:
        return False


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one that JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be saved.")


def load_antecedent_model(source: str | Path = "english") -> AntecedentModel:
    """Load a fitted coreference model: the one for English that ships, or one of your own.

    Parameters
    ----------
    source : str or Path, default="english"
        "english", or a file that `save_antecedent_model` wrote.

    Returns
    -------
    AntecedentModel
        The fitted model.

    See Also
    --------
    save_antecedent_model : Writes such a file.
    find_mentions : Finds the mentions of a parsed text.

    Notes
    -----
    The English model has extended features and expects the mentions of
    `find_mentions` in text with universal parts of speech, lemmas and
    dependencies. It was trained on true and on predicted mentions of those
    texts of GUM [1]_ whose licence allows commercial use; a notice beside the
    model names them. The user guide says how accurate and how well calibrated
    it is.

    References
    ----------
    .. [1] Amir Zeldes, "The GUM corpus: creating multilayer resources in the
       classroom", Language Resources and Evaluation 51(3), 2017.

    Examples
    --------
    >>> from sklearn_calib.coref import Document, find_mentions, load_antecedent_model
    >>> model = load_antecedent_model("english")
    >>> doc = Document(
    ...     "demo",
    ...     ["Mary", "slept", ".", "She", "snored", "."],
    ...     upos=["PROPN", "VERB", "PUNCT", "PRON", "VERB", "PUNCT"],
    ...     lemmas=["Mary", "sleep", ".", "she", "snore", "."],
    ...     heads=[1, -1, 1, 4, -1, 4],
    ...     relations=["nsubj", "root", "punct", "nsubj", "root", "punct"],
    ...     sentence_starts=[0, 3],
    ... )
    >>> doc = doc.replace(mentions=find_mentions(doc))
    >>> model.predict([doc])
    [array([0, 0])]
    """
    if not isinstance(source, (str, Path)):
        raise TypeError(f"source must be a name or a path, got {type(source).__name__}.")
    if source in _SHIPPED:
        with as_file(files("sklearn_calib.coref") / "data" / f"{source}.npz") as path:
            return _read(path)
    path = Path(source)
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no model {str(source)!r}: it should be one of "
            f"{', '.join(map(repr, _SHIPPED))}, or the path of a file that save_antecedent_model "
            "wrote."
        )
    return _read(path)


def _read(path: Path) -> AntecedentModel:
    """Read and check a file, and build its model."""

    def refuse(why: str) -> ValueError:
        return ValueError(f"{path} is not a model that save_antecedent_model wrote: {why}.")

    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
        if size > min(_MOST_BYTES, expansion_limit(path)):
            raise ValueError(f"{size:,} bytes when unpacked")
        with np.load(path, allow_pickle=False) as archive:
            names = set(getattr(archive, "files", ()))
            arrays = {name: archive[name] for name in _ARRAYS} if names == set(_ARRAYS) else None
    except Exception as error:  # zipfile, zlib and NumPy have many kinds
        raise refuse(f"it cannot be read ({printable(str(error))[:200]})") from error
    if arrays is None:
        raise refuse("it does not hold the arrays of one")
    try:
        header = json.loads(arrays["header"].tobytes().decode())
    except (ValueError, RecursionError) as error:
        raise refuse(f"its header is broken ({printable(str(error))[:200]})") from error
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise refuse("its header is another one's")
    if header.get("version") != _VERSION:
        raise ValueError(
            f"{path} was written in version {shortened(header.get('version'))} of the format, and "
            f"this release reads version {_VERSION}. Use the release that wrote it, or train again."
        )
    _check_header(header, refuse)
    parameters = header["parameters"]
    encoder = Encoder(parameters["min_count"], parameters["max_antecedents"])
    encoder.restore(header, np.empty(0, dtype=np.intp))
    typed = _numbers(arrays["typed"], encoder.n_alone * encoder.n_types, "typed", refuse)
    encoder.restore(header, typed)
    if encoder.n_weights > _MOST_WEIGHTS:
        raise refuse(f"it claims to have {encoder.n_weights:,} weights")
    places = _numbers(arrays["places"], encoder.n_weights, "places", refuse)
    weights = arrays["weights"]
    if weights.dtype != np.float32 or weights.shape != places.shape:
        raise refuse("its weights do not fit their places")
    if not np.isfinite(weights).all():
        raise refuse("it has weights that are not finite")
    model = AntecedentModel(**parameters)
    model.coef_ = np.zeros(encoder.n_weights)
    model.coef_[places] = weights
    model.loss_ = float(header["loss"])
    model.n_iter_ = int(header["n_iter"])
    model.types_ = list(encoder.types)
    model._encoder = encoder
    model._features = model.features
    return model


def _numbers(steps: Array, limit: int, name: str, refuse: Callable[[str], ValueError]) -> Array:
    """Return rising numbers below a limit, from the steps between them."""
    if steps.dtype != np.uint32 or steps.ndim != 1 or (steps[1:] == 0).any():
        raise refuse(f"its array {name!r} does not rise")
    numbers = np.cumsum(steps, dtype=np.int64)
    if len(numbers) and numbers[-1] >= limit:
        raise refuse(f"its array {name!r} goes up to {numbers[-1]:,}, beyond {limit:,}")
    return numbers.astype(np.intp)


def _check_header(header: dict[str, Any], refuse: Callable[[str], ValueError]) -> None:
    """Refuse a header whose entries are missing or of the wrong kind."""

    def names(values: Any) -> bool:
        return (
            isinstance(values, list)
            and all(isinstance(v, str) for v in values)
            and len(set(values)) == len(values)
        )

    def count(value: Any) -> bool:
        return type(value) is int and value >= 0

    parameters = header.get("parameters")
    if not isinstance(parameters, dict) or set(parameters) != set(AntecedentModel().get_params()):
        raise refuse("its parameters are not those of an AntecedentModel")
    kinds = parameters["features"]
    if not names(kinds) or not kinds or not set(kinds) <= set(NAMED):
        raise refuse(f"it has the features {shortened(kinds)}, and those known are {list(NAMED)}")
    # As it was given: one kind of features by its name.
    parameters["features"] = kinds[0] if len(kinds) == 1 else kinds
    window = parameters["max_antecedents"]
    if not count(parameters["min_count"]) or not (window is None or count(window)):
        raise refuse("min_count and max_antecedents must be whole numbers")
    values, sizes = header.get("values"), header.get("sizes")
    if not names(header.get("types")) or not header["types"]:
        raise refuse("its types of mentions are not a list of names")
    if not isinstance(values, dict) or not all(names(v) for v in values.values()):
        raise refuse("the values of its features are not lists of names")
    if not isinstance(sizes, dict) or not all(count(v) and v > 0 for v in sizes.values()):
        raise refuse("the sizes of its pair features are not whole numbers")
    loss = header.get("loss")
    if not isinstance(loss, float) or not np.isfinite(loss) or not count(header.get("n_iter")):
        raise refuse("its loss and its iterations are not numbers")
