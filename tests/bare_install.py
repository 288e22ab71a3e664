"""Run by `make dist` in an environment that has the wheel and none of its extras.

The argument is the folder of what was built. Nothing here may import pytest.
"""

import importlib.util
import sys
import tarfile
import tempfile
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import requires
from io import StringIO
from pathlib import Path

import numpy as np

import sklearn_calib
from sklearn_calib.coref import Document, load_antecedent_model, parse_texts
from sklearn_calib.datasets import (
    load_conll2000,
    load_gum,
    make_chunked_sequences,
    make_coref_documents,
    make_event_corpus,
    make_queries,
)
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon
from sklearn_calib.report._command import main
from sklearn_calib.sequence import CRFTagger, HMMTagger

EXTRAS = ["dask", "distributed", "hmmlearn", "matplotlib", "pandas", "polars", "pooch", "pyarrow"]
EXTRAS += ["sklearn_crfsuite", "spacy", "tqdm"]


def check_archives(folder):
    """What must be there is there, and nothing that happened to lie around."""
    [wheel], [source] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    assert sklearn_calib.__version__ in wheel.name
    assert sklearn_calib.__version__ in source.name
    names = zipfile.ZipFile(wheel).namelist()
    for needed in (
        "py.typed",
        "coref/data/english_notice.txt",
        "datasets/data/gum.tsv",
        "__main__.py",
    ):
        assert f"sklearn_calib/{needed}" in names, needed
    assert any(name.endswith("licenses/LICENSE") for name in names)
    tops = {name.split("/")[0] for name in names}
    assert tops == {"sklearn_calib", f"sklearn_calib-{sklearn_calib.__version__}.dist-info"}, tops
    with tarfile.open(source) as archive:
        names = ["/".join(name.split("/")[1:]) for name in archive.getnames()]
    for needed in ("tests/test_readme.py", "README.md", "CHANGELOG.md", "LICENSE", "noxfile.py"):
        assert needed in names, needed
    tops = {name.split("/")[0] for name in names}
    known = {
        "benchmarks",
        "docs",
        "examples",
        "sklearn_calib",
        "tests",
        ".editorconfig",
        ".gitignore",
    }
    known |= {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "PKG-INFO"}
    assert tops <= known | {"README.md", "noxfile.py", "pyproject.toml"}, tops
    for name in names:
        assert "__pycache__" not in name, name
        assert not name.startswith(("docs/_build/", "docs/auto_examples/", "docs/generated/")), name


def check_requirements():
    """Everything can be installed where some of it has no wheels: it is left out there."""
    everything = [line for line in requires("sklearn-calib") if "'all'" in line.replace('"', "'")]
    for name in ("hmmlearn", "sklearn-crfsuite"):
        [line] = [line for line in everything if line.startswith(name)]
        assert "python_version <" in line, line


def check_that_it_works():
    """The core, models and documents need no extra."""
    queries = make_queries(500, random_state=0).queries
    assert 0 < sklearn_calib.adaptive_bin_calibration_error(queries) < 0.2
    assert sklearn_calib.calibration_test(queries).pvalue > 0.001
    assert sklearn_calib.calibration_error_interval(queries).confidence_interval.low >= 0
    X, y = [["the", "dog", "barks"], ["a", "dog"]] * 5, [["D", "N", "V"], ["D", "N"]] * 5
    tagger = CRFTagger(solver="lattice").fit(X, y)
    assert tagger.predict_proba(X).shape == (25, 3)
    documents = make_coref_documents(3, random_state=0).X
    assert len(load_antecedent_model().predict(documents)) == 3
    corpus = make_event_corpus(30, random_state=0)
    rule = AgentRule(country_lexicon())
    with tempfile.TemporaryDirectory() as folder:
        options = {"n_samples": 20, "random_state": 0, "checkpoint": folder}
        one = count_corpus(corpus.X, corpus.model, rule, **options)
        assert str(one) == str(count_corpus(corpus.X, corpus.model, rule, **options))


def check_the_command(folder):
    """A report and its page need no extra, and other files say which ones they need."""
    rng = np.random.default_rng(0)
    y_prob = rng.random(300)
    y_true = (rng.random(300) < y_prob).astype(int)
    rows = "\n".join(f"{y},{q}" for y, q in zip(y_true, y_prob, strict=True))
    path, page = folder / "predictions.csv", folder / "page.html"
    path.write_text(f"y_true,y_prob\n{rows}\n")
    columns = ["--y-true", "y_true", "--y-prob", "y_prob"]
    code, said = run("report", path, *columns)
    assert code == 0, said
    code, said = run("report", path, *columns, "--out", page)
    assert code == 0, said
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    parquet = folder / "predictions.parquet"
    parquet.write_bytes(b"PAR1")
    code, said = run("report", parquet, *columns)
    assert code == 2
    assert 'pip install "sklearn-calib[parquet]"' in said, said
    texts = folder / "news.jsonl"
    texts.write_text('{"text": "Iraq attacked.", "date": "2003-01-01"}\n')
    code, said = run("count", texts, "--spacy", "en_core_web_sm")
    assert code == 2
    assert 'pip install "sklearn-calib[spacy]"' in said, said


def run(*arguments):
    with redirect_stdout(StringIO()) as out, redirect_stderr(out):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as error:  # arguments that are not known
            code = error.code
    return code, out.getvalue()


def check_the_extras():
    """Whatever needs an extra says which one."""
    queries = make_queries(50, random_state=0).queries
    chunks = make_chunked_sequences(3, random_state=0)
    corpus = make_event_corpus(3, random_state=0)
    rule = AgentRule(country_lexicon())
    posterior = count_corpus(corpus.X, corpus.model, rule, n_samples=20)
    needs = {
        "plot": [
            lambda: sklearn_calib.AdaptiveCalibrationDisplay.from_predictions(queries, None),
            lambda: sklearn_calib.calibration_bins(queries).plot(),
            posterior.plot,
        ],
        "crf": [lambda: CRFTagger().fit(chunks.X, chunks.y)],
        "hmm": [
            lambda: HMMTagger().fit(chunks.X, chunks.y),
        ],
        "dask": [lambda: count_corpus(corpus.X, corpus.model, rule, client=object())],
        "spacy": [lambda: parse_texts(["A text."], "en_core_web_sm")],
        "data": [
            lambda: load_conll2000(data_home=tempfile.mkdtemp()),
            lambda: load_gum(data_home=tempfile.mkdtemp()),
        ],
        "pandas": [posterior.to_frame, Document("a", ["b"]).to_frame],
    }
    for extra, calls in needs.items():
        command = "pip install pandas" if extra == "pandas" else f"sklearn-calib[{extra}]"
        for call in calls:
            try:
                call()
                said = "nothing"
            except ImportError as error:
                said = str(error)
            assert command in said, (extra, said)
            assert "not installed" in said, (extra, said)


if __name__ == "__main__":
    there = [name for name in EXTRAS if importlib.util.find_spec(name) is not None]
    assert not there, f"this environment is not bare: {there}"
    assert "site-packages" in sklearn_calib.__file__, sklearn_calib.__file__
    check_archives(Path(sys.argv[1]))
    check_requirements()
    check_that_it_works()
    with tempfile.TemporaryDirectory() as name:
        check_the_command(Path(name))
    check_the_extras()
    print(f"sklearn-calib {sklearn_calib.__version__} works on its own, and names what it lacks.")
