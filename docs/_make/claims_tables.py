"""Make the table at the top of "The paper, reproduced": each claim, theirs beside ours.

Their numbers come from benchmarks/paper/theirs.json, ours from benchmarks/results/. The
verdicts are computed, so that a new run can change them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from paper_tables import fine, percents, signed, three
from tables import RESULTS, TABLES, Row, table
from theirs import NUMBERS, quoted, value

YES, PART, NO = "yes", "in part", "no"

# A claim: what it says, their words in numbers, where they stand, ours, verdict, script.
Claim = tuple[str, str, str, str, str, str]


def verdict(holds: bool, partly: bool = False) -> str:
    return YES if holds else PART if partly else NO


def at(*names: str) -> str:
    """Return where numbers of theirs were read."""
    return "; ".join(dict.fromkeys(NUMBERS[name][1] for name in names))


def figure1(found: Row) -> list[Claim]:
    rows = {row["bins"]: row for row in found["rows"]}
    narrow, adaptive = rows["width 0.02"], rows["adaptive"]
    return [
        (
            "Narrow bins of fixed width have wide intervals, adaptive bins narrow ones",
            f"widths {quoted('figure1_widths').replace(' to ', ' and ')}, adaptive bins of "
            f"{quoted('figure1_bin_size')}",
            at("figure1_widths"),
            f"widest interval {narrow['widest_interval']:.2f} and "
            f"{adaptive['widest_interval']:.2f}",
            verdict(narrow["widest_interval"] > 2 * adaptive["widest_interval"]),
            "figure1.py",
        )
    ]


def sentiment(found: Row) -> list[Claim]:
    of = {(row["model"], row["chosen_by"]): row for row in found["rows"]}
    nb, lr = of["naive Bayes", "F1"], of["logistic regression", "F1"]
    plain = of["naive Bayes", "default"], of["logistic regression", "default"]

    def flat(row: Row) -> bool:
        return row["sides"]["low"]["mean_gap"] > 0 > row["sides"]["high"]["mean_gap"]

    return [
        (
            "Naive Bayes has more than twice the error of logistic regression",
            f"{quoted('sentiment_error_nb')} and {quoted('sentiment_error_lr')}",
            at("sentiment_error_nb"),
            f"{three(nb['error'])} and {three(lr['error'])}; with default settings "
            f"{three(plain[0]['error'])} and {three(plain[1]['error'])}",
            verdict(nb["error"] > 2 * lr["error"], nb["error"] > lr["error"]),
            "sentiment.py",
        ),
        (
            "... at an F1 that is slightly higher",
            f"{quoted('sentiment_f1_nb')} and {quoted('sentiment_f1_lr')}",
            at("sentiment_f1_nb"),
            f"{100 * nb['f1']:.1f} % and {100 * lr['f1']:.1f} %",
            verdict(nb["f1"] > lr["f1"], abs(nb["f1"] - lr["f1"]) < 0.02),
            "sentiment.py",
        ),
        (
            "Both are underconfident at low predictions and overconfident at high ones",
            "both",
            at("sentiment_error_nb"),
            "logistic regression "
            + ("yes" if flat(lr) else "no")
            + ", naive Bayes "
            + ("yes" if flat(nb) else "no")
            + ", with default settings "
            + ("yes" if flat(plain[0]) else "no"),
            verdict(flat(lr) and flat(nb), flat(lr) or flat(plain[0])),
            "sentiment.py",
        ),
    ]


def tagging(found: Row) -> list[Claim]:
    hmm, crf = found["pooled"]["HMM"], found["pooled"]["CRF"]
    gap = {name: found["pooled"][name]["sides"]["high"]["mean_gap"] for name in ("HMM", "CRF")}
    tags, pairs = found["tag"], found["pair"]
    nn = next(row for row in tags["rows"] if row["label"] == "NN")
    worst = max(abs(gap["HMM"]) / 5, 1e-9)
    return [
        (
            "A CRF of fewer sentences is as accurate as the HMM",
            f"about {quoted('tagging_accuracy')}, {quoted('tagging_crf_train')} of "
            f"{quoted('tagging_train')} sentences",
            at("tagging_accuracy"),
            f"{100 * hmm['accuracy']:.1f} % and {100 * crf['accuracy']:.1f} %, "
            f"{found['sentences']['CRF']:,} of {found['sentences']['HMM']:,} sentences",
            verdict(abs(hmm["accuracy"] - crf["accuracy"]) < 0.001),
            "matched.py",
        ),
        (
            "The HMM is very underconfident",
            "Figure 3(a)",
            "section 4.2.2",
            f"frequencies above ½ exceed predictions by {signed(gap['HMM'])}",
            verdict(gap["HMM"] > 0.02),
            "matched.py",
        ),
        (
            "The CRF is overconfident",
            "Figure 3(b)",
            "section 4.2.2",
            f"the same for the CRF: {signed(gap['CRF'])}",
            verdict(gap["CRF"] < -worst, gap["CRF"] < 0),
            "matched.py",
        ),
        (
            "The CRF has the lower error over all tags",
            "Figure 3",
            "section 4.2.2",
            f"{fine(hmm['error'])} and {fine(crf['error'])}",
            verdict(crf["error"] < hmm["error"]),
            "matched.py",
        ),
        (
            "... and for most single tags",
            f"{quoted('tagging_wins_tags')} of {quoted('tagging_tags')}",
            at("tagging_wins_tags"),
            f"{tags['wins_of_crf']['plain']} of {tags['labels']}",
            verdict(tags["wins_of_crf"]["plain"] > 0.7 * tags["labels"]),
            "matched.py",
        ),
        (
            "... but not for NN, where both are alike",
            "about equal",
            at("tagging_wins_tags"),
            f"{fine(nn['error'][0])} and {fine(nn['error'][1])}",
            verdict(abs(nn["error"][0] - nn["error"][1]) < 0.2 * max(nn["error"])),
            "matched.py",
        ),
        (
            "... and for most tag pairs",
            f"{quoted('tagging_crf_wins_pairs')} of {quoted('tagging_pairs')}",
            at("tagging_crf_wins_pairs"),
            f"{pairs['wins_of_crf']['plain']} of {pairs['labels']}",
            verdict(pairs["wins_of_crf"]["plain"] > 0.6 * pairs["labels"]),
            "matched.py",
        ),
    ]


def ablation(found: Row) -> list[Claim]:
    error = {
        (row["corpus"], row["model"]): row
        for row in found["rows"]
        if row["chosen_by"] == "accuracy"
    }
    names = ("HMM", "CRF-basic", "CRF-advanced")
    news = [error["CoNLL-2000", name] for name in names]
    tweets = [error["ARK tweets", name] for name in names]
    ratio = [row["error"] / tweets[-1]["error"] for row in tweets]
    return [
        (
            "NN: CRF-basic is better calibrated than the HMM",
            f"{quoted('nn_hmm')} and {quoted('nn_crf_basic')}",
            at("nn_hmm"),
            f"{three(news[0]['error'])} and {three(news[1]['error'])} as roots, "
            f"{news[0]['error'] ** 2:.4f} and {news[1]['error'] ** 2:.4f} as squares",
            verdict(news[0]["error"] > 1.5 * news[1]["error"]),
            "ablation.py",
        ),
        (
            "NN: with all features the curve is just off the diagonal",
            f"accuracy {quoted('nn_crf_advanced_accuracy')}",
            at("nn_crf_advanced_accuracy"),
            f"{three(news[2]['error'])}, accuracy {100 * news[2]['accuracy']:.1f} %",
            verdict(news[2]["error"] < news[1]["error"]),
            "ablation.py",
        ),
        (
            "V in tweets: each step halves the error",
            f"{quoted('tweets_ratio')}, accuracy {quoted('tweets_advanced_accuracy')}",
            at("tweets_ratio"),
            " : ".join(f"{r:.1f}" for r in ratio)
            + f", accuracy {100 * tweets[2]['accuracy']:.1f} %",
            verdict(ratio[0] > 1.4 * ratio[1] > 1.96, ratio[0] > max(ratio[1:])),
            "ablation.py",
        ),
    ]


def thesis(found: Row) -> list[Claim]:
    raised = sum(e["doubled"]["rises"] + e["doubling"]["rises"] for e in found["laws"])
    tried = sum(
        len(e["doubled"]["bin_size"]) - 1 + e["doubling"]["steps"] for e in found["laws"]
    )  # fmt: skip
    good = [e for e in found["laws"] if e["truth"] == "calibrated"]
    bad = [e for e in found["laws"] if e["truth"] != "calibrated"]
    slopes = [e["sample_sizes"]["slope"] for e in good]
    last = [e["sample_sizes"]["score"][-1] / e["true_score"] for e in bad]
    truth = {
        "calibrated": 0.0,
        "uncalibrated": next(e["true_score"] for e in bad if ".5, .5" in e["law"]),
    }
    rows = [(truth[name], row) for name, part in found["intervals"].items() for row in part]
    held = sum(t >= row["algorithm_2"][0] and t <= row["algorithm_2"][1] for t, row in rows)
    ours = sum(t >= row["interval"][0] and t <= row["interval"][1] for t, row in rows)
    return [
        (
            "Doubling the bin size never raises the score",
            f"bins of 2\\ :sup:`{value('bin_size_powers')[0]}` to "
            f"2\\ :sup:`{value('bin_size_powers')[1]}`, {quoted('pairs')} pairs",
            at("bin_size_powers"),
            f"raised {raised} of {tried:,} times",
            verdict(raised == 0),
            "thesis.py",
        ),
        (
            "The score of a calibrated model goes to zero as the sample grows",
            f"{quoted('sample_sizes')} pairs",
            at("sample_sizes"),
            f"it falls with the power {min(slopes):.2f} to {max(slopes):.2f} of the number",
            verdict(max(slopes) < -0.3),
            "thesis.py",
        ),
        (
            "That of a miscalibrated model does not",
            f"k = {quoted('k')}",
            at("k"),
            f"{min(last):.2f} to {max(last):.2f} of the truth at the end",
            verdict(min(last) > 0.8),
            "thesis.py",
        ),
        (
            "The 95 % interval of Algorithm 2 is one",
            f"m ± {quoted('normal_quantile')} s",
            "Algorithm 2",
            f"it holds the truth in {held} of {len(rows)} samples, ours in {ours}",
            verdict(held >= 0.9 * len(rows)),
            "thesis.py",
        ),
    ]


def coreference(found: Row) -> list[Claim]:
    of = {row["name"]: row for row in found["rows"]}
    five, bare = of["GUM, 5-fold, surface"], of["GUM without singletons, 5-fold, surface"]
    best = of["GUM, 5-fold, extended"]
    return [
        (
            "Links are calibrated to less than 1 %",
            f"{quoted('coreference_links')} links of {quoted('coreference_documents')} documents",
            at("coreference_error_below"),
            f"{percents(five['error'])} % (floor {percents(five['null']['mean'])} %), "
            f"{percents(best['error'])} % with more features; without singletons, as in "
            f"OntoNotes, {percents(bare['error'])} %; {five['links'] / 1e6:.1f} million links of "
            f"{five['documents']} documents",
            verdict(
                max(five["error"], bare["error"]) < value("coreference_error_below"),
                best["error"] < value("coreference_error_below"),
            ),
            "coreference.py",
        )
    ]


def coreference_sampled(found: Row) -> list[Claim]:
    part = found["sampled"]["ranges"]
    over = [part[name]["prob_pred"] > part[name]["prob_true"] for name in ("middle", "high")]
    shown = " and ".join(
        f"{three(part[name]['prob_pred'])} → {three(part[name]['prob_true'])}"
        for name in ("middle", "high")
    )
    return [
        (
            "... and slightly overconfident at middle and high values",
            f"{quoted('coreference_samples')} samples, Figure 5",
            at("coreference_samples"),
            f"{shown} (prediction → frequency); sampled {percents(found['sampled']['error'])} %, "
            f"exact {percents(found['exact']['error'])} %",
            verdict(all(over), any(over)),
            "coreference_sampled.py",
        )
    ]


def width(row: Row, kind: str) -> float:
    """Return the summed width of the intervals of the most frequent countries."""
    return sum(line[f"{kind}_interval"][1] - line[f"{kind}_interval"][0] for line in row["rows"])


def news(found: Row) -> list[Claim]:
    entry = found["corpora"].get("wikinews", found["corpora"]["amalgum"])
    part = entry["kinds"]["attack-like"]
    few, entities, rivals = part["few_samples"], part["entities"], entry["rivals"]
    claims = [
        (
            "Counts of attacking countries with intervals, over time",
            f"{quoted('events_articles')} articles, {quoted('events_years')}",
            at("events_articles"),
            f"{entry['articles']:,} articles, {part['documents']:.0f} events with attack-like "
            f"verbs, {entry['kinds']['attack']['documents']:.0f} with “attack”",
            PART,
            "news.py",
        ),
        (
            "Ten samples do as well as a hundred",
            f"{quoted('events_few_samples')} and {quoted('events_samples')}",
            at("events_few_samples"),
            f"means correlate {few['correlation']:.3f}, but {few['zero_width']} of "
            f"{few['uncertain']} intervals lose their width",
            verdict(
                few["correlation"] > 0.95 and few["zero_width"] < 0.05 * few["uncertain"],
                few["correlation"] > 0.95,
            ),
            "news.py",
        ),
        (
            "Counting entities in place of documents is similar",
            "similar",
            at("events_few_samples"),
            f"counts of countries correlate {entities['correlation']:.3f}, "
            f"{entities['ratio']:.2f} times as many",
            verdict(entities["correlation"] > 0.95),
            "news.py",
        ),
        (
            "Two rivals: single best counts differ, intervals overlap",
            "Yugoslavia and NATO, mid-1999",
            "section 6.2, Figure 6",
            f"{rivals['one']} and {rivals['other']}: single best counts differ in "
            f"{rivals['best_differs']} quarters, in {rivals['unclear']} of them the interval of "
            "the difference has both signs",
            verdict(rivals["unclear"] > 0),
            "news.py",
        ),
    ]
    if "reading" in entry:
        row = entry["reading"]
        claims.append(
            (
                "Intervals show what the system does not know",
                "coreference alone; parses and the rule are taken as they are",
                "section 6.2 and appendix",
                f"of {row['claimed']} likely events that were read, {row['right']} are true, and "
                f"{row['missed']} true ones were missed; corrected intervals are "
                f"{width(row, 'corrected') / width(row, 'plain'):.1f} times as wide",
                PART,
                "news.py",
            )
        )
    return claims


PARTS: tuple[tuple[str, Callable[[Any], list[Claim]]], ...] = (
    ("paper_figure1.json", figure1),
    ("paper_sentiment.json", sentiment),
    ("paper_matched.json", tagging),
    ("paper_ablation.json", ablation),
    ("paper_thesis.json", thesis),
    ("paper_coreference.json", coreference),
    ("paper_coreference_sampled.json", coreference_sampled),
    ("paper_news.json", news),
)


def claims(results: Path = RESULTS) -> list[Claim]:
    """Return every claim whose experiment has been run."""
    found: list[Claim] = []
    for name, make in PARTS:
        path = results / name
        if path.exists():
            found += make(json.loads(path.read_text(encoding="utf-8")))
    return found


def claims_table() -> str:
    body = []
    for claim, theirs, place, ours, word, script in claims():
        # Short, so that the table fits on a phone.
        where = place.replace("section ", "§")
        said = theirs if place in theirs else f"{theirs} ({where})"
        body.append([claim, said, ours, f"**{word}**", f"``{script}``"])
    counted = [row[3].strip("*") for row in body]
    title = (
        f"Their claims and ours: {counted.count(YES)} hold here too, {counted.count(PART)} do in "
        f"part, and {counted.count(NO)} do not. Scripts are in ``benchmarks/paper/``"
    )
    return table(title, ["claim", "theirs", "ours", "so?", "script"], body)


if __name__ == "__main__":
    TABLES.mkdir(exist_ok=True)
    (TABLES / "paper_claims.rst").write_text(claims_table(), encoding="utf-8")
