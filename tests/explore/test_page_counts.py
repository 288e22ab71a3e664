"""The numbers of a page are those of the counts."""

import numpy as np
import pytest

from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import (
    AgentRule,
    _page_counts,
    count_corpus,
    count_tags,
    country_lexicon,
    counts_from_probabilities,
    reading_plan,
)
from sklearn_calib.explore._page_counts import counts_data, listed, plan_data

CORPUS = make_event_corpus(150, random_state=0)
COUNTS = count_corpus(
    CORPUS.X, CORPUS.model, AgentRule(country_lexicon()), period="M", random_state=0
)
NOBODY = np.empty(0, dtype=int)


def data_of(counts, corrected=None, plan=None, n_keys=50, level=0.95):
    read = NOBODY if corrected is None else corrected.evidence.read.place
    found = listed(counts, plan, read, n_keys)
    return counts_data(counts, corrected, found, level), found


def check_series(found, posterior, keys, level):
    order = [[str(key) for key in posterior.keys].index(key) for key in keys]
    low, high = posterior.confidence_interval(level)
    np.testing.assert_array_equal(np.array(found["mean"]).T, posterior.mean[:, order])
    np.testing.assert_array_equal(np.array(found["low"]).T, low[:, order])
    np.testing.assert_array_equal(np.array(found["high"]).T, high[:, order])
    if posterior.best is not None:
        np.testing.assert_array_equal(np.array(found["best"]).T, posterior.best[:, order])


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_series_are_those_of_the_posterior_at_every_period(level):
    data, _ = data_of(COUNTS, level=level)
    assert data["keys"] == list(COUNTS.most_common())
    assert [grain["kind"] for grain in data["grains"]] == ["month", "quarter", "year", "all"]
    wanted = [COUNTS, COUNTS.coarser("Q"), COUNTS.coarser("Y"), COUNTS.total()]
    for grain, posterior in zip(data["grains"], wanted, strict=True):
        assert grain["labels"] == posterior.period_labels
        assert grain["documents"] == posterior.n_documents.tolist()
        check_series(grain["plain"], posterior, data["keys"], level)
        # A document of a short period lies in the long one.
        for document in range(0, 150, 7):
            short = COUNTS.document_period[document]
            assert grain["of"][short] == posterior.document_period[document]


def test_corrected_series_and_documents():
    plan = reading_plan(COUNTS, 40, random_state=0)
    answers = {name: ["IRN"] if i % 3 == 0 else [] for i, name in enumerate(plan.documents)}
    better = COUNTS.corrected(plan.answered(answers), random_state=0)
    data, found = data_of(COUNTS, better)
    for grain, posterior in zip(
        data["grains"],
        [better, better.coarser("Q"), better.coarser("Y"), better.total()],
        strict=True,
    ):
        check_series(grain["corrected"], posterior, data["keys"], 0.95)
    rows, documents = data["rows"], data["documents"]
    assert len(set(map(len, rows.values()))) == 1
    # Every probability of the page is that of the corrected counts, and every yes is there.
    for key in data["keys"]:
        right = dict(zip(COUNTS.documents, better.probability(key), strict=True))
        here = {
            documents["id"][d]: p
            for d, k, p in zip(
                rows["document"], rows["key"], rows["correctedProbability"], strict=True
            )
            if data["keys"][k] == key
        }
        assert here
        for name, p in here.items():
            assert p == pytest.approx(right[name], rel=1e-5)
        if key == "IRN":
            assert {name for name, found in answers.items() if found} <= set(here)
    read = {documents["id"][i] for i in documents["read"]}
    assert read == set(plan.documents)
    assert len(found.documents) == len(set(found.documents.tolist()))


def test_documents_have_their_probability():
    data, _ = data_of(COUNTS)
    rows = data["rows"]
    for key, name in enumerate(data["keys"]):
        wanted = COUNTS.probability(name)
        here = np.zeros(len(COUNTS.documents))
        for d, k, p in zip(rows["document"], rows["key"], rows["probability"], strict=True):
            if k == key:
                here[COUNTS.documents.index(data["documents"]["id"][d])] = p
        np.testing.assert_allclose(here, wanted, rtol=1e-5)
    assert data["rest"] == []


def test_what_is_not_listed_is_there_as_numbers(monkeypatch):
    cells = COUNTS._cell
    most = 2 * len(np.unique(cells))
    assert most < len(cells)
    monkeypatch.setattr(_page_counts, "_MOST_ROWS", most)
    data, found = data_of(COUNTS)
    assert len(found.rows) == most
    # Listed and other documents add up to the expected count of every cell.
    place = {name: i for i, name in enumerate(COUNTS.documents)}
    total = np.zeros((len(COUNTS.periods), len(data["keys"])))
    number = 0
    rows = data["rows"]
    for d, k, p in zip(rows["document"], rows["key"], rows["probability"], strict=True):
        total[COUNTS.document_period[place[data["documents"]["id"][d]]], k] += p
    for period, key, n, adds in data["rest"]:
        total[period, key] += adds
        number += n
    order = [COUNTS.keys.index(key) for key in data["keys"]]
    np.testing.assert_allclose(total, COUNTS.mean[:, order], atol=1e-6)
    assert number + most == len(COUNTS.hits)
    # The likeliest and the least certain document of each cell are listed.
    for cell in np.unique(cells):
        mine = np.flatnonzero(cells == cell)
        for value in (COUNTS.hits.mean, COUNTS.hits.spread):
            assert value[mine].max() == value[np.intersect1d(mine, found.rows)].max()


def test_only_the_most_common_keys():
    data, _ = data_of(COUNTS, n_keys=2)
    assert data["keys"] == list(COUNTS.most_common(2))
    assert data["otherKeys"] == 2
    assert set(data["rows"]["key"]) == {0, 1}


def test_one_sample_has_no_interval():
    counts = count_corpus(
        CORPUS.X[:9], CORPUS.model, AgentRule(country_lexicon()), n_samples=1, random_state=0
    )
    data, _ = data_of(counts)
    assert {low for row in data["grains"][0]["plain"]["low"] for low in row} == {None}


def test_periods_without_a_calendar_weights_and_numbers():
    p = [0.9, 0.2, 0.5]
    counts = counts_from_probabilities(p, period=["b", "a", "b"], sample_weight=[1.0, 2.5, 1.0])
    data, _ = data_of(counts)
    assert [grain["kind"] for grain in data["grains"]] == ["period", "all"]
    assert data["grains"][0]["starts"] is None
    assert [grain["of"] for grain in data["grains"]] == [[0, 1], [0, 0]]
    assert data["documents"]["weight"] == [1.0, 2.5, 1.0]
    tags = count_tags([["a", "b", "a"]], [[["N", "V", "N"]] * 20])
    data, _ = data_of(tags)
    assert data["several"]
    assert [grain["kind"] for grain in data["grains"]] == ["period"]
    assert sorted(data["rows"]["mean"]) == [1, 2]


def test_questions_of_a_plan_come_first():
    plan = reading_plan(COUNTS, 12, random_state=1)
    plan = plan.answered({plan.documents[0]: []})
    data, found = data_of(COUNTS, plan=plan)
    asked = plan_data(plan, found)
    assert asked["documents"] == list(range(12))
    assert [data["documents"]["id"][d] for d in asked["documents"]] == list(plan.documents)
    questions = plan._questions()
    for name in ("period", "title", "key", "why", "answer"):
        assert asked[name] == questions[name]
    assert set(asked["answer"]) == {"", "no"}
    assert asked["keys"] == [str(key) for key in COUNTS.keys]
