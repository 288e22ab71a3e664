"""Two scans of the same rows, read in step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sklearn_calib.queries._queries import Queries
from sklearn_calib.queries._scan import QueryScan


def in_step(one: QueryScan, two: QueryScan) -> Iterator[tuple[Queries, Queries]]:
    """Yield the same rows of two scans, a chunk at a time; all but predictions must agree."""
    done = 0
    parts = [one.chunks(), two.chunks()]
    waiting: list[Queries | None] = [None, None]
    while True:
        for side, part in enumerate(parts):
            if waiting[side] is None:
                waiting[side] = next(part, None)
        here, there = waiting
        if here is None or there is None:
            break
        n = min(len(here), len(there))
        found = here._take(slice(0, n)), there._take(slice(0, n))
        _refuse_other_rows(found, done, one, two)
        yield found
        done += n
        for side, chunk in enumerate((here, there)):
            waiting[side] = chunk._take(slice(n, len(chunk))) if len(chunk) > n else None
    if here is not None or there is not None:
        longer = "first" if here is not None else "second"
        raise ValueError(
            f"The two scans are not of the same rows: the {longer} one goes on after "
            f"{done:,} rows, where the other ends."
        )


def _refuse_other_rows(
    found: tuple[Queries, Queries], done: int, one: QueryScan, two: QueryScan
) -> None:
    """Refuse rows of which the two models were not asked the same."""
    here, there = found
    for name, own, other in (
        ("y_true", here.y_true, there.y_true),
        ("sample_weight", here.sample_weight, there.sample_weight),
        ("group", here.group, there.group),
        ("label", here.label, there.label),
    ):
        if own is None and other is None:
            continue
        if own is None or other is None:
            raise ValueError(
                f"One of the scans has a column for {name} and the other has none: both models "
                "must be asked the same questions."
            )
        differ = own != other
        if np.any(differ):
            row = int(np.argmax(differ))
            places = [scan._source.place_of(done + row) for scan in (one, two)]
            raise ValueError(
                f"The two scans differ in {name}: {_shown(own[row])} in {places[0]}, "
                f"and {_shown(other[row])} in {places[1]}. Both models must be asked the "
                "same questions, in the same order of rows."
            )


def _shown(value: object) -> str:
    plain = value.item() if isinstance(value, np.generic) else value
    return repr(int(plain) if isinstance(plain, bool) else plain)
