"""Turn the numbers of benchmarks/paper/ into tables for the documentation.

It does for the experiments on corpora what make_tables.py does for the rest.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from make_tables import Maker, Row, paragraphs, table, write_tables


def three(value: float | None) -> str:
    """Return an error as the paper writes it: .105."""
    return "–" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def limits(pair: Any) -> str:
    return f"[{three(pair[0])}, {three(pair[1])}]"


def null(row: Row) -> str:
    return f"{three(row['null']['mean'])} {limits(row['null']['range'])}"


NULL = (
    "*null* is the mean and the 95 % range of what a perfectly calibrated model with these "
    "predictions would show"
)

# --- section 4.1

# Calibration errors in section 4.1 of Nguyen and O'Connor (2015).
PAPER_SENTIMENT = {"naive Bayes": 0.105, "logistic regression": 0.041}


def sentiment(found: Row) -> str:
    chosen = {"default": "default", "F1": "chosen by F1", "calibration": "chosen by our scorer"}
    body = []
    for row in found["rows"]:
        default = row["chosen_by"] == "default"
        setting = f"``{row['parameter']}={row['value']:g}``"
        body.append(
            [
                f"{row['model']}, {chosen[row['chosen_by']]} ({setting})",
                three(PAPER_SENTIMENT[row["model"]]) if default else "",
                three(row["error"]),
                limits(row["algorithm_2"]),
                null(row),
                three(row["debiased"]),
                limits(row["interval"]),
                three(row["f1"]),
            ]
        )
    sizes = found["sizes"]
    title = (
        f"Is a tweet happy? Calibration errors of {sizes['test']:,} tweets (Sentiment140), after "
        f"training on {sizes['train']:,}. *Paper* and *ours* are plain errors, ours in bins of "
        f"{found['rows'][0]['bin_size']}; {NULL}"
    )
    header = ["model", "paper", "ours", "Algorithm 2", "null", "debiased", "95 % interval", "F1"]
    return table(title, header, body)


# --- Figure 1


def figure1(found: Row) -> str:
    body = [
        [
            row["bins"],
            f"{row['count']}",
            f"{row['least']:,} to {row['most']:,}",
            f"{100 * row['share_of_most']:.1f} %",
            f"{row['widest_interval']:.2f}",
            three(row["error"]),
        ]
        for row in found["rows"]
    ]
    title = (
        f"Is this token NN? {found['n']:,} predictions of a hidden Markov model (CoNLL-2000): "
        f"{100 * found['below_.01']:.0f} % are below .01, and {100 * found['above_.99']:.0f} % "
        f"above .99. The debiased error is {three(found['debiased'])} {limits(found['interval'])}"
    )
    header = ["bins", "number", "queries", "in the fullest", "widest 95 % interval", "error"]
    return table(title, header, body)


# --- section 4.2

CRITERIA = {"accuracy": "accuracy", "calibration": "our scorer", "both": "either"}


def merged(rows: list[Row]) -> list[Row]:
    """Return the rows without those in which both criteria chose the same model."""
    found: list[Row] = []
    for row in rows:
        same = ("corpus", "model", "value")
        if found and all(found[-1].get(key) == row.get(key) for key in same):
            found[-1] = {**row, "chosen_by": "both"}
        else:
            found.append(row)
    return found


def setting(row: Row) -> str:
    return (
        f"{row['model']}, by {CRITERIA[row['chosen_by']]} (``{row['parameter']}={row['value']:g}``)"
    )


def tagging(found: Row) -> str:
    parts = []
    for corpus, numbers in found["corpora"].items():
        body = [
            [
                setting(row),
                f"{100 * row['accuracy']:.1f}",
                f"{100 * row['error']:.2f}",
                f"{100 * row['null']['mean']:.2f}",
                "{:.2f} [{:.2f}, {:.2f}]".format(
                    *(100 * value for value in (row["debiased"], *row["interval"]))
                ),
                f"{100 * row['mean_of_tags']:.2f}",
                f"{100 * row['mean_of_top_5_tags']:.2f}",
                f"{100 * row['mean_of_top_100_pairs']:.2f}",
                f"{100 * row['mean_of_top_5_pairs']:.2f}",
            ]
            for row in merged(numbers["rows"])
        ]
        sizes = numbers["sentences"]
        title = (
            f"{corpus}: {sizes['train']:,} training sentences, {numbers['tokens']:,} test tokens. "
            "All numbers are per cent. *Plain* is the error of all tags of all tokens in bins of "
            f"{numbers['rows'][0]['bin_size']:,}, *null* what a perfectly calibrated model would "
            "show, *debiased* ours with its 95 % interval. The last four columns are means of the "
            "debiased errors of single tags and of single tag pairs: all tags, the 5 most frequent "
            "ones, the 100 pairs that are most frequent in training, and the top 5 of them"
        )
        header = [
            "model and how it was chosen", "accuracy", "plain", "null", "debiased",
            "all tags", "top 5 tags", "top 100 pairs", "top 5 pairs",
        ]  # fmt: skip
        parts.append(table(title, header, body))
    return paragraphs(*parts)


def tagging_wins(found: Row) -> str:
    body = []
    for corpus, numbers in found["corpora"].items():
        for rival, row in numbers["wins_of_crf"].items():
            name, criterion = rival.removeprefix("over ").rsplit(", by ", 1)
            body.append(
                [
                    corpus,
                    name,
                    CRITERIA[criterion],
                    f"{row['wins']} of {row['tags']}",
                    f"{row['wins_by_plain_error']}",
                    f"{row['wins_beyond_chance']}",
                    f"{row['losses_beyond_chance']}",
                ]
            )
    title = (
        "For how many tags the CRF is better calibrated: by the debiased error, by the plain error "
        "in bins of 200, and beyond chance (p < .05, tag by tag). Tags that are too rare to tell "
        "are left out"
    )
    header = [
        "corpus", "against", "chosen by", "CRF wins", "by the plain error", "beyond chance",
        "CRF loses beyond chance",
    ]  # fmt: skip
    return table(title, header, body)


# --- thesis, sections 4.1 and 4.2


def ablation(found: Row) -> str:
    body = [
        [
            f"{row['corpus']}, {row['tag']}",
            setting(row),
            f"{100 * row['accuracy']:.1f}",
            three(row["error"]),
            null(row),
            three(row["debiased"]),
            limits(row["interval"]),
        ]
        for row in merged(found["rows"])
    ]
    title = (
        f"One question for each corpus. *Error* is the plain error in bins of "
        f"{found['rows'][0]['bin_size']}; {NULL}; *debiased* is ours with its 95 % interval"
    )
    header = ["question", "model", "accuracy, %", "error", "null", "debiased", "95 % interval"]
    return table(title, header, body)


def ablation_settings(found: Row) -> str:
    cells: dict[tuple[str, str], list[str]] = {}
    for row in found["development"]:
        text = f"{row['value']:g}: {100 * row['accuracy']:.1f} / {three(row['error'])}"
        cells.setdefault((row["corpus"], row["model"]), []).append(text)
    parameters = {row["model"]: row["parameter"] for row in found["rows"]}
    body = [
        [corpus, f"{model}, ``{parameters[model]}``", "; ".join(texts)]
        for (corpus, model), texts in cells.items()
    ]
    title = (
        "Every setting on the sentences it was chosen by: accuracy in per cent, and the error of "
        "all tags of all tokens as our scorer measures it"
    )
    return table(title, ["corpus", "model", "setting: accuracy / error"], body)


MAKERS: tuple[Maker, ...] = (
    ("paper_sentiment", "paper_sentiment.json", sentiment, "benchmarks/paper/sentiment.py"),
    ("paper_figure1", "paper_figure1.json", figure1, "benchmarks/paper/figure1.py"),
    ("paper_tagging", "paper_tagging.json", tagging, "benchmarks/paper/tagging.py"),
    ("paper_tagging_wins", "paper_tagging.json", tagging_wins, "benchmarks/paper/tagging.py"),
    ("paper_ablation", "paper_ablation.json", ablation, "benchmarks/paper/ablation.py"),
    (
        "paper_ablation_settings",
        "paper_ablation.json",
        ablation_settings,
        "benchmarks/paper/ablation.py",
    ),
)


if __name__ == "__main__":
    write_tables(makers=MAKERS)
