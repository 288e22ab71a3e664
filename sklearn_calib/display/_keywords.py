"""Unknown keywords: the error names the call that the user wrote, and what was probably meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])

# Keywords of a line, which displays take in a dict of their own.
_LINE = ("alpha", "color", "linestyle", "linewidth", "marker", "markersize", "zorder")
# Keywords of taggers and coreference models, which displays take in a dict as well.
_QUERY_OPTIONS = ("min_proba", "pairs", "unit")
# What other packages call our keywords, and the short names of a line's.
_SYNONYMS = {
    "bins": "n_bins",
    "c": "color",
    "label": "name",
    "labels": "classes",
    "ls": "linestyle",
    "lw": "linewidth",
    "ms": "markersize",
    "weights": "sample_weight",
}


def known_keywords(*passed_on: str) -> Callable[[Method], Method]:
    """Refuse unknown keywords of a display's method before it does anything else.

    `passed_on` names the methods of the display that get the method's `**options`.
    """

    def decorate(method: Method) -> Method:
        own = list(_keywords_of(method))

        @wraps(method)
        def checked(display: Any, *args: Any, **keywords: Any) -> Any:
            kind = display if isinstance(display, type) else type(display)
            known = [*own]
            for other in passed_on:
                known += _keywords_of(getattr(kind, other))
            for name, value in keywords.items():
                if name not in known:
                    raise TypeError(
                        f"{kind.__name__}.{method.__name__}() got an unexpected keyword argument "
                        f"{name!r}.{_suggestion(name, value, known)}"
                    )
            return method(display, *args, **keywords)

        return cast("Method", checked)

    return decorate


def _keywords_of(method: Callable[..., Any]) -> Iterable[str]:
    """Return the names of a method's keywords."""
    for name, parameter in signature(method).parameters.items():
        positional = parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
        if parameter.kind is Parameter.KEYWORD_ONLY or (positional and name not in _NOT_KEYWORDS):
            yield name


# The object itself, and what no caller of another method may pass.
_NOT_KEYWORDS = ("self", "cls", "queries")


def _suggestion(name: str, value: object, known: list[str]) -> str:
    """Return a sentence that says which keyword was meant, or which there are."""
    styles = [keyword for keyword in known if keyword.endswith("_kwargs")]
    candidates = [*known, *(_LINE if styles else ()), *_QUERY_OPTIONS]
    meant = _SYNONYMS.get(name)
    if meant not in candidates:
        near = get_close_matches(name, candidates, n=1, cutoff=0.75)
        meant = near[0] if near else None
    if meant is None:
        return f" Its keywords are {', '.join(dict.fromkeys(known))}."
    if meant in known:
        return f" Did you mean {meant}?"
    shown = repr(value) if isinstance(value, (str, int, float)) else "..."
    entry = f'{{"{meant}": {shown}}}'
    if meant in _LINE:
        return f" Did you mean {styles[0]}={entry}?"
    if "query_options" in known:
        return f" Did you mean query_options={entry}?"
    return f" A model is asked for it: from_estimator(..., query_options={entry})."
