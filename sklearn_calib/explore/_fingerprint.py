"""Fingerprints: whether two things are equal, told by a few bytes, in this process or another."""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

__all__ = ["fingerprint"]

# Globals of a function that are hashed with it.
_PLAIN = (bool, bytes, dict, float, frozenset, int, list, re.Pattern, set, str, tuple, type(None))
_PACKAGE = __name__.partition(".")[0]


def fingerprint(value: Any) -> str:
    """Return a text that equal things share and different things do not.

    A function or a class that is not part of an installed package is known by its
    code, and by the plain values and the functions that it uses, so that an edited
    one is another one. Anything else is known by what pickle would keep of it; the
    identity of strings and the order of sets make no difference. What pickle
    refuses raises a TypeError.
    """
    hasher = _Hasher()
    try:
        hasher.dump(value)
    except (AttributeError, RecursionError, TypeError, ValueError, pickle.PicklingError) as error:
        raise TypeError(f"A {type(value).__name__} cannot be recognised again: {error}.") from error
    return hasher.total.hexdigest()


class _Sink:
    """A file of which only the hash is kept."""

    def __init__(self, total: Any) -> None:
        self.total = total

    def write(self, data: Any) -> int:
        self.total.update(data)
        return memoryview(data).nbytes


class _Hasher(pickle.Pickler):
    """Pickles values, not identities, and nothing that another process would see differently."""

    def __init__(self) -> None:
        self.total = hashlib.blake2b(digest_size=16)
        super().__init__(_Sink(self.total), protocol=5)

    def persistent_id(self, obj: Any) -> int | None:
        kind = type(obj)
        if kind is str:
            return _number(obj.encode("utf-8", "surrogatepass"), b"str")
        if kind is bytes:
            return _number(obj, b"bytes")
        if kind is set or kind is frozenset:
            return _number("".join(sorted(map(fingerprint, obj))).encode(), b"set")
        return None

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, FunctionType):
            return NotImplemented if _is_installed(obj) else _by_state(_of_function(obj))
        if isinstance(obj, type):
            return NotImplemented if _is_installed(obj) else _by_state(_of_class(obj))
        if isinstance(obj, ModuleType):
            return _by_state(obj.__name__)
        if isinstance(obj, MappingProxyType):
            return _by_state(dict(obj))
        if type(obj) is np.ndarray and not obj.dtype.hasobject:
            return _by_state((repr(obj.dtype), obj.shape, obj.tobytes()))
        if type(obj) is np.ndarray and obj.dtype == object and obj.ndim == 1:
            values = obj.tolist()
            if all(type(value) is str for value in values):
                lengths = np.fromiter(map(len, values), np.int64, len(values))
                return _by_state(("".join(values), lengths.tobytes()))
        return NotImplemented


def _number(data: bytes, kind: bytes) -> int:
    # Unlike strings and tuples, numbers are pickled in full wherever they occur.
    return int.from_bytes(hashlib.blake2b(data, digest_size=16, person=kind).digest(), "big")


def _by_state(state: Any) -> tuple[Any, tuple[()], Any]:
    """Return what pickle is to write; a state may hold the thing itself again."""
    return object, (), (state,)


def _is_installed(obj: Any) -> bool:
    """Tell whether a name says it all: that of something in an installed package."""
    found: Any = sys.modules.get(obj.__module__)
    if found is None or not _is_installed_module(obj.__module__):
        return False
    for name in obj.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is obj


@lru_cache(maxsize=1000)
def _is_installed_module(name: str) -> bool:
    if name.partition(".")[0] in {_PACKAGE, *sys.builtin_module_names}:
        return name != "__main__"
    path = getattr(sys.modules[name], "__file__", None)
    if path is None:
        return False
    folders = {sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return not {Path(folder).resolve() for folder in folders}.isdisjoint(
        Path(path).resolve().parents
    )


def _of_function(function: FunctionType) -> Any:
    closure = {
        name: cell.cell_contents
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        )
    }
    used = {name: function.__globals__.get(name) for name in sorted(_names(function.__code__))}
    kept = {
        name: value
        for name, value in used.items()
        if type(value) in _PLAIN or isinstance(value, (FunctionType, type))
    }
    defaults = (function.__defaults__, function.__kwdefaults__)
    return (function.__qualname__, _of_code(function.__code__), defaults, closure, kept)


def _of_code(code: CodeType) -> Any:
    constants = [_of_code(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars)


def _names(code: CodeType) -> set[str]:
    inner = [_names(c) for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*inner)


def _of_class(cls: type) -> Any:
    own = {}
    for name, value in vars(cls).items():
        value = getattr(value, "__func__", getattr(value, "fget", value))
        if isinstance(value, FunctionType) or type(value) in _PLAIN:
            own[name] = value
    for name in ("__doc__", "__module__", "__firstlineno__", "__static_attributes__"):
        own.pop(name, None)
    return (cls.__qualname__, own, cls.__bases__)
