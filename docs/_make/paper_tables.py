"""Turn the numbers of benchmarks/paper/ into tables for the documentation.

It does for the experiments on corpora what tables.py does for the rest.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from tables import Maker, Row, paragraphs, table, write_tables


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


# --- section 5.3


def percents(value: float) -> str:
    """Return an error of links in per cent, with two decimals."""
    return f"{100 * value:.2f}"


def floor(null: Row) -> str:
    low, high = null["range"]
    return f"{percents(null['mean'])} [{percents(low)}, {percents(high)}]"


def coreference(found: Row) -> str:
    body = [
        [
            row["name"],
            f"{row['links']:,}",
            percents(row["error"]),
            f"[{', '.join(map(percents, row['algorithm_2']))}]",
            floor(row["null"]),
            f"{row['null']['pvalue']:.2f}",
            f"[{', '.join(map(percents, row['interval']))}]",
            percents(row["likely"]["error"]),
            floor(row["likely"]["null"]),
        ]
        for row in found["rows"]
    ]
    title = (
        f"Calibration of links, errors in per cent, in bins of {found['bin_size']:,}. *Floor* is "
        f"the mean and 95 % range of what a calibrated model would show on the same documents "
        f"({found['simulations']} simulations), and *p* how often it would show so much. The 95 % "
        "interval is that of the debiased error, with documents as groups. *Likely* links have a "
        f"probability of at least {found['likely']:g}"
    )
    header = ["documents and features", "links", "error", "Algorithm 2", "floor", "p"]
    return table(title, [*header, "95 % interval", "likely: error", "likely: floor"], body)


def coreference_scores(found: Row) -> str:
    body = [
        [
            row["name"],
            *(three(value) for value in row["pairwise"]),
            *(three(row[score]) for score in ("muc", "b_cubed", "ceaf_e", "conll")),
            f"{row['brier']:.4f}",
            f"{row['refinement']:.4f}",
            f"{row['brier_of_base_rate']:.4f}",
            f"{row['log_likelihood']:.3f}",
        ]
        for row in found["rows"]
    ]
    title = (
        "Accuracy and sharpness. Pairwise precision, recall and F1 of the best guess, F1 of MUC, "
        "B³ and CEAF-e, and their mean; Brier score of links, its refinement, and the Brier score "
        "of a constant; mean log-likelihood of a mention"
    )
    header = ["documents and features", "P", "R", "F1", "MUC", "B³", "CEAF-e", "CoNLL", "Brier"]
    return table(title, [*header, "refinement", "constant", "log-lik."], body)


def coreference_sampling(found: Row) -> str:
    sampling = found["sampling"]
    single, total = sampling["milliseconds_300"], sampling["seconds"]
    label = f"{sampling['n_samples']:,} samples"
    body = [
        ["exact", f"{single['exact']:.1f}", f"{total['exact']:.2f}", "–", "–"],
        [
            f"{label}, pairs counted",
            f"{single['sampled']:.0f}",
            f"{total['sampled']:.2f}",
            f"{sampling['rmse']:.4f}",
            f"{sampling['largest']:.3f}",
        ],
        [f"{label} alone", f"{single['drawn']:.0f}", f"{total['drawn']:.2f}", "–", "–"],
    ]
    title = "Link probabilities, exact and sampled: CPU time, and distance from the exact answer"
    header = ["method", "300 mentions, ms", "GUM test, s", "root mean square gap", "largest gap"]
    return table(title, header, body)


COREFERENCE = ("paper_coreference.json", "benchmarks/paper/coreference.py")

MAKERS: tuple[Maker, ...] = (
    ("paper_coreference", COREFERENCE[0], coreference, COREFERENCE[1]),
    ("paper_coreference_scores", COREFERENCE[0], coreference_scores, COREFERENCE[1]),
    ("paper_coreference_sampling", COREFERENCE[0], coreference_sampling, COREFERENCE[1]),
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
