"""Settings for all tests."""

import os
import signal
from importlib.util import find_spec

import pytest
from hypothesis import settings

# A busy machine fails nothing.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# A script that a test runs in an interpreter of its own.
collect_ignore = ["entry_points.py"]

os.environ.setdefault("MPLBACKEND", "Agg")

# What a shell starts in the background ignores Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# The newest Pythons may lack wheels of these, and all else is tested there: what the package says
# when one is missing, and what shows that an example needs it.
OPTIONAL = {
    "hmmlearn": ("HMMTagger needs hmmlearn", ("HMM", "true_tagger")),
    "sklearn_crfsuite": ("CRFTagger needs sklearn-crfsuite", ("CRF",)),
}
MISSING = {name: signs for name, signs in OPTIONAL.items() if find_spec(name) is None}


def pytest_collection_modifyitems(items):
    """Pass over examples with a tagger whose package is missing."""
    for name, (_, words) in MISSING.items():
        for item in items:
            if isinstance(item, pytest.DoctestItem) and any(
                word in part.source for part in item.dtest.examples for word in words
            ):
                item.add_marker(pytest.mark.skip(reason=f"needs {name}"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Pass over tests that find out that they need such a package."""
    try:
        return (yield)
    except Exception as error:  # a search wraps that of its fits
        for name, (said, _) in MISSING.items():
            if said in str(error):
                pytest.skip(f"needs {name}")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Pass over tests whose fixtures find out."""
    return (yield from pytest_runtest_call(item))


@pytest.fixture(scope="session")
def pipeline():
    """Return a small spaCy pipeline, trained here and now."""
    from tests.spacy_pipeline import train

    return train()


@pytest.fixture(scope="session")
def pipeline_folder(pipeline, tmp_path_factory):
    """Return the folder of the same pipeline, by which workers load it."""
    folder = tmp_path_factory.mktemp("pipeline")
    pipeline.to_disk(folder)
    return folder


@pytest.fixture(autouse=True)
def no_figure_left_open():
    """Close what a test or a docstring drew."""
    yield
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    plt.close("all")
