"""Turn the numbers of benchmarks/paper/ into tables for the documentation.

It does for the experiments on corpora what make_tables.py does for the rest.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from make_tables import Maker, Row, table, write_tables


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


MAKERS: tuple[Maker, ...] = (
    ("paper_sentiment", "paper_sentiment.json", sentiment, "benchmarks/paper/sentiment.py"),
)


if __name__ == "__main__":
    write_tables(makers=MAKERS)
