"""The command that counts: texts in, a page and tables out."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sklearn_calib.coref import load_antecedent_model, read_jsonl, write_conllu
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon
from sklearn_calib.report._command import main

ROOT = Path(__file__).parents[2]

TEXTS = [
    ("2006-07-12", "Iraqi troops crossed the river. They attacked the port."),
    ("2006-08-01", "The town was attacked by Iraqi troops."),
    ("2006-09-01", "They left the town."),
    ("2006-09-11", "Iran attacked Iraq. They left the town."),
]


@pytest.fixture
def news(tmp_path):
    path = tmp_path / "news.jsonl"
    rows = [json.dumps({"day": day, "text": text}) for day, text in TEXTS]
    path.write_text("\n".join(rows))
    return path


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    """Return a file of simulated documents."""
    path = tmp_path_factory.mktemp("parsed") / "events.conllu"
    write_conllu(make_event_corpus(60, random_state=0).X, path)
    return path


def run(*options):
    return main(["count", *map(str, options)])


def table(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_raw_text_to_table_and_page(news, pipeline_folder, tmp_path, capsys):
    out, counts = tmp_path / "attacks.html", tmp_path / "attacks.csv"
    options = ["--spacy", pipeline_folder, "--date-field", "day", "--period", "M"]
    assert run(news, *options, "--out", out, "--csv", counts, "--jobs", 1) == 0
    said = capsys.readouterr()
    assert "4 documents" in said.err  # progress
    assert f"wrote {out}\nwrote {counts}\n" in said.out
    rows = {(row["period"], row["key"]): float(row["mean"]) for row in table(counts)}
    assert rows["2006-08", "IRQ"] == 1.0
    assert rows["2006-09", "IRQ"] == 0.0
    assert rows["2006-07", "IRQ"] > 0.5
    page = out.read_text()
    assert "generator' content='sklearn-calib" in page
    assert "crossed the river" in page
    # A page of ours may be replaced, other files may not.
    again = [*options, "--quiet"]
    assert run(news, *again, "--out", out) == 0
    assert capsys.readouterr().err == ""
    assert run(news, *again, "--csv", counts) == 2
    assert "is there already" in capsys.readouterr().err
    assert run(news, *again, "--csv", counts, "--force") == 0


def test_the_same_as_in_python(news, pipeline_folder, tmp_path):
    counts = tmp_path / "counts.csv"
    options = ["--spacy", pipeline_folder, "--date-field", "day", "--samples", 30, "--seed", 5]
    assert run(news, *options, "--csv", counts, "--quiet") == 0
    posterior = count_corpus(
        read_jsonl(news, date="day"),
        load_antecedent_model(),
        AgentRule(country_lexicon()),
        parse=pipeline_folder,
        n_samples=30,
        random_state=5,
    )
    found = [float(row["mean"]) for row in table(counts)]
    assert found == pytest.approx(posterior.to_frame()["mean"].tolist())


def test_folder_of_texts(pipeline_folder, tmp_path, capsys):
    folder = tmp_path / "texts"
    folder.mkdir()
    for day, text in TEXTS:
        (folder / f"{day}.txt").write_text(text)
    assert run(folder, "--spacy", pipeline_folder, "--model", "none", "--quiet") == 0
    lines = capsys.readouterr().out.splitlines()[1:3]  # between the header and a note
    assert [line.split()[::5] for line in lines] == [["2006-Q3", "1"]] * 2
    assert [line.split()[-1] for line in lines] == ["4", "4"]


def test_parsed_text_and_options_of_the_rule(parsed, tmp_path, capsys):
    counts = tmp_path / "counts.csv"
    options = ["--period", "Y", "--quiet", "--csv", counts, "--force", "--samples", 20]
    assert run(parsed, *options, "--verbs", "war=attack,bomb", "--returns", "pair") == 0
    assert {row["key"] for row in table(counts)} >= {"('IRQ', 'war')", "('USA', 'war')"}
    lexicon = tmp_path / "names.tsv"
    lexicon.write_text("SADDAM\tIraq;Iraqi\n")
    assert run(parsed, *options, "--lexicon", lexicon) == 0
    assert {row["key"] for row in table(counts)} == {"SADDAM"}
    assert run(parsed, *options, "--keys", "IRQ,KWT", "--exclude", "negated,modal") == 0
    assert {row["key"] for row in table(counts)} == {"IRQ", "KWT"}
    switches = ["--target", "--control", "--conjuncts", "--nouns", "attack", "--keys", "IRQ"]
    assert run(parsed, *options, *switches) == 0
    capsys.readouterr()


def test_a_run_goes_on_after_a_crash(parsed, tmp_path, capsys):
    half, counts, folder = tmp_path / "half.conllu", tmp_path / "counts.csv", tmp_path / "run"
    text = parsed.read_text()
    half.write_text(text[: text.index("# newdoc id = news-00030")] + "# newdoc id = x\n1\tbroken")
    options = ["--checkpoint", folder, "--quiet", "--model", "none"]
    assert run(half, *options) == 2
    assert "half.conllu, line" in capsys.readouterr().err
    assert run(parsed, *options, "--csv", counts) == 0
    assert (folder / "counted.jsonl").read_text().count("\n") == 61
    assert run(parsed, *options[2:], "--csv", tmp_path / "whole.csv") == 0
    assert counts.read_text() == (tmp_path / "whole.csv").read_text()
    capsys.readouterr()
    assert run(parsed, *options, "--seed", 1, "--verbs", "seize") == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: --checkpoint {folder} is of another run: ")
    assert "another rule, --seed. Pass the same" in said


def test_reading_and_correction(parsed, tmp_path, capsys):
    plan, questions = tmp_path / "plan.json", tmp_path / "read.csv"
    counts = tmp_path / "counts.csv"
    options = [parsed, "--period", "Y", "--quiet", "--samples", 20]
    assert run(*options, "--read", 20, "--plan", plan, "--questions", questions) == 0
    rows = table(questions)
    assert len({row["document"] for row in rows}) == 20
    with questions.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "answer": "yes" if row["key"] else "no"} for row in rows)
    capsys.readouterr()
    assert run(*options, "--plan", plan, "--answers", questions, "--csv", counts) == 0
    said = capsys.readouterr().out
    assert "corrected by 20 read documents" in said
    assert "miscalibrated (p " in said
    plain = tmp_path / "plain.csv"
    assert run(*options, "--csv", plain) == 0
    assert [row["mean"] for row in table(counts)] != [row["mean"] for row in table(plain)]
    capsys.readouterr()
    assert run(*options, "--seed", 1, "--plan", plan, "--answers", questions) == 2
    assert "is a plan for other counts" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--spacy", "no_such_pipeline"], "--spacy 'no_such_pipeline': spaCy has no pipeline"),
        ([], "holds raw text, which must be parsed: name a spaCy pipeline"),
        (["--spacy", "blank:en", "--text-field", "body"], "there is no field 'body'"),
        (["--spacy", "blank:en", "--verbs", "a=b", "--verbs", "c"], "name all of them"),
        (["--spacy", "blank:en", "--verbs", "a="], "--verbs 'a=' names no words"),
        (["--spacy", "blank:en", "--exclude", "nothing"], "exclude='nothing' is not known"),
        (["--spacy", "blank:en", "--model", "nowhere"], "nowhere"),
        (["--spacy", "blank:en", "--read", "5"], "--read needs --plan"),
        (["--spacy", "blank:en", "--answers", "a.csv"], "--answers needs the --plan"),
        (["--spacy", "blank:en", "--questions", "a.csv"], "--questions needs --plan"),
        (["--spacy", "blank:en", "--plan", "nowhere.json"], "--read N makes one"),
        (["--spacy", "blank:en", "--out", "nowhere/a.html"], "there is no folder nowhere"),
        (["--spacy", "blank:en", "--out", "a.x", "--csv", "a.x"], "are the same"),
        (["--spacy", "blank:en"], "Document 'news-1' has no date"),
        (["--spacy", "blank:en", "--date-field", "day"], "Pass --on-error skip"),
    ],
)
def test_errors_are_one_line(news, options, message, capsys):
    assert run(news, *options, "--quiet") == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.startswith("error: ")
    assert said.count("\n") == 1


def test_parsed_text_needs_no_pipeline(parsed, capsys):
    assert run(parsed, "--spacy", "blank:en") == 2
    assert "is parsed already: leave --spacy out" in capsys.readouterr().err


def test_what_is_read_is_not_written(parsed, capsys):
    assert run(parsed, "--out", parsed, "--force") == 2
    assert "is one of the files that are read" in capsys.readouterr().err


def test_warnings_are_one_line(news, pipeline_folder, capsys):
    with news.open("a") as file:
        file.write('\n{"day": null, "text": "Iran attacked Iraq."}\n')
    options = ["--spacy", pipeline_folder, "--date-field", "day", "--quiet"]
    assert run(news, *options, "--undated", "skip") == 0
    said = capsys.readouterr().err
    assert said.startswith("warning: 1 of 5 documents were skipped")
    assert said.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no signals of this kind")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt(parsed, tmp_path, jobs):
    pipe, out = tmp_path / "slow.conllu", tmp_path / "page.html"
    os.mkfifo(pipe)
    options = ["--out", str(out), "--jobs", jobs, "--quiet"]
    process = subprocess.Popen(
        [sys.executable, "-m", "sklearn_calib", "count", str(pipe), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        start_new_session=True,
    )  # fmt: skip
    # The pipe opens when the command begins to read; it then waits for more.
    with pipe.open("w") as file:
        file.write(parsed.read_text() if jobs == "2" else "# newdoc id = a\n")
        file.flush()
        time.sleep(1.0)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it, to workers as well
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error.startswith("count_corpus was interrupted after ")
    assert error.count("\n") == 1
    assert not out.exists()
