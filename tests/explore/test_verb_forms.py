"""Forms of English verbs, as they are found in text that is not parsed."""

import pytest

from sklearn_calib.explore._verb_forms import noun_needles, verb_needles


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("attack", "attack attacks attacked attacking ATTACKED counterattacks"),
        ("raid", "raid raids raided raiding"),
        ("seize", "seize seizes seized seizing"),
        ("occupy", "occupy occupies occupied occupying"),
        ("bomb", "bombs bombed"),
        ("rob", "rob robbed robbing"),
        ("die", "die dies died dying"),
        ("lie", "lie lies lay lain lying lied"),
        ("fight", "fights fought fighting"),
        ("strike", "strike struck stricken striking"),
        ("shoot", "shoots shot shooting"),
        ("withdraw", "withdraws withdrew withdrawn"),
        ("overthrow", "overthrew overthrown"),
        ("undergo", "undergoes underwent undergone"),
        ("Take", "took taken taking"),
        ("organise", "organized organising"),
        ("organize", "organised organizing"),
        ("be", "is 's was"),
        ("carry-out", "carried"),
        ("tuer", "tuer"),
    ],
)
def test_every_form_has_a_needle(verb, forms):
    for form in forms.split():
        assert any(needle in form.casefold() for needle in verb_needles(verb)), form


def test_other_words_have_none():
    for verb, word in [
        ("attack", "attach"),
        ("strike", "stroke"),
        ("fight", "flight"),
        ("go", "G"),
    ]:
        assert not any(needle in word.casefold() for needle in verb_needles(verb))


@pytest.mark.parametrize(
    ("noun", "forms"),
    [
        ("attack", "attack attacks ATTACKS counterattack"),
        ("enemy", "enemy enemies"),
        ("crisis", "crisis crises"),
        ("coup", "coup coups"),
        ("wolf", "wolf wolves"),
        ("man", "man men"),
        ("person", "person people persons"),
        ("war", "wars"),
        ("coup d'etat", "anything"),
    ],
)
def test_every_form_of_a_noun_has_a_needle(noun, forms):
    for form in forms.split():
        assert any(needle in form.casefold() for needle in noun_needles(noun)), form


def test_other_nouns_have_none():
    assert not any(needle in "defence" for needle in noun_needles("attack"))
