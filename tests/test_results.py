"""How results show themselves: a few lines in a notebook, a table, a picture."""

import inspect

import numpy as np
import pytest

import sklearn_calib
from sklearn_calib import (
    bin_size_curve,
    calibration_band,
    calibration_bins,
    calibration_error_interval,
    calibration_test,
    compare_calibration,
    gaussian_process_calibration_curve,
    isotonic_calibration_curve,
    label_calibration,
    sample_size_curve,
    score_decomposition,
    smooth_calibration_curve,
)
from sklearn_calib._results import PlottedResult, Result, format_table, html_table
from sklearn_calib.datasets import make_queries

SAMPLE = make_queries(600, distortion="slope", random_state=0)
RESULTS = {
    "bins": calibration_bins(SAMPLE.queries, n_bins=50),
    "interval": calibration_error_interval(SAMPLE.queries),
    "test": calibration_test(SAMPLE.queries, random_state=0),
    "comparison": compare_calibration(SAMPLE.y_true, SAMPLE.y_prob, SAMPLE.probability),
    "decomposition": score_decomposition(SAMPLE.queries),
    "labels": label_calibration(
        SAMPLE.y_true.astype(int), np.column_stack([1 - SAMPLE.y_prob, SAMPLE.y_prob])
    ),
    "smooth": smooth_calibration_curve(SAMPLE.queries),
    "isotonic": isotonic_calibration_curve(SAMPLE.queries, random_state=0),
    "process": gaussian_process_calibration_curve(SAMPLE.queries),
    "band": calibration_band(SAMPLE.queries),
    "corp": isotonic_calibration_curve(SAMPLE.queries, random_state=0).decomposition,
    "bin sizes": bin_size_curve(SAMPLE.queries),
    "sample sizes": sample_size_curve(SAMPLE.queries, random_state=0),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_a_few_lines_and_a_table(name):
    result = RESULTS[name]
    assert isinstance(result, Result)
    assert 1 <= len(repr(result).splitlines()) <= 14
    assert "array(" not in repr(result)
    assert "<" in result._repr_html_()
    assert len(result.to_frame()) >= 1


@pytest.mark.parametrize(
    "name", [name for name, result in RESULTS.items() if isinstance(result, PlottedResult)]
)
def test_results_with_a_picture_draw_it(name):
    assert RESULTS[name].plot().ax_ is not None


def test_counts_need_fewer_decimals_than_shares():
    columns = {
        "share": [0.25, 1.0],
        "slope": np.array([1.25, np.nan]),
        "mean": [35.741, 2.0],
        "large": [12345.678, 0.5],
        "whole": np.array([6.0, 0.0]),
        "number": [12345, 2],
    }
    _, first, second = format_table(columns).splitlines()
    assert first.split() == ["0.2500", "1.250", "35.74", "12,345.7", "6", "12,345"]
    assert second.split() == ["1.0000", "nan", "2.00", "0.5", "0", "2"]


def test_text_of_users_is_escaped():
    assert html_table({"<b>": ["<script>"]}, 5) == (
        "<table><thead><tr><th>&lt;b&gt;</th></tr></thead>"
        "<tbody><tr><td>&lt;script&gt;</td></tr></tbody></table>"
    )


def test_all_result_classes_share_the_base():
    """Whatever a public function returns of our own making reads well."""
    for room in sklearn_calib._ROOMS:
        module = getattr(sklearn_calib, room)
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) and hasattr(thing, "__dataclass_fields__"):
                assert thing.__repr__.__qualname__ != "__create_fn__.<locals>.__repr__", name
