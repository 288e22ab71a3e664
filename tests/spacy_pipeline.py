"""A small spaCy pipeline that learns a handful of sentences by heart, in seconds."""

import random

import spacy
from spacy.training import Example
from spacy.util import minibatch

# Word, lemma, part of speech, head (from 1; 0 is the root) and label, as spaCy's own pipelines
# label English.
SENTENCES = """
American american ADJ 2 amod
troops troop NOUN 3 nsubj
attacked attack VERB 0 ROOT
the the DET 5 det
town town NOUN 3 dobj
. . PUNCT 3 punct

Iraqi iraqi ADJ 2 amod
troops troop NOUN 3 nsubj
crossed cross VERB 0 ROOT
the the DET 5 det
river river NOUN 3 dobj
. . PUNCT 3 punct

They they PRON 2 nsubj
attacked attack VERB 0 ROOT
the the DET 4 det
port port NOUN 2 dobj
. . PUNCT 2 punct

The the DET 2 det
town town NOUN 4 nsubjpass
was be AUX 4 auxpass
attacked attack VERB 0 ROOT
by by ADP 4 agent
Iraqi iraqi ADJ 7 amod
troops troop NOUN 5 pobj
. . PUNCT 4 punct

The the DET 2 det
port port NOUN 4 nsubjpass
was be AUX 4 auxpass
attacked attack VERB 0 ROOT
by by ADP 4 agent
Iran Iran PROPN 5 pobj
. . PUNCT 4 punct

The the DET 2 det
army army NOUN 5 nsubj
of of ADP 2 prep
Iraq Iraq PROPN 3 pobj
left leave VERB 0 ROOT
. . PUNCT 5 punct

Iran Iran PROPN 2 nsubj
attacked attack VERB 0 ROOT
Iraq Iraq PROPN 2 dobj
. . PUNCT 2 punct

They they PRON 2 nsubj
left leave VERB 0 ROOT
the the DET 4 det
town town NOUN 2 dobj
. . PUNCT 2 punct
"""


def train():
    """Return a pipeline with tags, lemmas and a parse, trained on the sentences above."""
    random.seed(0)
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    small = {
        "@architectures": "spacy.HashEmbedCNN.v2", "width": 32, "depth": 2, "embed_size": 200,
        "window_size": 1, "maxout_pieces": 2, "subword_features": False, "pretrained_vectors": None,
    }  # fmt: skip
    nlp.add_pipe("tok2vec", config={"model": small})
    shared = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32, "upstream": "*"}
    nlp.add_pipe("morphologizer", config={"model": {"tok2vec": shared}})
    nlp.add_pipe("trainable_lemmatizer", config={"model": {"tok2vec": shared}, "min_tree_freq": 1})
    nlp.add_pipe(
        "parser",
        config={"model": {"tok2vec": shared, "hidden_width": 32}, "min_action_freq": 1},
    )
    sentences = [block.splitlines() for block in SENTENCES.strip().split("\n\n")]
    examples = []
    for _ in range(24):
        # Documents of three sentences, so that the parser learns where one ends.
        words, lemmas, pos, heads, deps, starts = [], [], [], [], [], []
        for sentence in random.sample(sentences, 3):
            at = len(words)
            for i, row in enumerate(sentence):
                word, lemma, upos, head, label = row.split()
                words.append(word)
                lemmas.append(lemma)
                pos.append(upos)
                heads.append(at + (int(head) - 1 if int(head) else i))
                deps.append(label)
                starts.append(i == 0)
        spaces = [i + 1 < len(words) and words[i + 1] != "." for i in range(len(words))]
        gold = spacy.tokens.Doc(
            nlp.vocab, words=words, spaces=spaces, lemmas=lemmas, pos=pos, heads=heads, deps=deps,
            sent_starts=starts,
        )  # fmt: skip
        examples.append(Example(nlp.make_doc(gold.text), gold))
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(12):
        random.shuffle(examples)
        for batch in minibatch(examples, 8):
            nlp.update(batch, sgd=optimizer, drop=0.0)
    return nlp
