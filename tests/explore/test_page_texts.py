"""The texts of a page: which are kept, and what is marked in them."""

import json

import numpy as np
import pytest

from sklearn_calib.coref import Document
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, _page_texts, country_lexicon
from sklearn_calib.explore._page_texts import TextMaker, kept_texts

CORPUS = make_event_corpus(40, random_state=0)
RULE = AgentRule(country_lexicon())
NAMES = tuple(document.id for document in CORPUS.X)


def made(document, model=None, rule=None, parse=None):
    [text] = TextMaker(model, rule, parse)([document])
    return json.loads(text)


def words(items):
    return [" ".join(item.tokens) for item in items]


def test_wanted_texts_are_kept_in_their_order():
    wanted = np.array([7, 3, 30, 1])
    kept = kept_texts(iter(CORPUS.X), NAMES, wanted, 3, words)
    assert kept == [(i, " ".join(CORPUS.X[i].tokens)) for i in (7, 3, 30)]
    kept = kept_texts(lambda: iter(CORPUS.X), NAMES, wanted, 9, words)
    assert [place for place, _ in kept] == [7, 3, 30, 1]


def test_memory_is_bounded_whatever_the_order(monkeypatch):
    rng = np.random.default_rng(0)
    size = rng.integers(5, 60, 40)
    documents = [Document(str(i), ["x" * n]) for i, n in enumerate(size)]
    names = [document.id for document in documents]
    wanted = rng.permutation(40)
    monkeypatch.setattr(_page_texts, "MOST_BYTES", 500)
    fits = int((np.cumsum(size[wanted]) <= 500).sum())
    assert fits < 30
    for _ in range(5):
        order = rng.permutation(40)
        kept = kept_texts([documents[i] for i in order], names, wanted, 40, words)
        assert [place for place, _ in kept] == wanted[:fits].tolist()


def test_documents_of_one_name_are_told_apart():
    documents = [Document("same", [word]) for word in "abc"]
    kept = kept_texts(documents, ["same"] * 3, np.array([2, 0]), 5, words)
    assert kept == [(2, "c"), (0, "a")]


def test_what_could_not_be_counted_is_passed_over():
    def broken():
        raise OSError("the disk is away")

    stream = [broken, ("text", {"id": "b", "date": "never"}), lambda: CORPUS.X[5]]
    kept = kept_texts(stream, NAMES, np.array([5]), 5, words)
    assert [place for place, _ in kept] == [5]


@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ([], ValueError, "gave no documents: pass those that were counted"),
        ([Document("other", ["w"])], ValueError, "gave 1 documents of other names"),
        ("text", TypeError, "must be a list of documents"),
        (3, TypeError, "must be a list of documents"),
        ([3], TypeError, "entry 0 is a int"),
    ],
)
def test_other_things_are_refused(documents, error, message):
    with pytest.raises(error, match=message):
        kept_texts(documents, NAMES, np.array([0]), 5, words)


def test_a_text_with_its_entities_links_and_reasons():
    document = CORPUS.X[0]
    data = made(document, CORPUS.model, RULE)
    words = [data["text"][start:end] for start, end, _ in data["mentions"]]
    assert words == [document.mention_text(i) for i in range(len(document))]
    [best] = CORPUS.model.predict([document])
    codes = [code for _, _, code in data["mentions"]]
    for i in range(len(best)):
        for j in range(i):
            together = codes[i] == codes[j] != -1
            assert together == (best[i] == best[j])
    [proba] = CORPUS.model.predict_antecedent_proba([document])
    links = _page_texts.links(proba)
    for i, row in enumerate(data["links"]):
        pairs = list(zip(row[::2], row[1::2], strict=True))
        assert pairs == sorted(pairs, key=lambda pair: -pair[1])
        for j, share in pairs:
            assert share == round(1000 * links[i, j])
    assert data["reasons"]
    for reason in data["reasons"]:
        assert reason["why"]
        assert any("is the subject of" in why for why in reason["why"])
        roles = {role: data["text"][start:end] for start, end, role in reason["tokens"]}
        assert roles["verb"] == "attacked"
        assert reason["best"] or reason["share"] > 0
    assert "cut" in data
    assert not data["cut"]


def test_shares_are_those_of_the_samples():
    class Sampler:
        def sample(self, X, n_samples, random_state):
            return [np.array([[0, 0, 2]] * 60 + [[0, 1, 1]] * 37 + [[0, 1, 2]] * 3)]

        def predict(self, X):
            return [np.array([0, 0, 2])]

    document = Document("d", ["a", "b", "c"], mentions=[(0, 1), (1, 2), (2, 3)])
    data = made(document, Sampler(), lambda document, entity: len(entity) > 1)
    assert [(r["mentions"], r["share"], r["best"]) for r in data["reasons"]] == [
        (["a", "b"], 0.6, True),
        (["b", "c"], 0.37, False),
    ]
    assert data["links"] == [[0, 1000, 1, 600], [1, 1000, 0, 600, 2, 370], [2, 1000, 1, 370]]


def test_any_callable_is_a_rule_and_gives_no_reasons():
    def rule(document, entity):
        return len(entity) > 1

    data = made(CORPUS.X[0], CORPUS.model, rule)
    assert data["reasons"]
    assert all(reason["key"] == "yes" and reason["why"] == [] for reason in data["reasons"])


def test_without_a_model_annotations_are_coloured_and_mentions_count_alone():
    document = CORPUS.X[0]
    data = made(document, None, RULE)
    assert data["annotated"]
    assert "links" not in data
    assert data["reasons"] == []
    plain = made(document.replace(entities=None))
    assert {code for _, _, code in plain["mentions"]} == {-1}
    assert not plain["annotated"]


def test_a_model_that_only_samples():
    class Sampler:
        def sample(self, X, n_samples, random_state):
            return [s + 100 for s in CORPUS.model.sample(X, n_samples, random_state)]

        def predict(self, X):
            return CORPUS.model.predict(X)

    data = made(CORPUS.X[0], Sampler(), RULE)
    exact = made(CORPUS.X[0], CORPUS.model, RULE)
    assert data["mentions"] == exact["mentions"]
    for mine, right in zip(data["links"], exact["links"], strict=True):
        assert dict(zip(mine[::2], mine[1::2], strict=True)) == pytest.approx(
            dict(zip(mine[::2], [dict(zip(right[::2], right[1::2], strict=True)).get(j, 40)
                                 for j in mine[::2]], strict=True)), abs=150
        )  # fmt: skip


def test_places_are_counted_as_browsers_count():
    text = "Ünï \U0001f600\U0001f600 Iraq attacked."
    document = Document(
        "d",
        ["Ünï", "\U0001f600\U0001f600", "Iraq", "attacked", "."],
        text=text,
        offsets=[(0, 3), (4, 6), (7, 11), (12, 20), (20, 21)],
        mentions=[(2, 3)],
    )
    data = made(document)
    assert data["text"] == text
    [[start, end, _]] = data["mentions"]
    units = text.encode("utf-16-le")
    assert units[2 * start : 2 * end].decode("utf-16-le") == "Iraq"


def test_tokens_become_a_text_that_reads_well():
    tokens = ["“", "We", "did", "n't", ",", "\u201d", "(", "he", ")", "said", ".", "Yes", "!"]
    document = Document("d", tokens, sentence_starts=[0, 11], mentions=[(1, 2), (7, 8)])
    data = made(document)
    assert data["text"] == "“We didn't,\u201d (he) said.\nYes!"
    assert [data["text"][a:b] for a, b, _ in data["mentions"]] == ["We", "he"]


def test_straight_quotation_marks_belong_to_what_they_hold():
    tokens = ["He", "said", '"', "no", '"', "and", '"', "go", '"', ".", '"', "Yes", '"']
    data = made(Document("d", tokens, sentence_starts=[0, 10]))
    assert data["text"] == 'He said "no" and "go".\n"Yes"'


def test_long_texts_are_cut(monkeypatch):
    monkeypatch.setattr(_page_texts, "_MOST_CHARACTERS", 10)
    data = made(Document("d", ["abcd", "efgh", "ijkl"], mentions=[(0, 1), (2, 3)]))
    assert data["text"] == "abcd efgh "
    assert data["cut"]
    assert len(data["mentions"]) == 1


def test_raw_texts_are_parsed_only_if_kept():
    seen = []

    def parse(text):
        seen.append(text)
        if "bad" in text:
            raise ValueError("cannot")
        return Document("", text.split(), mentions=[(0, 1)])

    records = [(f"{word} words", {"id": word}) for word in ("one", "bad", "three")]
    names = ["one", "bad", "three"]
    make = TextMaker(None, None, parse)
    kept = kept_texts(records, names, np.array([1, 0]), 5, make)
    assert seen == ["one words", "bad words"]
    assert [place for place, _ in kept] == [1, 0]
    bad, one = (json.loads(text) for _, text in kept)
    assert bad == {"text": "bad words", "cut": False}
    assert one["mentions"] == [[0, 3, -1]]
    [(_, plain)] = kept_texts(records, names, np.array([2]), 5, TextMaker(None, None, None))
    assert json.loads(plain) == {"text": "three words", "cut": False}


def test_texts_end_where_there_is_no_room(monkeypatch):
    monkeypatch.setattr(_page_texts, "MOST_BYTES", 3000)
    make = TextMaker(CORPUS.model, RULE, None)
    found = kept_texts(CORPUS.X, NAMES, np.arange(40), 40, make)
    assert [place for place, _ in found] == list(range(len(found)))
    sizes = [len(text.encode()) for text in make(CORPUS.X)]
    assert len(found) == (np.cumsum(sizes) <= 3000).sum() < 40
