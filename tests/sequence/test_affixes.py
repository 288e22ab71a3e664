"""Prefixes and suffixes, found without making strings of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sklearn_calib.sequence._affixes import LONGEST, Affixes

# Few letters, so that affixes meet; and any others, of any plane.
letters = st.one_of(st.sampled_from("abç😀"), st.characters(exclude_characters="\0"))
words = st.lists(st.text(letters, max_size=6), max_size=12)


def looked_up(values, words, at_end):
    """Return the same by a dict of strings."""
    place = {value: i for i, value in enumerate(values)}
    found = []
    for n in range(1, LONGEST + 1):
        cut = [word[-n:] if at_end else word[:n] for word in words]
        found.append([place.get(c, -1) if len(c) == n else -1 for c in cut])
    return found


@given(words, words, st.booleans())
def test_affixes_are_found_as_in_a_dict(known, others, at_end):
    values = dict.fromkeys(
        word[-n:] if at_end else word[:n] for word in known for n in (1, 2, 3, 4)
    )
    # Without some of them: a model may lack a prefix and know a longer one.
    values = [value for i, value in enumerate(values) if value and i % 3]
    found = Affixes(values, at_end=at_end).find(known + others)
    np.testing.assert_array_equal(found, looked_up(values, known + others, at_end))


def test_a_longer_prefix_is_known_without_its_beginning():
    found = Affixes(["abcd", "b"], at_end=False).find(["abcde", "bcd", "abc", ""])
    assert [each.tolist() for each in found] == [
        [-1, 1, -1, -1],
        [-1, -1, -1, -1],
        [-1, -1, -1, -1],
        [0, -1, -1, -1],
    ]


def test_no_values_and_no_words():
    assert [each.tolist() for each in Affixes([], at_end=True).find(["a", "bc"])] == [[-1, -1]] * 4
    assert [each.tolist() for each in Affixes(["a"], at_end=True).find([])] == [[]] * 4
