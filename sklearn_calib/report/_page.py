"""The report as one self-contained HTML page, and as a short view for notebooks."""

from __future__ import annotations

import io
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_calib._html import data_element, html_page, plain_text
from sklearn_calib._results import percent
from sklearn_calib._validation import Array
from sklearn_calib.display._histogram import GRIDS, PredictionCounts
from sklearn_calib.metrics import (
    CalibrationBins,
    LabelCalibration,
    bin_size_curve,
    calibration_bins,
)
from sklearn_calib.queries import Queries, QueryScan

if TYPE_CHECKING:
    from sklearn_calib.report._report import Report

# Labels that have curves of their own, most common first.
_CURVES = 40
# Cells of the histogram, each a fiftieth wide.
_CELLS = 50
# Width of the picture of an error in the table of labels.
_WIDE = 140


def _saved(figure: Any, kind: str, **options: Any) -> bytes:
    """Return a figure as the bytes of a file, and close it."""
    # Whoever has a figure has matplotlib.
    import matplotlib.pyplot as plt

    stream = io.BytesIO()
    figure.savefig(stream, format=kind, **options)
    plt.close(figure)
    return stream.getvalue()


def _summary_table(report: Report) -> str:
    rows = "".join(
        f"<tr><td{' class=part' if name.startswith(' ') else ''}>{plain_text(name)}</td>"
        f"<td class='number'>{plain_text(value)}</td></tr>"
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
    """Return the table of labels, most common first, with a picture of each error."""
    table = labels.most_common()
    low, high = table.confidence_interval
    known = ~np.isnan(table.error)
    most = max(float(high[known].max(initial=0.0)), 1e-9)
    head = "".join(
        f"<th class='number'>{name}</th>"
        for name in ("count", "error", "low", "high", "too high by", "adjusted p")
    )
    rows = []
    for i, label in enumerate(table.labels.tolist()):
        numbers = "".join(
            f"<td class='number'>{value:.4f}</td>"
            for value in (table.error[i], low[i], high[i], table.mean_gap[i])
        )
        picture = ""
        if known[i]:
            picture = _error_picture(table.error[i] / most, low[i] / most, high[i] / most)
        rows.append(
            f"<tr{' class=alarm' if table.alarm[i] else ''}>"
            f"<td class='label'><bdi>{plain_text(str(label))}</bdi></td><td>{picture}</td>"
            f"<td class='number'>{table.count[i]:,}</td>{numbers}"
            f"<td class='number'>{_pvalue(table.adjusted_pvalue[i])}</td></tr>"
        )
    return (
        "<div class='scroll'><table id='labels'><thead><tr><th>label</th>"
        f"<th>error, 0 to {most:.2g}</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
        "</table></div>"
    )


def _pvalue(value: float) -> str:
    return "&lt; 1e-300" if value == 0.0 else f"{value:.3g}"


def _error_picture(error: float, low: float, high: float) -> str:
    """Draw an error and its interval, as shares of the widest."""
    x = [3.0 + (_WIDE - 6.0) * min(value, 1.0) for value in (error, low, high)]
    return (
        f"<svg class='plot error' viewBox='0 0 {_WIDE} 16' width='{_WIDE}' height='16' "
        "aria-hidden='true'><line class='grid' x1='3' x2='3' y1='0' y2='16'/>"
        f"<line class='interval' x1='{x[1]:.1f}' x2='{x[2]:.1f}' y1='8' y2='8'/>"
        f"<circle class='point' cx='{x[0]:.1f}' cy='8' r='3.5'/></svg>"
    )


# --- what the pictures are drawn from


def _list(values: Array) -> list[float | None]:
    """Return numbers as JSON has them."""
    return [None if value != value else value for value in np.asarray(values, float).tolist()]


def _bins_data(bins: CalibrationBins, level: float) -> dict[str, Any]:
    interval, band = bins.confidence_interval(level), bins.consistency_band(level)
    return {
        "count": bins.count.tolist(),
        "predicted": _list(bins.prob_pred),
        "true": _list(bins.prob_true),
        "from": _list(bins.low),
        "to": _list(bins.high),
        "low": _list(interval.low),
        "high": _list(interval.high),
        "bandLow": _list(band.low),
        "bandHigh": _list(band.high),
    }


def _curve_data(
    queries: Queries | QueryScan, bins: CalibrationBins, name: str, level: float
) -> dict[str, Any]:
    counts = PredictionCounts.of(queries)
    return {
        "name": name,
        "n": int(bins.count.sum()) if isinstance(queries, QueryScan) else len(queries),
        "bins": _bins_data(bins, level),
        "histogram": counts.linear.reshape(_CELLS, -1).sum(axis=1).tolist(),
        "oddsHistogram": counts.logit.tolist(),
    }


def _data(report: Report) -> dict[str, Any]:
    """Return the numbers of the pictures."""
    level = report.confidence_level
    name = "the predictions" if report.labels is None else "all labels pooled"
    curves = [_curve_data(report.queries, report.bins, name, level)]
    if report.labels is not None:
        options: dict[str, Any] = dict(report.bin_options)
        for label in report.labels.most_common(_CURVES).labels.tolist():
            mine = report.queries.where(label=label)
            bins = calibration_bins(mine, **options)
            curves.append(_curve_data(mine, bins, str(label), level))
    sizes = bin_size_curve(report.queries, confidence_level=level)
    return {
        "level": percent(level),
        "curves": curves,
        "oddsEdges": GRIDS["logit"].tolist(),
        "sizes": {
            "size": _list(sizes.bin_size),
            "bins": sizes.n_bins.tolist(),
            "error": _list(sizes.error),
            "debiased": _list(sizes.debiased_error),
            "nullLow": _list(sizes.null_interval.low),
            "nullHigh": _list(sizes.null_interval.high),
            "selected": float(sizes.selected),
        },
    }


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


def _figure(name: str, caption: str) -> str:
    return (
        f"<figure id='{name}'><div class='picture'></div><figcaption>{escape(caption)}</figcaption>"
        "</figure>"
    )


def _few(n_labels: int) -> str:
    """Say which labels have curves, where not all of them do."""
    return f", one of the {_CURVES} most common," if n_labels > _CURVES else ""


def page(report: Report) -> str:
    """Return the whole page."""
    parts = [
        f"<h1 dir='auto'>{plain_text(report.title)}</h1>",
        "<p class='lead'>Of the predictions that say 70 %, seven in ten should come true.</p>",
        f"<p id='verdict'>{plain_text(report.verdict)}</p>",
        "<noscript><p class='note'>This page draws its pictures with a script that it holds; "
        "allow scripts to see them.</p></noscript>",
        *(f"<p class='note'>{plain_text(note)}</p>" for note in report.notes),
        "<div class='columns'><section>",
        "<h2>Calibration curve (reliability diagram)</h2>",
        _figure(
            "curve",
            "Each point is a bin of queries with about the same prediction, with a confidence "
            "interval for the frequency behind it. Below the diagonal, predictions are too high. "
            "The grey band is where points of a perfectly calibrated model would fall. The ECE and "
            "the parts of the scores are over the same bins. The bars count predictions.",
        ),
        "</section><section>",
        "<h2>Summary</h2>",
        _summary_table(report),
        "</section></div>",
    ]
    if report.labels is not None:
        parts += [
            "<h2>By label</h2>",
            "<p class='soft'>Calibration error of each label with its interval, most common first; "
            "a filled point is an alarm, an adjusted p-value below 0.05. Choose a label"
            f"{_few(len(report.labels))} to see its curve above.</p>",
            _label_table(report.labels),
        ]
    parts += [
        "<h2>Does the bin size matter?</h2>",
        _figure(
            "bin-size",
            "The plug-in error grows as bins shrink, for a perfect model too (shaded band). The "
            "debiased error does not.",
        ),
    ]
    advice = "\n".join(report.advice)
    parts += ["<h2>What to do</h2>", f"<pre id='advice'>{plain_text(advice)}</pre>"]
    return html_page(
        report.title,
        "\n".join(parts),
        data=[data_element("data", _data(report))],
        styles=["report.css"],
        scripts=["chart.js", "report.js"],
    )
