"""The command line."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib._files import FileError
from sklearn_calib._interrupt import has_loaded
from sklearn_calib._output import check_output, exit_code
from sklearn_calib._results import printable
from sklearn_calib._validation import Array, text_array
from sklearn_calib._version import __version__
from sklearn_calib.queries._scan import MOST_IN_MEMORY, scan_queries
from sklearn_calib.queries._scan_sources import column_type
from sklearn_calib.report._count import add_count, count
from sklearn_calib.report._read import as_labels, as_numbers, read_columns
from sklearn_calib.report._report import Report, calibration_report

_POSITION = re.compile(r"at position \(?(\d+)(?:, \d+\))?")


def parser(prog: str) -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog=prog, description="Measure the calibration of predictions, and count with it."
    )
    top.add_argument("--version", action="version", version=f"sklearn-calib {__version__}")
    commands = top.add_subparsers(dest="command", required=True)
    report = commands.add_parser("report", help="report on a file of predictions")
    report.add_argument(
        "file",
        type=Path,
        help="CSV, TSV, JSON lines or Parquet, with a header; or a folder of Parquet, CSV or TSV",
    )
    report.add_argument("--y-true", required=True, metavar="COLUMN", help="the true labels")
    report.add_argument(
        "--y-prob",
        required=True,
        nargs="+",
        metavar="COLUMN",
        help="the predicted probability; for many classes, a column for each",
    )
    report.add_argument(
        "--classes",
        nargs="+",
        metavar="CLASS",
        help="the class of each probability column (default: the column names)",
    )
    report.add_argument("--pos-label", help="the label whose probability is given")
    report.add_argument("--group", metavar="COLUMN", help="sentence, document or person")
    report.add_argument("--weight", metavar="COLUMN", help="weights")
    bins = report.add_mutually_exclusive_group()
    bins.add_argument("--bin-size", type=int, metavar="N", help="queries per bin of the curve")
    bins.add_argument("--n-bins", type=int, metavar="N", help="number of bins of the curve")
    report.add_argument("--confidence-level", type=float, default=0.95, metavar="LEVEL")
    report.add_argument("--out", type=Path, metavar="FILE", help="write a page of HTML")
    report.add_argument(
        "--force", action="store_true", help="let --out replace a file of another program"
    )
    add_count(commands)
    return top


def _like(labels: Any, text: str) -> Any:
    """Return text as a label of the type that the labels have."""
    if labels.dtype == bool:
        known = {"true": True, "false": False}
        if text.lower() not in known:
            raise FileError(f"the labels are True and False, and {text!r} is neither.")
        return known[text.lower()]
    if labels.dtype.kind in "iu":
        try:
            return int(text)
        except ValueError:
            raise FileError(f"the labels are whole numbers, and {text!r} is not.") from None
    if labels.dtype.kind == "f":
        try:
            return float(text)
        except ValueError:
            raise FileError(f"the labels are numbers, and {text!r} is not.") from None
    return text


def _is_scanned(path: Path) -> bool:
    """Whether a file is read in chunks: a folder, or a Parquet file of very many rows."""
    if path.is_dir():
        return True
    if path.suffix.lower() != ".parquet" or not path.exists():
        return False
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        return False
    try:
        return int(parquet.read_metadata(path).num_rows) > MOST_IN_MEMORY
    except (ArrowException, OSError):
        return False


def _scan_report(arguments: argparse.Namespace) -> Report:
    """Report on a file, or on a folder of files, that may not fit into memory."""
    if len(arguments.y_prob) > 1 or arguments.classes is not None:
        raise FileError(
            "a folder of files, or a file of so many rows, is read in chunks: pass one probability "
            "column, with a row for each class, and one table for each question."
        )
    options: dict[str, Any] = {}
    if arguments.bin_size is not None:
        options["bin_size"] = arguments.bin_size
    names: dict[str, Any] = {
        "y_true": arguments.y_true,
        "y_prob": arguments.y_prob[0],
        "group": arguments.group,
        "sample_weight": arguments.weight,
    }
    # The first scan says which column is missing, or that pyarrow is.
    scan_queries(arguments.file, **names)
    positive = arguments.pos_label
    if positive is not None:
        from pyarrow import array

        kind = column_type(arguments.file, arguments.y_true)
        # Labels that repeat are often stored as numbers of a dictionary.
        kind = getattr(kind, "value_type", kind)
        positive = _like(array([], kind).to_numpy(zero_copy_only=False), positive)
    return calibration_report(
        scan_queries(arguments.file, **names, pos_label=positive),
        n_bins=arguments.n_bins,
        confidence_level=arguments.confidence_level,
        name=arguments.file.name,
        random_state=0,
        **options,
    )


def _report(arguments: argparse.Namespace) -> Report:
    if _is_scanned(arguments.file):
        return _scan_report(arguments)
    names = [arguments.y_true, *arguments.y_prob]
    names += [name for name in (arguments.group, arguments.weight) if name is not None]
    columns = read_columns(arguments.file, list(dict.fromkeys(names)))
    y = as_labels(columns[arguments.y_true], arguments.y_true)
    proba = [as_numbers(columns[name], name, commas=True) for name in arguments.y_prob]
    options: dict[str, Any] = {}
    if len(proba) == 1:
        if arguments.classes is not None:
            raise FileError("--classes goes with several probability columns, and there is one.")
        positive = None if arguments.pos_label is None else _like(y, arguments.pos_label)
        if positive is not None and positive in y.tolist():
            # One class against the rest, however many they are.
            y, positive = y == positive, None
        options["pos_label"] = positive
    else:
        if arguments.pos_label is not None:
            raise FileError("--pos-label goes with one probability column; there are several.")
        options["classes"] = _classes(arguments, y)
    if arguments.weight is not None:
        options["sample_weight"] = as_numbers(columns[arguments.weight], arguments.weight)
    if arguments.group is not None:
        options["groups"] = _groups(columns[arguments.group], arguments.group)
    if arguments.bin_size is not None:
        options["bin_size"] = arguments.bin_size
    return calibration_report(
        y,
        proba[0] if len(proba) == 1 else np.column_stack(proba),
        n_bins=arguments.n_bins,
        confidence_level=arguments.confidence_level,
        name=arguments.file.name,
        random_state=0,
        **options,
    )


def _classes(arguments: argparse.Namespace, y: Array) -> list[Any]:
    """Return the class of each probability column."""
    classes = arguments.y_prob if arguments.classes is None else arguments.classes
    if len(classes) != len(arguments.y_prob):
        raise FileError(
            f"--classes names {len(classes)} classes for {len(arguments.y_prob)} probability "
            "columns."
        )
    named = [_like(y, name) for name in classes]
    for label in sorted(set(y.tolist()) - set(named), key=str):
        raise FileError(
            f"the label {label!r} of column {arguments.y_true!r} has no probability column; "
            "name the class of each column with --classes."
        )
    return named


def _groups(values: list[Any], name: str) -> Array:
    """Return a column of groups; none may be missing."""
    for row, value in enumerate(values, start=1):
        if value is None or value == "":
            raise FileError(f"column {name!r}, row {row}: the group is missing.")
    return text_array([str(value) for value in values])


def main(arguments: list[str] | None = None, *, prog: str = "sklearn-calib") -> int:
    """Run the command line and return its exit code."""
    return exit_code(lambda: _run(arguments, prog))


def _run(arguments: list[str] | None, prog: str) -> None:
    has_loaded()
    options = parser(prog).parse_args(arguments)
    {"report": _write_report, "count": count}[options.command](options)


def _write_report(options: argparse.Namespace) -> None:
    """Print the report on a file, and write its page if one is wanted."""
    if options.out is not None:
        check_output(options.out, inputs=[options.file], force=options.force)
    try:
        report = _report(options)
    except ValueError as error:
        said = str(error).replace("Set pos_label", "Set --pos-label")
        # Where an array has a place, counted from 0, a file has a row.
        said = _POSITION.sub(lambda match: f"in row {int(match[1]) + 1}", said)
        name = options.file.name
        raise FileError(said if name in said else f"{name}: {said}") from None
    print(printable(str(report), keep="\n"))
    if options.out is not None:
        report.save(options.out, force=options.force)
        print(f"\nwrote {printable(str(options.out))}")
