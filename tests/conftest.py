"""Settings for all tests."""

import os

import pytest
from hypothesis import settings

# A busy machine fails nothing.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# A script that a test runs in an interpreter of its own.
collect_ignore = ["entry_points.py"]

os.environ.setdefault("MPLBACKEND", "Agg")


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
