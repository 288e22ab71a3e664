"""
Who did what to whom
====================

A rule that counts every subject of "attack" also counts attacks that were denied, threatened or
imagined. Six sentences show what the options of the rule see, and the rule says why it counts
each of them.
"""

# %%
# Six sentences
# -------------
# Each word has its lemma, its part of speech, the number of its head and its relation to it. With
# spaCy or Stanza, a parser writes this (see the user guide on raw text).

from sklearn_calib.coref import Document, find_mentions

NEWS = {
    "attack": "Israeli/israeli/ADJ/2/amod forces/force/NOUN/3/nsubj attacked/attack/VERB/0/root "
    "Lebanon/Lebanon/PROPN/3/obj",
    "denial": "Syria/Syria/PROPN/2/nsubj denied/deny/VERB/0/root that/that/SCONJ/6/mark "
    "Syrian/syrian/ADJ/5/amod troops/troop/NOUN/6/nsubj attacked/attack/VERB/2/ccomp "
    "Lebanon/Lebanon/PROPN/6/obj",
    "threat": "Iran/Iran/PROPN/2/nsubj threatened/threaten/VERB/0/root to/to/PART/4/mark "
    "attack/attack/VERB/2/xcomp Israel/Israel/PROPN/4/obj",
    "condition": "If/if/SCONJ/3/mark Iran/Iran/PROPN/3/nsubj attacks/attack/VERB/6/advcl "
    "we/we/PRON/6/nsubj will/will/AUX/6/aux answer/answer/VERB/0/root",
    "words": "The/the/DET/3/det Russian/russian/ADJ/3/amod president/president/NOUN/4/nsubj "
    "attacked/attack/VERB/0/root the/the/DET/6/det plan/plan/NOUN/4/obj",
    "noun": "A/a/DET/3/det Turkish/turkish/ADJ/3/amod attack/attack/NOUN/6/nsubj on/on/ADP/5/case "
    "Iraq/Iraq/PROPN/3/nmod killed/kill/VERB/0/root ten/ten/NUM/6/obj",
}


def document(name):
    rows = [word.split("/") for word in NEWS[name].split()]
    words, lemmas, upos, heads, relations = zip(*rows, strict=True)
    parsed = Document(
        name,
        words,
        lemmas=lemmas,
        upos=upos,
        heads=[int(head) - 1 for head in heads],
        relations=relations,
    )
    return parsed.replace(mentions=find_mentions(parsed))


documents = [document(name) for name in NEWS]
for parsed in documents:
    print(f"{parsed.id:<10} {' '.join(parsed.tokens)}")

# %%
# What each rule counts
# ---------------------
# The first rule is that of the paper. The others leave out what did not happen, ask for a target
# that belongs to another country, and look at nouns and at infinitives.

from sklearn_calib.explore import AgentRule, country_lexicon

UNREAL = ["negated", "modal", "conditional"]
RULES = {
    "the paper's": {},
    "exclude": {"exclude": UNREAL},
    "target": {"target": True},
    "control": {"control": True},
    "nouns": {"nouns": ["attack"]},
    "all of them": {"exclude": UNREAL, "target": True, "control": True, "nouns": ["attack"]},
}
rules = {name: AgentRule(country_lexicon(), **options) for name, options in RULES.items()}


def matches(rule, parsed):
    """Return why a rule holds, taking every mention for an entity of its own."""
    return [match for i in range(len(parsed)) for match in rule.explain(parsed, (i,))]


for name, rule in rules.items():
    print(f"{name}:")
    for parsed in documents:
        for match in matches(rule, parsed):
            print(f"    {match.key} ({match.pattern}): {match}")

# %%
# The same as a picture
# ---------------------
# A filled square is a sentence that the rule counts. Only the first and the last sentence are
# attacks that happened.

import matplotlib.pyplot as plt
import numpy as np

counted = np.array([[bool(matches(rule, d)) for d in documents] for rule in rules.values()])
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.pcolormesh(counted, cmap="Greys", vmin=0, vmax=1.4, edgecolors="white", linewidth=3)
ax.set_xticks(np.arange(len(documents)) + 0.5, [d.id for d in documents])
ax.set_yticks(np.arange(len(rules)) + 0.5, list(rules))
ax.invert_yaxis()
ax.tick_params(length=0)
for side in ax.spines.values():
    side.set_visible(False)
ax.set_title("Which sentences count as attacks")
plt.show()

# %%
# Who to whom
# -----------
# Triples of actor, verb and target are keys like any other: they can be counted by period, and
# they have intervals.

whom = AgentRule(country_lexicon(), exclude=UNREAL, nouns=["attack"], returns="triple")
for parsed in documents:
    for match in matches(whom, parsed):
        print(match.key)
