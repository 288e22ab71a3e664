"""Figure 1: most predictions lie at 0 or 1, and bins of fixed width hide it.

The question is whether a token is NN. The model is a hidden Markov model of all
CoNLL-2000 training sentences. Its predictions are drawn in bins of width .02 and
.1, where many bins are nearly empty, and in adaptive bins.

    python benchmarks/paper/figure1.py

takes a few seconds, and leaves paper_figure1.json in benchmarks/results/ and the
figure in docs/_static/.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from common import main

from sklearn_calib import AdaptiveCalibrationDisplay, calibration_bins, calibration_error_interval
from sklearn_calib.datasets import load_conll2000
from sklearn_calib.sequence import HMMTagger

# Bins of width .02 and .1, and adaptive ones of 1,000 queries, as in the paper.
N_BINS = (50, 10)
BIN_SIZE = 1000


def run(options: Any) -> dict[str, Any]:
    train, test = (load_conll2000(split=split, **options.loader) for split in ("train", "test"))
    tagger = HMMTagger(
        transition_pseudocount=0.1, emission_pseudocount=0.1, unknown="dirichlet"
    ).fit(train.X, train.y)
    queries = tagger.calibration_queries(test.X, test.y).where(label="NN")
    q = queries.y_prob
    rows = []
    for number in (*N_BINS, None):
        bins = (
            calibration_bins(queries, bin_size=BIN_SIZE)
            if number is None
            else calibration_bins(queries, n_bins=number, strategy="uniform")
        )
        low, high = bins.confidence_interval(0.95)
        rows.append(
            {
                "bins": "adaptive" if number is None else f"width {1 / number:g}",
                "count": len(bins),
                "least": int(bins.count.min()),
                "most": int(bins.count.max()),
                "share_of_most": bins.count.max() / len(q),
                "widest_interval": float(np.max(high - low)),
                "error": bins.error(),
            }
        )
        print(rows[-1])
    ours = calibration_error_interval(queries)
    return {
        "n": len(q),
        "positive": int(queries.y_true.sum()),
        "below_.01": np.mean(q < 0.01),
        "above_.99": np.mean(q > 0.99),
        "rows": rows,
        "debiased": ours.error,
        "interval": ours.confidence_interval,
        "pictures": {"queries": queries},
    }


def draw(found: dict[str, Any]) -> dict[str, Any]:
    queries = found["pictures"]["queries"]
    displays = AdaptiveCalibrationDisplay.compare_strategies(
        queries, bin_size=BIN_SIZE, n_bins=N_BINS, distribution="histogram", despine=True
    )
    return {"figure1": displays[0].figure_}


if __name__ == "__main__":
    main(__doc__, "figure1", run, draw)
