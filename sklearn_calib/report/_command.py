"""The command line."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_calib.queries._as_queries import as_queries
from sklearn_calib.queries._classifier import classifier_queries
from sklearn_calib.queries._queries import Queries
from sklearn_calib.report._page import page
from sklearn_calib.report._read import FileError, as_labels, as_numbers, read_columns
from sklearn_calib.report._summary import summarise


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="python -m sklearn_calib", description="Measure the calibration of predictions."
    )
    commands = top.add_subparsers(dest="command", required=True)
    report = commands.add_parser("report", help="report on a file of predictions")
    report.add_argument("file", type=Path, help="CSV, TSV, JSON lines or Parquet, with a header")
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
    report.add_argument("--confidence-level", type=float, default=0.95, metavar="LEVEL")
    report.add_argument("--out", type=Path, metavar="FILE", help="write a page of HTML")
    return top


def _like(labels: Any, text: str) -> Any:
    """Return text as a label of the type that the labels have."""
    if labels.dtype == bool:
        known = {"true": True, "false": False}
        if text.lower() not in known:
            raise FileError(f"the labels are True and False, and {text!r} is neither.")
        return known[text.lower()]
    if labels.dtype.kind == "i":
        try:
            return int(text)
        except ValueError:
            raise FileError(f"the labels are whole numbers, and {text!r} is not.") from None
    return text


def _queries(arguments: argparse.Namespace) -> Queries:
    names = [arguments.y_true, *arguments.y_prob]
    names += [name for name in (arguments.group, arguments.weight) if name is not None]
    columns = read_columns(arguments.file, list(dict.fromkeys(names)))
    y = as_labels(columns[arguments.y_true], arguments.y_true)
    proba = [as_numbers(columns[name], name, commas=True) for name in arguments.y_prob]
    weight = None
    if arguments.weight is not None:
        weight = as_numbers(columns[arguments.weight], arguments.weight)
    if len(proba) == 1:
        if arguments.classes is not None:
            raise FileError("--classes goes with several probability columns, and there is one.")
        positive = None if arguments.pos_label is None else _like(y, arguments.pos_label)
        if positive is not None and positive in y.tolist():
            # One class against the rest, however many they are.
            y, positive = y == positive, None
        queries = as_queries(y, proba[0], sample_weight=weight, pos_label=positive)
    else:
        if arguments.pos_label is not None:
            raise FileError("--pos-label goes with one probability column; there are several.")
        classes = arguments.y_prob if arguments.classes is None else arguments.classes
        if len(classes) != len(proba):
            raise FileError(
                f"--classes names {len(classes)} classes for {len(proba)} probability columns."
            )
        named = [_like(y, name) for name in classes]
        for label in sorted(set(y.tolist()) - set(named), key=str):
            raise FileError(
                f"the label {label!r} of column {arguments.y_true!r} has no probability column; "
                "name the class of each column with --classes."
            )
        queries = classifier_queries(
            y, np.column_stack(proba), classes=named,
            sample_weight=weight,
        )  # fmt: skip
    if arguments.group is not None:
        for row, value in enumerate(columns[arguments.group], start=1):
            if value is None or value == "":
                raise FileError(f"column {arguments.group!r}, row {row}: the group is missing.")
        group = np.unique(np.array([str(g) for g in columns[arguments.group]]), return_inverse=True)
        repeats = len(queries) // len(y)
        queries = queries.with_groups(np.repeat(group[1], repeats))
    return queries


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)
    try:
        if options.out is not None and not options.out.parent.is_dir():
            raise FileError(f"--out {options.out}: there is no folder {options.out.parent}.")
        both = options.out is not None and options.out.exists() and options.file.exists()
        if both and options.out.samefile(options.file):
            raise FileError(f"--out {options.out} is the file of predictions itself.")
        queries = _queries(options)
        summary = summarise(queries, confidence_level=options.confidence_level)
        print(summary.text())
        if options.out is not None:
            options.out.write_text(page(summary, options.file.name), encoding="utf-8")
            print(f"\nwrote {options.out}")
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the report has read enough. Nothing may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (FileError, ImportError, OSError, TypeError, ValueError) as error:
        message = " ".join(str(error).split()).replace("Set pos_label", "Set --pos-label")
        print(f"error: {message}", file=sys.stderr)
        return 2
    return 0
