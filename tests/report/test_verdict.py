"""The verdict of a report, and its advice."""

import numpy as np
import pytest

from sklearn_calib import calibration_report
from sklearn_calib.datasets import make_queries


@pytest.mark.parametrize(
    ("distortion", "strength", "start"),
    [
        ("slope", 0.5, "Overconfident: where it says "),
        ("slope", 2.0, "Underconfident: where it says "),
        ("shift", 0.15, "Predictions are too low: where it says "),
        ("shift", -0.15, "Predictions are too high: where it says "),
    ],
)
def test_the_verdict_names_the_kind_of_error(distortion, strength, start):
    sample = make_queries(6000, a=1, b=1, distortion=distortion, strength=strength, random_state=0)
    report = calibration_report(sample.queries, random_state=0)
    assert report.verdict.startswith(start)
    assert f"about {report.error**2:.4f}, of {report.brier.score:.4f}" in report.verdict
    assert str(report).startswith(report.verdict)
    assert str(report).splitlines()[-1].startswith("The guide has a page")
    assert 'method="isotonic"' in report.advice[1]
    assert "<p id='verdict'>" in report.to_html()


def test_what_the_verdict_quotes_is_a_bin():
    sample = make_queries(6000, a=1, b=1, distortion="slope", strength=0.5, random_state=0)
    report = calibration_report(sample.queries, random_state=0)
    gap = np.abs(report.bins.gap)
    b = int(np.argmax(gap))
    assert f"it says {100 * report.bins.prob_pred[b]:.0f} %" in report.verdict
    assert f"{100 * report.bins.prob_true[b]:.0f} % come true" in report.verdict


def test_a_calibrated_model_has_nothing_to_mend():
    report = calibration_report(make_queries(500, random_state=1).queries, random_state=0)
    assert report.verdict.startswith("No sign of miscalibration")
    assert f"{report.confidence_interval.high:.3f}" in report.verdict
    assert "tolerance=0.02" in report.advice[0]
    large = calibration_report(make_queries(200_000, random_state=1).queries, random_state=0)
    assert large.advice == ["Nothing to mend."]


def test_few_answers_of_a_kind_call_for_a_simple_map():
    sample = make_queries(1500, a=1, b=1, distortion="slope", strength=0.4, random_state=0)
    report = calibration_report(sample.queries, random_state=0)
    assert 'method="sigmoid"' in report.advice[1]
