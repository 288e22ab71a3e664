import numpy as np
import pytest

from sklearn_calib.datasets import make_event_corpus


def test_documents_are_dated_parsed_and_known():
    corpus = make_event_corpus(50, random_state=0)
    assert len({document.id for document in corpus.X}) == 50
    for document in corpus.X:
        assert 2001 <= document.date.item().year <= 2003
        assert len(document.heads) == len(document.tokens)
        [proba] = corpus.model.predict_antecedent_proba([document])
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        # A "they" is never new, an army always is.
        armies = np.array(
            [document.mention_text(i).endswith("troops") for i in range(len(document))]
        )
        roots = document.entities == np.arange(len(document))
        np.testing.assert_array_equal(roots, armies)
    dates = [document.date for document in corpus.X]
    assert dates == sorted(dates)


def test_truth_follows_the_law_of_the_model():
    corpus = make_event_corpus(600, verbs=["attack"], random_state=2)
    chance, hit = [], []
    for document, proba in zip(
        corpus.X, corpus.model.predict_antecedent_proba(corpus.X), strict=True
    ):
        first = int(np.argmax([document.mention_text(i) == "They" for i in range(len(document))]))
        chance.append(proba[first, 0])
        hit.append(document.entities[first] == 0)
    chance, hit = np.array(chance), np.array(hit)
    error = np.sqrt((chance * (1 - chance)).sum()) / len(chance)
    assert abs(chance.mean() - hit.mean()) < 3 * error


def test_temperature_sharpens_and_seeds_repeat():
    a = make_event_corpus(20, random_state=0)
    b = make_event_corpus(20, random_state=0, temperature=0.5)
    for doc_a, doc_b in zip(a.X, b.X, strict=True):
        assert doc_a.tokens.tolist() == doc_b.tokens.tolist()
        [p], [q] = (c.model.predict_antecedent_proba([doc_a]) for c in (a, b))
        assert (q.max(axis=1) >= p.max(axis=1) - 1e-12).all()
    best = a.model.predict(a.X)
    assert all(len(entities) == len(doc) for entities, doc in zip(best, a.X, strict=True))


def test_bad_input():
    with pytest.raises(ValueError, match="must be positive"):
        make_event_corpus(3, concentration=0)
    with pytest.raises(ValueError, match="n_documents must be at least 1"):
        make_event_corpus(0)
    with pytest.raises(TypeError, match=r"verbs must be a list of lemmas, such as \['attack'\]"):
        make_event_corpus(3, verbs="attack")
    with pytest.raises(ValueError, match="verbs is empty"):
        make_event_corpus(3, verbs=[])
    with pytest.raises(ValueError, match="'' is not a verb"):
        make_event_corpus(3, verbs=[""])


@pytest.mark.parametrize(
    ("verb", "past"),
    [("attack", "attacked"), ("hit", "hit"), ("deny", "denied"), ("raze", "razed")],
)
def test_past(verb, past):
    [document] = make_event_corpus(1, verbs=[verb], random_state=0).X
    assert past in document.tokens
    assert verb in document.lemmas


@pytest.mark.parametrize("temperature", [1e-300, 1e-3, 1e3])
def test_extreme_temperatures(temperature):
    corpus = make_event_corpus(20, temperature=temperature, random_state=0)
    for proba in corpus.model.predict_antecedent_proba(corpus.X):
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        if temperature < 1e-2:
            np.testing.assert_allclose(proba.max(axis=1), 1.0, atol=1e-3)


def test_the_model_says_what_it_is():
    assert repr(make_event_corpus(3, random_state=0).model) == "<KnownAntecedents of 3 documents>"


def test_a_model_may_be_wrong_on_purpose():
    right = make_event_corpus(400, random_state=0)
    wrong = make_event_corpus(400, favour={"USA": 1.5}, missed=0.2, random_state=0)
    for a, b in zip(right.X, wrong.X, strict=True):  # the documents are the same
        assert list(a.tokens) == list(b.tokens)
        np.testing.assert_array_equal(a.entities, b.entities)
    alone = []
    for document in wrong.X:
        [proba] = wrong.model.predict_antecedent_proba([document])
        [true] = right.model.predict_antecedent_proba([document])
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        names = [document.mention_text(i) for i in range(len(document))]
        for i, name in enumerate(names):
            if name != "They":
                assert proba[i, i] == 1.0
                continue
            alone.append(proba[i, i] == 1.0)
            if not alone[-1]:
                odds = np.array([np.exp(1.5) if n.startswith("American") else 1.0 for n in names])
                expected = true[i] * odds
                np.testing.assert_allclose(proba[i], expected / expected.sum())
    assert np.mean(alone) == pytest.approx(0.2, abs=0.06)
    with pytest.raises(ValueError, match="'FRA' is not one of IRN"):
        make_event_corpus(2, favour={"FRA": 1.0})
    with pytest.raises(ValueError, match="not a finite number"):
        make_event_corpus(2, favour={"USA": np.nan})
    with pytest.raises(ValueError, match="missed must lie between 0 and 1"):
        make_event_corpus(2, missed=2.0)
