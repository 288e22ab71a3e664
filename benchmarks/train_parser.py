"""Train a small English spaCy pipeline on GUM, with Universal Dependencies labels.

    pip install "spacy>=3.8,<3.9"
    python benchmarks/train_parser.py --data-home FOLDER --out pipeline

No pretrained pipeline is needed. Words, tags, lemmas and parses are learnt from
GUM's training part for a fixed number of steps (about 20 minutes on one core),
and measured on its test part twice: on the raw text and on the words of the
treebank. The pipeline itself is not a part of the package, because some of GUM's
texts may not be used commercially.

`--half 0` and `--half 1` train on every second document of the genres whose texts may
be used commercially. A model that is to learn from machine parses needs parses of
documents which the parser has not seen: each half is parsed by the pipeline of the
other (`train_antecedent_model.py`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from pathlib import Path

import spacy
from spacy.scorer import Scorer
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from thinc.api import Config, fix_random_seed

RESULTS = Path(__file__).parent / "results" / "parser.json"
# The genres of GUM whose texts have a licence that allows commercial use, according to
# GUM's LICENSE.md and, for those that it does not list, the corpus's website. Essays,
# fiction, letters, podcasts, wikiHow and Reddit are non-commercial; not every speech states a
# licence.
FREE_GENRES = {
    "academic": "CC BY 4.0",
    "bio": "CC BY-SA 3.0",
    "conversation": "CC BY",
    "court": "CC BY 4.0",
    "interview": "CC BY 2.5",
    "news": "CC BY 2.5",
    "textbook": "CC BY",
    "vlog": "CC BY",
    "voyage": "CC BY-SA 3.0",
}

SENTENCES = 10  # per training text: the parser also learns where sentences end

CONFIG = """
[paths]
train = null
dev = null

[system]
seed = 0
gpu_allocator = null

[nlp]
lang = "en"
pipeline = ["tok2vec", "tagger", "morphologizer", "trainable_lemmatizer", "parser"]
batch_size = 256

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"

[components.tok2vec.model.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 96
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [5000, 1000, 2500, 2500]
include_static_vectors = false

[components.tok2vec.model.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 96
depth = 4
window_size = 1
maxout_pieces = 3

[components.tagger]
factory = "tagger"

[components.tagger.model]
@architectures = "spacy.Tagger.v2"

[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

[components.morphologizer]
factory = "morphologizer"

[components.morphologizer.model]
@architectures = "spacy.Tagger.v2"

[components.morphologizer.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

[components.trainable_lemmatizer]
factory = "trainable_lemmatizer"
min_tree_freq = 3
top_k = 1

[components.trainable_lemmatizer.model]
@architectures = "spacy.Tagger.v2"

[components.trainable_lemmatizer.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

[components.parser]
factory = "parser"
min_action_freq = 20

[components.parser.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "parser"
extra_state_tokens = false
hidden_width = 64
maxout_pieces = 2
use_upper = true

[components.parser.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

[corpora]

[corpora.train]
@readers = "spacy.Corpus.v1"
path = ${paths.train}
max_length = 0

[corpora.dev]
@readers = "spacy.Corpus.v1"
path = ${paths.dev}
max_length = 0

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
seed = ${system.seed}
gpu_allocator = ${system.gpu_allocator}
dropout = 0.1
patience = 0
max_epochs = 0
max_steps = 4000
eval_frequency = 500
accumulate_gradient = 1

[training.batcher]
@batchers = "spacy.batch_by_words.v1"
discard_oversize = false
tolerance = 0.2

[training.batcher.size]
@schedules = "compounding.v1"
start = 300
stop = 1500
compound = 1.001

[training.optimizer]
@optimizers = "Adam.v1"
learn_rate = 0.001

[training.score_weights]
tag_acc = 0.2
pos_acc = 0.1
lemma_acc = 0.2
dep_las = 0.4
sents_f = 0.1
"""


def sentences(lines):
    """Yield the document of each sentence, and its words with the space after them."""
    document, rows, glued, inside = "", [], set(), {}
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("# newdoc id"):
            document = line.partition("=")[2].strip()
        elif line.startswith("#"):
            continue
        elif not line:
            if rows:
                yield document, rows
            rows, glued, inside = [], set(), {}
        else:
            cells = line.split("\t")
            if "-" in cells[0]:  # a multiword token: no space inside, and its own after it
                first, last = map(int, cells[0].split("-"))
                glued |= set(range(first, last))
                inside[last] = "SpaceAfter=No" not in cells[9]
            elif "." not in cells[0]:
                i = int(cells[0])
                space = inside.get(i, i not in glued and "SpaceAfter=No" not in cells[9])
                rows.append((*cells[1:8], space))
    if rows:
        yield document, rows


def half_of(names):
    """Return which half each document belongs to; those of other genres belong to none."""
    free = [name for name in dict.fromkeys(names) if name.split("_")[1] in FREE_GENRES]
    return {name: i % 2 for i, name in enumerate(free)}


def texts(path, vocab, half=None):
    """Return texts of a few sentences each as annotated Docs, of all documents or of one half."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = list(sentences(lines))
    if half is not None:
        of = half_of(name for name, _ in found)
        found = [(name, rows) for name, rows in found if of.get(name) == half]
    docs, pending, current = [], [], None
    for name, rows in found:
        if pending and (name != current or len(pending) == SENTENCES):
            docs.append(as_doc(vocab, pending))
            pending = []
        current = name
        pending.append(rows)
    return [*docs, as_doc(vocab, pending)]


def as_doc(vocab, parts):
    """Return sentences as one annotated Doc."""
    columns = {name: [] for name in ("words", "lemmas", "pos", "tags", "morphs", "heads", "deps")}
    spaces, starts = [], []
    for rows in parts:
        base = len(spaces)
        for i, (form, lemma, pos, tag, morph, head, dep, space) in enumerate(rows):
            columns["words"].append(form)
            columns["lemmas"].append(lemma)
            columns["pos"].append(pos)
            columns["tags"].append(tag)
            columns["morphs"].append("" if morph == "_" else morph)
            columns["heads"].append(base + (i if head == "0" else int(head) - 1))
            columns["deps"].append("ROOT" if head == "0" else dep)
            spaces.append(space)
            starts.append(i == 0)
    return Doc(vocab, spaces=spaces, sent_starts=starts, **columns)


def measure(nlp, docs):
    """Return figures on raw text, on given words, and the speed in words per second."""
    scorer = Scorer(nlp)
    keys = ("token_f", "tag_acc", "pos_acc", "lemma_acc", "dep_uas", "dep_las", "sents_f")
    raw = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    plain = [
        Example(Doc(nlp.vocab, [t.text for t in d], [bool(t.whitespace_) for t in d]), d)
        for d in docs
    ]
    figures = {}
    for name, examples in (("raw_text", raw), ("gold_words", plain)):
        for example, predicted in zip(
            examples, nlp.pipe([e.predicted for e in examples]), strict=True
        ):
            example.predicted = predicted
        scores = scorer.score(examples)
        figures[name] = {key: round(scores[key], 4) for key in keys}
    start = time.process_time()
    words = sum(len(doc) for doc in nlp.pipe([doc.text for doc in docs]))
    figures["words_per_second"] = round(words / (time.process_time() - start))
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="where to save the pipeline")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument(
        "--half", type=int, choices=(0, 1), help="train on every second document of the free genres"
    )
    options = parser.parse_args()
    random.seed(0)
    fix_random_seed(0)

    blank = spacy.blank("en")
    options.out.mkdir(parents=True, exist_ok=True)
    paths = {}
    for part in ("train", "dev"):
        half = options.half if part == "train" else None
        docs = texts(options.data_home / f"gum_{part}.conllu.gz", blank.vocab, half)
        paths[part] = options.out / f"{part}.spacy"
        DocBin(docs=docs, store_user_data=False).to_disk(paths[part])
    config = Config().from_str(CONFIG, interpolate=False)
    config["paths"] = {name: str(path) for name, path in paths.items()}
    config["training"]["max_steps"] = options.steps
    config["training"]["logger"] = {"@loggers": "spacy.ConsoleLogger.v1", "progress_bar": False}
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    start = time.process_time()
    nlp = init_nlp(nlp.config.copy())
    train(nlp, options.out, use_gpu=-1)
    seconds = time.process_time() - start
    for path in paths.values():
        path.unlink()

    best = spacy.load(options.out / "model-best")
    test = texts(options.data_home / "gum_test.conllu.gz", best.vocab)
    figures = {
        "spacy": spacy.__version__,
        "steps": options.steps,
        "training_seconds": round(seconds),
        "gum_test": measure(best, test),
    }
    text = json.dumps(figures, indent=2) + "\n"
    print(text)
    (options.out / "figures.json").write_text(text)
    if options.half is None:
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
