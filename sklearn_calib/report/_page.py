"""The report as one self-contained HTML page, and as a short view for notebooks."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, Any

from sklearn_calib._output import GENERATOR
from sklearn_calib.display import BinSizeDisplay, LabelCalibrationDisplay
from sklearn_calib.metrics import LabelCalibration

if TYPE_CHECKING:
    from sklearn_calib.report._report import Report

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
caption { text-align: left; color: var(--soft); padding: 0 0.6rem 0.3rem; }
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
p#verdict { font-size: 1.15rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
p.note { border-left: 3px solid #d55e00; padding-left: 0.7rem; }
""".strip()


def _saved(figure: Any, kind: str, **options: Any) -> bytes:
    """Return a figure as the bytes of a file, and close it."""
    # Whoever has a figure has matplotlib.
    import matplotlib.pyplot as plt

    stream = io.BytesIO()
    figure.savefig(stream, format=kind, **options)
    plt.close(figure)
    return stream.getvalue()


def _svg(figure: Any, name: str) -> str:
    """Return a figure as an SVG element, with ids that no other figure on the page has."""
    text = _saved(figure, "svg", metadata={"Date": None}).decode()
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", text)


def _figure(display: Any, name: str, caption: str) -> str:
    picture = _svg(display.figure_, name)
    return f"<figure id='{name}'>{picture}<figcaption>{escape(caption)}</figcaption></figure>"


def _summary_table(report: Report) -> str:
    rows = "".join(
        f"<tr><td{' class=part' if name.startswith(' ') else ''}>{escape(name)}</td>"
        f"<td class='number'>{escape(value)}</td></tr>"
        for name, value in report.rows()
    )
    return f"<table id='summary'>{_caption(report)}{rows}</table>"


def _caption(report: Report) -> str:
    if report.labels is None:
        return ""
    return (
        f"<caption>All {len(report.labels)} labels pooled: these numbers are over the questions "
        "about every label.</caption>"
    )


def _label_table(labels: LabelCalibration) -> str:
    table = labels.most_common()
    low, high = table.confidence_interval
    head = "".join(
        f"<th class='number'>{name}</th>"
        for name in ("count", "error", "low", "high", "too high by", "adjusted p")
    )
    rows = "".join(
        f"<tr><td>{escape(str(label))}</td><td class='number'>{table.count[i]:,}</td>"
        + "".join(
            f"<td class='number'>{value:.4f}</td>"
            for value in (table.error[i], low[i], high[i], table.mean_gap[i])
        )
        + f"<td class='number'>{table.adjusted_pvalue[i]:.3g}</td></tr>"
        for i, label in enumerate(table.labels.tolist())
    )
    return (
        f"<div class='scroll'><table id='labels'><tr><th>label</th>{head}</tr>{rows}</table></div>"
    )


def _curve(report: Report) -> Any:
    """Draw the curve as the page and the notebook show it."""
    return report.plot(
        consistency=True, distribution="histogram", name=report.name if report.name else "model"
    )


def notebook_view(report: Report) -> str:
    """Return the first numbers and the curve; without matplotlib, the numbers alone."""
    rows = [row for row in report.rows() if not row[0].startswith(" ")]
    body = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in rows
    )
    parts = [
        f"<p><b>{escape(report.title)}</b></p>",
        f"<p>{escape(report.verdict)}</p>",
        f"<table>{_caption(report)}{body}</table>",
    ]
    if report.labels is not None:
        parts.append(report.labels.most_common()._repr_html_())
    parts += [f"<p>note: {escape(note)}</p>" for note in report.notes]
    try:
        display = _curve(report)
    except ImportError:
        return "".join(parts)
    data = b64encode(_saved(display.figure_, "png", dpi=80)).decode()
    parts.append(f"<img alt='Calibration curve' src='data:image/png;base64,{data}'>")
    return "".join(parts)


def page(report: Report) -> str:
    """Return the whole page."""
    title = escape(report.title)
    curve = _curve(report)
    sizes = BinSizeDisplay.from_predictions(
        report.queries, confidence_level=report.confidence_level
    )
    parts = [
        f"<h1>{title}</h1>",
        "<p class='lead'>Of the predictions that say 70 %, seven in ten should come true.</p>",
        f"<p id='verdict'>{escape(report.verdict)}</p>",
        _summary_table(report),
        *(f"<p class='note'>{escape(note)}</p>" for note in report.notes),
        "<h2>Calibration curve (reliability diagram)</h2>",
        _figure(
            curve,
            "curve",
            "Each point is a bin of queries with about the same prediction, with a confidence "
            "interval for the frequency behind it. Below the diagonal, predictions are too high. "
            "The grey band is where points of a perfectly calibrated model would fall. The ECE and "
            "the parts of the scores are over the same bins.",
        ),
    ]
    if report.labels is not None:
        labels = LabelCalibrationDisplay(report.labels).plot(max_labels=40)
        parts += [
            "<h2>By label</h2>",
            _figure(
                labels, "labels-picture", "Calibration error of each label, most common first."
            ),
            _label_table(report.labels),
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
    advice = "\n".join(report.advice)
    parts += ["<h2>What to do</h2>", f"<pre id='advice'>{escape(advice)}</pre>"]
    body = "\n".join(parts)
    return (
        "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
        f"{GENERATOR}\n<title>{title}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )
