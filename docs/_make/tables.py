"""Turn the numbers in benchmarks/results/ into tables for the documentation.

The build calls ``write_tables``; ``python docs/_make/tables.py`` does the same by
hand. Every table goes to docs/_tables/, to be included by a page. Where the
numbers are missing, the table says so, and the build goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from math import comb
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
RESULTS = DOCS.parent / "benchmarks" / "results"
TABLES = DOCS / "_tables"

MISSING = "*Not measured yet: run* ``python {script}`` *and build the documentation again.*\n"

# What the 95 % interval is meant to reach.
LEAST_COVERED, MOST_COVERED = 0.93, 0.98

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
    """The rows of coverage.json, one for each variant, law, truth and size."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.variants = list(dict.fromkeys(row["variant"] for row in rows))

    def select(self, **wanted: Any) -> list[Row]:
        return [r for r in self.rows if all(r[name] == value for name, value in wanted.items())]

    def sizes(self, **wanted: Any) -> list[int]:
        return sorted({row["n"] for row in self.select(**wanted)})

    def replications(self) -> str:
        """Say how many samples there are, and what that means for a true share of 95 %."""
        numbers = sorted({row["replications"] for row in self.rows})
        errors = f"{standard_error(numbers[-1]):.1f} to {standard_error(numbers[0]):.1f}"
        return (
            f"Each cell comes from {numbers[0]:,} to {numbers[-1]:,} simulated samples; those that "
            "first fell under 94 % were measured again, with four times as many fresh ones. A true "
            f"share of 95 % is measured with a standard error of {errors} points."
        )


def counted(variant: str, n: int) -> str:
    return f"{n:,} {'groups' if variant.startswith('groups') else 'queries'}"


def coverage_summary(rows: list[Row]) -> str:
    data = Coverage(rows)
    body = []
    for variant in data.variants:
        for n in data.sizes(variant=variant):
            some = data.select(variant=variant, n=n)
            covered = [row["score"] for row in some]
            widths = [sum(row[name] for row in some) for name in ("width", "oracle width")]
            mean = sum(covered) / len(covered)
            under = sum(value < LEAST_COVERED for value in covered)
            ratio = f"{widths[0] / widths[1]:.2f}"
            cells = [span(covered), percent(mean), f"{under} of {len(some)}", ratio]
            body.append([variant, counted(variant, n), *cells])
    title = (
        "How often the default 95 % interval held the true error, in %, and its mean width over "
        "that of the middle 95 % of the estimates themselves"
    )
    header = ["variant", "sample", "least–most", "mean", "under 93 %", "width"]
    return paragraphs(table(title, header, body), data.replications())


def family(row: Row) -> str:
    """Return what a cell is pooled with: how queries depend on each other and are weighted."""
    if "dependence" not in row:
        return "weights" if "weights" in row["variant"] else "independent"
    alike = "one prediction per group" if row["shared"] else "predictions drawn one by one"
    return f"groups, dependence {row['dependence']}, {alike}"


def above_by_chance(replications: int, share: float = 0.97) -> float:
    """Return the chance that a cell with this true share is measured above what is aimed at."""
    most = int(MOST_COVERED * replications + 1e-9)
    return 1.0 - sum(
        comb(replications, k) * share**k * (1.0 - share) ** (replications - k)
        for k in range(most + 1)
    )


def coverage_families(rows: list[Row]) -> str:
    """Return the coverage pooled over families of cells, and how many lie above by chance."""
    rows = [row for row in rows if not row["discrete"]]
    body = []
    keys = dict.fromkeys((family(row), row["n"]) for row in rows)
    for name, n in sorted(keys, key=lambda key: (key[0].startswith("groups"), key)):
        cells = []
        for calibrated in (True, False):
            some = [
                row
                for row in rows
                if (family(row), row["n"]) == (name, n)
                and (row["truth"] == "calibrated") == calibrated
            ]
            number = sum(row["replications"] for row in some)
            held = sum(row["score"] * row["replications"] for row in some)
            above = sum(row["score"] > MOST_COVERED for row in some)
            chance = sum(above_by_chance(row["replications"]) for row in some)
            widths = [sum(row[key] for row in some) for key in ("width", "oracle width")]
            cells += [
                percent(held / number) if number else "–",
                f"{above} of {len(some)} ({chance:.0f})" if some else "–",
                f"{widths[0] / widths[1]:.2f}" if some else "–",
            ]
        body.append([name, counted("groups" if name.startswith("groups") else "", n), *cells])
    title = (
        "Where at least five queries or groups are expected to hold an answer against its "
        "prediction (of unequal weight: Kish's number of them): coverage in %, pooled; cells above "
        "98 %, in brackets as many as would be there by chance if each covered 97 %; and mean "
        "width over that of the middle 95 % of the estimates"
    )
    kinds = ("calibrated", "others")
    header = ["queries", "sample"]
    header += [f"{kind}: {what}" for kind in kinds for what in ("covered", "above 98 %", "width")]
    return table(title, header, body)


def coverage_by_law(data: Coverage, variant: str) -> str:
    sizes = data.sizes(variant=variant)
    laws = list(dict.fromkeys(row["law"] for row in data.select(variant=variant)))
    body = [
        [
            law,
            *(
                span([r["score"] for r in data.select(variant=variant, law=law, n=n)])
                for n in sizes
            ),
        ]
        for law in laws
    ]
    title = f"Coverage of the default 95 % interval in %, least and most over truths: {variant}"
    return table(title, ["predictions", *(counted(variant, n) for n in sizes)], body)


def outside(rows: list[Row]) -> str:
    """Name the cells of the default interval that cover too little, and count those too much."""
    low = [row for row in rows if row["score"] < LEAST_COVERED]
    cells = []
    for row in sorted(low, key=lambda row: row["score"]):
        more = ""
        if "dependence" in row:
            shared = ", one prediction per group" if row["shared"] else ""
            more = f", dependence {row['dependence']}{shared}"
        where = (
            f"{row['variant']}; {row['law']}, {row['truth']}, {counted(row['variant'], row['n'])}"
        )
        cells.append(f"{where}{more}: {percent(row['score'])}")
    smooth = [row for row in rows if not row["discrete"]]
    wide = sum(row["score"] > MOST_COVERED for row in smooth)
    text = (
        f"{len(low)} of {len(rows)} cells lie under {100 * LEAST_COVERED:.0f} %, Monte Carlo error "
        f"included. Of the {len(smooth)} cells in which at least five queries or groups are "
        f"expected to hold an answer against its prediction, {wide} lie above "
        f"{100 * MOST_COVERED:.0f} %: the interval is cautious there."
    )
    return paragraphs(text, bullets(cells) if cells else "")


def rival_intervals(data: Coverage) -> str:
    names = ("Algorithm 2", "bootstrap", "Sun et al.")
    rows = [row for row in data.rows if names[0] in row]
    if not rows:
        return ""
    body = []
    for n in sorted({row["n"] for row in rows}):
        for kind, of_kind in (
            ("calibrated", [r for r in rows if r["n"] == n and r["truth"] == "calibrated"]),
            ("others", [r for r in rows if r["n"] == n and r["truth"] != "calibrated"]),
        ):
            ours = sum(row["width"] for row in of_kind)
            cells = [span([row["score"] for row in of_kind])]
            for name in names:
                ratio = sum(row[f"{name} width"] for row in of_kind) / ours
                cells.append(f"{span([row[name] for row in of_kind])} ({ratio:.2f})")
            body.append([f"{n:,}", kind, *cells])
    title = (
        "Coverage in %, least and most over laws and truths, and mean width over ours in brackets: "
        "the default interval, Algorithm 2 with cbrt(N) bins, the BCa bootstrap of the debiased "
        "error, and asymptotic limits in the manner of Sun et al. (2024)"
    )
    return table(title, ["N", "models", "default", *names], body)


def coverage(rows: list[Row]) -> str:
    data = Coverage(rows)
    return paragraphs(
        coverage_summary(rows),
        coverage_families(rows),
        *(coverage_by_law(data, variant) for variant in data.variants),
        "**Cells outside the range aimed at.** " + outside(rows),
        rival_intervals(data),
    )


# --- alarms.json


def alarms(rows: list[Row]) -> str:
    """Return how often tables of calibrated labels raise an alarm."""
    kinds = dict.fromkeys((row["frequencies"], row["grouped"]) for row in rows)
    found = {(row["frequencies"], row["grouped"], row["labels"]): row for row in rows}
    body = []
    for k in dict.fromkeys(row["labels"] for row in rows):
        some = [found[kind, grouped, k] for kind, grouped in kinds if (kind, grouped, k) in found]
        number = sum(row["replications"] for row in some)
        pooled = sum(row["any alarm"] * row["replications"] for row in some) / number
        cells = [
            f"{percent(found[kind, grouped, k]['any alarm'])} of "
            f"{found[kind, grouped, k]['replications']}"
            if (kind, grouped, k) in found
            else "–"
            for kind, grouped in kinds
        ]
        plain = max(row["below .05 without adjustment"] for row in some)
        body.append([f"{k}", *cells, f"{percent(pooled)} of {number}", f"{plain:.1f}"])
    header = ["labels", *(f"{kind}{', groups' if grouped else ''}" for kind, grouped in kinds)]
    title = (
        "Tables of calibrated labels in which any adjusted p-value is below .05, in % of so many "
        "tables; last, the most rows that are below .05 on average without adjustment"
    )
    fewest, most = (f(row["replications"] for row in rows) for f in (min, max))
    note = (
        "A true share of 5 % is measured with a standard error of "
        f"{standard_error(most):.1f} points by {most:,} tables, and of "
        f"{standard_error(fewest):.1f} by {fewest:,}."
    )
    return paragraphs(table(title, [*header, "all", "rows without adjustment"], body), note)


# --- power.json

TESTS = ("omnibus", "kuiper", "cox", "local", "waves", "spiegelhalter", "binned")


def power(result: Row) -> str:
    """Return how often each test finds each distortion."""
    rows = result["powers"]
    body = [
        [row["truth"], f"{row['error']:.3f}", *(percent(row[t]) for t in (*TESTS, "oracle"))]
        for row in rows
    ]
    title = (
        f"How often a test at the 5 % level finds an error, in %: uniform predictions, "
        f"N = {rows[0]['n']:,}, {result['replications']['powers']:,} samples each"
    )
    return table(title, ["distortion", "error", *TESTS, "oracle"], body)


def power_sizes(result: Row) -> str:
    """Return how often each test rejects calibrated models."""
    rows = result["sizes"]
    body = [[row["law"], f"{row['n']:,}", *(percent(row[t]) for t in TESTS)] for row in rows]
    most = max(row["replications"] for row in rows)
    small = [row for row in rows if row["replications"] == most]
    worst = max(row["omnibus"] for row in small)
    error = standard_error(most)
    note = (
        f"In rows of {most:,} samples the omnibus test rejects at most {percent(worst)} %; the "
        f"standard error of a true share of 5 % is {error:.1f} points there."
    )
    title = (
        "How often a test at the 5 % level rejects a calibrated model, in %: "
        f"{most:,} samples up to N = {max(row['n'] for row in small)}, "
        f"{min(row['replications'] for row in rows):,} beyond"
    )
    return paragraphs(table(title, ["predictions", "N", *TESTS], body), note)


# --- selection.json


def selection(rows: list[Row]) -> str:
    """Return how often each score picks the better calibrated of two models."""
    scores = [name for name in rows[0] if name not in ("n", "law", "pair")]
    sizes = sorted({row["n"] for row in rows})
    body = []
    for score in scores:
        shares = [[row[score] for row in rows if row["n"] == n] for n in sizes]
        body.append([score, *(f"{sum(values) / len(values):.3f}" for values in shares)])
    title = (
        "Share of right choices between a better and a worse calibrated model, by the mean over "
        f"five folds; mean over {len(rows) // len(sizes)} settings"
    )
    return table(title, ["score", *(f"{n:,} queries in all" for n in sizes)], body)


# --- field.json


def field(record: Row) -> str:
    """Return how estimates and tests of other packages fare on the same data."""
    parts = []
    for what, title, number in (
        ("rmse", "Root mean square distance from the true error, mean over settings", "{:.4f}"),
        ("rejected", "Share of tests with p <= .05, mean over settings", "{:.3f}"),
    ):
        rows = [row for row in record["rows"] if row["what"] == what]
        names = [n for n in rows[0] if n not in ("what", "n", "law", "truth", "error")]
        columns = [
            (n, calibrated) for n in sorted({r["n"] for r in rows}) for calibrated in (True, False)
        ]
        body = []
        for name in names:
            cells = []
            for n, calibrated in columns:
                values = [
                    row[name]
                    for row in rows
                    if row["n"] == n and (row["truth"] == "calibrated") == calibrated
                ]
                cells.append(number.format(sum(values) / len(values)))
            body.append([name, *cells])
        header = [f"N = {n:,}, {'calibrated' if good else 'others'}" for n, good in columns]
        parts.append(table(title, ["", *header], body))
    parts.append(_field_intervals([row for row in record["rows"] if row["what"] == "interval"]))
    packages = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    samples = (
        f"{record['replications']} samples of each of 16 settings, ten times as many for "
        f"intervals; {packages}."
    )
    return paragraphs(*parts, samples)


def _field_intervals(rows: list[Row]) -> str:
    """Return coverage and width of intervals, over all settings of a size."""
    sizes = sorted({row["n"] for row in rows})
    names = [name for name in rows[0] if f"{name} width" in rows[0]]
    body = []
    for name in names:
        cells = []
        for n in sizes:
            some = [row for row in rows if row["n"] == n]
            covered = [row[name] for row in some]
            width = sum(row[f"{name} width"] for row in some) / len(some)
            cells += [f"{percent(min(covered))}–{percent(max(covered))}", f"{width:.4f}"]
        body.append([name, *cells])
    header = [f"N = {n:,}, {what}" for n in sizes for what in ("held, in %", "width")]
    title = "How often 95 % intervals hold the true error: least and most of the settings"
    return table(title, ["", *header], body)


# --- speed.json


SCALE_TASKS = {
    "error": "``adaptive_bin_calibration_error``",
    "bin_size": "the same, ``bin_size=5000``",
    "interval": "``calibration_error_interval``",
    "report": "``calibration_report``",
}


def scale(result: Row) -> str:
    """CPU time of scans against reading the columns alone, and memory."""
    body = [
        [
            f"{record['rows']:,}",
            name,
            f"{record[task]['cpu_seconds']:.1f}",
            f"{record[task]['ratio_to_reading']:.1f}",
            f"{record[task]['memory_mb']:,.0f}",
            str(record[task]["passes"]),
        ]
        for record in result["sizes"]
        for task, name in SCALE_TASKS.items()
        if task in record
    ]
    header = ["rows", "call", "seconds of CPU time", "multiple of reading", "memory, MB", "passes"]
    title = "Scans of Parquet files with two columns, one thread"
    return table(title, header, body)


def workers(result: Row) -> str:
    """What two workers of Dask take of the time of one."""
    found = (
        f"By CPU time, with a core for each worker and one for the scheduler, two workers of Dask "
        f"would take {result['cpu_ratio']:.2f} of the time of one for the interval of "
        f"{result['rows']:,} rows: what a caller does by itself, once the sums are there, no "
        "worker shortens."
    )
    if result["load"] > result["cores"] + 1 and not result["first"]:
        return found + (
            f" The machine had {result['cores']} cores and other work to do (a load of "
            f"{result['load']:.0f}), so that times on the clock said nothing."
        )
    return found + (
        f" On the clock of {result['cores']} cores, which they shared with the scheduler and the "
        f"caller, they took {result['ratio']:.2f}."
    )


def speed_ratios(title: str, records: list[Row]) -> str:
    def cell(record: Row, name: str) -> str:
        entry = record["rows"].get(name, "–")
        return entry if isinstance(entry, str) else f"{entry['ratio']:.2f}"

    names = dict.fromkeys(name for record in records for name in record["rows"])
    body = [[f"``{name}``", *(cell(record, name) for record in records)] for name in names]
    return table(title, ["call", *(f"N = {record['n']:,}" for record in records)], body)


def speed_hard(records: list[Row]) -> str:
    rows = records[0]["rows"]
    body = [[name, f"{row['ratio']:.1f}", f"{row['seconds']:.2f}"] for name, row in rows.items()]
    title = f"``calibration_error_interval`` of {records[0]['n']:,} queries, harder cases"
    return table(title, ["queries", "multiple of ``np.sort``", "seconds of CPU time"], body)


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
        speed_hard(result["hard"]) if result.get("hard") else "",
        table("Peak extra memory as a multiple of the predictions' own", ["call", *columns], memory)
        if memory
        else "",
        table("What was aimed at", ["measure", "found", "at most", "met"], targets)
        if targets
        else "",
    )


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
    if "spans" in numbers:
        parts.append(span_speed(numbers["spans"]))
    return paragraphs(*parts)


def span_speed(spans: Row) -> str:
    rows = []
    for model, row in spans["models"].items():
        spent = row["seconds"]
        ratios = [
            f"{spent[f'{kind}, {source}'] / spent[f'tag marginals, {source}']:.1f}"
            for kind in ("spans", "spans as objects")
            for source in ("from scores", "from tokens")
        ]
        rows.append((model, f"{row['tags']}", f"{row['spans']:,}", *ratios))
    title = (
        f"Spans of {spans['corpus']}, {spans['tokens']:,} tokens: time / tag marginals, with the "
        "garbage collector off, as ``timeit`` has it"
    )
    header = (
        "model",
        "tags",
        "spans of at least .01",
        "from scores",
        "from tokens",
        "from scores, every object made",
        "from tokens, every object made",
    )
    return table(title, header, rows)


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


def curve_groups(rows: list[Row]) -> str:
    """Return how often bands of grouped queries hold the whole curve."""
    found = {(r["groups"], r["size"], r["dependence"], r["truth"], r["curve"]): r for r in rows}
    body = [
        [
            f"{groups:,} of {size}",
            f"{dependence:g}",
            truth,
            *(
                f"{percent(r['simultaneous'])} ({r['width']:.2f})"
                for r in (
                    found[groups, size, dependence, truth, f"{kind} band"]
                    for kind in ("monotone", "smooth")
                )
            ),
        ]
        for groups, size, dependence, truth in dict.fromkeys(key[:4] for key in found)
    ]
    title = "The same for queries in groups whose answers depend on each other"
    header = ["groups", "dependence", "truth", "monotone band", "smooth band"]
    return paragraphs(table(title, header, body), curve_note(rows))


# --- comparison.json


def comparison(rows: list[Row]) -> str:
    """Return coverage and size of comparisons, over the pairs of models of each law."""
    rows = [row for row in rows if row["setting"] == "rows"]
    body = []
    for law, n in dict.fromkeys((row["law"], row["n"]) for row in rows):
        some = [row for row in rows if (row["law"], row["n"]) == (law, n)]
        covered = [row["covered"] for row in some]
        size = max(row["rejected"] for row in some if row["equal"])
        power = max(row["rejected"] for row in some if not row["equal"])
        wide = sum(row["width"] for row in some) / sum(row["oracle width"] for row in some)
        expected = sum(row["surprises"] for row in some) / len(some)
        body.append(
            [
                law,
                f"{n:,}",
                f"{expected:.1f}",
                f"{percent(min(covered))}–{percent(max(covered))}",
                percent(size),
                percent(power),
                f"{wide:.2f}",
            ]
        )
    header = [
        "predictions",
        "N",
        "answers expected against the odds",
        "difference held",
        "equal errors rejected, at most",
        "unequal ones rejected, at most",
        "width / that of an oracle",
    ]
    number = min(row["replications"] for row in rows)
    title = (
        "95 % intervals of the difference of two squared errors, in %, over five pairs of models, "
        f"{number:,} samples each"
    )
    note = f"The standard error of a true share of 5 % is {standard_error(number):.1f} points."
    return paragraphs(table(title, header, body), note)


def comparison_groups(rows: list[Row]) -> str:
    """Return the same for groups, over three pairs of models."""
    rows = [row for row in rows if row["setting"] == "groups"]
    body = []
    for groups, law in dict.fromkeys((row["groups"], row["law"]) for row in rows):
        some = [row for row in rows if (row["groups"], row["law"]) == (groups, law)]
        body.append(
            [
                groups,
                f"{some[0]['n']:,}",
                law,
                f"{sum(row['surprises'] for row in some) / len(some):.1f}",
                span([row["covered"] for row in some]),
                percent(max(row["rejected"] for row in some if row["equal"])),
                percent(max(row["wrong"] for row in some if not row["equal"])),
            ]
        )
    header = [
        "groups",
        "N",
        "predictions",
        "answers expected against the odds",
        "difference held",
        "equal errors rejected",
        "better model called worse, at most",
    ]
    number = min(row["replications"] for row in rows)
    title = f"95 % intervals with groups, in %, over three pairs of models, {number:,} samples each"
    return paragraphs(table(title, header, body))


def comparison_few(rows: list[Row]) -> str:
    """Return how often models that differ on few rows are told apart by mistake."""
    rows = [row for row in rows if row["setting"] == "few"]
    body = []
    for law, n in dict.fromkeys((row["law"], row["n"]) for row in rows):
        some = [row for row in rows if (row["law"], row["n"]) == (law, n)]
        shares = [
            [row["wrong"] for row in some if row["equal"] == equal] for equal in (False, True)
        ]
        body.append([law, f"{n:,}", *(percent(max(share)) for share in shares)])
    header = [
        "predictions",
        "N",
        "perfect model called worse, at most",
        "equal errors rejected, at most",
    ]
    number = min(row["replications"] for row in rows)
    title = f"Models that differ on 4 or 16 rows, in %, {number:,} samples each"
    return paragraphs(table(title, header, body))


# --- spans.json


def spans(numbers: Row) -> str:
    """Return one table for each choice of questions, and what recalibration did."""
    titles = {
        "all": f"Every chunk with a probability of at least {numbers['min_proba']:g}",
        "best tagging": "The chunks of the most probable tagging",
    }
    answers = ("exact", "product of marginals", "mean of marginals", "smallest")
    sizes = numbers["sentences"]
    parts = [
        f"{numbers['corpus']}, {sizes['train']:,} training and {sizes['test']:,} test sentences. "
        "A cell has the Brier score, and after it the calibration error with its 95 % interval."
    ]
    for choice, title in titles.items():
        rows = [
            (
                row["model"] if row["treatment"] == "raw" else "",
                row["treatment"],
                *(span_cell(row["asked"][choice].get(answer)) for answer in answers),
            )
            for row in numbers["rows"]
        ]
        parts.append(table(title, ("model", "recalibrated by", *answers), rows))
    return paragraphs(*parts)


def span_cell(found: Row | None) -> str:
    if found is None:
        return "–"
    low, high = found["interval"]
    return f"{found['brier'][0]:.4f}; {found['error']:.3f} [{low:.3f}, {high:.3f}]"


def spans_recalibrated(numbers: Row) -> str:
    """Return what recalibration did to the same spans, and what the models are like."""
    rows = []
    for row in numbers["rows"]:
        change = row.get("against_raw")
        if change is None:
            continue
        more, low, high = change["brier_change"]
        before, after = change["errors"]
        rows.append(
            (
                row["model"],
                row["treatment"],
                f"{more:+.4f} [{low:+.4f}, {high:+.4f}]",
                f"{before:.3f} → {after:.3f}",
                "< .001" if change["pvalue"] < 0.001 else f"{change['pvalue']:.3f}",
            )
        )
    title = "Recalibrated against raw, on the chunks that reach the threshold in either"
    header = ("model", "method", "change of Brier score", "calibration error", "p")
    summary = [
        (
            row["model"],
            row["treatment"],
            f"{row['f1']:.3f}",
            f"{row['asked']['all']['exact']['n']:,}",
            f"{percent(row['missed_share'])} %",
        )
        for row in numbers["rows"]
        if row["treatment"] != "isotonic"
    ]
    names = ("model", "recalibrated by", "chunk F1", "questions", "true chunks below the threshold")
    return paragraphs(
        table(title, header, rows),
        table("The models, and what is not asked about", names, summary),
    )


# --- recalibration.json

METHODS = ("raw", "temperature", "scaling", "isotonic")


def recalibrated_taggers(title: str, rows: list[Row]) -> str:
    """Return the numbers of taggers, one row for each method."""
    body = []
    for row in rows:
        if row["method"] not in METHODS:
            continue
        first = row["method"] == "raw"
        worse = not first and row["pvalue"] < 0.05 and row["difference"] < 0
        body.append(
            (
                row["model"] if first else "",
                row["method"] + (" (worse)" if worse else ""),
                f"{row['error']:.4f}",
                f"{row['commonest']:.4f}",
                f"{100 * row['accuracy']:.1f}",
                f"{row['log_loss']:.3f}",
            )
        )
    header = ("tagger", "method", "error", "seven commonest tags", "accuracy", "log loss")
    return table(title, header, body)


def recalibration_tweets(found: Row) -> str:
    rows = found.get("tweets", [])
    by = [row for row in rows if row["method"].startswith("temperature")]
    models = list(dict.fromkeys(row["model"] for row in rows))
    objectives = {
        "temperature": "Brier score of tags (used)",
        "temperature by log loss of tags": "log loss of tags",
        "temperature by likelihood of taggings": "likelihood of taggings",
    }
    errors = {(row["model"], row["method"]): row["error"] for row in by}
    return paragraphs(
        recalibrated_taggers("ARK tweets: error over all tags, mean error of common ones", rows),
        "The temperature is the one of least Brier score of held-out tags. One that is chosen by "
        "likelihood leaves a larger error for most taggers:",
        table(
            "Error on the test tweets, by what the temperature was chosen by",
            ("tagger", *objectives.values()),
            [(m, *(f"{errors[m, o]:.4f}" for o in objectives)) for m in models],
        ),
    )


def recalibration_news(found: Row) -> str:
    rows = found.get("news", [])
    parts = []
    for test in dict.fromkeys(row["test"] for row in rows):
        own = [row for row in rows if row["test"] == test]
        parts.append(recalibrated_taggers(f"Trained on CoNLL-2000 news, tested on {test}", own))
    return paragraphs(*parts)


def recalibration_coreference(found: Row) -> str:
    return table(
        "Errors of links, five folds, with what a calibrated model would show",
        ("corpus", "method", "links", "error", "floor", "95 % of floors", "p"),
        [
            (
                row["corpus"],
                row["method"],
                f"{row['links'] / 1e6:.1f} million",
                f"{row['error']:.4f}",
                f"{row['floor']:.4f}",
                interval(row["range"]),
                f"{row['pvalue']:.3f}",
            )
            for row in found.get("coreference", [])
        ],
    )


# --- training.json

OBJECTIVES = {
    "likelihood": "likelihood",
    "marginal": "marginals",
    "calibrated": "likelihood and calibration",
    "softmax_margin": "softmax-margin",
}


def training_choices(rows: list[Row]) -> list[tuple[str, str, list[Row]]]:
    """Return objective, choice and rows, raw and recalibrated; equal choices stand together."""
    found = []
    for objective in OBJECTIVES:
        own = [row for row in rows if row["objective"] == objective]
        by = {
            choice: [row for row in own if row["chosen_by"] == choice]
            for choice in ("accuracy", "calibration")
        }
        if by["accuracy"] and by["accuracy"][0]["options"] == by["calibration"][0]["options"]:
            by = {"both": by["accuracy"]}
        found += [(objective, choice, part) for choice, part in by.items() if part]
    return found


def small(value: float) -> str:
    return "< .001" if value < 0.001 else f"{value:.3f}"


def training_summary(found: Row) -> str:
    """Return accuracy, log loss and error of each corpus: as trained, chosen, and mended."""
    ways = (("", "accuracy", "raw"), (", chosen for it", "calibration", "raw"))
    ways += ((", mended", "accuracy", "temperature"),)
    rows = {
        (row["corpus"], row["objective"], row["chosen_by"], row["treatment"]): row
        for row in found["experiment"]
    }
    corpora = list(dict.fromkeys(row["corpus"] for row in found["experiment"]))
    body = []
    for objective, name in OBJECTIVES.items():
        for ending, *way in ways:
            own = [rows[corpus, objective, *way] for corpus in corpora]
            usual = " (the usual way)" if objective == "likelihood" and not ending else ""
            cells = (
                f"{100 * row['accuracy']:.1f}; {row['log_loss']:.3f}; {row['error']:.4f}"
                for row in own
            )
            body.append((f"{name}{ending}{usual}", *cells))
    title = (
        "Accuracy in percent, log loss of a token, and calibration error of all tags, on the "
        "test sentences"
    )
    return table(title, ("", *corpora), body)


def training_experiment(found: Row) -> str:
    """Return one table for each corpus."""
    parts = [
        f"Rich features. {training_searched(found['experiment'])} "
        "Errors have 95 % intervals that know the "
        "sentences. *Change* is the mean change of the log loss of a token against the first "
        "line, raw against raw and recalibrated against recalibrated; p is that of equal "
        "calibration. In the second line both are against the first."
    ]
    for corpus in dict.fromkeys(row["corpus"] for row in found["experiment"]):
        rows = [row for row in found["experiment"] if row["corpus"] == corpus]
        spans = "span_error" in rows[0]
        body = []
        for objective, choice, pair in training_choices(rows):
            for row in pair:
                against = row.get("against_usual")
                first = row["treatment"] == "raw"
                cells = [
                    OBJECTIVES[objective] if first else "",
                    f"{choice}, {training_options(row['options'])}" if first else "",
                    row["treatment"],
                    f"{100 * row['accuracy']:.1f}",
                    f"{row['log_loss']:.3f}",
                    f"{row['error']:.4f} {interval(row['interval'])}",
                    f"{row['commonest']:.4f}",
                ]
                if spans:
                    cells.append(f"{row['span_error']:.4f} {interval(row['span_interval'])}")
                if against is None:
                    cells += ["", ""]
                else:
                    mean, low, high = against["log_loss"]
                    cells += [f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]", small(against["pvalue"])]
                body.append(tuple(cells))
        header = ["trained on", "chosen by", "treatment", "accuracy", "log loss", "error"]
        header += ["seven commonest tags", *(["chunks"] if spans else []), "change", "p"]
        sizes = rows[0]["sentences"]
        title = (
            f"{corpus}: {sizes['train']:,} training, {sizes['dev']:,} development and "
            f"{sizes['test']:,} test sentences"
        )
        parts.append(table(title, header, body))
    return paragraphs(*parts)


def training_searched(rows: list[Row]) -> str:
    """Return what was tried, and on which corpora if that differs."""
    tried: dict[str, dict[str, None]] = {}
    for row in rows:
        own = {name: [f"{value:g}" for value in v] for name, v in row["searched"].items()}
        text = (
            f"Penalties {', '.join(own['penalties'])}, each with at most "
            f"{own['iterations'][0]} iterations on a warm-started path; strength "
            f"{' or '.join(own['calibration_strength'])} of the calibration error; margin "
            f"{' or '.join(own['margin'])}."
        )
        tried.setdefault(text, {})[row["corpus"]] = None
    if len(tried) == 1:
        return next(iter(tried))
    return " ".join(f"{', '.join(names)}: {text}" for text, names in tried.items())


def training_options(options: Row) -> str:
    """Return the penalty and what else was chosen."""
    names = {"c2": "c2", "calibration_strength": "strength", "margin": "margin"}
    return ", ".join(f"{names[key]} = {options[key]:g}" for key in names if key in options)


def training_tags(found: Row) -> str:
    """Return the errors of the commonest tags, for settings chosen by accuracy."""
    parts = []
    for corpus in dict.fromkeys(row["corpus"] for row in found["experiment"]):
        rows = [
            row
            for row in found["experiment"]
            if row["corpus"] == corpus and row["chosen_by"] == "accuracy"
        ]
        columns = [row for row in rows if row["treatment"] == "raw"]
        columns.insert(1, next(row for row in rows if row["treatment"] == "temperature"))
        names = [
            OBJECTIVES[row["objective"]] + ("" if row["treatment"] == "raw" else ", recalibrated")
            for row in columns
        ]
        body = [
            (
                f"``{columns[0]['tags'][i][0]}``",
                *("{1:.3f} [{2:.3f}, {3:.3f}]".format(*row["tags"][i]) for row in columns),
            )
            for i in range(len(columns[0]["tags"]))
        ]
        title = f"{corpus}: errors of the commonest tags, settings chosen by accuracy"
        parts.append(table(title, ("tag", *names), body))
    return paragraphs(*parts)


def training_speed(found: Row) -> str:
    """Return what training on the lattice costs, as far as it was measured."""
    parts = []
    if "speed" in found:
        parts.append(
            table(
                "CPU time of an iteration on CoNLL-2000: lattice / CRFsuite",
                ("features", "sentences", "CRFsuite, s", "lattice, s", "ratio"),
                [
                    (
                        row["features"],
                        f"{row['sentences']:,}",
                        f"{row['crfsuite_seconds']:.3f}",
                        f"{row['lattice_seconds']:.3f}",
                        f"{row['ratio']:.2f}",
                    )
                    for row in found["speed"]
                ],
            )
        )
    if "agreement" in found:
        parts.append(
            table(
                "Both solvers run to the end on CoNLL-2000",
                ("features", "c2", "sentences", "relative gap of objectives", "of marginals"),
                [
                    (
                        row["features"],
                        f"{row['c2']:g}",
                        f"{row['sentences']:,}",
                        row["relative_gap"],
                        row["largest_difference"],
                    )
                    for row in found["agreement"]
                ],
            )
        )
    if "gradient" in found:
        rows = found["gradient"]["rows"]
        parts.append(
            table(
                f"Gradients of marginals, {found['gradient']['tokens']:,} tokens: time / marginals",
                ("tags", *(f"{row['tags']}" for row in rows)),
                [("time", *(f"{row['ratio']:.1f}" for row in rows))],
            )
        )
    if "memory" in found:
        rows = found["memory"]
        parts.append(
            table(
                "Peak memory of training on the lattice, rich features, CoNLL-2000",
                ("sentences", *(f"{row['sentences']:,}" for row in rows)),
                [
                    ("MB", *(f"{row['peak_mb']:.0f}" for row in rows)),
                    (
                        "KB per token",
                        *(f"{1e3 * row['peak_mb'] / row['tokens']:.1f}" for row in rows),
                    ),
                ],
            )
        )
    if "path" in found:
        path = found["path"]
        parts.append(
            f"A path over {len(path['penalties'])} penalties by warm starts, on "
            f"{path['sentences']:,} sentences of CoNLL-2000 with rich features, took "
            f"{path['warm_seconds']:.0f} seconds, separate fits {path['alone_seconds']:.0f} "
            f"(ratio {path['ratio']:.2f}); the objectives they reached differ by at most "
            f"{path['largest_relative_gap']:.0e} of their value."
        )
    return paragraphs(*parts)


# --- counts.json


def share_range(values: Iterable[float | None]) -> str:
    """Return the least and the largest of some shares, in percent."""
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    low, high = (f"{100 * value:.0f}" for value in (min(known), max(known)))
    return low if low == high else f"{low}–{high}"


def number_range(values: Iterable[int]) -> str:
    """Return the least and the largest of some numbers."""
    known = sorted(values)
    if not known:
        return "no"
    return str(known[0]) if known[0] == known[-1] else f"{known[0]} to {known[-1]}"


def width(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def counts_methods(result: Row) -> str:
    """Return how often every method's intervals hold, over all settings."""
    rows = result["simulation"]
    found = []
    for law, n, method in dict.fromkeys((row["law"], row["n"], row["method"]) for row in rows):
        own = [row for row in rows if (row["law"], row["n"], row["method"]) == (law, n, method)]
        right = next((row for row in own if row["shape"] == "calibrated"), {})
        totals = [row["total_coverage"] for row in own if row["total_coverage"] is not None]
        found.append(
            (
                law,
                str(n),
                method,
                share_range(row["period_coverage"] for row in own),
                share_range(totals),
                f"{100 * sum(totals) / len(totals):.0f}",
                width(right.get("period_width")),
                width(right.get("total_width")),
                share_range(row["below_zero"] for row in own),
            )
        )
    header = (
        "events",
        "read",
        "method",
        "periods held, %",
        "totals held, %",
        "mean",
        "width, period",
        "width, total",
        "below 0, %",
    )
    settings = len({row["shape"] for row in rows})
    ours, peers = (
        number_range(row["replications"] for row in rows if (row["method"] in OWN) is own)
        for own in (True, False)
    )
    note = (
        f"2,000 documents in ten periods; {settings} ways in which probabilities are right or "
        f"wrong, each with {ours} replications ({peers} for other packages, and fewer ways). "
        "Ranges are over the ways, and with so few replications their ends are partly chance; the "
        "mean is that of totals over all ways; widths are those of the calibrated model."
    )
    return paragraphs(note, table("Intervals of 95 % and how often they hold", header, found))


OWN = ("plain", "recalibrated", "design")


def counts_settings(result: Row) -> str:
    """Return how often plain and corrected intervals hold, by what is wrong with the model."""
    rows = {
        (row["law"], row["shape"], row["n"], row["method"]): row for row in result["simulation"]
    }
    found = []
    for law, shape in dict.fromkeys(key[:2] for key in rows):
        cells = []
        for n in (100, 300):
            for method in ("plain", "recalibrated"):
                row = rows.get((law, shape, n, method))
                # The plain posterior does not depend on how many are read.
                if row is None or (method == "plain" and n == 100):
                    continue
                cells.append(
                    f"{percent(row['period_coverage'])} / {percent(row['total_coverage'])}"
                )
        if len(cells) == 3:
            found.append((law, shape, cells[1], cells[0], cells[2]))
    header = ("events", "the model", "plain", "corrected, 100 read", "corrected, 300 read")
    return table("Periods and totals that the intervals hold, %", header, found)


def counts_text(result: Row) -> str:
    """Return how often the gold counts of real text are held."""
    rows = [
        (
            row["corpus"],
            f"{row['n_sentences']:,}",
            str(row["n"]),
            str(row["n_keys"]),
            percent(row["plain"]),
            percent(row["corrected"]),
            f"{row['width_ratio']:.1f}",
        )
        for row in (*result["text"], *result.get("events", ()))
    ]
    header = ("counts", "texts", "read", "kinds", "plain, %", "corrected, %", "times as wide")
    return table("Gold counts that the intervals hold", header, rows)


def counts_speed(result: Row) -> str:
    """Return what planning and correcting a large corpus costs."""
    rows = [
        (
            row["kind"],
            f"{row['hits']:,}",
            f"{row['plan_seconds']:.1f}",
            f"{row['correct_seconds']:.1f}",
            f"{row['megabytes']:,.0f}",
        )
        for row in result.get("speed", ())
    ]
    if not rows:
        return MISSING.format(script="benchmarks/counts.py --only speed")
    header = ("counts", "hits", "plan, s", "correct, s", "memory, MB")
    title = "200,000 documents with 20 keys in 40 quarters: seconds of a core, and peak memory"
    return table(title, header, rows)


# --- antecedent_model.json


def antecedent_model(found: Row) -> str:
    """How accurate and how well calibrated the model is that ships."""
    rows = []
    for name, label in (("gold_mentions", "true"), ("predicted_mentions", "predicted")):
        row = found["test"][name]
        for kind, links in (("all", row["links"]), ("likely", row["likely_links"])):
            rows.append(
                [
                    f"{label}, {kind} links",
                    f"{row['pairwise_f1']:.3f}" if kind == "all" else "–",
                    f"{row['conll']:.3f}" if kind == "all" else "–",
                    f"{links['links']:,}",
                    f"{100 * links['error']:.2f}",
                    f"{100 * links['floor']:.2f} "
                    f"[{100 * links['range'][0]:.2f}, {100 * links['range'][1]:.2f}]",
                    f"{links['pvalue']:.2f}",
                ]
            )
    title = (
        "The English model on GUM's test part. Pairwise F1 and CoNLL score of the best guess, and "
        f"the calibration error of links in per cent, in bins of {found['bin_size']:,}, beside "
        "its floor: mean and 95 % range of what a calibrated model would show. *Likely* links "
        "have a probability of at least 0.05. Predicted mentions have the entities of the true "
        "ones that they match"
    )
    header = ["mentions", "F1", "CoNLL", "links", "error", "floor", "p"]
    return table(title, header, rows)


def found_mentions(found: Row) -> str:
    """How many mentions the rule finds, in true and in machine parses."""
    labels = {
        "test, true parses": "parses of the treebank",
        "test": "parses of the pipeline",
    }
    rows = [
        [
            label,
            f"{row['true']:,}",
            f"{row['predicted']:,}",
            *(f"{row[m][k]:.3f}" for m in ("span", "head") for k in ("precision", "recall")),
        ]
        for name, label in labels.items()
        for row in [found["mentions"][name]]
    ]
    title = "Mentions that ``find_mentions`` finds in GUM's test part, by span and by head"
    header = ["from", "true", "found", "span: precision", "recall", "head: precision", "recall"]
    return table(title, header, rows)


def antecedent_model_by_span(found: Row) -> str:
    """Scores of the whole way from words to entities, against the true documents."""
    names = ("mentions", "muc", "b_cubed", "ceaf_m", "ceaf_e", "blanc", "lea")
    rows = []
    for match in ("span", "head"):
        for kind in (match, f"{match}, no singletons"):
            row = found["test"]["predicted_mentions"][kind]
            label = f"by {kind}"
            rows.append([label, f"{row['conll']:.3f}", *(f"{row[n]['f1']:.3f}" for n in names)])
    title = (
        "From words to entities: F1 on GUM's test part, with its words, and with parses, mentions "
        "and entities all predicted. Mentions are compared by span, or by head as well"
    )
    header = ["compared", "CoNLL", "mentions", "MUC", "B³", "CEAF-m", "CEAF-e", "BLANC", "LEA"]
    return table(title, header, rows)


def antecedent_model_choices(found: Row) -> str:
    """What was learnt from, and what the size of the file costs, on the development part."""

    def cells(row: Row) -> list[str]:
        kinds = (row["dev"][name] for name in ("gold_mentions", "predicted_mentions"))
        return [f"{kind[score]:.3f}" for kind in kinds for score in ("pairwise_f1", "conll")]

    rows = [
        [f"trained on {name}", f"{row['documents']}", f"{row['weights']:,}", "–", *cells(row)]
        for name, row in found["trained_on"].items()
    ]
    rows += [
        [
            f"weights of at least {limit}",
            "–",
            f"{row['weights']:,}",
            f"{row['bytes'] / 1e6:.2f} MB",
            *cells(row),
        ]
        for limit, row in found["limits"].items()
    ]
    title = (
        "What the model was trained on, and what leaving out small weights costs: pairwise F1 and "
        "CoNLL score on GUM's development part, with true and with predicted mentions"
    )
    header = ["", "documents", "weights", "file", "true: F1", "CoNLL", "predicted: F1", "CoNLL"]
    return table(title, header, rows)


def parser(found: Row) -> str:
    """How good the parser is that finds the mentions."""
    names = {
        "token_f": "words",
        "tag_acc": "tags",
        "pos_acc": "parts of speech",
        "lemma_acc": "lemmas",
        "dep_uas": "heads",
        "dep_las": "heads and labels",
        "sents_f": "sentences",
    }
    rows = [
        [label, *(percent(found["gum_test"][name][key]) for key in names)]
        for name, label in (("raw_text", "raw text"), ("gold_words", "words of the treebank"))
    ]
    title = (
        "The spaCy pipeline that the benchmark trains on GUM, on GUM's test part, in per cent. It "
        f"reads {found['gum_test']['words_per_second']:,} words per second"
    )
    return table(title, ["from", *names.values()], rows)


# --- all of them


def page(found: Row) -> str:
    def middle(values: Sequence[float]) -> str:
        return f"{sorted(values)[len(values) // 2]:.2f}"

    rows = [
        [
            name,
            f"{row['texts']:,}",
            f"{row['megabytes']:.1f}",
            f"{row['seconds_to_write']:.0f}",
            f"{middle(row['seconds_to_open'])} ({max(row['seconds_to_open']):.2f})",
            middle(row["processor_seconds_to_open"]),
            middle(row["seconds_to_list"]),
        ]
        for name, row in found["pages"].items()
    ]
    header = [
        "``n_texts``", "texts", "MB", "seconds to write", "to open: median (worst)",
        "of it processor time", "to list a count",
    ]  # fmt: skip
    return paragraphs(
        table(
            f"A page of {found['n_documents']:,} documents of {found['words_per_document']} words",
            header,
            rows,
        ),
        f"Measured by ``benchmarks/page.py`` in Chromium, {_times(found)} times each, on a machine "
        "that does other work at the same time. The time runs until the first pictures stand; "
        "processor time is that of the page's main thread. Writing is processor time, and goes "
        "mostly into the links and reasons of the texts.",
    )


def _times(found: Row) -> int:
    return len(next(iter(found["pages"].values()))["seconds_to_open"])


# Name of the table, numbers, function, script that measures.
Maker = tuple[str, str, Callable[[Any], str], str]
MAKERS: tuple[Maker, ...] = (
    ("coverage", "coverage.json", coverage, "benchmarks/coverage.py"),
    ("coverage_summary", "coverage.json", coverage_summary, "benchmarks/coverage.py"),
    ("coverage_families", "coverage.json", coverage_families, "benchmarks/coverage.py"),
    ("alarms", "alarms.json", alarms, "benchmarks/alarms.py"),
    ("curve_errors", "curves.json", curve_errors, "benchmarks/curves.py"),
    ("curve_coverage", "curves.json", curve_coverage, "benchmarks/curves.py"),
    ("curve_bands", "curves.json", curve_bands, "benchmarks/curves.py"),
    ("curve_groups", "curve_groups.json", curve_groups, "benchmarks/curves.py"),
    *(
        (function.__name__, "comparison.json", function, "benchmarks/comparison.py")
        for function in (comparison, comparison_groups, comparison_few)
    ),
    ("power", "power.json", power, "benchmarks/power.py"),
    ("power_sizes", "power.json", power_sizes, "benchmarks/power.py"),
    ("field", "field.json", field, "benchmarks/field.py"),
    ("selection", "selection.json", selection, "benchmarks/selection.py"),
    ("speed", "speed.json", speed, "benchmarks/speed.py"),
    (
        "sequence_speed",
        "sequence_speed.json",
        sequence_speed,
        "benchmarks/sequence_speed.py",
    ),
    ("spans", "spans.json", spans, "benchmarks/spans.py"),
    ("spans_recalibrated", "spans.json", spans_recalibrated, "benchmarks/spans.py"),
    *(
        (function.__name__, "counts.json", function, "benchmarks/counts.py")
        for function in (counts_methods, counts_settings, counts_text, counts_speed)
    ),
    *(
        (
            function.__name__,
            "antecedent_model.json",
            function,
            "benchmarks/train_antecedent_model.py",
        )
        for function in (
            antecedent_model,
            antecedent_model_by_span,
            antecedent_model_choices,
            found_mentions,
        )
    ),
    ("parser", "parser.json", parser, "benchmarks/train_parser.py"),
    ("page", "page.json", page, "benchmarks/page.py"),
    ("scale", "scale.json", scale, "benchmarks/scale.py"),
    ("workers", "workers.json", workers, "benchmarks/scale.py --only-dask"),
    *(
        (function.__name__, "recalibration.json", function, "benchmarks/recalibration.py")
        for function in (recalibration_tweets, recalibration_news, recalibration_coreference)
    ),
    *(
        (function.__name__, "training.json", function, "benchmarks/training.py")
        for function in (training_summary, training_experiment, training_tags, training_speed)
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
