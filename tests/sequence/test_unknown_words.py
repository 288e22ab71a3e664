"""What stands for a word that training lacks."""

from sklearn_calib.sequence._unknown_words import learn_signatures, signatures


def test_signatures_go_from_specific_to_general():
    names = list(signatures("Re-running"))
    assert names[0] == "X-*ning"
    assert names[-2:] == ["X-*", "<unknown>"]
    assert list(signatures("A")) == ["X*", "<unknown>"]
    assert next(signatures("1980s")) == "0*980s"
    assert next(signatures("...")) == ".*.."


def test_each_word_counts_for_one_signature():
    words = [f"word{i}ing" for i in range(4)] + [f"other{i}ting" for i in range(5)]
    kept = learn_signatures(words)
    # "ting" is frequent enough on its own; the rest of "ing" is too rare until it meets "g".
    assert "0*ting" in kept
    assert "0*ing" not in kept
    assert kept[-1] == "<unknown>"
