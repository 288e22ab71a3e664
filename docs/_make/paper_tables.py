"""Turn the numbers of benchmarks/paper/ into tables for the documentation.

It does for the experiments on corpora what tables.py does for the rest.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from tables import Maker, Row, paragraphs, table, write_tables
from theirs import quoted, substitutions, value


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


def side(part: Row) -> str:
    """Return how far the bins of one half lie above the diagonal, and how many of them."""
    return f"{signed(part['mean_gap'])} ({part['above']} of {part['bins']})"


def signed(gap: float) -> str:
    return ("+" if gap > 0 else "-") + three(abs(gap))


def sentiment(found: Row) -> str:
    chosen = {"default": "default", "F1": "chosen by F1", "calibration": "chosen by our scorer"}
    names = {"naive Bayes": "nb", "logistic regression": "lr"}
    body = []
    for row in found["rows"]:
        theirs = row["chosen_by"] == "F1"
        setting = f"``{row['parameter']}={row['value']:g}``"
        name = names[row["model"]]
        body.append(
            [
                f"{row['model']}, {chosen[row['chosen_by']]} ({setting})",
                quoted(f"sentiment_error_{name}") if theirs else "",
                three(row["error"]),
                limits(row["algorithm_2"]),
                null(row),
                f"{three(row['debiased'])} {limits(row['interval'])}",
                side(row["sides"]["low"]),
                side(row["sides"]["high"]),
                quoted(f"sentiment_f1_{name}") if theirs else "",
                f"{100 * row['f1']:.1f} %",
            ]
        )
    sizes = found["sizes"]
    title = (
        f"Is a tweet happy? Calibration errors of {sizes['test']:,} tweets (Sentiment140), after "
        f"training on {sizes['train']:,} and choosing on {sizes['dev']:,}. *Ours* is the plain "
        f"error in bins of {found['rows'][0]['bin_size']}, with the interval of Algorithm 2; "
        f"{NULL}; *debiased* is our estimate with its 95 % interval. *Below ½* and *above ½* say "
        "how much higher frequencies are than predictions there, and how many bins lie above the "
        "diagonal"
    )
    header = ["model", "theirs", "ours", "Algorithm 2", "null", "debiased", "below ½", "above ½"]
    return table(title, [*header, "F1, theirs", "F1, ours"], body)


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


# --- section 4.2, with equal accuracies


def fine(number: float) -> str:
    return f"{number:.4f}".replace("0.", ".", 1)


def fine_limits(pair: Any) -> str:
    return f"[{fine(pair[0])}, {fine(pair[1])}]"


def matched(found: Row) -> str:
    body = []
    for name, row in found["pooled"].items():
        middle = ", ".join(f"{three(q)} → {three(p)}" for q, p in row["sides"]["middle"])
        body.append(
            [
                name,
                f"{found['sentences'][name]:,}",
                f"{100 * row['accuracy']:.2f} %",
                f"{fine(row['error'])} {fine_limits(row['algorithm_2'])}",
                f"{fine(row['null']['mean'])} {fine_limits(row['null']['range'])}",
                f"{fine(row['debiased'])} {fine_limits(row['interval'])}",
                side(row["sides"]["high"]),
                middle,
            ]
        )
    title = (
        f"All tags of {found['test']['tokens']:,} tokens (CoNLL-2000), one curve for each model, "
        f"at equal accuracy. *Error* is that of bins of {found['bin_size']:,} with Algorithm 2 "
        f"({found['draws']:,} draws); {NULL}; *debiased* is our estimate, with a 95 % interval "
        "that takes a sentence for one observation. *Above ½*: by how much frequencies exceed "
        "predictions there, and how many bins lie above the diagonal. The last column has the "
        "four bins in the middle, prediction → frequency"
    )
    header = ["model", "sentences", "accuracy", "error", "null", "debiased", "above ½", "middle"]
    return table(title, header, body)


def matched_wins(found: Row) -> str:
    body = []
    for unit, name, theirs in (
        ("tag", "tags", f"{quoted('tagging_wins_tags')} of {quoted('tagging_tags')}"),
        ("pair", "tag pairs", f"{quoted('tagging_crf_wins_pairs')} of {quoted('tagging_pairs')}"),
    ):
        part = found[unit]
        wins = part["wins_of_crf"]
        body.append(
            [
                name,
                theirs,
                f"{wins['plain']} of {part['labels']}",
                f"{wins.get('apart', 0)} / {wins.get('apart_hmm', 0)}",
                f"{wins['debiased']}",
                f"{wins.get('beyond_chance', 0)} / {wins.get('beyond_chance_hmm', 0)}",
            ]
        )
    title = (
        "For how many labels the CRF is better calibrated than the HMM: theirs, and ours by the "
        f"plain error in bins of {found['bin_size']:,}. *Apart* counts labels whose intervals of "
        "Algorithm 2 do not overlap, better / worse; *debiased* goes by our estimate; *beyond "
        "chance* counts p < .05 by ``compare_calibration``, better / worse"
    )
    first = table(title, ["labels", "theirs", "ours", "apart", "debiased", "beyond chance"], body)
    rows = []
    for unit, top, name in (
        ("tag", "5", "the 5 most frequent tags"),
        ("pair", "5", "the 5 most frequent pairs"),
        ("pair", "100", "the 100 most frequent pairs"),
    ):
        part = found[unit]
        rows.append(
            [
                name,
                *(fine(part["means"][model][top]) for model in ("HMM", "CRF")),
                *(fine(part["debiased_means"][model][top]) for model in ("HMM", "CRF")),
            ]
        )
    header = ["mean over", "HMM, plain", "CRF, plain", "HMM, debiased", "CRF, debiased"]
    second = table(
        "Mean errors of the most frequent labels, as at the end of Figure 4", header, rows
    )
    return paragraphs(first, second)


def matched_settings(found: Row) -> str:
    rows = [
        {"c2": found["c2"], **found["pooled"]["CRF"]},
        *found["other_settings"],
    ]
    body = [
        [
            f"``c2={row['c2']:g}``" + (" (the matched CRF)" if row["c2"] == found["c2"] else ""),
            f"{100 * row['accuracy']:.2f} %",
            fine(row["error"]),
            signed(row["sides"]["high"]["mean_gap"]),
        ]
        for row in sorted(rows, key=lambda row: row["c2"])
    ]
    title = (
        f"The CRF of {found['sentences']['CRF']:,} sentences with other regularisation: accuracy, "
        f"plain error in bins of {found['bin_size']:,}, and by how much frequencies exceed "
        "predictions above ½ (minus: overconfident)"
    )
    return table(title, ["setting", "accuracy", "error", "above ½"], body)


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


def ablation_thesis(found: Row) -> str:
    rows = {
        (row["corpus"], row["model"]): row
        for row in found["rows"]
        if row["chosen_by"] == "accuracy"
    }
    names = {"HMM": "nn_hmm", "CRF-basic": "nn_crf_basic"}
    body = []
    for (corpus, model), row in rows.items():
        least = rows[corpus, "CRF-advanced"]["error"]
        ratio = value("tweets_ratio")[("HMM", "CRF-basic", "CRF-advanced").index(model)]
        theirs = quoted(names[model]) if corpus == "CoNLL-2000" and model in names else "–"
        body.append(
            [
                f"{corpus}, {row['tag']}",
                model,
                theirs,
                three(row["error"]),
                f"{row['error'] ** 2:.5f}".replace("0.", ".", 1),
                f"{ratio}" if corpus == "ARK tweets" else "–",
                f"{row['error'] / least:.1f}",
                f"{(row['error'] / least) ** 2:.1f}",
                f"{100 * row['accuracy']:.1f} %",
            ]
        )
    title = (
        "Thesis, sections 4.1 and 4.2, settings chosen by accuracy. *Score* is what the thesis "
        "prints; ours is given as a root, which the paper calls calibration error, and as a "
        "square, which the thesis says it shows. *Ratio* is to CRF-advanced"
    )
    header = ["question", "model", "score, theirs", "error, ours", "its square"]
    header += ["ratio, theirs", "ratio of errors", "ratio of squares", "accuracy, ours"]
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


# --- thesis, section 4.3


def small(number: float) -> str:
    """Return a squared error in a form that can be compared down a column."""
    return f"{number:.1e}".replace("e-0", "e-") if number else "0"


def thesis_bin_size(found: Row) -> str:
    shown = [2, 256, 65536]
    body = []
    for entry in found["laws"]:
        study = entry["doubled"]
        at = {size: i for i, size in enumerate(study["bin_size"])}
        check = entry["doubling"]
        body.append(
            [
                entry["law"],
                entry["truth"],
                small(entry["true_score"]),
                *(small(study["score"][at[size]]) for size in shown),
                f"{study['rises'] + check['rises']} of {check['steps'] + len(at) - 1:,}",
                f"{entry['steps']['rises']} of {len(entry['steps']['bin_size']) - 1}",
            ]
        )
    title = (
        f"Squared calibration error of {found['pairs']:,} pairs by bin size. *Truth* is the "
        f"squared error of the law itself, with t(p) and k = {three(found['k']).rstrip('0')} where "
        "it is uncalibrated. *Doubling* counts how often a bin size twice as large raised the "
        "score, here and in further samples; *steps of 1,000* the same from 1,000 to 50,000"
    )
    header = ["predictions", "answers", "truth", *(f"bins of {size:,}" for size in shown)]
    return table(title, [*header, "doubling raised it", "steps of 1,000 raised it"], body)


def thesis_sample_size(found: Row) -> str:
    body = []
    for entry in found["laws"]:
        study = entry["sample_sizes"]
        at = {n: i for i, n in enumerate(study["n"])}
        body.append(
            [
                entry["law"],
                entry["truth"],
                small(entry["true_score"]),
                *(small(study["score"][at[n]]) for n in (10_000, 50_000)),
                f"{study['slope']:.2f}",
                small(sum(study["debiased"]) / len(at)),
            ]
        )
    title = (
        "Squared calibration error in bins of the square root of the number of pairs. *Exponent* "
        "is the power of the number of pairs with which the score changes; *debiased* the mean of "
        "our estimate over the same samples, where what would be negative counts as 0"
    )
    header = ["predictions", "answers", "truth", "10,000 pairs", "50,000 pairs", "exponent"]
    return table(title, [*header, "debiased, mean"], body)


def thesis_intervals(found: Row) -> str:
    def between(pair: Any) -> str:
        return f"[{small(pair[0])}, {small(pair[1])}]"

    truth = {
        entry["truth"]: entry["true_score"] for entry in found["laws"] if ".5, .5" in entry["law"]
    }
    body, held, total = [], {"algorithm_2": 0, "interval": 0}, 0
    for name, rows in found["intervals"].items():
        for row in rows:
            total += 1
            for kind in held:
                held[kind] += row[kind][0] <= truth[name] <= row[kind][1]
            body.append(
                [
                    name,
                    f"{row['n']:,}",
                    f"{small(row['score'])} {between(row['algorithm_2'])}",
                    f"{small(row['debiased'])} {between(row['interval'])}",
                ]
            )
    title = (
        f"Beta(.5, .5): the score with the interval of Algorithm 2, in bins of the square root of "
        f"N, and our estimate with its default interval. The truth is 0 and "
        f"{small(truth['uncalibrated'])}. Of {total} intervals, Algorithm 2 holds the truth in "
        f"{held['algorithm_2']}, the default in {held['interval']}"
    )
    return table(title, ["answers", "N", "score, Algorithm 2", "debiased, default interval"], body)


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


def coreference_sampled(found: Row) -> str:
    body = []
    for name in ("exact", "sampled"):
        part = found[name]
        ranges = part["ranges"]
        body.append(
            [
                "exact" if name == "exact" else f"{found['n_samples']:,} samples",
                f"{part['links']:,}",
                f"{percents(part['error'])} %",
                *(
                    f"{three(ranges[r]['prob_pred'])} → {three(ranges[r]['prob_true'])}"
                    if r in ranges
                    else "–"
                    for r in ("low", "middle", "high")
                ),
            ]
        )
    title = (
        f"The surface model on the {found['documents']} test documents of GUM: calibration error "
        f"in bins of {found['bin_size']:,}, and mean prediction → frequency of unlikely links "
        "(below .05), of those in the middle, and of likely ones (above .6)"
    )
    return table(title, ["links", "number", "error", "unlikely", "middle", "likely"], body)


COREFERENCE = ("paper_coreference.json", "benchmarks/paper/coreference.py")

THESIS = ("paper_thesis.json", "benchmarks/paper/thesis.py")
MATCHED = ("paper_matched.json", "benchmarks/paper/matched.py")
ABLATION = ("paper_ablation.json", "benchmarks/paper/ablation.py")

MAKERS: tuple[Maker, ...] = (
    ("theirs", "../paper/theirs.json", substitutions, "benchmarks/paper/theirs.json"),
    ("thesis_bin_size", THESIS[0], thesis_bin_size, THESIS[1]),
    ("thesis_sample_size", THESIS[0], thesis_sample_size, THESIS[1]),
    ("thesis_intervals", THESIS[0], thesis_intervals, THESIS[1]),
    ("paper_matched", MATCHED[0], matched, MATCHED[1]),
    ("paper_matched_wins", MATCHED[0], matched_wins, MATCHED[1]),
    ("paper_matched_settings", MATCHED[0], matched_settings, MATCHED[1]),
    ("paper_ablation_thesis", ABLATION[0], ablation_thesis, ABLATION[1]),
    (
        "paper_coreference_sampled",
        "paper_coreference_sampled.json",
        coreference_sampled,
        "benchmarks/paper/coreference_sampled.py",
    ),
    ("paper_coreference", COREFERENCE[0], coreference, COREFERENCE[1]),
    ("paper_coreference_scores", COREFERENCE[0], coreference_scores, COREFERENCE[1]),
    ("paper_coreference_sampling", COREFERENCE[0], coreference_sampling, COREFERENCE[1]),
    ("paper_sentiment", "paper_sentiment.json", sentiment, "benchmarks/paper/sentiment.py"),
    ("paper_figure1", "paper_figure1.json", figure1, "benchmarks/paper/figure1.py"),
    ("paper_tagging", "paper_tagging.json", tagging, "benchmarks/paper/tagging.py"),
    ("paper_tagging_wins", "paper_tagging.json", tagging_wins, "benchmarks/paper/tagging.py"),
    ("paper_ablation", ABLATION[0], ablation, ABLATION[1]),
    ("paper_ablation_settings", ABLATION[0], ablation_settings, ABLATION[1]),
)


if __name__ == "__main__":
    write_tables(makers=MAKERS)
