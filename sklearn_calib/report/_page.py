"""The report as one self-contained HTML page."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

from sklearn_calib.display import (
    AdaptiveCalibrationDisplay,
    BinSizeDisplay,
    LabelCalibrationDisplay,
)
from sklearn_calib.display._axes import pyplot
from sklearn_calib.report._summary import Summary

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #ffffff;
        --line: #d0d7de; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9198a1; --paper: #0d1117; --line: #3d444d; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0.2rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
p.lead { color: var(--soft); margin-top: 0; }
table { border-collapse: collapse; width: 100%; }
td, th { padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.part { padding-left: 2rem; }
div.scroll { overflow-x: auto; }
figure { margin: 1rem 0; border: 1px solid var(--line); border-radius: 6px; padding: 0.5rem;
         text-align: center; background: var(--paper); }
figure svg { max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) {
  /* Light on dark: the lightness is turned round, the hues stay, white paper becomes the page. */
  figure svg { filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen; }
}
figcaption { color: var(--soft); font-size: 0.9rem; text-align: left; padding: 0 0.5rem 0.3rem; }
p.note { border-left: 3px solid #d55e00; padding-left: 0.7rem; }
""".strip()


def _svg(figure: Any, name: str) -> str:
    """Return a figure as an SVG element, with ids that no other figure on the page has."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    pyplot().close(figure)
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", text)


def _figure(display: Any, name: str, caption: str) -> str:
    picture = _svg(display.figure_, name)
    return f"<figure id='{name}'>{picture}<figcaption>{escape(caption)}</figcaption></figure>"


def _summary_table(summary: Summary) -> str:
    rows = "".join(
        f"<tr><td{' class=part' if name.startswith(' ') else ''}>{escape(name)}</td>"
        f"<td class='number'>{escape(value)}</td></tr>"
        for name, value in summary.rows()
    )
    return f"<table id='summary'>{rows}</table>"


def _label_table(summary: Summary) -> str:
    assert summary.labels is not None
    table = summary.labels.most_common()
    low, high = table.confidence_interval
    head = "".join(
        f"<th class='number'>{name}</th>"
        for name in ("count", "error", "low", "high", "too high by")
    )
    rows = "".join(
        f"<tr><td>{escape(str(label))}</td><td class='number'>{table.count[i]:,}</td>"
        + "".join(
            f"<td class='number'>{value:.4f}</td>"
            for value in (table.error[i], low[i], high[i], table.mean_gap[i])
        )
        + "</tr>"
        for i, label in enumerate(table.labels.tolist())
    )
    return (
        f"<div class='scroll'><table id='labels'><tr><th>label</th>{head}</tr>{rows}</table></div>"
    )


def page(summary: Summary, title: str) -> str:
    """Return the whole page."""
    queries, level = summary.queries, summary.result.confidence_level
    curve = AdaptiveCalibrationDisplay.from_queries(
        queries, confidence_level=level, consistency=True, distribution="histogram", name="model"
    )
    sizes = BinSizeDisplay.from_predictions(queries, confidence_level=level)
    parts = [
        f"<h1>Calibration of {escape(title)}</h1>",
        "<p class='lead'>Of the predictions that say 70 %, seven in ten should come true.</p>",
        _summary_table(summary),
        *(f"<p class='note'>{escape(note)}</p>" for note in summary.notes),
        "<h2>Calibration curve</h2>",
        _figure(
            curve,
            "curve",
            "Each point is a bin of queries with about the same prediction, with a confidence "
            "interval for the frequency behind it. Below the diagonal, predictions are too high. "
            "The grey band is where points of a perfectly calibrated model would fall.",
        ),
    ]
    if summary.labels is not None:
        labels = LabelCalibrationDisplay(summary.labels).plot(max_labels=40)
        parts += [
            "<h2>By label</h2>",
            _figure(
                labels, "labels-picture", "Calibration error of each label, most common first."
            ),
            _label_table(summary),
        ]
    parts += [
        "<h2>Does the bin size matter?</h2>",
        _figure(
            sizes,
            "bin-size",
            "The plug-in error grows as bins shrink, for a perfect model too (shaded band). The "
            "debiased error does not.",
        ),
    ]
    body = "\n".join(parts)
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"<title>Calibration of {escape(title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )
