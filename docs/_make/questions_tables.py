"""Turn the numbers of benchmarks/paper/open_questions.py into tables for the documentation."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from paper_tables import limits, signed, three
from tables import Maker, Row, percent, table, write_tables

NUMBERS = ("paper_open_questions.json", "benchmarks/paper/open_questions.py")

KINDS = {
    ("rare", "slope"): "rare events, log-odds times",
    ("rare", "shift"): "rare events, log-odds plus",
    ("even", "slope"): "yes and no alike, log-odds times",
}
SHOWN = {"slope": (0.5, 0.8, 1.0, 1.5, 2.0), "shift": (-0.6, -0.1, 0.0, 0.1, 0.6)}


def coverage(found: Row) -> str:
    sizes = sorted({row["documents"] for row in found["coverage"]})
    cells = {
        (row["law"], row["distortion"], row["strength"], row["documents"]): row
        for row in found["coverage"]
    }
    body = []
    for (law, kind), name in KINDS.items():
        for strength in SHOWN[kind]:
            rows = [cells[law, kind, strength, n] for n in sizes]
            body.append(
                [
                    f"{name} {strength:g}",
                    three(rows[-1]["error"]),
                    signed(rows[-1]["mean_gap"]) if abs(rows[-1]["mean_gap"]) > 5e-4 else "0",
                    *(percent(row["exact"]) for row in rows),
                    percent(rows[0]["normal"]),
                ]
            )
    title = (
        "How often the 95 % interval of a count holds it, in %, when answers follow a distortion "
        "of the predicted probabilities. *Gap* is mean prediction minus frequency. Exact intervals "
        f"for periods of {', '.join(f'{n:,}' for n in sizes)} documents, and the normal interval "
        f"m ± 1.96 s for {sizes[0]}. {found['corpora']} corpora with {found['truths']} truths each"
    )
    header = ["distortion", "error", "gap", *(f"{n:,} documents" for n in sizes)]
    return table(title, [*header, f"normal, {sizes[0]}"], body)


def decoding(found: Row) -> str:
    body = []
    for row in found["taggers"]:
        part = row["decoding"]
        body.append(
            [
                row["tagger"] if row["treatment"] == "raw" else "",
                row["treatment"],
                f"{three(row['error'])} {limits(row['interval'])}",
                f"{100 * part['viterbi']:.2f}",
                f"{100 * part['marginal']:.2f}",
                f"{100 * part['gain']:+.2f} ± {196 * part['gain_error']:.2f}",
                f"{percent(part['sentences']['viterbi'])} / "
                f"{percent(part['sentences']['marginal'])}",
            ]
        )
    title = (
        "Decoding before and after recalibration: calibration error with its 95 % interval; "
        "accuracy of tags in % by the best path (Viterbi) and by the best tag of each token "
        "(minimum Bayes risk), and the gain with a 95 % interval; and whole sentences without an "
        "error, in %, by path / by tag"
    )
    header = ["tagger", "recalibrated by", "error", "best path", "best tags", "gain", "sentences"]
    return table(title, header, body)


def counts(found: Row) -> str:
    body = []
    for row in found["taggers"]:
        part = row["counts"]
        body.append(
            [
                row["tagger"] if row["treatment"] == "raw" else "",
                row["treatment"],
                f"{part['cells']:,}",
                percent(part["covered"]),
                f"{part['width']:.1f}",
                f"{part['rmse']:.2f}",
                f"{part['rmse_of_best']:.2f}",
            ]
        )
    title = (
        f"Counts of each tag in {found['blocks']} blocks of test sentences. 95 % intervals m ± "
        f"1.96 s from {found['samples']} samples: how many hold the true count, in %, and their "
        "mean width. Then how far the expected count and the count of the best path are from the "
        "truth (root mean square). Counts that the raw tagger expects at least once"
    )
    header = ["tagger", "recalibrated by", "counts", "held", "width", "expected", "best path"]
    return table(title, header, body)


MAKERS: tuple[Maker, ...] = tuple(
    (f"paper_questions_{make.__name__}", NUMBERS[0], make, NUMBERS[1])
    for make in (coverage, decoding, counts)
)


if __name__ == "__main__":
    write_tables(makers=MAKERS)
