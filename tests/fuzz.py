"""Try to break every reader with damaged files: `make fuzz`, or `python tests/fuzz.py lexicon`.

A file is read, or refused by one ValueError that names it, within five seconds and 500 MB. Each
reader runs in a process of its own, because what is looked for includes crashes; the file that was
being read is left in `fuzz_output/`. hypothesis makes a failing file small, and remembers it.
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import json
import random
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from tests.limits import within_limits  # noqa: E402

OUTPUT = ROOT / "fuzz_output"
MOST = 1_000_000
# What is likely to surprise somebody.
PIECES = [
    b"", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n", b"\t", b" ", b'"', b"'", b",", b";",
    b"|", b"(", b")", b"[", b"]", b"{", b"}", b"=", b"-", b"_", b"#", b"\\", b"0", b"-1", b"1e309",
    b"nan", b"inf", b"-inf", b"1e-320", b"9" * 25, b"7" * 5000, b"\xc2\xb2", b"\xd9\xa3", b"null",
    b"true", b"[" * 3000, b"(" * 3000, b'{"a":' * 3000, b"\xe2\x80\xa8", b"\x1b[31m",
    b"\xed\xa0\x80", b"2147483648", b"18446744073709551616", b"0x10", b"1_000", b"2003-02-30",
    b"99999-01-01",
    b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"a" * 3000, b"\t" * 3000,
    b"\n" * 3000, b"(1" * 1000, b"1)" * 1000, b"# newdoc id = a\n",
    b"#begin document x; part 000\n",
]  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """A reader, whole files for it, and the name that a damaged one is given."""

    read: Any
    whole: list[bytes]
    name: str
    packed: bool = False


def readers(folder: Path) -> dict[str, Any]:
    """Return makers of readers, which are run for the reader that is tried only."""
    from sklearn_calib import calibration_bins, scan_queries
    from sklearn_calib.coref import (
        load_antecedent_model,
        read_conll2012,
        read_conllu,
        read_jsonl,
        read_text_folder,
        write_conllu,
    )
    from sklearn_calib.datasets import make_coref_documents, make_event_corpus
    from sklearn_calib.explore import AgentRule, Lexicon, ReadingPlan, count_corpus, country_lexicon
    from sklearn_calib.explore import reading_plan as draw_plan
    from sklearn_calib.explore._checkpoint import Checkpoint
    from sklearn_calib.report._read import read_columns

    def conllu():
        path = folder / "whole.conllu"
        write_conllu(make_event_corpus(3, random_state=0).X, path)
        files = [path.read_bytes()]
        write_conllu(make_coref_documents(2, random_state=0).X, path)
        brackets = (
            b"# newdoc id = a\n# speaker = B\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
            b"1\tde\tde\tADP\tIN\tCase=Gen\t2\tcase\t_\tEntity=(1-person(2-place-3[1/2]\n"
            b"2\tle\tle\tDET\tDT\t_\t0\troot\t_\tEntity=1)|SpaceAfter=No\n"
            b"2.1\te\te\tX\t_\t_\t_\t_\t_\t_\n3\tx\tx\tX\tX\t_\t2\tdep\t_\tEntity=2)(3)\n\n"
        )
        return Reader(
            read_conllu, [*files, path.read_bytes(), brackets], "damaged.conllu", packed=True
        )

    def conll2012():
        row = "bc/cctv/00/cctv_0000 0 {} {} NN (TOP* - - - Speaker#1 * {}\n"
        text = "#begin document (bc/cctv/00/cctv_0000); part 000\n"
        text += (
            row.format(0, "He", "(1)") + row.format(1, "saw", "(2|(3") + row.format(2, "it", "2)")
        )
        text += "\n" + row.format(0, "end", "3)") + "\n#end document\n"
        plain = "#begin document x\na\t(1\nb\t1)\n\nc\t-\n#end document\n"
        return Reader(read_conll2012, [text.encode(), plain.encode()], "damaged.conll", packed=True)

    def crfsuite():
        from sklearn_crfsuite import CRF

        from sklearn_calib.sequence import CRFTagger

        X = [[{"w": "the", "n": 1.5}, {"w": "dog"}], [{"w": "a"}, {"w": "cat"}, {"w": "sat"}]] * 3
        y = [["D", "N"], ["D", "N", "V"]] * 3
        files = []
        for options in ({}, {"all_possible_transitions": True, "min_freq": 1}):
            model = CRF(max_iterations=5, **options).fit(X, y)
            files.append(Path(model.modelfile.name).read_bytes())

        def read(path):
            CRFTagger.from_crfsuite(path).predict_proba(X)

        return Reader(read, files, "damaged.crfsuite")

    def crfsuite_sized():
        """Return models that say how long they are, so that what follows is looked at."""
        model = crfsuite()

        def read(path):
            data = path.read_bytes()
            path.write_bytes(data[:4] + len(data).to_bytes(4, "little") + data[8:])
            model.read(path)

        return Reader(read, model.whole, model.name)

    def table(suffix, mark):
        rows = [("y", "p", "w", "l")] + [(i % 2, i / 50, 1.5, f"label {i % 3}") for i in range(50)]
        text = "\n".join(mark.join(map(str, row)) for row in rows)
        quoted = text.replace("label 1", f'"label{mark} ""1"""')
        return Reader(
            lambda path: read_columns(path, ["y", "p"]),
            [text.encode(), quoted.encode(), text.replace("\n", "\r\n").encode("utf-8-sig")],
            f"damaged.{suffix}",
            packed=True,
        )

    def json_table():
        rows = [json.dumps({"y": i % 2, "p": i / 50, "l": "a é"}) for i in range(50)]
        return Reader(
            lambda path: read_columns(path, ["y", "p"]),
            ["\n".join(rows).encode()],
            "damaged.jsonl",
            packed=True,
        )

    def parquet_files(p):
        import pyarrow as pa
        import pyarrow.parquet as pq

        for options in ({"compression": "none"}, {"compression": "snappy", "row_group_size": 7}):
            stream = BytesIO()
            columns = {"y": [0, 1] * 20, "p": p * 20, "l": ["a", "b"] * 20}
            pq.write_table(pa.table(columns), stream, **options)
            yield stream.getvalue()

    def parquet():
        def read(path):
            read_columns(path, ["y", "p", "l"])

        return Reader(read, list(parquet_files([0.1, None])), "damaged.parquet")

    def scan(whole, name):
        def read(path):
            found = scan_queries(path, y_true="y", y_prob="p", label="l", pos_label=1)
            calibration_bins(found)

        return Reader(read, whole, name)

    def scanned_table(suffix, mark):
        return scan(table(suffix, mark).whole, f"damaged.{suffix}")

    def lexicon():
        text = "# names\nUSA\t=US;America;United States\n-\tNew Guinea\nGIN\tGuinea\tGuinean\n"
        return Reader(Lexicon.read, [text.encode()], "damaged.tsv", packed=True)

    def texts():
        rows = [{"text": "Iraq left.", "id": "a", "date": "2003-01-02", "title": "x"}, {"text": ""}]
        text = "\n".join(map(json.dumps, rows))
        return Reader(
            lambda path: list(read_jsonl(path)), [text.encode()], "damaged.jsonl", packed=True
        )

    def text_folder():
        def read(path):
            list(read_text_folder(path.parent))

        return Reader(read, [b"A title\n\nIraq attacked. They left.\n"], "2003-01-02_a.txt")

    def plans():
        corpus = make_event_corpus(12, random_state=0)
        rule = AgentRule(country_lexicon())
        posterior = count_corpus(corpus.X, corpus.model, rule, n_samples=20, random_state=0)
        return posterior, draw_plan(posterior, 6, random_state=0)

    def answers():
        _, plan = plans()
        path = folder / "whole.csv"
        plan.to_csv(path)
        text = path.read_text()
        return Reader(
            plan.answered, [text.encode(), text.replace(",\n", ",0\n").encode()], "damaged.csv"
        )

    def plan():
        posterior, drawn = plans()
        path = folder / "whole.json"
        files = []
        first = drawn.documents[0]
        for each in (drawn, drawn.answered({first: posterior.keys[:2]})):
            each.save(path)
            files.append(path.read_bytes())
        return Reader(lambda path: ReadingPlan.load(path, posterior), files, "damaged.json")

    def antecedents():
        from sklearn_calib.coref import AntecedentModel
        from sklearn_calib.coref._model_file import save_antecedent_model

        simulated = make_coref_documents(8, random_state=0)
        path = folder / "whole.npz"
        save_antecedent_model(AntecedentModel().fit(simulated.X, simulated.y), path)
        with (
            zipfile.ZipFile(path) as archive,
            zipfile.ZipFile(plain := BytesIO(), "w", zipfile.ZIP_STORED) as stored,
        ):  # damage to what is not packed goes deeper
            for name in archive.namelist():
                stored.writestr(name, archive.read(name))

        def read(path):
            load_antecedent_model(path).predict(simulated.X[:1])

        return Reader(read, [path.read_bytes(), plain.getvalue()], "damaged.npz")

    def antecedent_header():
        """Return headers of models, which are packed as those of models are."""
        model = antecedents()
        with np.load(BytesIO(model.whole[0])) as archive:
            arrays = dict(archive)

        def read(path):
            header = np.frombuffer(path.read_bytes(), dtype=np.uint8)
            np.savez_compressed(path, **arrays | {"header": header})
            model.read(path)

        return Reader(read, [arrays["header"].tobytes()], model.name)

    def checkpoint():
        corpus = make_event_corpus(5, random_state=0)
        run = folder / "run"
        count_corpus(corpus.X, None, AgentRule(country_lexicon()), n_samples=5, checkpoint=run)
        whole = (run / "counted.jsonl").read_bytes()
        head = json.loads(whole.splitlines()[0][9:])
        parts = {name: head[name] for name in head if name not in ("format", "version", "seed")}

        def read(path):
            Checkpoint(path.parent, parts, None).file.close()

        return Reader(read, [whole], "counted.jsonl")

    def sealed_checkpoint():
        """Return checkpoints whose checksums are right, whatever their lines say."""
        corpus = make_event_corpus(5, random_state=0)
        rule, run = AgentRule(country_lexicon()), folder / "run"
        count_corpus(corpus.X, None, rule, n_samples=5, checkpoint=run, random_state=0)
        whole = (run / "counted.jsonl").read_bytes()

        def read(path):
            lines = [line[9:] for line in path.read_bytes().split(b"\n")]
            path.write_bytes(b"".join(b"%08x %s\n" % (crc32(line), line) for line in lines))
            try:
                count_corpus(corpus.X, None, rule, n_samples=5, checkpoint=path.parent)
            except ValueError as error:  # of another run, whose folder is named
                said = str(error).replace(str(path.parent), str(path))
                raise ValueError(said) from None

        return Reader(read, [whole], "counted.jsonl")

    def corpus(load, name, *texts, **options):
        def read(path):
            load(data_home=path.parent, download=False, **options)

        files = [text if isinstance(text, bytes) else text.encode() for text in texts]
        return lambda: Reader(read, files, name, packed=True)

    def litbank_zip():
        from sklearn_calib.coref import read_conll2012
        from sklearn_calib.datasets import _document_corpora

        files = []
        for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            with zipfile.ZipFile(stream := BytesIO(), "w", method) as archive:
                archive.writestr("litbank-3e50/README.md", "no document")
                for name in ("1_a", "2_b"):
                    text = litbank.replace("1_a", f"{name}_brat")
                    archive.writestr(f"litbank-3e50/coref/conll/{name}_brat.conll", text)
            files.append(stream.getvalue())
        whole = [
            read_conll2012(litbank.replace("1_a", name).split("\n")) for name in ("1_a", "2_b")
        ]
        expected = _document_corpora.content_sha256([document for [document] in whole])
        _document_corpora.LITBANK_SHA256 = expected
        return corpus(d.load_litbank, "litbank.zip", *files)()

    def gum_document():
        from sklearn_calib.datasets._gum import checksum, pruned, read_gum_document

        whole = conllu().whole[0]
        expected = checksum(pruned(whole.decode().split("\n")))
        return Reader(lambda path: read_gum_document(path, expected), [whole], "GUM_a.conllu")

    from sklearn_calib import datasets as d

    rows = "Confidence\tNN\tB-NP\nin\tIN\tB-PP\n\nthe\tDT\tB-NP\n"
    words = (
        "# sent_id = a-1\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\tIN\t_\t2\tcase\t_\t_\n"
        "2\tle\tle\tDET\tDT\t_\t0\troot\t_\t_\n2.1\te\te\tX\t_\t_\t_\t_\t_\t_\n\n"
    )
    parsed = (
        "# newdoc id = a\n# meta::dateCreated = 2012-05-20\n# text = He left.\n"
        "1\tHe\the\tPRON\tPRP\t_\t2\tnsubj\t_\tEntity=(1-person)\n"
        "2\tleft\tleave\tVERB\tVBD\t_\t0\troot\t_\tSpaceAfter=No\n\n"
    )
    tweets = "y\tid\tdate\ttext\n0\t1\t2009-04-06T22:19:45\ta\n1\t2\t2009-05-31T10:00:00\tb\n"
    every = (
        '"0","1467810369","Mon Apr 06 22:19:45 PDT 2009","NO_QUERY","x","a ""b"", c"\n'
        '"4","1467810370","Sun May 31 10:00:00 PDT 2009","NO_QUERY","y","d"\n'
    )
    news = "curid\tdate\tsource\ttitle\ttext\n1\t2006-07-12\tdateline\tA title\tOne. ¶ Two.\n"
    litbank = "#begin document (1_a); part 0\n" + "".join(
        f"1_a\t0\t{i}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\t{entity}\n"
        for i, (word, entity) in enumerate([("He", "(1)"), ("saw", "_"), ("it", "(2)")])
    )
    brackets = "# newdoc id = emma\nEmma\t(1)\nslept\t_\n\n# newdoc id = x\nIt\t(0|(1\nis\t1)\n"
    return {
        "conllu": conllu,
        "conll2012": conll2012,
        "crfsuite": crfsuite,
        "crfsuite_sized": crfsuite_sized,
        "csv": lambda: table("csv", ","),
        "tsv": lambda: table("tsv", "\t"),
        "json_table": json_table,
        "parquet": parquet,
        "scanned_csv": lambda: scanned_table("csv", ","),
        "scanned_tsv": lambda: scanned_table("tsv", "\t"),
        "scanned_parquet": lambda: scan(list(parquet_files([0.1, 0.9])), "damaged.parquet"),
        "lexicon": lexicon,
        "texts": texts,
        "text_folder": text_folder,
        "answers": answers,
        "plan": plan,
        "antecedents": antecedents,
        "antecedent_header": antecedent_header,
        "checkpoint": checkpoint,
        "sealed_checkpoint": sealed_checkpoint,
        "conll2000": corpus(d.load_conll2000, "conll2000_train.tsv", rows, rows.replace("\t", " ")),
        "ark_tweets": corpus(d.load_ark_tweets, "ark_twpos_train.tsv", "I\tO\nam\tV\n\n:)\tE\n"),
        "ud_ewt": corpus(d.load_ud_ewt, "ud_ewt_train.tsv", rows.replace("B-", ""), words),
        "sentiment140": corpus(d.load_sentiment140, "sentiment140_20k.tsv", tweets),
        "sentiment140_full": corpus(
            d.load_sentiment140, "training.1600000.processed.noemoticon.csv", every, subset="full",
        ),
        "wikinews": corpus(d.load_wikinews, "wikinews_dated.tsv", news),
        "gum": corpus(d.load_gum, "gum_train.conllu", parsed),
        "gum_document": gum_document,
        "amalgum_news": corpus(d.load_amalgum_news, "amalgum_news.conllu", parsed),
        "litbank": corpus(d.load_litbank, "litbank_coref.tsv", brackets, litbank),
        "litbank_zip": litbank_zip,
    }  # fmt: skip


@st.composite
def damaged(draw, whole: list[bytes], packed: bool) -> bytes:
    """Draw a file that was whole once."""
    data = draw(st.sampled_from(whole))
    pack = packed and draw(st.integers(0, 9)) == 0
    if pack and draw(st.booleans()):
        data = gzip.compress(data, mtime=0)
    for _ in range(draw(st.integers(1, 6))):
        data = _damaged_once(draw, data, whole)[:MOST]
    return gzip.compress(data, mtime=0) if pack else data


def _damaged_once(draw, data: bytes, whole: list[bytes]) -> bytes:
    at = draw(st.integers(0, max(len(data) - 1, 0)))
    kind = draw(st.integers(0, 8))
    if kind == 0:
        return data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
    if kind == 1:
        return data[:at] + data[at + draw(st.integers(1, 200)) :]
    if kind == 2:
        part = data[at : at + draw(st.integers(1, 400))]
        return data[:at] + part * draw(st.sampled_from([2, 3, 50, 2000])) + data[at:]
    if kind == 3:
        return data[:at] + draw(st.sampled_from(PIECES)) + data[at:]
    if kind == 4:
        return data[:at]
    if kind == 5:
        return data[:at] + draw(st.binary(max_size=20)) + data[at:]
    if kind == 6:
        other = draw(st.sampled_from(whole))
        return data[:at] + other[draw(st.integers(0, max(len(other) - 1, 0))) :]
    # The rest is aimed at what has a meaning: a number, or the space between two marks.
    fields = _fields(data)
    start, end = draw(st.sampled_from(fields)) if fields else (at, at)
    if kind == 7:
        return data[:start] + draw(st.sampled_from(PIECES)) + data[end:]
    lines = data.split(b"\n")
    random.Random(draw(st.integers(0, 1000))).shuffle(lines)
    return b"\n".join(lines)


def _fields(data: bytes) -> list[tuple[int, int]]:
    """Return where fields of a text begin and end, at most a thousand."""
    found, start = [], 0
    for at, byte in enumerate(data[:20_000]):
        if byte in b'\t\n ,;:"|()=-/[]{}':
            if at > start:
                found.append((start, at))
            start = at + 1
    return found[:1000]


def try_reader(name: str, seconds: float) -> int:
    """Damage files for a while, and return how many were read."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    OUTPUT.mkdir(exist_ok=True)
    kept = OUTPUT / name
    tried = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "damaged")
        folder.mkdir()
        reader = readers(Path(place))[name]()
        path = folder / reader.name
        path.write_bytes(reader.whole[0])
        reader.read(path)  # a file that is whole can be read, or this would prove nothing
        end = time.process_time() + seconds

        @settings(
            deadline=None, max_examples=1000, database=None,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
        )  # fmt: skip
        @given(damaged(reader.whole, reader.packed))
        def attempt(data: bytes) -> None:
            nonlocal tried
            if time.process_time() > end:
                return
            tried += 1
            path.write_bytes(data)
            kept.write_bytes(data)  # in case this process ends
            with within_limits():
                try:
                    reader.read(path)
                except ValueError as error:
                    refused(error, reader.name)

        while time.process_time() < end:
            attempt()
    kept.unlink(missing_ok=True)
    return tried


def refused(error: ValueError, name: str) -> None:
    """Check that a message is one line, and says which file is meant."""
    said = str(error)
    if isinstance(error, UnicodeError) or name not in said:
        raise AssertionError(f"the file is not named: {said[:300]!r}")
    if len(said) > 1000 or not said.isprintable():
        raise AssertionError(f"a message of {len(said):,} characters: {said[:300]!r}")


def main() -> int:
    """Try every reader in turn, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reader", nargs="*", help="names of readers (default: all)")
    parser.add_argument("--minutes", type=float, default=5.0, help="of the processor (default: 5)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.reader or list(readers(Path()))
    seconds = options.minutes * 60 / len(names)
    if options.inside:
        print(f"{try_reader(names[0], seconds):,} files")
        return 0
    failed = []
    for name in names:
        print(f"{name}: ", end="", flush=True)
        command = [sys.executable, __file__, name, "--minutes", str(seconds / 60), "--inside"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(done.stdout.strip() if done.returncode == 0 else f"failed ({done.returncode})")
        if done.returncode:
            failed.append(name)
            lines = [line[:300] for line in done.stderr.splitlines()]
            print("\n".join(lines[-25:]) or "no message")
            print(f"The file is {OUTPUT / name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
