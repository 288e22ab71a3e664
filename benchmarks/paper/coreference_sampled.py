"""Section 5.3, as it was done: link probabilities from 1,000 samples of each document.

The paper averages over samples, and finds its model slightly overconfident at middle and
high probabilities. Here is the same for the surface model on the test documents of GUM
(`coreference.py` has everything else), next to the exact probabilities, with the side of
the diagonal on which the bins lie.

    python benchmarks/paper/coreference_sampled.py

takes two to three minutes on one core, and leaves paper_coreference_sampled.json in
benchmarks/results/.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from common import main
from coreference import BIN_SIZE, LIKELY

from sklearn_calib import adaptive_bin_calibration_error, calibration_bins, link_queries
from sklearn_calib.coref import AntecedentModel, link_probabilities, sampled_link_probabilities
from sklearn_calib.datasets import load_gum

N_SAMPLES = 1000
RANGES = {"low": (0.0, LIKELY), "middle": (LIKELY, 0.6), "high": (0.6, 1.01)}


def by_range(queries: Any) -> dict[str, Any]:
    """Return mean prediction and frequency in each range of predictions."""
    bins = calibration_bins(queries, bin_size=BIN_SIZE)
    found = {}
    for name, (low, high) in RANGES.items():
        part = (bins.prob_pred >= low) & (bins.prob_pred < high)
        if part.any():
            found[name] = {
                "bins": part.sum(),
                "prob_pred": np.average(bins.prob_pred[part], weights=bins.count[part]),
                "prob_true": np.average(bins.prob_true[part], weights=bins.count[part]),
                "overconfident": (bins.prob_pred > bins.prob_true)[part].sum(),
            }
    return found


def run(options: Any) -> dict[str, Any]:
    train, test = (load_gum(split=split, **options.loader).X for split in ("train", "test"))
    model = AntecedentModel().fit(train)
    antecedents = model.predict_antecedent_proba(test)
    entities = [document.entities for document in test]
    rng = np.random.default_rng(options.seed)
    answers = {
        "exact": [link_probabilities(p) for p in antecedents],
        "sampled": [sampled_link_probabilities(p, N_SAMPLES, rng).probability for p in antecedents],
    }
    found: dict[str, Any] = {"documents": len(test), "n_samples": N_SAMPLES, "bin_size": BIN_SIZE}
    for name, links in answers.items():
        queries = link_queries(links, entities)
        found[name] = {
            "links": len(queries),
            "error": adaptive_bin_calibration_error(queries, bin_size=BIN_SIZE),
            "ranges": by_range(queries),
        }
        print(name, found[name], flush=True)
    return found


if __name__ == "__main__":
    main(__doc__, "coreference_sampled", run, lambda found: {})
