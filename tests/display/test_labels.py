"""LabelCalibrationDisplay: its numbers are those of the metric."""

import numpy as np
import pytest

from sklearn_calib import LabelCalibrationDisplay, Queries, label_calibration
from sklearn_calib.datasets import make_queries
from tests.display.makers import MODELS, PROBA, X_TEST, Y_TEST, labels


def test_label_numbers_are_those_of_the_metric():
    display = labels(sort="label", averages=(5,))
    table = label_calibration(Y_TEST, PROBA["bayes"], classes=range(10))
    np.testing.assert_array_equal(display.points_[""].get_xdata(), table.error)
    means = display.averages_[""].get_xdata()
    assert means[0] == table.most_common(5).mean_error
    assert means[1] == pytest.approx(table.mean_error)
    segments = display.intervals_[""].get_segments()
    np.testing.assert_allclose([s[0][0] for s in segments], table.confidence_interval.low)


def test_labels_of_several_models_and_many_labels():
    display = LabelCalibrationDisplay.from_predictions(
        Y_TEST,
        {"a": PROBA["bayes"], "b": PROBA["bayes"]},
        classes=range(10),
        sort="error",
        max_labels=4,
    )
    assert len(display.points_["a"].get_xdata()) == 4
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["a", "b", "filled: adjusted p < 0.05"]
    ticks = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert ticks[-1] == "mean of all 10"
    from_models = LabelCalibrationDisplay.from_estimator(
        {"a": MODELS["bayes"], "b": MODELS["bayes"]}, X_TEST, Y_TEST
    )
    assert set(from_models.points_) == {"a", "b"}
    with pytest.raises(ValueError, match="nothing to draw"):
        LabelCalibrationDisplay({})
    with pytest.raises(ValueError, match="sort='size' is not known"):
        labels(sort="size")


def test_integer_labels_sort_as_numbers():
    display = labels(sort="label")
    assert [t.get_text()[0] for t in display.ax_.get_yticklabels()[:3]] == ["0", "1", "2"]


def test_name_is_for_a_single_model():
    table = label_calibration(Y_TEST, PROBA["bayes"], classes=range(10))
    assert list(LabelCalibrationDisplay(table, name="x").tables) == ["x"]
    with pytest.raises(ValueError, match="name='x' is for a single model"):
        LabelCalibrationDisplay({"a": table}, name="x")


def test_labels_of_which_nothing_is_known_do_not_stretch_the_axis():
    sample = make_queries(800, random_state=0)
    queries = Queries(sample.y_true, sample.y_prob, label=["a"] * 797 + ["rare"] * 2 + ["one"])
    display = LabelCalibrationDisplay.from_predictions(queries)
    assert display.ax_.get_xlim()[1] < 0.5


def test_points_are_filled_where_the_adjusted_pvalue_raises_an_alarm():
    parts = [
        make_queries(500, distortion="shift", strength=strength, random_state=k).queries
        for k, strength in enumerate((0.0, 0.2, 0.0))
    ]
    whole = Queries.concat([part.with_labels(["abc"[k]] * 500) for k, part in enumerate(parts)])
    table = label_calibration(whole)
    assert table.alarm.tolist() == [False, True, False]
    np.testing.assert_array_equal(table.alarm, table.adjusted_pvalue < 0.05)
    display = LabelCalibrationDisplay.from_queries(whole, sort="label")
    np.testing.assert_array_equal(display.alarms_[""].get_xydata(), [[table.error[1], 1.0]])
    np.testing.assert_array_equal(display.points_[""].get_xdata(), table.error)
    points, alarms = display.points_[""], display.alarms_[""]
    assert points.get_markerfacecolor() == "white"
    assert alarms.get_markerfacecolor() == points.get_color()
    (text,) = display.ax_.get_legend().get_texts()
    assert text.get_text() == "filled: adjusted p < 0.05"
    assert labels(legend=False).ax_.get_legend() is None


def test_without_an_alarm_nothing_is_filled_and_rows_with_too_few_queries_say_so():
    sample = make_queries(800, random_state=0)
    queries = Queries(sample.y_true, sample.y_prob, label=["a"] * 797 + ["rare"] * 3)
    display = LabelCalibrationDisplay.from_queries(queries)
    assert display.ax_.get_legend() is None
    assert len(display.alarms_[""].get_xdata()) == 0
    a, rare, *_ = (tick.get_text() for tick in display.ax_.get_yticklabels())
    assert rare.endswith(", too few)")
    assert "too few" not in a
    # Another model that knows more about the label leaves nothing to say.
    more = Queries(sample.y_true, sample.y_prob, label=["a"] * 400 + ["rare"] * 400)
    both = LabelCalibrationDisplay.from_queries({"less": queries, "more": more})
    assert not any("too few" in tick.get_text() for tick in both.ax_.get_yticklabels())


def test_intervals_are_those_of_the_metric_to_the_bit():
    rows = labels(sort="label")
    table = label_calibration(Y_TEST, PROBA["bayes"], classes=range(10))
    ends = np.array(rows.intervals_[""].get_segments())[:, :, 0].T
    np.testing.assert_array_equal(ends, np.array(table.confidence_interval))


def test_the_numbers_are_a_table_with_one_row_per_model_and_label():
    frame = LabelCalibrationDisplay.from_predictions(Y_TEST, PROBA).to_frame()
    assert frame["model"].tolist() == ["bayes"] * 10 + ["logistic"] * 10
    assert frame["label"].tolist() == [*range(10), *range(10)]
    expected = [label_calibration(Y_TEST, proba).error for proba in PROBA.values()]
    np.testing.assert_array_equal(frame["error"], np.concatenate(expected))
    assert labels().to_frame()["model"].tolist() == [""] * 10
    # One model may have a note that another has not, and labels may be pairs.
    sample = make_queries(800, random_state=0)
    pairs = [("a", "b")] * 797 + [("b", "c")] * 3
    noted = LabelCalibrationDisplay.from_queries(
        {
            "pairs": Queries(sample.y_true, sample.y_prob, label=pairs),
            "one": Queries(sample.y_true, sample.y_prob, label=["x"] * 800),
        }
    ).to_frame()
    assert noted["label"].tolist() == [("a", "b"), ("b", "c"), "x"]
    assert noted["note"].tolist() == ["", "too few queries", ""]


def test_a_few_models_are_named_and_many_are_counted():
    table = label_calibration(Y_TEST, PROBA["bayes"])
    assert repr(LabelCalibrationDisplay(table)).endswith("errors of 10 labels>")
    assert repr(LabelCalibrationDisplay({"a": table, "b": table})).endswith("labels by a, b>")
    many = LabelCalibrationDisplay({f"model {k}": table for k in range(12)})
    assert repr(many) == "<LabelCalibrationDisplay: calibration errors of 10 labels by 12 models>"


def test_vectors_have_one_question_and_no_rows():
    with pytest.raises(ValueError, match="one probability per row"):
        LabelCalibrationDisplay.from_predictions([0, 1], [0.2, 0.7])
