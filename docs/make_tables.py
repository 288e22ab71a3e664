"""Turn the numbers in benchmarks/results/ into tables for the documentation.

The build calls ``write_tables``; ``python docs/make_tables.py`` does the same by
hand. Every table goes to docs/_tables/, to be included by a page. Where the
numbers are missing, the table says so, and the build goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "results"
TABLES = DOCS / "_tables"

MISSING = "*Not measured yet: run* ``python {script}`` *and build the documentation again.*\n"

# What the 95 % interval and the tests at the 5 % level are meant to reach.
LEAST_COVERED, MOST_COVERED = 0.93, 0.98
LEAST_SIZE, MOST_SIZE = 0.04, 0.06

# Names of measures in coverage.json.
IGNORED, ALGORITHM_2 = "score, groups ignored", "Algorithm 2, cbrt(N) bins"

Row = dict[str, Any]


# --- reStructuredText


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a title; cells hold reStructuredText of one line."""
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for row in (header, *rows):
        bullets = ["*", *[" "] * (len(row) - 1)]
        lines += [
            f"   {bullet} - {cell}".rstrip() for bullet, cell in zip(bullets, row, strict=True)
        ]
    return "\n".join(lines) + "\n"


def paragraphs(*parts: str) -> str:
    return "\n".join(part.rstrip() + "\n" for part in parts if part)


def bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items) + "\n"


# --- numbers as text


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def standard_error(replications: int) -> float:
    """Return the standard error of a share of 95 %, in points."""
    return 100 * (0.95 * 0.05 / replications) ** 0.5


def span(values: Sequence[float]) -> str:
    """Return the least and the most of some shares, in per cent."""
    if not values:
        return "–"
    low, high = percent(min(values)), percent(max(values))
    return low if low == high else f"{low}–{high}"


def interval(limits: Sequence[float]) -> str:
    return "[{:.4f}, {:.4f}]".format(*limits)


# --- coverage.json


class Coverage:
    """The rows of coverage.json, one for each variant, law, truth and number of queries."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.variants = list(dict.fromkeys(row["variant"] for row in rows))
        self.sizes = sorted({row["n"] for row in rows})
        self.columns = [f"N = {n:,}" for n in self.sizes]

    def select(self, **wanted: Any) -> list[Row]:
        return [r for r in self.rows if all(r[name] == value for name, value in wanted.items())]

    def one(self, measure: str, **wanted: Any) -> float | None:
        found = [row[measure] for row in self.select(**wanted) if measure in row]
        return found[0] if found else None

    def spans(self, measure: str, **wanted: Any) -> list[str]:
        """Return the range over laws and truths, for each number of queries."""
        return [
            span([row[measure] for row in self.select(n=n, **wanted) if measure in row])
            for n in self.sizes
        ]

    def has(self, measure: str, **wanted: Any) -> bool:
        return any(measure in row for row in self.select(**wanted))

    def settings(self, **wanted: Any) -> list[tuple[str, str]]:
        return list(dict.fromkeys((row["law"], row["truth"]) for row in self.select(**wanted)))

    def replications(self) -> str:
        """Say how many samples there are, and what that means for a true share of 95 %."""
        numbers = sorted({row["replications"] for row in self.rows})
        samples, errors = f"{numbers[0]:,}", f"{standard_error(numbers[0]):.1f}"
        if len(numbers) > 1:
            samples += f" to {numbers[-1]:,}"
            errors = f"{standard_error(numbers[-1]):.1f} to {errors}"
        return (
            f"Each cell comes from {samples} simulated samples. A true share of 95 % is measured "
            f"with a standard error of {errors} points."
        )


def coverage_summary(rows: list[Row]) -> str:
    data = Coverage(rows)
    body = []
    for variant in data.variants:
        body.append([f"default: {variant}", *data.spans("score", variant=variant)])
        if data.has(IGNORED, variant=variant):
            cells = data.spans(IGNORED, variant=variant)
            body.append([f"default: {variant}, but ``groups=False``", *cells])
    for name, measure in (
        ('``method="bootstrap"``', "BCa bootstrap"),
        ('``method="sampling"``', ALGORITHM_2),
    ):
        if not data.has(measure):
            continue
        body.append([f"{name}: calibrated models", *data.spans(measure, truth="calibrated")])
        other = [row for row in rows if row["truth"] != "calibrated"]
        body.append([f"{name}: other models", *Coverage(other).spans(measure)])
    title = "How often a 95 % interval held the true error: least and most over settings, in %"
    return paragraphs(table(title, ["interval", *data.columns], body), data.replications())


def coverage_of_variant(data: Coverage, variant: str) -> str:
    measures = {"score": ""}
    if data.has(IGNORED, variant=variant):
        measures[IGNORED] = "ignored, "
    sizes = [n for n in data.sizes if data.select(variant=variant, n=n)]
    columns = [(measure, n) for measure in measures for n in sizes]
    header = ["predictions", "truth", *(f"{measures[m]}N = {n:,}" for m, n in columns)]
    body = [
        [
            law,
            truth,
            *(percent(data.one(m, variant=variant, law=law, truth=truth, n=n)) for m, n in columns),
        ]
        for law, truth in data.settings(variant=variant)
    ]
    samples = min(row["replications"] for row in data.select(variant=variant))
    note = f" ({samples:,} samples per cell)"
    if len(measures) > 1:
        note += "; *ignored*: without the groups"
    return table(f"Coverage of the default 95 % interval in %: {variant}{note}", header, body)


def outside(rows: list[Row]) -> str:
    """Name every cell of the default interval that is outside the range aimed at."""
    cells = [
        f"{row['variant']}; {row['law']}, {row['truth']}, N = {row['n']:,}: {percent(row['score'])}"
        for row in rows
        if not LEAST_COVERED <= row["score"] <= MOST_COVERED
    ]
    aim = f"{100 * LEAST_COVERED:.0f}–{100 * MOST_COVERED:.0f} %"
    if not cells:
        return f"All {len(rows)} cells lie within {aim}.\n"
    return paragraphs(
        f"{len(cells)} of {len(rows)} cells lie outside {aim}, Monte Carlo error included:",
        bullets(cells),
    )


def other_intervals(data: Coverage) -> str:
    names = {
        ALGORITHM_2: "Algorithm 2",
        "BCa bootstrap": "bootstrap",
    }
    columns = [(m, n) for m in names for n in data.sizes if any(m in r for r in data.select(n=n))]
    if not columns:
        return ""
    header = ["predictions", "truth", *(f"{names[m]}, N = {n:,}" for m, n in columns)]
    body = [
        [law, truth, *(percent(data.one(m, law=law, truth=truth, n=n)) for m, n in columns)]
        for law, truth in data.settings()
    ]
    title = (
        "Coverage in % of Algorithm 2 with cbrt(N) bins, and of the BCa bootstrap of the debiased "
        "error, both at the 95 % level"
    )
    return table(title, header, body)


def test_sizes(data: Coverage) -> str:
    """Return how often tests at the 5 % level reject calibrated models."""
    body, cells, missed = [], 0, []
    for variant in data.variants:
        for law, truth in data.settings(variant=variant, truth="calibrated"):
            for name in ("binned", "kuiper", "asymptotic"):
                values = [
                    data.one(f"size {name}", variant=variant, law=law, truth=truth, n=n)
                    for n in data.sizes
                ]
                if all(value is None for value in values):
                    continue
                label = "binned, asymptotic" if name == "asymptotic" else f"{name}, resampling"
                body.append([variant, law, label, *map(percent, values)])
                for n, value in zip(data.sizes, values, strict=True):
                    cells += value is not None
                    if value is not None and not LEAST_SIZE <= value <= MOST_SIZE:
                        missed.append(f"{variant}; {law}, {label}, N = {n:,}: {percent(value)}")
    if not body:
        return ""
    header = ["variant", "predictions", "test", *data.columns]
    aim = f"{100 * LEAST_SIZE:.0f}–{100 * MOST_SIZE:.0f} %"
    note = f"All {cells} cells lie within {aim}.\n"
    if missed:
        note = paragraphs(f"{len(missed)} of {cells} cells lie outside {aim}:", bullets(missed))
    title = "How often a test at the 5 % level rejects a calibrated model, in %"
    return paragraphs(table(title, header, body), note)


def error_ratios(data: Coverage) -> str:
    """Return root mean square errors of the two estimates, as a ratio where the truth is 0."""
    parts = []
    kinds = {"auto": 'bin_size="auto"', "sqrt(N)": "sqrt(N) bins"}
    measures = {
        kind: (f"rmse plug-in, {kind} bins", f"rmse debiased, {kind} bins") for kind in kinds
    }
    body = []
    for law, truth in data.settings(truth="calibrated"):
        for kind, name in kinds.items():
            cells = []
            for n in data.sizes:
                plug_in, debiased = (data.one(m, law=law, truth=truth, n=n) for m in measures[kind])
                cells.append(
                    "–" if not plug_in or debiased is None else f"{debiased / plug_in:.2f}"
                )
            if set(cells) != {"–"}:
                body.append([law, f"``{name}``" if "=" in name else name, *cells])
    if body:
        title = "Calibrated models: RMSE of the debiased error / RMSE of the plain error"
        parts.append(table(title, ["predictions", "bins", *data.columns], body))
    body = []
    for law, truth in data.settings():
        if truth == "calibrated":
            continue
        cells = []
        for n in data.sizes:
            both = [data.one(m, law=law, truth=truth, n=n) for m in measures["auto"]]
            cells.append("–" if None in both else " / ".join(f"{value:.4f}" for value in both))
        if set(cells) != {"–"}:
            body.append([law, truth, *cells])
    if body:
        title = 'Other models: RMSE of the plain / of the debiased error, ``bin_size="auto"``'
        parts.append(table(title, ["predictions", "truth", *data.columns], body))
    return paragraphs(*parts)


def coverage(rows: list[Row]) -> str:
    data = Coverage(rows)
    algorithm = [row[ALGORITHM_2] for row in rows if ALGORITHM_2 in row]
    return paragraphs(
        data.replications(),
        *(coverage_of_variant(data, variant) for variant in data.variants),
        "**Cells outside the range aimed at.** " + outside(rows),
        f"**Algorithm 2** covered in {span(algorithm)} % of the samples, over all settings."
        if algorithm
        else "",
        other_intervals(data),
        test_sizes(data),
        error_ratios(data),
    )


# --- speed.json


def speed_ratios(title: str, records: list[Row]) -> str:
    def cell(record: Row, name: str) -> str:
        entry = record["rows"].get(name, "–")
        return entry if isinstance(entry, str) else f"{entry['ratio']:.2f}"

    names = dict.fromkeys(name for record in records for name in record["rows"])
    body = [[f"``{name}``", *(cell(record, name) for record in records)] for name in names]
    return table(title, ["call", *(f"N = {record['n']:,}" for record in records)], body)


def speed(result: Row) -> str:
    sizes, ties = result["sizes"], result.get("ties", [])
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    memory = [
        [f"``{name}``", *(f"{record['memory'][name]:.2f}" for record in sizes)]
        for name in sizes[0].get("memory", {})
    ]
    targets = [
        [
            check["what"],
            f"{check['found']:.2f}",
            f"{check['at_most']:g}",
            "yes" if check["met"] else "no",
        ]
        for check in result.get("targets", [])
    ]
    columns = [f"N = {record['n']:,}" for record in sizes]
    return paragraphs(
        f"Measured on {result['machine']}, with {versions}.",
        speed_ratios("Time as a multiple of ``np.sort`` of the predictions", sizes),
        speed_ratios("The same for predictions rounded to 3 decimals", ties) if ties else "",
        table("Peak extra memory as a multiple of the predictions' own", ["call", *columns], memory)
        if memory
        else "",
        table("What was aimed at", ["measure", "found", "at most", "met"], targets)
        if targets
        else "",
    )


# --- thesis_studies.json


def thesis_bin_size(studies: Row) -> str:
    by_truth = studies["bin_sizes"]
    first = next(iter(by_truth.values()))
    header = ["queries per bin"]
    for truth in by_truth:
        header += [f"{truth}, plug-in", f"{truth}, debiased"]
    body = []
    for i, size in enumerate(first["bin_size"]):
        cells = [f"{size:,}"]
        for study in by_truth.values():
            cells += [f"{study['plug_in'][i]:.4f}", f"{study['debiased'][i]:.4f}"]
        body.append(cells)
    for name, key, text in (
        ("truth", "true_error", ".4f"),
        ("``select_bin_size``", "selected", ","),
    ):
        cells = [name]
        for study in by_truth.values():
            cells += [format(study[key], text), ""]
        body.append(cells)
    title = (
        f"Calibration error of {first['n']:,} queries with {studies['law']} predictions, by bin "
        "size. The last rows give the true error and the size that ``select_bin_size`` chooses"
    )
    return table(title, header, body)


def thesis_sample_size(studies: Row) -> str:
    parts, held, total = [], {"plug_in": 0, "debiased": 0}, 0
    for truth, rows in studies["sample_sizes"].items():
        body = [
            [
                f"{row['n']:,}",
                f"{row['plug_in']:.4f}",
                interval(row["plug_in_interval"]),
                f"{row['debiased']:.4f}",
                interval(row["debiased_interval"]),
            ]
            for row in rows
        ]
        header = ["N", "plug-in", "Algorithm 2", "debiased", "default interval"]
        parts.append(table(f"{truth}: true error {rows[0]['true_error']:.4f}", header, body))
        total += len(rows)
        for kind in held:
            held[kind] += sum(
                row[f"{kind}_interval"][0] <= row["true_error"] <= row[f"{kind}_interval"][1]
                for row in rows
            )
    note = (
        f"Of these {total} samples, the default 95 % interval holds the true error in "
        f"{held['debiased']}, and the interval of Algorithm 2 in {held['plug_in']}."
    )
    return paragraphs(note, *parts)


# --- sequence_speed.json


def sequence_speed(numbers: Row) -> str:
    lattice, taggers = numbers["lattice"], numbers["taggers"]
    seconds = dict(lattice["seconds"])
    floor = seconds["two matrix products"]
    title = (
        f"From potentials, {lattice['tokens']:,} tokens and {lattice['tags']} tags: time / two "
        "matrix products"
    )
    parts = [
        table(
            title,
            ("", "time"),
            [(name, f"{spent / floor:.1f}") for name, spent in seconds.items()],
        )
    ]
    rows = []
    for model, row in taggers["models"].items():
        ours = next(s for name, s in row["seconds"].items() if "Tagger.predict_proba" in name)
        rows += [
            (model, name, f"{spent / ours:.1f}", f"{row['error']:.0e}")
            for name, spent in row["seconds"].items()
        ]
    title = f"From tokens, {taggers['corpus']}, {taggers['tokens']:,} tokens: time / ours"
    parts.append(table(title, ("model", "call", "time", "largest difference"), rows))
    return paragraphs(*parts)


# --- curves.json


def curve_rows(
    rows: list[Row], kinds: Sequence[str], cell: Callable[[Row], str]
) -> list[list[str]]:
    """Return a line for each law, truth and number of queries, with a cell for each curve."""
    found = {(r["law"], r["truth"], r["n"], r["curve"]): r for r in rows}
    settings = dict.fromkeys((r["law"], r["truth"], r["n"]) for r in rows)
    return [
        [law, truth, f"{n:,}", *(cell(found[law, truth, n, kind]) for kind in kinds)]
        for law, truth, n in settings
    ]


def curve_note(rows: list[Row]) -> str:
    """Say how sure the numbers are."""
    replications = min(row["replications"] for row in rows)
    return (
        f"Each cell comes from {replications} simulated samples: a true share of 95 % of whole "
        f"curves is measured with a standard error of {standard_error(replications):.1f} points."
    )


def curve_errors(rows: list[Row]) -> str:
    kinds = ("predictions", "bins", "smooth", "isotonic", "Gaussian process")
    title = "Distance from the true curve: root mean square over the predictions"
    header = ["predictions", "truth", "N", "no curve", *kinds[1:]]
    return table(title, header, curve_rows(rows, kinds, lambda row: f"{row['error']:.3f}"))


def curve_coverage(rows: list[Row]) -> str:
    kinds = ("bins", "smooth", "isotonic", "Gaussian process")
    title = "Share of points whose 95 % interval held the true curve, in % (mean width)"
    body = curve_rows(rows, kinds, lambda r: f"{percent(r['pointwise'])} ({r['width']:.2f})")
    return table(title, ["predictions", "truth", "N", *kinds], body)


def curve_bands(rows: list[Row]) -> str:
    kinds = ("monotone band", "smooth band", "smooth")
    title = "Share of samples whose whole curve was held, in % (mean width)"
    body = curve_rows(rows, kinds, lambda r: f"{percent(r['simultaneous'])} ({r['width']:.2f})")
    header = ["predictions", "truth", "N", *kinds[:2], "intervals of the smooth curve"]
    return paragraphs(table(title, header, body), curve_note(rows))


# --- all of them

# Name of the table, numbers, function, script that measures.
Maker = tuple[str, str, Callable[[Any], str], str]
MAKERS: tuple[Maker, ...] = (
    ("coverage", "coverage.json", coverage, "benchmarks/coverage.py"),
    ("coverage_summary", "coverage.json", coverage_summary, "benchmarks/coverage.py"),
    ("curve_errors", "curves.json", curve_errors, "benchmarks/curves.py"),
    ("curve_coverage", "curves.json", curve_coverage, "benchmarks/curves.py"),
    ("curve_bands", "curves.json", curve_bands, "benchmarks/curves.py"),
    ("speed", "speed.json", speed, "benchmarks/speed.py"),
    (
        "sequence_speed",
        "sequence_speed.json",
        sequence_speed,
        "benchmarks/sequence_speed.py",
    ),
    ("thesis_bin_size", "thesis_studies.json", thesis_bin_size, "benchmarks/thesis_studies.py"),
    (
        "thesis_sample_size",
        "thesis_studies.json",
        thesis_sample_size,
        "benchmarks/thesis_studies.py",
    ),
)


def write_tables(
    results: Path = RESULTS, tables: Path = TABLES, makers: Iterable[Maker] = MAKERS
) -> None:
    """Write every table; a file whose text is the same is left alone."""
    tables.mkdir(exist_ok=True)
    for name, numbers, make, script in makers:
        path = results / numbers
        text = MISSING.format(script=script)
        if path.exists():
            text = make(json.loads(path.read_text(encoding="utf-8")))
        target = tables / f"{name}.rst"
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_tables()
