"""Reading plans: known probabilities, lists to fill in, answers of every form, files."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import (
    AgentRule,
    ReadingPlan,
    count_corpus,
    count_documents,
    count_tags,
    country_lexicon,
    counts_from_probabilities,
    reading_plan,
)
from tests.explore.pairs import counted, document, samples, two_keys

RNG = np.random.default_rng(0)
P = RNG.beta(0.2, 1.0, size=400)
POSTERIOR = counts_from_probabilities(
    P, period=RNG.choice(["2001", "2002"], 400), title=[f"Title {i}" for i in range(400)]
)
TWO = counts_from_probabilities(
    [[0.9, 0.0], [0.5, 0.4], [0.0, 0.0], [0.02, 0.001]],
    period=None,
    keys=["A", "B"],
    document=list("abcd"),
)


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_inclusion_probabilities_are_those_of_the_draw():
    n, often = 40, np.zeros(400)
    for seed in range(400):
        plan = reading_plan(POSTERIOR, n, random_state=seed)
        assert len(set(plan.documents)) == n
        assert (plan.inclusion_probability <= 1.0).all()
        often[[int(name.split()[1]) for name in plan.documents]] += 1
    whole = reading_plan(POSTERIOR, n, random_state=0)
    expected = dict(zip(whole.documents, whole.inclusion_probability, strict=True))
    for name, chance in expected.items():
        share = often[int(name.split()[1])] / 400
        assert share == pytest.approx(chance, abs=4.5 * np.sqrt(chance * (1 - chance) / 400) + 0.01)
    # Confident documents are drawn as well, uncertain ones more often.
    sure, unsure = np.quantile(P, 0.2) > P, np.abs(P - 0.5) < 0.2
    assert 0 < often[sure].mean() < often[unsure].mean()


def test_a_plan_is_reproducible_and_grows():
    plan = reading_plan(POSTERIOR, 30, random_state=3)
    assert plan.documents == reading_plan(POSTERIOR, 30, random_state=3).documents
    longer = plan.extended(20)
    assert longer.documents[:30] == plan.documents
    assert len(longer.documents) == 50
    assert (longer.inclusion_probability[:30] >= plan.inclusion_probability).all()
    assert plan.extended(1000).inclusion_probability.tolist() == [1.0] * 400
    answered = plan.answered(dict.fromkeys(plan.documents, "no")).extended(5)
    assert (answered.n_answered, len(answered.documents)) == (30, 35)
    assert len(reading_plan(POSTERIOR, 1000, random_state=0).documents) == 400


def test_the_list_has_a_row_for_each_plausible_key(tmp_path):
    plan = reading_plan(TWO, 4, random_state=0)
    plan.to_csv(tmp_path / "list.csv")
    rows = rows_of(tmp_path / "list.csv")
    asked = {(row["document"], row["key"]) for row in rows}
    assert asked == {("a", "A"), ("b", "A"), ("b", "B"), ("c", ""), ("d", "A")}
    assert list(rows[0]) == ["document", "period", "title", "key", "why", "answer"]
    assert {row["answer"] for row in rows} == {""}
    single = reading_plan(POSTERIOR, 3, random_state=0)
    single.to_csv(tmp_path / "single.csv")
    rows = rows_of(tmp_path / "single.csv")
    assert [row["document"] for row in rows] == list(single.documents)
    assert {row["key"] for row in rows} == {"yes"}
    assert rows[0]["title"] == "Title " + rows[0]["document"].split()[1]


def test_titles_and_mentions_come_from_the_documents(tmp_path):
    docs = [document("a", metadata={"title": "Troops, again"}), document("b", n=20)]
    drawn = [samples(0.5), np.zeros((100, 20), dtype=int)]
    post = count_documents(docs, drawn, lambda d, e: len(e) > 1)
    assert post.titles == ("Troops, again", " ".join(["w"] * 12) + " ...")
    plan = reading_plan(post, 2, random_state=0)
    plan.to_csv(tmp_path / "list.csv")
    row = next(row for row in rows_of(tmp_path / "list.csv") if row["document"] == "a")
    assert row["title"] == "Troops, again"
    assert row["period"] == "2003-Q1"
    assert row["why"].endswith(": w, w")


@pytest.mark.parametrize(
    "answers",
    [
        {"a": {"A": "yes"}, "b": {"A": 0, "B": 1}, "c": "no", "d": False},
        {"a": ["A"], "b": {"B"}, "c": [], "d": {}},
        {"a": {"A": True, "B": False}, "b": {"B": "Y"}, "c": 0, "d": {"A": " No "}},
    ],
)
def test_answers_have_many_forms(answers):
    plan = reading_plan(TWO, 4, random_state=0).answered(answers)
    assert plan.answers == {"a": {"A": 1}, "b": {"B": 1}, "c": {}, "d": {}}
    read = plan.read()
    order = [plan.documents.index(name) for name in "abcd"]
    assert read.counts[order].tolist() == [[1, 0], [0, 1], [0, 0], [0, 0]]
    assert read.inclusion.tolist() == [1.0] * 4


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_list_that_was_filled_in_is_read_back(tmp_path, separator):
    plan = reading_plan(TWO, 4, random_state=0)
    path = tmp_path / "read.csv"
    lines = [
        "document;key;answer", "a;A;yes", "b;A;", "b;B;yes", "c;;no", "c;B;yes", "d;A;",
    ]  # fmt: skip
    path.write_text("\ufeff" + "\r\n".join(lines).replace(";", separator), encoding="utf-8")
    answered = plan.answered(path)
    # An empty answer of a document that was read is a no; d was not read.
    assert answered.answers == {"a": {"A": 1}, "b": {"B": 1}, "c": {"B": 1}}
    answered.to_csv(tmp_path / "again.csv")
    again = {(r["document"], r["key"]): r["answer"] for r in rows_of(tmp_path / "again.csv")}
    assert again == {
        ("a", "A"): "yes", ("b", "A"): "no", ("b", "B"): "yes", ("c", "B"): "yes", ("d", "A"): "",
    }  # fmt: skip
    assert plan.answered(tmp_path / "again.csv").answers == answered.answers


def test_a_data_frame_is_as_good_as_a_file():
    pd = pytest.importorskip("pandas")
    plan = reading_plan(TWO, 4, random_state=0)
    frame = pd.DataFrame(
        {"document": ["a", "b", "b"], "key": ["A", "B", None], "answer": ["yes", "yes", np.nan]}
    )
    assert plan.answered(frame).answers == {"a": {"A": 1}, "b": {"B": 1}}
    with pytest.raises(ValueError, match="data frame has no column 'answer'"):
        plan.answered(frame.drop(columns="answer"))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (
            {"z": "yes"},
            r"1 document with answers is not among the documents that were",
        ),
        ({"a": "maybe"}, "should be yes or no"),
        ({"a": {"A": 2}}, "counts once here"),
        ({"a": {"A": -1}}, "should be yes or no"),
        ({"a": {"C": "yes"}}, "about the key 'C', which was not counted"),
        ({"a": "yes"}, "does not say to which key; the keys are 'A', 'B'"),
    ],
)
def test_answers_that_make_no_sense_are_refused(answers, message):
    with pytest.raises(ValueError, match=message):
        reading_plan(TWO, 4, random_state=0).answered(answers)


def test_answers_outside_the_plan_and_contradictions_are_refused(tmp_path):
    plan = reading_plan(POSTERIOR, 5, random_state=0)
    other = next(name for name in POSTERIOR.documents if name not in plan.documents)
    with pytest.raises(ValueError, match=r"not in the plan: .*would bias the counts"):
        plan.answered({other: "yes"})
    path = tmp_path / "read.csv"
    name = plan.documents[0]
    path.write_text(f"document,key,answer\n{name},yes,yes\n{name},yes,no\n")
    with pytest.raises(
        ValueError, match=r"read.csv, line 3 contradicts another answer about 'yes'"
    ):
        plan.answered(path)
    answered = plan.answered({name: "yes"})
    assert answered.answered({name: 1}).answers == answered.answers
    with pytest.raises(ValueError, match="contradict those that the plan has already"):
        answered.answered({name: "no"})
    assert plan.answers == {}  # nothing changed it
    with pytest.raises(TypeError, match="answers must be a mapping"):
        plan.answered([1, 2])
    path.write_text("id,answer\n")
    with pytest.raises(ValueError, match="no column 'document'; it has 'id', 'answer'"):
        plan.answered(path)


def test_missing_answers_mend_the_inclusion_probabilities():
    plan = reading_plan(POSTERIOR, 50, random_state=0)
    begun = plan.answered(dict.fromkeys(plan.documents[:20], "no")).read()
    shorter = reading_plan(POSTERIOR, 20, random_state=0)
    assert shorter.documents == plan.documents[:20]
    np.testing.assert_allclose(begun.inclusion, shorter.inclusion_probability)
    gaps = plan.answered(dict.fromkeys(plan.documents[::2], "no")).read()
    np.testing.assert_allclose(gaps.inclusion, plan.inclusion_probability[::2] / 2)
    assert [POSTERIOR.documents[i] for i in gaps.place] == list(plan.documents[::2])


def test_answers_are_numbers_where_documents_count_more_than_once(tmp_path):
    counts = count_tags([["a", "b"], ["c"]], [[["N", "N"]] * 20, [["V"]] * 20])
    plan = reading_plan(counts, 2, random_state=0)
    answered = plan.answered({"sentence 0": {"N": 2}, "sentence 1": {"V": 1, "N": "0"}})
    assert answered.answers == {"sentence 0": {"N": 2}, "sentence 1": {"V": 1}}
    answered.to_csv(tmp_path / "x.csv")
    assert {(r["title"], r["key"], r["answer"]) for r in rows_of(tmp_path / "x.csv")} == {
        ("a b", "N", "2"),
        ("c", "V", "1"),
    }


def test_a_plan_is_saved_and_loaded(tmp_path):
    path = tmp_path / "plan.json"
    plan = reading_plan(TWO, 3, random_state=5)
    answered = plan.answered({plan.documents[0]: {"A": 1}, plan.documents[1]: "no"})
    answered.save(path)
    loaded = ReadingPlan.load(path, TWO)
    assert loaded.documents == plan.documents
    assert loaded.answers == answered.answers
    assert loaded.extended(1).documents == plan.extended(1).documents
    content = json.loads(path.read_text())
    assert content["fingerprint"] == TWO.fingerprint
    assert content["documents"] == list(plan.documents)
    other = counts_from_probabilities([[0.9, 0.1]] * 4, period=None, keys=["A", "B"])
    with pytest.raises(ValueError, match="a plan for other counts: their fingerprint is"):
        ReadingPlan.load(path, other)
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"not a plan that was saved by ReadingPlan.save"):
        ReadingPlan.load(path, TWO)
    path.write_text("[")
    with pytest.raises(ValueError, match="not a plan that was saved"):
        ReadingPlan.load(path, TWO)


def test_counts_that_cannot_be_planned_for():
    with pytest.raises(TypeError, match="needs the counts"):
        reading_plan([1], 3)
    with pytest.raises(ValueError, match="Nothing was counted"):
        reading_plan(counted(p=0.0), 3)
    with pytest.raises(ValueError, match="n_documents must be at least 1"):
        reading_plan(TWO, 0)
    docs = [document("same"), document("same")]
    twins = count_documents(docs, [samples(0.5)] * 2, two_keys)
    with pytest.raises(ValueError, match="Two documents are called 'same'"):
        reading_plan(twins, 1)
    odd = replace(TWO, keys=("1", 1))
    with pytest.raises(ValueError, match="look the same as text"):
        reading_plan(odd, 2, random_state=0).save("unused.json")


def test_one_document_and_certain_documents():
    one = counts_from_probabilities([0.5], period=None)
    plan = reading_plan(one, 10, random_state=0)
    assert (plan.documents, plan.inclusion_probability.tolist()) == (("document 0",), [1.0])
    sure = counts_from_probabilities([1.0, 0.0, 1.0], period=None)
    assert len(reading_plan(sure, 2, random_state=0).documents) == 2


def test_periods_have_their_share():
    """Documents that are alike are spread evenly: fewer periods without any than by luck."""
    posterior = counts_from_probabilities([0.3] * 1000, period=np.repeat(np.arange(20), 50))
    spread = []
    for seed in range(20):
        plan = reading_plan(posterior, 100, random_state=seed)
        places = [int(name.split()[1]) // 50 for name in plan.documents]
        spread.append(np.bincount(places, minlength=20).var())
    assert np.mean(spread) < 0.5 * 100 / 20


def test_a_plan_reads_well():
    plan = reading_plan(TWO, 2, random_state=0)
    assert repr(plan).splitlines()[-1] == "2 documents to read, of 4."
    done = plan.answered({plan.documents[0]: "no"})
    assert repr(done).splitlines()[-1] == "2 documents to read, 1 of them read, of 4."


def test_the_whole_way_from_counts_to_better_counts(tmp_path, monkeypatch):
    """From a corpus and a model that is wrong, over a file that a person fills in."""
    monkeypatch.chdir(tmp_path)
    corpus = make_event_corpus(400, favour={"USA": 1.5}, missed=0.1, random_state=0)
    docs, model, rule = corpus.X, corpus.model, AgentRule(country_lexicon())

    posterior = count_corpus(docs, model, rule, period="Q", random_state=0)
    plan = reading_plan(posterior, 100, random_state=0)
    plan.to_csv("to_read.csv")

    # The person: answers all that is asked, and adds keys that are not listed.
    truth = count_documents(docs, [[entities] for entities in corpus.y], rule)
    has = {
        name: {key for key in truth.keys if truth.probability(key)[i]}
        for i, name in enumerate(truth.documents)
    }
    rows = rows_of("to_read.csv")
    listed = {(row["document"], row["key"]) for row in rows}
    for row in rows:
        row["answer"] = "yes" if row["key"] in has[row["document"]] else "no"
    for name in plan.documents:
        rows += [
            {**dict.fromkeys(rows[0], ""), "document": name, "key": key, "answer": "yes"}
            for key in has[name]
            if (name, key) not in listed
        ]
    with open("read.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)

    answered = plan.answered("read.csv")
    better = posterior.corrected(answered, random_state=0)
    assert {name: set(found) for name, found in answered.answers.items()} == {
        name: has[name] for name in plan.documents
    }
    assert "corrected by 100 read documents" in str(better.summary())
    whole = truth.select(better.keys).total().mean
    low, high = better.total().confidence_interval()
    assert ((low <= whole) & (whole <= high)).mean() >= 0.75
    low, high = posterior.total().confidence_interval()
    assert ((low <= whole) & (whole <= high)).mean() <= 0.5


HEADER = b"document,key,answer\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x80", r"read\.csv, line 1: not UTF-8 text"),
        (b"\xff\xfe\x00", r"read\.csv, line 1: not utf-16 text"),
        (b"", r"read\.csv has no column 'document'; it has \.$"),
        (b"\0ocument,answer\n", r"no column 'document'; it has '\\x00ocument', 'answer'\.$"),
        (b"document,answer\na", r"read\.csv, line 2: 2 columns are expected, .* there are 1\."),
        (HEADER + b"a,A,\xc2\xb2\n", "line 2: the answer is '²'; it should be yes"),
        (HEADER + b"a,A,1e999\n", "line 2: the answer is '1e999'; it should be"),
        (
            HEADER + b"a,A," + b"9" * 5000,
            r"line 2: the answer is '9+'\.\.\.; it should",
        ),
        (
            HEADER + b"a," + b"k" * 9000 + b",1",
            r"about the key 'k{60}'\.\.\., which was",
        ),
        (
            b"document,key,answer\n" + b"x" * 9000 + b",A,1",
            r"read\.csv: 1 document with answers is",
        ),
        (b'document,answer\na,"' + b"x" * 200_000, r"read\.csv, line 2: field larger than"),
    ],
)
def test_damaged_tables_of_answers(tmp_path, data, message):
    path = tmp_path / "read.csv"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message) as caught:
        reading_plan(TWO, 4, random_state=0).answered(path)
    assert len(str(caught.value)) < 1000


def test_damaged_plans(tmp_path):
    path = tmp_path / "plan.json"
    plan = reading_plan(TWO, 4, random_state=0)
    plan.save(path)
    whole = json.loads(path.read_text())
    first = whole["documents"][0]
    for name, value, message in [
        ("fingerprint", None, "its fingerprint is damaged"),
        ("fingerprint", "x" * 5000, "a plan for other counts: .* is 'x{60}'"),
        ("n_documents", "4", "its n_documents is damaged"),
        ("n_documents", 10**18, "the plan is of 1000000000000000000 documents, but 4 were"),
        ("n_documents", -1, "the plan is of -1 documents"),
        ("seed", True, "its seed is damaged"),
        ("seed", -1, "its seed or answers are damaged"),
        ("seed", 3, "lists other documents"),
        ("documents", {}, "its documents is damaged"),
        ("answers", [], "its answers is damaged"),
        ("answers", {first: 3}, "its seed or answers are damaged"),
        ("answers", {"elsewhere": {"A": 1}}, "an answer about 'elsewhere', which was not drawn"),
        ("answers", {first: {"Z": 1}}, "an answer about 'Z', which was not counted"),
        ("answers", {first: {"A": -1}}, "the answer about .*: the answer is -1; it should be"),
    ]:
        path.write_text(json.dumps({**whole, name: value}))
        with pytest.raises(ValueError, match=message) as caught:
            ReadingPlan.load(path, TWO)
        assert "plan.json" in str(caught.value)
        assert len(str(caught.value)) < 1000
    for data in (b"\x80", b"[" * 100_000, b"{", b"[]", b"9" * 5000):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"plan\.json"):
            ReadingPlan.load(path, TWO)


def test_files_of_spreadsheets_are_read(tmp_path):
    """UTF-16 with tabs, and titles with characters that end lines in other places."""
    posterior = counts_from_probabilities(
        [0.9, 0.2, 0.5, 0.4], period=None, document=list("abcd"), title=["one\u2028two"] * 4
    )
    plan = reading_plan(posterior, 4, random_state=0)
    path = tmp_path / "read.csv"
    plan.to_csv(path)
    text = path.read_text(encoding="utf-8").replace("unsure,", "unsure,yes")
    path.write_text(text.replace("documents,", "documents,no"), encoding="utf-8")
    assert plan.answered(path).n_answered == 4
    path.write_text(path.read_text(encoding="utf-8").replace(",", "\t"), encoding="utf-16")
    assert plan.answered(path).answers == plan.answered(path).answers
    assert plan.answered(path).n_answered == 4
    path.write_bytes(b"PK\x03\x04\xff\xfe")
    with pytest.raises(ValueError, match=r"not a CSV file in UTF-8.*\.xlsx"):
        plan.answered(path)


def test_a_series_answers():
    pandas = pytest.importorskip("pandas")
    posterior = counts_from_probabilities([0.9, 0.2, 0.5], period=None, document=list("abc"))
    plan = reading_plan(posterior, 3, random_state=0)
    answered = plan.answered(pandas.Series({"a": True, "b": 0, "c": None}))
    assert answered.answers == {"a": {"yes": 1}, "b": {}}


@pytest.mark.parametrize("answer", [float("inf"), 0.5, -1])
def test_answers_that_are_no_answers(answer):
    plan = reading_plan(counts_from_probabilities([0.5], period=None), 1)
    with pytest.raises(ValueError, match=r"the answer is .* it should be yes or no"):
        plan.answered({"document 0": answer})


def test_gaps_where_the_model_sees_nothing_are_pointed_out():
    p = np.repeat([0.0, 0.5], [80, 20])
    posterior = counts_from_probabilities(p, period=None)
    plan = reading_plan(posterior, 40, random_state=0)
    seen = {name: "no" for name in plan.documents if int(name.split()[1]) >= 80}
    with pytest.warns(UserWarning, match="in which the model sees nothing have no answer"):
        posterior.corrected(plan.answered(seen), random_state=0)
    # Other gaps are accidents.
    some = {name: "no" for i, name in enumerate(plan.documents) if i % 3}
    posterior.corrected(plan.answered(some), random_state=0)


def test_answers_that_were_filled_in_are_not_lost(tmp_path):
    path = tmp_path / "list.csv"
    plan = reading_plan(TWO, 3, random_state=5)
    plan.to_csv(path)
    plan.to_csv(path)  # nothing was answered yet
    path.write_text(path.read_text().replace(",\n", ",no\n", 1), newline="")
    filled = path.read_text()
    with pytest.raises(ValueError, match=r"list\.csv is there already, and is not a list to fill"):
        plan.to_csv(path)
    assert path.read_text() == filled
    plan.answered(path).to_csv(path)  # it has all of them
    plan.to_csv(path, force=True)
    path.write_text("document,shopping\n")
    with pytest.raises(ValueError, match="Pass force=True to replace it"):
        plan.to_csv(path)


def test_files_of_others_are_left_alone(tmp_path):
    path = tmp_path / "plan.json"
    plan = reading_plan(TWO, 3, random_state=5)
    plan.save(path)
    plan.answered({plan.documents[0]: "no"}).save(path)
    for other in ("{}", "years of work"):
        path.write_text(other)
        with pytest.raises(ValueError, match=r"plan\.json is there already, and is not a plan"):
            plan.save(path)
        assert path.read_text() == other
    plan.save(path, force=True)
