"""How each family of models is recalibrated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from sklearn_calib._validation import Array
from sklearn_calib._validation_sequences import check_tags
from sklearn_calib.coref._ranker import MentionRanker
from sklearn_calib.queries._queries import Queries
from sklearn_calib.recalibration._antecedents import AdjustedRanker, fit_antecedents
from sklearn_calib.recalibration._chains import (
    ChainNumbers,
    ScaledTagger,
    aligned_codes,
    fit_chain,
    is_chain,
)
from sklearn_calib.recalibration._held_out import HeldOut
from sklearn_calib.recalibration._isotonic import (
    AnswerMaps,
    IsotonicModel,
    IsotonicRanker,
    IsotonicTagger,
    tag_answers,
)
from sklearn_calib.sequence._tagger import SequenceTagger

__all__ = ["METHODS", "Recalibrated", "recalibrate"]

METHODS = ("temperature", "scaling", "isotonic")

# Where the logarithm of a temperature may lie.
_BOUND = np.log(20.0)


class Recalibrated(NamedTuple):
    """A mended model, and the numbers that mend it, by the names of fitted attributes."""

    model: Any
    numbers: dict[str, Any]


def recalibrate(
    model: Any, held_out: Sequence[HeldOut], method: str, options: Mapping[str, Any]
) -> Recalibrated:
    """Mend a fitted model by what its like said about samples that they had not seen."""
    if hasattr(model, "steps"):
        raise TypeError(
            "A pipeline cannot be recalibrated as a whole: make CalibratedStructureCV its last "
            "step."
        )
    chain, ranker = is_chain(model), isinstance(model, MentionRanker)
    if method == "isotonic":
        return Recalibrated(_isotonic(model, held_out, options), {})
    if options and (chain or ranker):
        raise ValueError(
            f"query_options={dict(options)!r} says which answers method='isotonic' mends; "
            f"method={method!r} mends the whole distribution of {type(model).__name__}. Leave "
            "query_options out."
        )
    if chain:
        numbers = fit_chain(held_out, np.asarray(model.classes_), biases=method == "scaling")
        named: dict[str, Any] = {"temperature_": numbers.temperature}
        if method == "scaling":
            named["transition_temperature_"] = numbers.transition_temperature
            named["bias_"] = numbers.bias
        return Recalibrated(ScaledTagger(model, numbers), named)
    if method == "scaling":
        raise ValueError(
            f"method='scaling' is for taggers, and {type(model).__name__} is none: choose "
            "'temperature' or 'isotonic'."
        )
    if ranker:
        found = fit_antecedents(held_out)
        return Recalibrated(
            AdjustedRanker(model, found),
            {"temperature_": found.temperature, "new_shift_": found.new_shift},
        )
    if not hasattr(model, "at_temperature"):
        raise TypeError(
            f"{type(model).__name__} cannot be recalibrated by method={method!r}: it is neither a "
            "tagger nor a coreference model of this package, and has no method "
            "at_temperature(temperature). For classifiers there is "
            "sklearn.calibration.CalibratedClassifierCV."
        )
    temperature = _best_temperature(held_out, options)
    return Recalibrated(model.at_temperature(temperature), {"temperature_": temperature})


def _ask(part: HeldOut, model: Any, options: Mapping[str, Any]) -> Queries:
    weights = {} if part.weight is None else {"sample_weight": part.weight}
    return model.calibration_queries(part.X, part.y, **options, **weights)


def _best_temperature(held_out: Sequence[HeldOut], options: Mapping[str, Any]) -> float:
    """Return the temperature of least Brier score over held-out queries."""

    def loss(log_temperature: float) -> float:
        temperature = float(np.exp(log_temperature))
        queries = Queries.concat(
            [_ask(part, part.model.at_temperature(temperature), options) for part in held_out]
        )
        gap = queries.y_prob - queries.y_true
        return float(np.average(gap * gap, weights=queries.sample_weight))

    result = minimize_scalar(
        loss, bounds=(-_BOUND, _BOUND), method="bounded", options={"xatol": 1e-3}
    )
    return float(np.exp(result.x))


def _isotonic(model: Any, held_out: Sequence[HeldOut], options: Mapping[str, Any]) -> IsotonicModel:
    if isinstance(model, MentionRanker):
        unit = options.get("unit", "link")
        asked = [_ask(part, part.model, options) for part in held_out]
        return IsotonicRanker(model, AnswerMaps(Queries.concat(asked)), unit)
    if not is_chain(model):
        if not hasattr(model, "calibration_queries"):
            raise TypeError(
                f"{type(model).__name__} has no method calibration_queries, so that there are no "
                "answers to mend. For classifiers there is "
                "sklearn.calibration.CalibratedClassifierCV."
            )
        asked = [_ask(part, part.model, options) for part in held_out]
        return IsotonicModel(model, AnswerMaps(Queries.concat(asked)), options.get("unit", ""))
    tagger = _as_tagger(model)
    parts = [part._replace(model=_as_tagger(part.model)) for part in held_out]
    unit = options.get("unit", "tag")
    if unit == "tag":
        asked = [_tag_queries(part, tagger.classes_) for part in parts]
    elif unit == "pair":
        chosen = tagger._check_pairs(unit, options.get("pairs"))
        asked = [
            _ask(part, part.model, {**options, "pairs": known})
            for part in parts
            if (known := _known(chosen, part.model.classes_))
        ]
    else:
        asked = [_ask(part, part.model, options) for part in parts]
    return IsotonicTagger(tagger, AnswerMaps(Queries.concat(asked)), unit)


def _as_tagger(model: Any) -> SequenceTagger:
    """Return a linear chain with all methods of a tagger."""
    if isinstance(model, SequenceTagger):
        return model
    return ScaledTagger(model, ChainNumbers(1.0, 1.0, np.zeros(len(model.classes_))))


def _known(pairs: Sequence[tuple[str, str]] | None, classes: Array) -> list[tuple[str, str]]:
    known = set(classes.tolist())
    return [pair for pair in pairs or () if known.issuperset(pair)]


def _tag_queries(part: HeldOut, classes: Array) -> Queries:
    """Return what a fold says about every tag of the final model."""
    columns = aligned_codes(classes, part.model.classes_.tolist())
    found = part.model.predict_proba(part.X)
    raw = np.zeros((len(found), len(classes)))
    raw[:, columns[columns >= 0]] = found[:, columns >= 0]
    tags = check_tags(part.y)
    lengths = [len(row) for row in tags]
    weight = None if part.weight is None else np.repeat(part.weight, lengths)
    return tag_answers(raw, classes, tags, weight)
