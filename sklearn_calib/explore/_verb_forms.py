"""What the forms of an English verb or noun look like, to find them in text that is not parsed."""

from __future__ import annotations

from functools import cache

__all__ = ["noun_needles", "verb_needles"]

# Forms that do not begin like their verb, "fight" and "fought"; those that do need no mention.
_IRREGULAR = """
arise arose, awake awoke, bear bore born, become became, befall befell, begin began begun, behold
beheld, bend bent, bereave bereft, beseech besought, bid bade, bind bound, bite bit, bleed bled,
blow blew, break broke, breed bred, bring brought, build built, buy bought, catch caught, choose
chose, cleave clove cleft, cling clung, clothe clad, come came, creep crept, deal dealt, dig dug,
draw drew, drink drank drunk, drive drove, dwell dwelt, eat ate, fall fell, feed fed, feel felt,
fight fought, find found, flee fled, fling flung, fly flew, forget forgot, forgive forgave,
forsake forsook, freeze froze, get got, gild gilt, gird girt, give gave, go went gone, grind
ground, grow grew, hang hung, hear heard, hide hid, hold held, keep kept, kneel knelt, know knew,
lay laid, lead led, leave left, lend lent, lie lay lain, light lit, lose lost, make made, mean
meant, meet met, pay paid, rend rent, ride rode, ring rang rung, rise rose, rive rove, run ran,
say said, see saw seen, seek sought, sell sold, send sent, sew sewn, shake shook, shear shorn,
shine shone, shoe shod, shoot shot, show shew, shrink shrank shrunk, sing sang sung, sink sank
sunk, sit sat, slay slew slain, sleep slept, slide slid, sling slung, slink slunk, smell smelt,
smite smote smitten, sneak snuck, speak spoke, speed sped, spell spelt, spend spent, spill spilt,
spin spun span, spit spat, spoil spoilt, spring sprang sprung, stand stood, steal stole, stick
stuck, sting stung, stink stank stunk, strew strewn, stride strode stridden, strike struck
stricken, string strung, strive strove, swear swore sworn, sweep swept, swell swollen, swim swam
swum, swing swung, take took, teach taught, tear tore torn, tell told, think thought, throw threw,
tread trod, wake woke, want wan, wear wore worn, weave wove, weep wept, win won, wind wound, wring
wrung, write wrote
"""
# Verbs whose forms are so short or so varied that looking for them is no use.
_ANYWHERE = "be have do can could will would shall should may might must ought"


@cache
def _table() -> dict[str, tuple[str, ...]]:
    rows = (row.split() for row in _IRREGULAR.split(","))
    return {verb: tuple(forms) for verb, *forms in rows}


@cache
def verb_needles(verb: str) -> frozenset[str]:
    """Return texts one of which is a part of every form of an English verb.

    They are without case. The empty text, which is a part of everything, stands
    for verbs of which nothing can be said.
    """
    verb = verb.casefold()
    if verb in _ANYWHERE.split() or not (verb.isascii() and verb.isalpha()):
        return frozenset({""})
    found = {verb[:-1] if verb[-1] in "ey" else verb}  # "raided", but "seizing" and "occupied"
    if verb.endswith(("ise", "ize", "yse", "yze")):  # one for the other
        found = {verb[:-2]}
    if verb.endswith("ie"):  # "dying"
        found.add(f"{verb[:-2]}ying")
    for irregular, forms in _table().items():
        if verb.endswith(irregular):  # "withdraw" as "draw"
            start = verb[: -len(irregular)]
            found.update(start + form for form in forms)
    return frozenset(found)


# Nouns whose plural differs in more than its last two letters.
_IRREGULAR_NOUNS = {
    "foot": "feet",
    "goose": "geese",
    "louse": "lice",
    "mouse": "mice",
    "penny": "pence",
    "person": "people",
    "tooth": "teeth",
}


@cache
def noun_needles(noun: str) -> frozenset[str]:
    """Return texts one of which is a part of both forms of an English noun.

    They are without case: "enem" for "enemy" and "enemies", "cris" for "crisis" and
    "crises".
    """
    noun = noun.casefold()
    if not (noun.isascii() and noun.isalpha()):
        return frozenset({""})
    found = {noun[: max(1, len(noun) - 2)]}
    for irregular, plural in _IRREGULAR_NOUNS.items():
        if noun.endswith(irregular):
            found.add(noun.removesuffix(irregular) + plural)
    return frozenset(found)
