"""Files of predictions to report on."""

import gzip
import json

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from sklearn_calib.datasets import make_queries
from sklearn_calib.report._command import main

SAMPLE = make_queries(800, distortion="slope", group_size=4, dependence=0.5, random_state=0)
WORDS = np.where(SAMPLE.y_true, "yes", "no").tolist()
SCORES = [repr(float(q)) for q in SAMPLE.y_prob]
DOCS = SAMPLE.queries.group.tolist()
NAMES = ("label", "score", "doc")
ROWS = list(zip(WORDS, SCORES, DOCS, strict=True))


def write(path, rows=ROWS, names=NAMES):
    """Write rows in the format that the name tells."""
    suffix = [s for s in path.suffixes if s != ".gz"][-1]
    if suffix == ".parquet":
        columns = dict(zip(names, (list(c) for c in zip(*rows, strict=True)), strict=True))
        columns["score"] = [float(s) for s in columns["score"]]
        parquet.write_table(pa.table(columns), path)
        return path
    if suffix == ".jsonl":
        lines = [json.dumps({"label": w, "score": float(s), "doc": d}) for w, s, d in rows]
    else:
        mark = "\t" if suffix == ".tsv" else ","
        lines = [mark.join(names)] + [mark.join(map(str, row)) for row in rows]
    text = "\n".join(lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def run(path, *options):
    return main(["report", str(path), "--y-true", "label", "--y-prob", "score", *options])
