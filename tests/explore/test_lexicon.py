"""Lexicons: which names are found, and which are not."""

import os
import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_calib.explore import Lexicon, country_lexicon
from tests.limits import within_limits


def keys(text, lexicon=None):
    return [match.key for match in (lexicon or country_lexicon()).match(text.split())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Iraq", ["IRQ"]),
        ("the iraqi army", ["IRQ"]),
        ("IRAQIS and Iraqis'", ["IRQ", "IRQ"]),
        ("the U.S. told us", ["USA"]),
        ("US forces , U.S.A. forces", ["USA", "USA"]),
        ("the United States of America", ["USA"]),
        ("roast turkey in Turkey", ["TUR"]),
        ("TURKEY says", ["TUR"]),
        ("fine china from China", ["CHN"]),
        ("a polish for Polish shoes", ["POL"]),
        ("Poles at the north pole", ["POL"]),
        ("Niger is not Nigeria , nor Nigerien Nigerian", ["NER", "NGA", "NER", "NGA"]),
        ("Guinea", ["GIN"]),
        ("Guinea-Bissau", ["GNB"]),
        ("Guinea - Bissau", ["GNB"]),
        ("Equatorial Guinea and Papua New Guinea", ["GNQ", "PNG"]),
        ("a guinea pig of New Guinea", []),
        ("Congo , Republic of Congo , Democratic Republic of the Congo", ["COD", "COG", "COD"]),
        ("South Sudanese and Sudanese", ["SSD", "SDN"]),
        ("North Koreans , South Koreans", ["PRK", "KOR"]),
        ("the Indian Ocean and Latin Americans", []),
        ("Côte d'Ivoire and Cote d’Ivoire", ["CIV", "CIV"]),  # noqa: RUF001
        ("St. Lucia and Saint Lucia", ["LCA", "LCA"]),
        ("People 's Republic of China", ["CHN"]),
        ("the Swiss , Cyprus , Laos and the Philippines", ["CHE", "CYP", "LAO", "PHL"]),
        ("the Americas , two Koreas , South Georgia , Sioux Indians", []),
        ("the British Indian Ocean Territory", []),
        ("N. Korea , S. Korea , N. Koreans , N. Ireland", ["PRK", "KOR", "PRK", "GBR"]),
        ("S. Sudan , S. Africa , W. Germany", ["SSD", "ZAF", "DEU"]),
        ("North Pole , South Pole , Pole vault , Guinea pigs", []),
        ("Korean People 's Army", ["PRK"]),
        ("Peoples Republic of China , Peoples' Republic of China", ["CHN", "CHN"]),
        ("Chinese Taipei", ["TWN"]),
        ("Bosniaks , Brits , U. S. , U. S. A. , U. K.", ["BIH", "GBR", "USA", "USA", "GBR"]),
        ("the United States' , the Netherlands’ , Iraq's", ["USA", "NLD", "IRQ"]),  # noqa: RUF001
        ("US-led and anti-American", []),
        ("", []),
    ],
)
def test_countries_are_found(text, expected):
    assert keys(text) == expected


def test_matches_have_positions_and_do_not_overlap():
    text = "The army of Papua New Guinea fled Guinea"
    matches = country_lexicon().match(text.split())
    assert [(m.start, m.end, m.key) for m in matches] == [(3, 6, "PNG"), (7, 8, "GIN")]


def test_shipped_list_is_complete_and_consistent():
    lexicon = country_lexicon()
    assert len(lexicon) == 230
    for key, names in lexicon.entries.items():
        assert len(key) == 3
        assert key.isupper()
        for name in names:
            assert keys(name.lstrip("="), lexicon) == [key], name
    for name in lexicon.ignore:
        assert keys(name, lexicon) == []


def test_overlapping_entries():
    with pytest.raises(ValueError, match="'Congo' belongs to both 'COG' and 'COD'"):
        Lexicon({"COG": ["Congo"], "COD": ["Congo"]})
    twice = Lexicon({"USA": ["US", "=US"]})
    assert keys("us", twice) == ["USA"]  # the looser entry holds


def test_stemming_can_be_turned_off():
    assert keys("Iraqis", Lexicon({"IRQ": ["Iraqi"]}, stem=False)) == []


def test_user_file(tmp_path):
    path = tmp_path / "groups.tsv"
    path.write_text("# comment\nNATO\t=NATO; Atlantic Alliance\n\nNATO\tOTAN\n-\tNATO phonetic\n")
    lexicon = Lexicon.read(path)
    assert keys("NATO , the Atlantic alliance , Otan , nato , NATO phonetic", lexicon) == [
        "NATO",
        "NATO",
        "NATO",
    ]
    path.write_text("NATO\tOtan\n", encoding="utf-8-sig")  # with a byte order mark
    assert list(Lexicon.read(path).entries) == ["NATO"]
    path.write_text("NATO\n")
    with pytest.raises(ValueError, match=r"groups.tsv, line 1: a key, a tab and names"):
        Lexicon.read(path)


def test_merge():
    lexicon = country_lexicon().merge({"NATO": ["=NATO"], "USA": ["Uncle Sam"]})
    assert keys("NATO and Uncle Sam", lexicon) == ["NATO", "USA"]
    assert "NATO" not in country_lexicon().entries
    with pytest.raises(ValueError, match="'Iraq' belongs to both"):
        country_lexicon().merge({"X": ["Iraq"]})


def test_entries_cannot_be_changed():
    for lexicon in (country_lexicon(), pickle.loads(pickle.dumps(country_lexicon()))):
        with pytest.raises(TypeError):
            lexicon.entries["USA"] = ()


def test_without_keys_and_names():
    lexicon = country_lexicon().without(["Georgia", "IRQ"])
    assert keys("Georgia , a Georgian and an Iraqi", lexicon) == ["GEO"]
    assert keys("Georgia", lexicon.merge({"US-GA": ["Georgia"]})) == ["US-GA"]
    assert keys("Georgia", lexicon.merge(Lexicon({}, ignore=["Georgia"]))) == []
    assert keys("the Indian Ocean", country_lexicon().without(["Indian Ocean"])) == ["IND"]
    with pytest.raises(ValueError, match=r"belongs to both 'GEO' and ignore.*without"):
        country_lexicon().merge(Lexicon({}, ignore=["Georgia"]))
    with pytest.raises(ValueError, match="'atlantis' is neither a key nor a name"):
        lexicon.without(["Atlantis"])
    with pytest.raises(TypeError, match="not the single str"):
        lexicon.without("IRQ")


def test_merge_wants_the_same_stemming():
    plain = Lexicon({"A": ["ant"]}, stem=False)
    with pytest.raises(ValueError, match="stem=False and the other stem=True"):
        plain.merge(Lexicon({"B": ["bee"]}))
    assert keys("bees", plain.merge({"B": ["bee"]})) == []


def test_two_ways_to_write_a_name():
    lexicon = Lexicon({"A": ["=Us", "=uS"]})
    assert keys("Us uS us", lexicon) == ["A", "A"]
    assert keys("us", Lexicon({"A": ["=Us", "us", "=uS"]})) == ["A"]


def test_bad_entries():
    with pytest.raises(TypeError, match="must map each key"):
        Lexicon(["Iraq"])
    with pytest.raises(TypeError, match="not the single str"):
        Lexicon({"IRQ": "Iraq"})
    with pytest.raises(ValueError, match="is not a name"):
        Lexicon({"IRQ": ["="]})
    with pytest.raises(TypeError, match="key of a lexicon must be a str"):
        Lexicon({1: ["Iraq"]})


def test_pickle():
    lexicon = pickle.loads(pickle.dumps(country_lexicon()))
    assert keys("Iraq", lexicon) == ["IRQ"]


def test_data_file_ships_with_the_package():
    import sklearn_calib

    folder = os.path.join(os.path.dirname(sklearn_calib.__file__), "explore", "data")
    with open(os.path.join(folder, "countries.tsv"), encoding="utf-8") as lines:
        assert "BSD-3-Clause" in lines.read()


def test_a_lexicon_reads_as_a_line_and_becomes_a_table():
    lexicon = Lexicon({"USA": ["=US", "American"], "GIN": ["Guinea"]})
    assert repr(lexicon) == "<Lexicon: 2 keys, 3 names>"
    assert lexicon._repr_html_() == "<p>&lt;Lexicon: 2 keys, 3 names&gt;</p>"
    pytest.importorskip("pandas")
    assert lexicon.to_frame().to_numpy().tolist() == [
        ["USA", "=US"],
        ["USA", "American"],
        ["GIN", "Guinea"],
    ]


def test_a_name_has_a_bounded_number_of_words(tmp_path):
    path = tmp_path / "names.tsv"
    path.write_text("USA\tAmerica\nLONG\t" + "word " * 10_000 + "\n")
    with (
        within_limits(),
        pytest.raises(ValueError, match=r"names\.tsv, line 2: the name 'word .* 50 "),
    ):
        Lexicon.read(path)
    with pytest.raises(ValueError, match=r"'LONG': the name 'a a .* has 51 words"):
        Lexicon({"LONG": ["a " * 51]})
    # As long as it may be, and all but found at every word of a text.
    lexicon = Lexicon({"LONG": ["a " * 49 + "b"], "SHORT": ["a"]})
    with within_limits():
        found = lexicon.match(["a"] * 100_000)
    assert len(found) == 100_000
    assert [match.key for match in lexicon.match(["a"] * 60 + ["b"])] == ["SHORT"] * 11 + ["LONG"]


def test_files_of_names_that_cannot_be_read(tmp_path):
    path = tmp_path / "names.tsv"
    path.write_bytes(b"USA\tAmerica\nCAF\tCaf\xe9\n")
    with pytest.raises(ValueError, match=r"names\.tsv, line 2: not UTF-8 text"):
        Lexicon.read(path)
    path.write_text("USA\tAmerica\nCAN\tAmerica\n")
    with pytest.raises(ValueError, match=r"names\.tsv: The name 'America' belongs to both"):
        Lexicon.read(path)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The U.S. army", True),
        ("they told us", False),
        ("THE US ARMY", True),
        ("Iraqis left", True),
        ("in Côte d’Ivoire", True),  # noqa: RUF001
        ("Guinea - Bissau", True),
        ("polish the table", False),
        ("nobody", False),
        ("", False),
    ],
)
def test_a_text_without_names_is_known_before_it_is_split(text, found):
    assert country_lexicon().may_match(text) == found


NAMES = ["U.S.", "us", "Iraqis", "Côte d’Ivoire", "New Guinea", "Guinea-Bissau", "Niger's"]  # noqa: RUF001
PIECES = [
    "U",
    ".",
    "S",
    "s",
    "'s",
    "-",
    " ",
    "Iraq",
    "i",
    "Papua",
    "Guinea",
    "\u0301",
    "é",
    "NİGER",
]


@given(
    st.lists(st.sampled_from([*NAMES, *PIECES]), max_size=8).map("".join),
    st.lists(st.integers(0, 40), max_size=8),
)
def test_whatever_matches_may_match_however_the_text_is_split(text, cuts):
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    tokens = [text[a:b] for a, b in pairwise(places)]
    words = [word for token in tokens for word in token.split()]
    for lexicon in (
        country_lexicon(),
        Lexicon({"A": ["=Us", "...", "Niger Iraq"], "B": ["côte"]}, ignore=["Papua"]),
        Lexicon({"A": ["=U.S", "Guinea"], "B": ["d'ivoire"]}, stem=False),
    ):
        if lexicon.match(tokens) or lexicon.match(words):
            assert lexicon.may_match(text)


def test_messages_about_long_names_are_short():
    for entries in ({"K": ["=" * 10_000]}, {"k" * 10_000: [" "]}, {"K": ["- " * 5000]}):
        with pytest.raises(ValueError, match="is not a name") as caught:
            Lexicon(entries)
        assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match="belongs to both") as caught:
        Lexicon({"a" * 9000: ["n" * 9000], "b" * 9000: ["n" * 9000]})
    assert len(str(caught.value)) < 500
