"""What importing the package loads, and where names are found."""

import importlib.metadata
import subprocess
import sys

import pytest

import sklearn_calib

LATE = ("sequence", "coref", "explore", "datasets", "display", "report")


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_rooms_load_when_they_are_asked_for():
    loaded = run(
        "import sys, sklearn_calib; print([m for m in sys.modules if m.startswith('sklearn_calib.')"
        " or m.split('.')[0] in ('matplotlib', 'dask', 'sklearn_crfsuite', 'hmmlearn')])"
    )
    for name in (*LATE, "matplotlib", "dask", "sklearn_crfsuite", "hmmlearn"):
        assert f"'{name}" not in loaded
        assert f"'sklearn_calib.{name}" not in loaded
    assert run("import sklearn_calib; print(sklearn_calib.coref.Document.__name__)") == "Document"


def test_the_core_costs_little_on_top_of_scikit_learn():
    """Fewer than a hundred modules, none of them large ones that scikit-learn lacks."""
    more = run(
        "import sys, sklearn.model_selection; before = set(sys.modules); import sklearn_calib;"
        "print(' '.join(sorted(set(sys.modules) - before)))"
    ).split()
    foreign = [m for m in more if m.split(".")[0] not in ("sklearn_calib", "sklearn", "scipy")]
    assert len(more) < 100
    assert not [m for m in foreign if m.split(".")[0] not in sys.stdlib_module_names]


def test_names_that_moved_say_where():
    with pytest.raises(AttributeError, match=r"from sklearn_calib.sequence import CRFTagger"):
        _ = sklearn_calib.CRFTagger
    with pytest.raises(ImportError, match="CRFTagger"):
        from sklearn_calib import CRFTagger  # noqa: F401
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = sklearn_calib.nothing
    assert set(sklearn_calib.__all__) <= set(dir(sklearn_calib))


def test_everything_can_be_installed_where_some_of_it_has_no_wheels():
    metadata = importlib.metadata.requires("sklearn-calib")
    everything = [line for line in metadata if "'all'" in line.replace('"', "'")]
    for name in ("hmmlearn", "sklearn-crfsuite"):
        [line] = [line for line in everything if line.startswith(name)]
        assert "python_version <" in line
