"""What options a model's questions have."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

__all__ = ["check_query_options"]


def check_query_options(model: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that the method `calibration_queries` of a model does not have."""
    taken = signature(model.calibration_queries).parameters
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken.values()):
        return
    known = [name for name in taken if name not in ("X", "y")]
    for name, value in options.items():
        if name not in known:
            raise TypeError(
                f"{name}={value!r} does not apply to {type(model).__name__}: the options of its "
                f"calibration_queries are {', '.join(known) or 'none'}."
            )
