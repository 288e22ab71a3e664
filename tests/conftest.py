"""Settings for all tests."""

import os

import pytest

# A script that a test runs in an interpreter of its own.
collect_ignore = ["entry_points.py"]

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def no_figure_left_open():
    """Close what a test or a docstring drew."""
    yield
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        return
    plt.close("all")
