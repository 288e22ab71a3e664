"""Unknown keywords are named with the call that the user wrote, before any work is done."""

import re

import pytest
from sklearn.base import BaseEstimator

from sklearn_calib import AdaptiveCalibrationDisplay, BinSizeDisplay, LabelCalibrationDisplay
from tests.display.makers import SAMPLE, curve

every_kind = pytest.mark.parametrize(
    "kind", [AdaptiveCalibrationDisplay, BinSizeDisplay, LabelCalibrationDisplay]
)
STYLES = {LabelCalibrationDisplay: "point_kwargs"}


class Expensive(BaseEstimator):
    """A model that nobody should have asked."""

    def calibration_queries(self, X, y, unit="tag"):
        raise AssertionError("asked")


@every_kind
def test_the_call_and_the_keyword_are_named_before_the_model_is_asked(kind):
    styles = STYLES.get(kind, "curve_kwargs")
    for keyword, value, meant in (
        ("color", "red", f"Did you mean {styles}={{\"color\": 'red'}}?"),
        ("colour", "red", f"Did you mean {styles}={{\"color\": 'red'}}?"),
        ("lw", 3, f'Did you mean {styles}={{"linewidth": 3}}?'),
        ("unit", "pair", "Did you mean query_options={\"unit\": 'pair'}?"),
        ("pairs", [("a", "b")], 'Did you mean query_options={"pairs": ...}?'),
        ("min_proba", 0.1, 'Did you mean query_options={"min_proba": 0.1}?'),
        ("query_option", {}, "Did you mean query_options?"),
        ("confidence", 0.9, "Did you mean confidence_level?"),
        ("label", "a", "Did you mean name?"),
        ("figsize", (3, 3), "Its keywords are estimator, X, y, average, pos_label, query_options,"),
    ):
        message = (
            f"{kind.__name__}.from_estimator() got an unexpected keyword argument "
            f"{keyword!r}. {meant}"
        )
        with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
            kind.from_estimator(Expensive(), None, None, **{keyword: value})
    with pytest.raises(TypeError, match=re.escape(f"{kind.__name__}.from_cv_results() got")):
        kind.from_cv_results({}, None, None, n_bin=5)
    with pytest.raises(AssertionError, match="asked"):
        kind.from_estimator(Expensive(), None, None)


def test_keywords_of_other_methods_are_known_where_they_are_passed_on():
    for call in ("from_estimator()", "from_predictions()", "from_queries()"):
        arguments = {
            "from_estimator()": (Expensive(), None, None),
            "from_predictions()": (SAMPLE.y_true, SAMPLE.y_prob),
            "from_queries()": (SAMPLE.queries,),
        }[call]
        method = getattr(AdaptiveCalibrationDisplay, call[:-2])
        with pytest.raises(TypeError, match=re.escape(f"{call} got") + ".*'n_bin'.*mean n_bins?"):
            method(*arguments, n_bin=5)
        with pytest.raises(TypeError, match=re.escape(f"{call} got") + ".*'legned'.*mean legend?"):
            method(*arguments, legned=False)
    with pytest.raises(TypeError, match=r"compare_strategies\(\) got .*'strategie'"):
        AdaptiveCalibrationDisplay.compare_strategies(SAMPLE.queries, strategie="uniform")


def test_plot_has_no_keywords_but_its_own():
    display = curve()
    for keyword in ("n_bins", "queries", "average"):
        with pytest.raises(
            TypeError,
            match=rf"^AdaptiveCalibrationDisplay.plot\(\) got an unexpected .*{keyword!r}",
        ):
            display.plot(**{keyword: 5})


def test_questions_to_a_model_have_no_place_among_predictions():
    with pytest.raises(
        TypeError, match=r"'unit'. A model is asked for it: from_estimator\(..., query_options="
    ):
        curve(unit="pair")
    with pytest.raises(TypeError, match=r"Did you mean classes\?"):
        curve(labels=["a", "b"])


def test_names_of_subclasses_are_their_own():
    class Mine(AdaptiveCalibrationDisplay):
        """A display of my own."""

    with pytest.raises(TypeError, match=r"^Mine.from_predictions\(\) got"):
        Mine.from_predictions(SAMPLE.y_true, SAMPLE.y_prob, n_bin=5)
    assert type(Mine.from_predictions(SAMPLE.y_true, SAMPLE.y_prob)) is Mine
