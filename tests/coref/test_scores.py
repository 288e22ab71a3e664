"""Scores of entities against values worked by hand and slow definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.coref import coreference_scores

# Truth {a b c} {d e f g}, prediction {a b} {c d} {f g} {e}: the example of the
# scorer's documentation (Pradhan et al., 2014) without its spurious mentions.
TRUTH = [0, 0, 0, 1, 1, 1, 1]
GUESS = [0, 0, 1, 1, 2, 3, 3]


def test_worked_by_hand():
    scores = coreference_scores([TRUTH], [GUESS])
    # True pairs: 3 + 6; predicted pairs: ab, cd, fg; right: ab, fg.
    assert scores.pairwise == pytest.approx((2 / 3, 2 / 9))
    # {abc} falls into ab|c: 1 of 2 links; {defg} into d|e|fg: 1 of 3. Of the predicted links
    # ab, cd, fg two are right.
    assert scores.muc == pytest.approx((2 / 3, 2 / 5))
    precision = (1 + 1 + 1 / 2 + 1 / 2 + 1 + 1 + 1) / 7
    recall = (2 / 3 + 2 / 3 + 1 / 3 + 1 / 4 + 1 / 4 + 2 / 4 + 2 / 4) / 7
    assert scores.b_cubed == pytest.approx((precision, recall))
    # Best match: abc with ab (4/5) and defg with fg (4/6).
    phi = 4 / 5 + 4 / 6
    assert scores.ceaf_e == pytest.approx((phi / 4, phi / 2))
    f1 = [2 * p * r / (p + r) for p, r in (scores.muc, scores.b_cubed, scores.ceaf_e)]
    assert scores.conll == pytest.approx(np.mean(f1))
    assert "CoNLL: " in str(scores)


def test_perfect_and_empty():
    scores = coreference_scores([[3, 3, 1], []], [["x", "x", "y"], []])
    assert scores.conll == 1.0
    assert scores.pairwise == (1.0, 1.0)
    singles = coreference_scores([[1, 2]], [[1, 1]])
    assert singles.pairwise == (0.0, 0.0)
    assert singles.muc.f1 == 0.0


def slow_scores(truth, guess):
    """Return B3 and CEAF-e sums from their definitions, over sets."""

    def sets(ids):
        return [{i for i, e in enumerate(ids) if e == name} for name in sorted(set(ids))]

    key, response = sets(truth), sets(guess)
    of = lambda groups, i: next(g for g in groups if i in g)  # noqa: E731
    n = len(truth)
    precision = np.mean(
        [len(of(key, i) & of(response, i)) / len(of(response, i)) for i in range(n)]
    )
    recall = np.mean([len(of(key, i) & of(response, i)) / len(of(key, i)) for i in range(n)])
    small, large = sorted((key, response), key=len)
    best = max(
        sum(2 * len(a & b) / (len(a) + len(b)) for a, b in zip(small, some, strict=True))
        for some in itertools.permutations(large, len(small))
    )
    links = sum(len(k) - len({tuple(sorted(of(response, i))) for i in k}) for k in key)
    return precision, recall, best / len(response), best / len(key), links


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9))
@settings(max_examples=100, deadline=None)
def test_equal_their_definitions(pairs):
    truth, guess = map(list, zip(*pairs, strict=True))
    precision, recall, ceaf_p, ceaf_r, links = slow_scores(truth, guess)
    scores = coreference_scores([truth], [guess])
    assert scores.b_cubed == pytest.approx((precision, recall))
    assert scores.ceaf_e == pytest.approx((ceaf_p, ceaf_r))
    possible = len(truth) - len(set(truth))
    if possible:
        assert scores.muc.recall == pytest.approx(links / possible)


def test_documents_add_up():
    both = coreference_scores([TRUTH, [0, 0]], [GUESS, [0, 1]])
    assert both.pairwise == pytest.approx((2 / 3, 2 / 10))
    assert both.muc == pytest.approx((2 / 3, 2 / 6))


def test_bad_input_is_named():
    with pytest.raises(
        ValueError, match=r"entities_pred\[1\] must have one entity for each of the 2"
    ):
        coreference_scores([[0], [0, 1]], [[0], [0]])
    with pytest.raises(ValueError, match="entities_true has 1, entities_pred has 2"):
        coreference_scores([[0]], [[0], [0]])
    with pytest.raises(TypeError, match=r"entities_true\[0\] must be a sequence of entities"):
        coreference_scores([0, 1], [0, 1])
    with pytest.raises(ValueError, match=r"entities_true\[0\] is ragged"):
        coreference_scores([[[0], [0, 1]]], [[0, 1]])
    with pytest.raises(ValueError, match=r"entities_true\[0\] must have one entity for each men"):
        coreference_scores([[[0], [1]]], [[0, 1]])


def test_equal_a_public_scorer():
    # Precision and recall by scorch 0.2.0 (Grobol), a scorer of its own making.
    truth = [0, 0, 1, 2, 0, 1, 3, 3, 2, 4, 0, 5, 1, 1, 6, 2, 0, 3, 7, 7]
    guess = [0, 0, 1, 1, 0, 1, 3, 2, 2, 4, 5, 5, 1, 6, 6, 2, 0, 3, 7, 8]
    scores = coreference_scores([truth], [guess])
    assert scores.muc == pytest.approx((0.636363636364, 0.583333333333))
    assert scores.b_cubed == pytest.approx((0.758333333333, 0.661666666667))
    assert scores.ceaf_e == pytest.approx((0.678395061728, 0.763194444444))


def test_scores_become_a_table():
    scores = coreference_scores([[0, 0, 0, 1]], [[0, 0, 1, 1]])
    assert len(repr(scores).splitlines()) == 6
    assert "<table>" in scores._repr_html_()
    frame = scores.to_frame().set_index("score")
    assert frame.loc["b_cubed", "f1"] == scores.b_cubed.f1
