"""Scores of entities against values worked by hand and slow definitions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_calib.coref import Document, coreference_scores, read_conll2012

# Truth {a b c} {d e f g}, prediction {a b} {c d} {f g} {e}: the example of the
# scorer's documentation (Pradhan et al., 2014) without its spurious mentions.
TRUTH = [0, 0, 0, 1, 1, 1, 1]
GUESS = [0, 0, 1, 1, 2, 3, 3]


def test_worked_by_hand():
    scores = coreference_scores([TRUTH], [GUESS], same_mentions=True)
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
    scores = coreference_scores([[3, 3, 1], []], [["x", "x", "y"], []], same_mentions=True)
    assert scores.conll == 1.0
    assert scores.pairwise == (1.0, 1.0)
    singles = coreference_scores([[1, 2]], [[1, 1]], same_mentions=True)
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
    scores = coreference_scores([truth], [guess], same_mentions=True)
    assert scores.b_cubed == pytest.approx((precision, recall))
    assert scores.ceaf_e == pytest.approx((ceaf_p, ceaf_r))
    possible = len(truth) - len(set(truth))
    if possible:
        assert scores.muc.recall == pytest.approx(links / possible)


def test_documents_add_up():
    both = coreference_scores([TRUTH, [0, 0]], [GUESS, [0, 1]], same_mentions=True)
    assert both.pairwise == pytest.approx((2 / 3, 2 / 10))
    assert both.muc == pytest.approx((2 / 3, 2 / 6))


def test_bad_input_is_named():
    same = {"same_mentions": True}
    with pytest.raises(ValueError, match=r"predicted\[1\] must have one entity for each of the 2"):
        coreference_scores([[0], [0, 1]], [[0], [0]], **same)
    with pytest.raises(ValueError, match="gold has 1, predicted has 2"):
        coreference_scores([[0]], [[0], [0]], **same)
    with pytest.raises(TypeError, match=r"gold\[0\] must be a sequence of entities"):
        coreference_scores([0, 1], [0, 1], **same)
    with pytest.raises(ValueError, match=r"gold\[0\] is ragged"):
        coreference_scores([[[0], [0, 1]]], [[0, 1]], **same)
    with pytest.raises(ValueError, match=r"gold\[0\] must have one entity for each men"):
        coreference_scores([[[0], [1]]], [[0, 1]], **same)
    with pytest.raises(ValueError, match="match='word' is not known"):
        coreference_scores([[0]], [[0]], match="word", **same)
    with pytest.raises(ValueError, match=r"predicted\[0\]\[1\] must have one entity for each of"):
        coreference_scores([([(0, 1)], [0])], [([(0, 1)], [0, 0])])
    with pytest.raises(ValueError, match=r"gold\[0\]\[0\], mention 0: it covers words 3 to 3"):
        coreference_scores([([(3, 3)], [0])], [([(0, 1)], [0])])


def test_entities_without_spans_are_not_compared_by_position():
    with pytest.raises(ValueError, match=r"gold\[0\] has entities without spans.*same_mentions"):
        coreference_scores([[0, 0]], [[0, 0]])
    doc = Document("d", ["a", "b", "c"], mentions=[(0, 1), (1, 2)], entities=[0, 0])
    with pytest.raises(ValueError, match=r"predicted\[0\] has entities without spans"):
        coreference_scores([doc], [[0, 0]])
    assert coreference_scores([doc], [[0, 0]], same_mentions=True).conll == 1.0
    # As many mentions, but others: nothing is right.
    other = doc.replace(mentions=[(0, 2), (2, 3)])
    scores = coreference_scores([doc], [other])
    assert scores.mentions == scores.muc == scores.b_cubed == (0.0, 0.0)
    with pytest.raises(ValueError, match="do not have the same mentions: number 0 covers words 0"):
        coreference_scores([doc], [other], same_mentions=True)


def test_documents_are_paired_by_name_and_text():
    doc = Document("d", ["a", "b"], mentions=[(0, 1), (1, 2)], entities=[0, 0])
    with pytest.raises(ValueError, match=r"is the document 'd', but predicted\[0\] is 'e'"):
        coreference_scores([doc], [doc.replace(id="e")])
    longer = Document("d", ["a", "x", "c"], mentions=[(0, 1)], entities=[0])
    with pytest.raises(ValueError, match="not the same text: the first has 'b' where the second"):
        coreference_scores([doc], [longer])
    with pytest.raises(ValueError, match=r"predicted\[0\], document 'd', has no entities"):
        coreference_scores([doc], [doc.replace(entities=None)])


def test_heads_match_where_spans_do_not():
    words = ["the", "old", "man", "slept", ";", "he", "snored"]
    gold = Document("d", words, mentions=[(0, 3, 2), (5, 6, 5)], entities=[0, 0])
    predicted = gold.replace(mentions=[(1, 3, 2), (5, 6, 5)])
    assert coreference_scores([gold], [predicted]).mentions == (0.5, 0.5)
    assert coreference_scores([gold], [predicted], match="head").conll == 1.0


def test_singletons_can_be_left_out():
    # Truth {a b} {c}, prediction {a} {b} {c} with the spurious {x y}.
    gold = [([(0, 1), (1, 2), (2, 3)], [0, 0, 1])]
    predicted = [([(0, 1), (1, 2), (2, 3), (5, 6), (6, 7)], [0, 1, 2, 3, 3])]
    every = coreference_scores(gold, predicted)
    assert every.b_cubed == pytest.approx((3 / 5, 2 / 3))
    some = coreference_scores(gold, predicted, singletons=False)
    assert some.mentions == some.b_cubed == some.lea == (0.0, 0.0)
    right = coreference_scores(gold, gold, singletons=False)
    assert right.mentions == right.b_cubed == (1.0, 1.0)
    assert right.blanc == (1.0, 1.0, 1.0)


def test_equal_a_public_scorer():
    # Precision and recall by scorch 0.2.0 (Grobol), a scorer of its own making.
    truth = [0, 0, 1, 2, 0, 1, 3, 3, 2, 4, 0, 5, 1, 1, 6, 2, 0, 3, 7, 7]
    guess = [0, 0, 1, 1, 0, 1, 3, 2, 2, 4, 5, 5, 1, 6, 6, 2, 0, 3, 7, 8]
    scores = coreference_scores([truth], [guess], same_mentions=True)
    assert scores.muc == pytest.approx((0.636363636364, 0.583333333333))
    assert scores.b_cubed == pytest.approx((0.758333333333, 0.661666666667))
    assert scores.ceaf_e == pytest.approx((0.678395061728, 0.763194444444))


def test_scores_become_a_table():
    scores = coreference_scores([[0, 0, 0, 1]], [[0, 0, 1, 1]], same_mentions=True)
    assert len(repr(scores).splitlines()) == 10
    assert "<table>" in scores._repr_html_()
    frame = scores.to_frame().set_index("score")
    assert frame.loc["b_cubed", "f1"] == scores.b_cubed.f1


# The test cases of the CoNLL reference scorer (Pradhan et al., 2014; version 8.01, with the LEA
# of Moosavi and Strube, 2016): entities as words with one letter per mention, and the published
# recall and precision, with F1 for BLANC. A capital is a mention of its own.
A, D = "a bc def", "12345 67 89ABC"
REFERENCE = {
    "A-1": (A, "a bc def", {"muc": (1, 1), "b_cubed": (1, 1), "ceaf_m": (1, 1), "ceaf_e": (1, 1),
        "blanc": (1, 1, 1), "lea": (1, 1)}),
    "A-2": (A, "a de", {"muc": (1 / 3, 1), "b_cubed": (7 / 18, 1), "ceaf_m": (3 / 6, 3 / 3),
        "ceaf_e": (1.8 / 3, 1.8 / 2), "blanc": (0.21591, 1, 0.35385), "lea": (2 / 6, 3 / 3)}),
    "A-3": (A, "a bcx defy z", {"muc": (3 / 3, 3 / 5), "b_cubed": (1, 55 / 108),
        "ceaf_m": (6 / 6, 6 / 9), "ceaf_e": (0.88571, 0.66429), "blanc": (1, 0.42593, 0.59717),
        "lea": (1, 4 / 9)}),
    "A-4": (A, "a bcx dy z", {"muc": (1 / 3, 1 / 3), "b_cubed": (5 / 9, 17 / 42),
        "ceaf_m": (4 / 6, 4 / 7), "ceaf_e": (2.2 / 3, 2.2 / 4),
        "blanc": (0.35227, 0.27206, 0.30357), "lea": (3 / 6, 2 / 7)}),
    "A-5": (A, "a bcxB dy z", {"muc": (1 / 3, 1 / 4), "b_cubed": (5 / 9, 5 / 16),
        "ceaf_m": (4 / 6, 4 / 8), "ceaf_e": (0.68889, 0.51667),
        "blanc": (0.35227, 0.19048, 0.24716), "lea": (3 / 6, (1 + 4 / 6) / 8)}),
    "A-6": (A, "a bcx dy Bz", {"muc": (1 / 3, 1 / 4), "b_cubed": (5 / 9, 17 / 48),
        "ceaf_m": (4 / 6, 4 / 8), "ceaf_e": (2.2 / 3, 2.2 / 4),
        "blanc": (0.35227, 0.20870, 0.25817), "lea": (3 / 6, 2 / 8)}),
    # One mention twice in an entity, and twice in two entities: the first counts.
    "A-7": (A, "a bcxb dy z", "A-4"),
    "A-8": (A, "a bcx dy bz", "A-4"),
    "A-9": (A, "a bcx dy bbbbbbbbbbz", "A-4"),
    "A-10": (A, "a b c d e f", {"muc": (0, 0), "b_cubed": (3 / 6, 6 / 6),
        "blanc": (0.5, 0.36667, 0.42308), "lea": (1 / 6, 1 / 6)}),
    "A-11": (A, "abcdef", {"muc": (3 / 3, 3 / 5), "b_cubed": (1, 7 / 18),
        "blanc": (0.5, 0.13333, 0.21053), "lea": (5 / 6, 4 / 15)}),
    "A-12": (A, "a x y c d e z", {"muc": (0, 0), "b_cubed": (13 / 36, 4 / 7),
        "blanc": (0.22727, 0.11905, 0.15625), "lea": (1 / 6, 1 / 7)}),
    "A-13": (A, "axycdez", {"muc": (1 / 3, 1 / 6), "b_cubed": (17 / 36, 6 / 49),
        "blanc": (0.125, 0.02381, 0.04), "lea": (1 / 6, 1 / 21)}),
    "B-1": ("ab cde", "bcx de", {"blanc": (7 / 24, 7 / 24, 7 / 24), "lea": (1 / 5, 2 / 5)}),
    "C-1": ("ab cde fg", "bcx de fg", {"blanc": (0.5125, 0.5125, 0.5125), "lea": (3 / 7, 4 / 7)}),
    "D-1": (D, "12345 6789ABC", {"muc": (9 / 9, 9 / 10), "b_cubed": (1, 16 / 21),
        "lea": (1, (5 + 7 * 11 / 21) / 12)}),
    "E-1": (D, "1234589ABC 67", {"muc": (9 / 9, 9 / 10), "b_cubed": (1, 7 / 12),
        "lea": (1, (10 * 20 / 45 + 2) / 12)}),
    "F-1": ("ABCD", "AB CD", {"muc": (2 / 3, 2 / 2), "lea": (2 / 6, 1)}),
    "G-1": ("AB CD", "ABCD", {"muc": (2 / 2, 2 / 3), "lea": (1, 2 / 6)}),
    "H-1": ("ABCD", "ABCD", {"muc": (1, 1), "lea": (1, 1)}),
    "I-1": ("ABCD", "AB CD", {"muc": (2 / 3, 2 / 2), "lea": (2 / 6, 1)}),
    "J-1": ("ABC", "AC", {"muc": (1 / 2, 1 / 1), "lea": (1 / 3, 1)}),
    "K-1": ("BCDEGHJ", "ABC DEF GHI", {"muc": (3 / 6, 3 / 6), "lea": (3 / 21, 3 / 9)}),
    "L-1": ("ABC DEFG", "AB CD FGH", {"muc": (2 / 5, 2 / 4), "lea": ((1 + 4 / 6) / 7, 3 / 7)}),
    "M-1": ("abcdef", "abcdef", {"muc": (1, 1), "b_cubed": (1, 1), "ceaf_m": (1, 1),
        "ceaf_e": (1, 1), "blanc": (1, 1, 1), "lea": (1, 1)}),
    "M-2": ("abcdef", "a b c d e f", {"muc": (0, 0), "blanc": (0, 0, 0), "lea": (0, 0)}),
    "M-3": ("abcdef", "ab cde f", {"blanc": (4 / 15, 1, 8 / 19), "lea": (4 / 15, 5 / 6)}),
    "M-4": ("abcdef", "abcxyz", {"blanc": (3 / 15, 3 / 15, 0.2), "lea": (3 / 15, 3 / 15)}),
    "M-5": ("abcdef", "a b c x y z", {"muc": (0, 0), "blanc": (0, 0, 0), "lea": (0, 0)}),
    "M-6": ("abcdef", "ab cxy z", {"blanc": (1 / 15, 1 / 4, 2 / 19), "lea": (1 / 15, 2 / 6)}),
    "N-1": ("a b c d e f", "a b c d e f", {"muc": (0, 0), "b_cubed": (1, 1), "ceaf_m": (1, 1),
        "ceaf_e": (1, 1), "blanc": (1, 1, 1), "lea": (1, 1)}),
    "N-2": ("a b c d e f", "abcdef", {"blanc": (0, 0, 0), "lea": (0, 0)}),
    "N-3": ("a b c d e f", "ab cde f", {"blanc": (11 / 15, 1, 11 / 13), "lea": (1 / 6, 1 / 6)}),
    "N-4": ("a b c d e f", "a b c x y z", {"muc": (0, 0), "blanc": (0.2, 0.2, 0.2),
        "lea": (3 / 6, 3 / 6)}),
    "N-5": ("a b c d e f", "abcxyz", {"blanc": (0, 0, 0), "lea": (0, 0)}),
    "N-6": ("a b c d e f", "ab cxy z", {"blanc": (2 / 15, 2 / 11, 2 / 13), "lea": (0, 0)}),
}  # fmt: skip


def entities_of(groups):
    """Return spans and entities of groups of letters; each letter is a word of its own."""
    pairs = [(ord(letter), e) for e, group in enumerate(groups.split()) for letter in group]
    return [(at, at + 1) for at, _ in pairs], [e for _, e in pairs]


@pytest.mark.parametrize("case", REFERENCE)
def test_equal_the_reference_scorer(case):
    key, response, expected = REFERENCE[case]
    if isinstance(expected, str):
        expected = REFERENCE[expected][2]
    scores = coreference_scores([entities_of(key)], [entities_of(response)])
    for name, (recall, precision, *f1) in expected.items():
        score = getattr(scores, name)
        assert score.recall == pytest.approx(recall, abs=6e-6), name
        assert score.precision == pytest.approx(precision, abs=6e-6), name
        if f1:
            assert score.f1 == pytest.approx(f1[0], abs=6e-6), name


def conll_lines(groups, words):
    """Return a file of the reference scorer: five columns, the brackets in the last."""
    brackets = {word: [] for word in words}
    for e, group in enumerate(groups.split()):
        for letter in group:
            brackets[letter].append(f"({e})")
    yield "#begin document (case); "
    for i, (word, column) in enumerate(brackets.items()):
        yield f"case\t0\t{i}\t{word}\t{''.join(column) or '-'}"
    yield "#end document"


@pytest.mark.parametrize("case", ["A-4", "A-6", "A-8", "B-1", "L-1", "M-6"])
def test_files_are_scored_as_spans_are(case):
    key, response, _ = REFERENCE[case]
    words = sorted(set(key + response) - {" "})
    files = [read_conll2012(conll_lines(groups, words)) for groups in (key, response)]
    scores = coreference_scores(*files)
    expected = coreference_scores([entities_of(key)], [entities_of(response)])
    assert scores.to_frame().equals(expected.to_frame())


def slow_links(key, response):
    """Return BLANC's counts and LEA's sums from their definitions, over sets of mentions."""

    def links(groups):
        joined = {frozenset(p) for g in groups for p in itertools.combinations(g, 2)}
        mentions = set().union(*groups)
        every = {frozenset(p) for p in itertools.combinations(mentions, 2)}
        return joined, every - joined

    (c_k, n_k), (c_r, n_r) = links(key), links(response)

    def resolved(groups, others):
        total = 0.0
        for g in groups:
            own = {frozenset((a, b)) for a in g for b in g if a != b or len(g) == 1}
            found = {
                frozenset((a, b)) for o in others for a in o for b in o if a != b or len(o) == 1
            }
            total += len(g) * len(own & found) / len(own)
        return total / sum(map(len, groups))

    return (c_k, n_k, c_r, n_r), resolved(response, key), resolved(key, response)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1,
             max_size=9)
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_links_equal_their_definitions(rows):
    # Which side has each mention: both, the truth alone, or the prediction alone.
    sides = [
        {i: row[side] for i, row in enumerate(rows) if row[2] in (0, side + 1)} for side in (0, 1)
    ]
    if not all(sides):
        return
    key, response = (
        [{i for i, e in side.items() if e == name} for name in sorted(set(side.values()))]
        for side in sides
    )
    (c_k, n_k, c_r, n_r), precision, recall = slow_links(key, response)
    given_ = [([(i, i + 1) for i in side], list(side.values())) for side in sides]
    scores = coreference_scores(given_[:1], given_[1:])
    assert scores.lea == pytest.approx((precision, recall))
    if c_k and n_k:
        ratio = lambda part, whole: len(part) / len(whole) if whole else 0.0  # noqa: E731
        assert scores.blanc.recall == pytest.approx(
            (ratio(c_k & c_r, c_k) + ratio(n_k & n_r, n_k)) / 2
        )
        assert scores.blanc.precision == pytest.approx(
            (ratio(c_k & c_r, c_r) + ratio(n_k & n_r, n_r)) / 2
        )
    if c_k:
        assert scores.pairwise.recall == pytest.approx(len(c_k & c_r) / len(c_k))
