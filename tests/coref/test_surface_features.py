"""Features of words, lengths, distances and matches."""

from sklearn_calib.coref import Document, MentionFeatures, surface_features


def test_features_say_what_they_hold():
    mentions = [(0, 1), (2, 3), (2, 4)]
    seen = surface_features(Document("demo", ["Ada", "fed", "her", "dog"], mentions=mentions))
    assert repr(seen).startswith("<MentionFeatures of 3 mentions; of each: length, head, ")
    assert "same_head" in repr(seen)
    frame = seen.to_frame()
    assert frame["type"].tolist() == ["PROPER", "she", "NOMINAL"]
    assert frame["head"].dropna().tolist() == ["ada", "dog"]
    assert repr(MentionFeatures(["x"])) == (
        "<MentionFeatures of 1 mention; of each: none; of pairs: none>"
    )
