"""Lexicons: which names are found, and which are not."""

import pickle

import pytest

from sklearn_calib import Lexicon, country_lexicon


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
    path.write_text("NATO\n")
    with pytest.raises(ValueError, match=r"groups.tsv, line 1: a key, a tab and names"):
        Lexicon.read(path)


def test_merge():
    lexicon = country_lexicon().merge({"NATO": ["=NATO"], "USA": ["Uncle Sam"]})
    assert keys("NATO and Uncle Sam", lexicon) == ["NATO", "USA"]
    assert "NATO" not in country_lexicon().entries
    with pytest.raises(ValueError, match="'Iraq' belongs to both"):
        country_lexicon().merge({"X": ["Iraq"]})


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
