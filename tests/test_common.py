"""What holds for the whole package."""

import ast
import dataclasses
import inspect
import re
from pathlib import Path

import pytest
from numpydoc.validate import validate

import sklearn_calib

PACKAGE = Path(sklearn_calib.__file__).parent

# Lower rooms must not know of higher ones: an import may only go down this list.
ROOMS = [
    "__main__",
    "report",
    "__init__",
    "display",
    "datasets",
    "explore",
    "recalibration",
    "coref",
    "sequence",
    "metrics",
    "queries",
    "_sklearn",
    "_html",
    "_output",
    "_results",
    "_validation_documents",
    "_validation_sequences",
    "_validation",
    "_files",
    "_version",
    "_interrupt",
]


def room(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports():
    for path in PACKAGE.rglob("*.py"):
        relative = path.relative_to(PACKAGE.parent).with_suffix("")
        here = room(".".join(relative.parts))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn_calib"):
                yield path, here, room(node.module)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("sklearn_calib"):
                        yield path, here, room(alias.name)


def test_imports_point_one_way():
    for path, here, there in imports():
        assert here in ROOMS, f"add {here} to the list of rooms"
        assert ROOMS.index(here) <= ROOMS.index(there), f"{path} imports from {there}"


def test_private_scikit_learn_has_one_door():
    for path in PACKAGE.rglob("*.py"):
        if path.name == "_sklearn.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn."):
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
                assert not any(name.startswith("_") for name in names), path


def test_public_names_are_sorted_and_exist():
    assert list(sklearn_calib.__all__) == sorted(sklearn_calib.__all__)
    for name in sklearn_calib.__all__:
        assert getattr(sklearn_calib, name) is not None


# Names of the top level, and those that are reached by their room.
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (sklearn_calib, *(getattr(sklearn_calib, name) for name in sklearn_calib._ROOMS))
    for name in module.__all__
    if inspect.isclass(getattr(module, name)) or inspect.isfunction(getattr(module, name))
}


def test_public_names_are_in_the_documentation():
    listed = set(re.findall(r"[\w.]+", (PACKAGE.parent / "docs" / "api.rst").read_text()))
    listed |= {name.rpartition(".")[2] for name in listed}
    missing = {name for name in PUBLIC if name.rpartition(".")[2] not in listed}
    assert not missing


def public_objects():
    for name, thing in PUBLIC.items():
        yield name
        if inspect.isclass(thing):
            for attribute, member in vars(thing).items():
                is_method = isinstance(member, (classmethod, staticmethod)) or callable(member)
                if is_method and not attribute.startswith("_") and hasattr(member, "__doc__"):
                    yield f"{name}.{attribute}"


def issubclass_of_tuple(thing):
    return inspect.isclass(thing) and issubclass(thing, tuple)


# Short forms that need no sections of their own.
ALWAYS_IGNORED = {"ES01", "SA01", "EX01", "GL01", "GL03", "PR08", "PR09", "RT03", "SS05", "SS06"}


@pytest.mark.parametrize("name", list(public_objects()))
def test_docstrings_are_complete(name):
    found = [(code, text) for code, text in validate(name)["errors"] if code not in ALWAYS_IGNORED]
    thing = PUBLIC.get(name)
    if thing is None or dataclasses.is_dataclass(thing) or issubclass_of_tuple(thing):
        # Methods that return something short say it in their summary, and the
        # fields of a result are its attributes.
        found = [(code, text) for code, text in found if code not in {"RT01", "PR01", "YD01"}]
    assert not found


@pytest.mark.parametrize("name", [n for n, thing in PUBLIC.items() if inspect.isfunction(thing)])
def test_functions_have_an_example_and_keyword_only_options(name):
    function = PUBLIC[name]
    assert "Examples\n" in function.__doc__
    positional = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    assert len(positional) <= 3


def test_results_are_frozen_dataclasses():
    for thing in PUBLIC.values():
        if dataclasses.is_dataclass(thing):
            assert thing.__dataclass_params__.frozen
            assert not thing.__dataclass_params__.eq
