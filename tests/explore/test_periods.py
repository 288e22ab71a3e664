"""Periods: the calendar, names, and the dates that stand for them."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_calib.explore import count_documents
from sklearn_calib.explore._periods import end_of, label_of, period_of, span
from tests.explore.pairs import document, linked, samples

DOCS = [document("a"), document("b")]
DRAWN = [samples(0.5)] * 2


@pytest.mark.parametrize(
    ("period", "label", "start", "end"),
    [
        ("D", "2004-12-31", "2004-12-31", "2005-01-01"),
        ("W", "2004-W53", "2004-12-27", "2005-01-03"),
        ("M", "2004-12", "2004-12-01", "2005-01-01"),
        ("Q", "2004-Q4", "2004-10-01", "2005-01-01"),
        ("Y", "2004", "2004-01-01", "2005-01-01"),
    ],
)
def test_calendar(period, label, start, end):
    code = period_of(None, np.datetime64("2004-12-31"), period, name="")
    [first], [place] = span([code], period, ["d"])
    assert (str(first), place) == (start, 0)
    assert label_of(first, period) == label
    assert str(end_of(np.array([first]), period)[0]) == end


@given(st.dates(), st.sampled_from("DWMQY"))
def test_a_day_lies_in_its_period(day, period):
    date = np.datetime64(day)
    [first], _ = span([period_of(None, date, period, name="")], period, ["d"])
    assert first <= date < end_of(np.array([first]), period)[0]
    if period == "W":
        assert label_of(first, "W").split("-W")[1] == f"{day.isocalendar().week:02d}"
        assert first.item().isoweekday() == 1


def test_other_periods():
    docs = [document("a", genre="news"), document("b", genre="fiction")]
    post = count_documents(docs, [samples(1.0)] * 2, linked, period=lambda d: d.genre)
    assert post.period_labels == ["fiction", "news"]
    whole = count_documents([document(date=None)], [samples(1.0)], linked, period=None)
    assert whole.period_labels == ["all"]
    result = post.difference("yes", periods="news", other_periods="fiction")
    assert result.probability_equal == pytest.approx(1)


def test_a_period_is_checked_at_once():
    calls = []

    def period(document):
        calls.append(document.id)
        return [document.id]

    with pytest.raises(TypeError, match=r"'a': its period \['a'\] is not hashable"):
        count_documents(DOCS, DRAWN, linked, period=period)
    assert calls == ["a"]


def test_periods_of_a_difference_by_date():
    docs = [document(str(m), date=f"2003-{m:02d}-10") for m in range(1, 13)]
    post = count_documents(docs, [samples(1.0)] * 12, linked, period="Q")
    for chosen, count in [
        ("2003-Q2", 3),
        ("2003-05-20", 3),
        ("2003", 12),
        (["2003-Q1", "2003-11"], 6),
    ]:
        assert post.difference("yes", periods=chosen, other_periods="2003-Q1").mean == count - 3


def test_periods_may_be_dates_of_any_kind():
    pd = pytest.importorskip("pandas")
    docs = [document(str(y), date=f"{y}-05-10") for y in (2003, 2004)]
    post = count_documents(docs, [samples(0.8), samples(0.3)], linked, period="Q")
    for first in (
        datetime.datetime(2003, 5, 10, 12, 30),
        datetime.date(2003, 5, 10),
        pd.Timestamp("2003-05-10 12:30"),
        np.datetime64("2003-05-10T12"),
        2003,
        np.int64(2003),
        {"2003-Q2"},
        range(2003, 2004),
    ):
        result = post.difference("yes", periods=first, other_periods="2004")
        assert result.mean == pytest.approx(0.5)
    with pytest.raises(ValueError, match="list of periods is empty"):
        post.difference("yes", periods=[], other_periods="2004")
    with pytest.raises(ValueError, match="no period '1999'"):
        post.difference("yes", periods=1999, other_periods="2004")
