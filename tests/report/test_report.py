"""The numbers of a report, and how it shows itself."""

import dataclasses
import sys

import numpy as np
import pytest
from sklearn.metrics import log_loss

import sklearn_calib
from sklearn_calib import (
    Queries,
    adaptive_bin_calibration_error,
    calibration_bins,
    calibration_error_interval,
    calibration_report,
    calibration_test,
    label_calibration,
    score_decomposition,
)
from sklearn_calib.datasets import make_queries
from sklearn_calib.report import Report

SAMPLE = make_queries(2000, distortion="slope", group_size=4, dependence=0.5, random_state=0)


@pytest.fixture(scope="module")
def report():
    return calibration_report(SAMPLE.queries, name="spam filter", random_state=0)


@pytest.fixture(scope="module")
def animals():
    """A matrix of probabilities of three classes, and the true ones."""
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([2, 1, 1], size=600)
    return np.array([rng.choice(["cat", "dog", "fox"], p=p) for p in proba]), proba


def test_scores_are_split_over_the_bins_of_the_curve():
    calibrated = make_queries(5000, random_state=0).queries
    report = calibration_report(calibrated)
    bins = calibration_bins(calibrated)
    assert report.brier.n_bins == report.log_loss.n_bins == len(bins) == 18
    assert report.brier.refinement == pytest.approx(bins.refinement)
    assert report.brier.calibration == pytest.approx(bins.error(squared=True))
    assert dict(report.rows())["bins of ECE and of these parts"] == "18, as in the curve"
    weight = np.random.default_rng(0).random(5000)
    weighted = Queries(calibrated.y_true, calibrated.y_prob, sample_weight=weight)
    report = calibration_report(weighted)
    assert report.brier.n_bins == len(calibration_bins(weighted)) == len(report.bins)


@pytest.mark.parametrize("options", [{}, {"n_bins": 7}, {"bin_size": 100}])
def test_numbers_and_picture_share_their_bins(options):
    report = calibration_report(SAMPLE.queries, **options)
    drawn = report.plot().bins
    for name in ("count", "prob_pred", "prob_true"):
        np.testing.assert_array_equal(getattr(drawn, name), getattr(report.bins, name))
    assert report.brier.calibration == pytest.approx(drawn.error(squared=True))
    assert report.ece == drawn.error("l1")
    assert report.ece == pytest.approx(
        adaptive_bin_calibration_error(SAMPLE.queries, norm="l1", **options)
    )


def test_every_number_is_that_of_its_function(report):
    expected = calibration_error_interval(SAMPLE.queries)
    assert report.error == expected.error
    assert report.confidence_interval == expected.confidence_interval
    assert report.confidence_level == expected.confidence_level == 0.95
    assert report.mean_gap == expected.mean_gap
    assert report.mean_overconfidence == expected.mean_overconfidence
    for test in report.tests:
        again = calibration_test(SAMPLE.queries, statistic=test.name, random_state=0)
        assert test.pvalue == again.pvalue
    for found, name in ((report.brier, "brier"), (report.log_loss, "log")):
        assert found.score == score_decomposition(SAMPLE.queries, score=name).score
    assert report.suggested_bin_size == sklearn_calib.select_bin_size(SAMPLE.queries)


def test_arrays_are_as_good_as_queries(report):
    words = np.where(SAMPLE.y_true, "spam", "ham")
    again = calibration_report(
        words, SAMPLE.y_prob, pos_label="spam", groups=SAMPLE.queries.group, name="spam filter",
        random_state=0,
    )  # fmt: skip
    assert str(again) == str(report)
    alone = calibration_report(words, SAMPLE.y_prob, pos_label="spam")
    assert "groups of queries" not in dict(alone.rows())
    assert alone.confidence_interval != report.confidence_interval
    level = calibration_report(SAMPLE.queries, confidence_level=0.8)
    assert (
        level.confidence_interval
        == calibration_error_interval(SAMPLE.queries, confidence_level=0.8).confidence_interval
    )
    assert "80% interval" in dict(level.rows())


def test_what_is_pooled_is_said(animals):
    y, proba = animals
    report = calibration_report(y, proba, random_state=0)
    first, *lines = str(report).splitlines()
    assert first == "all 3 labels pooled"
    assert "queries                                1,800" in lines
    assert "groups of queries                      600" in lines
    table = label_calibration(y, proba)
    assert f"by label, most common first (mean error {table.mean_error:.4f}):" in lines
    end = len(lines) - len(report.advice) - 1
    assert lines[end - 4].split()[0] == "cat"
    assert lines[end - 1].endswith("with an adjusted p-value below 0.05")
    assert "All 3 labels pooled" in report._repr_html_()
    assert "<caption>All 3 labels pooled" in report.to_html()
    named = calibration_report(y, proba, classes=["cat", "dog", "fox"], name="zoo")
    assert str(named).startswith("Calibration of zoo, all 3 labels pooled\n")


def test_nothing_is_pooled_where_there_is_one_question(report, animals):
    y, proba = animals
    two = np.column_stack([1 - proba[:, 0], proba[:, 0]])
    for one in (report, calibration_report(y == "cat", two)):
        assert one.labels is None
        assert "pooled" not in str(one)
        assert "pooled" not in one.to_html()


def test_text(report):
    lines = str(report).splitlines()
    assert lines[0] == "Calibration of spam filter"
    assert lines[1:3] == [report.verdict, ""]
    assert lines[-len(report.advice) :] == report.advice
    assert len(lines) == 1 + 2 + len(report.rows()) + 1 + len(report.advice)
    assert repr(report) == str(report)
    unnamed = calibration_report(SAMPLE.queries)
    assert str(unnamed).splitlines()[2].startswith("queries  ")
    assert unnamed.title == "Calibration report"


def test_a_long_table_of_labels_is_cut():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(30), size=400)
    y = np.array([rng.choice(30, p=p) for p in proba])
    report = calibration_report(y, proba, classes=np.arange(30))
    assert len(report.labels) == 30
    assert len(repr(report).splitlines()) == len(str(report).splitlines()) - 10
    assert report._repr_html_().count("<tr>") < 40


def test_notebook_view(report):
    html = report._repr_html_()
    assert "Calibration of spam filter" in html
    assert f"<td>calibration error</td><td>{report.error:.4f}</td>" in html
    assert html.count("<img") == 1
    assert "src='data:image/png;base64,iVBOR" in html
    assert "of it refinement" not in html
    escaped = calibration_report(SAMPLE.queries, name="<b>")._repr_html_()
    assert "&lt;b&gt;" in escaped
    assert "<b><b>" not in escaped


def test_notebook_view_leaves_no_figure(report):
    plt = pytest.importorskip("matplotlib.pyplot")
    mine = plt.figure()
    report._repr_html_()
    report.to_html()
    assert plt.get_fignums() == [mine.number]


def test_without_matplotlib_a_notebook_shows_the_numbers(report, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    html = report._repr_html_()
    assert "calibration error" in html
    assert "<img" not in html
    with pytest.raises(ImportError, match=r"sklearn-calib\[plot\]"):
        report.plot()
    assert report.to_html().startswith("<!doctype html>")


def test_frames_of_reports_stack(report):
    pandas = pytest.importorskip("pandas")
    other = calibration_report(make_queries(500, random_state=1).queries, name="other")
    frame = pandas.concat([report.to_frame(), other.to_frame()], ignore_index=True)
    assert frame["name"].tolist() == ["spam filter", "other"]
    assert frame["n_queries"].tolist() == [2000, 500]
    assert frame["n_groups"].tolist() == [500, 500]
    assert frame.loc[0, "error"] == report.error
    assert frame.loc[0, "ece"] == report.ece
    parts = frame[["brier_calibration", "brier_refinement", "brier_within_bin"]].sum(axis=1)
    np.testing.assert_allclose(parts, frame["brier"])


def test_save(report, tmp_path):
    path = report.save(str(tmp_path / "report.html"))
    assert path == tmp_path / "report.html"
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_plot_takes_axes_and_options(report):
    plt = pytest.importorskip("matplotlib.pyplot")
    _, ax = plt.subplots()
    display = report.plot(ax=ax, name="mine")
    assert display.ax_ is ax
    assert display.name == "mine"


def test_warnings_are_notes():
    y = np.random.default_rng(0).integers(2, size=60)
    report = calibration_report(y, y.astype(float))
    assert report.notes
    end = len(report.advice) + 1
    assert str(report).splitlines()[-end - 1].startswith("note: ")
    assert "note: " in report._repr_html_()


def test_a_report_is_frozen(report):
    assert isinstance(report, Report)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.name = "other"


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match=r"Did you mean 0\.95\?"):
        calibration_report(SAMPLE.queries, confidence_level=95)
    with pytest.raises(ValueError, match="bin_size"):
        calibration_report(SAMPLE.queries, bin_size=10, n_bins=10)
    with pytest.raises(TypeError, match="y_prob"):
        calibration_report(SAMPLE.y_true)


def test_scores_of_rows_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1.0, 1.0, 2.0], size=300)
    y = (rng.random((300, 1)) > np.cumsum(proba, axis=1)).sum(axis=1)
    weight = rng.exponential(size=300)
    report = calibration_report(y, proba, sample_weight=weight, random_state=0)
    brier, log = report.row_scores
    onehot = np.eye(3)[y]
    assert brier == pytest.approx(np.average(((onehot - proba) ** 2).sum(axis=1), weights=weight))
    assert log == pytest.approx(log_loss(y, proba, sample_weight=weight))
    assert "log loss of rows (scikit-learn)" in str(report)
    # One question per row, or several that may be right: no such scores.
    assert calibration_report(y == 0, proba[:, 0], random_state=0).row_scores is None
    assert calibration_report(onehot[:, [1, 1, 2]], proba, random_state=0).row_scores is None


def test_save_leaves_files_of_others_alone(report, tmp_path):
    path = tmp_path / "thesis.html"
    path.write_text("<html>years of work")
    with pytest.raises(ValueError, match=r"is not a page of sklearn-calib\. Pass force=True"):
        report.save(path)
    assert path.read_text() == "<html>years of work"
    report.save(path, force=True)
    report.save(path)
