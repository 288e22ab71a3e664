"""What a report needs of a scan, read in one pass instead of one for each of its numbers."""

from __future__ import annotations

import numpy as np

from sklearn_calib.metrics._binning._rules import Balanced, ByNumber, BySize, Rule
from sklearn_calib.metrics._binning._scanned import reader_of, sort_or_scan
from sklearn_calib.metrics._binning._sizes import effective_scale, sizes_to_try, standard_number
from sklearn_calib.metrics._inference._null_cells import MOST_CELLS, Cells
from sklearn_calib.metrics._inference._sample import MOST_GROUPED_BINS
from sklearn_calib.queries._scan import QueryScan


def read_ahead(scan: QueryScan) -> None:
    """Read the edges of the bins of the curve, of the interval, of tests and of other sizes."""
    ordered = sort_or_scan(scan, fine=True)
    scale = effective_scale(ordered)
    rules: tuple[Rule, ...] = (
        ByNumber(standard_number(ordered)),
        Balanced(most=MOST_GROUPED_BINS if scan.grouped else None),
        Cells(MOST_CELLS),
        *(BySize(size / scale) for size in sizes_to_try(ordered)),
    )
    # Sums of all buckets are not held while their queries are read.
    del ordered
    reader = reader_of(scan)
    reader.resolved(rules)
    reader.forget()


def count_yes(scan: QueryScan) -> int:
    """Return how many queries of a scan have the answer yes."""
    ordered = sort_or_scan(scan)
    rows = np.ones(len(ordered.q)) if ordered.pool is None else ordered.pool.n
    return round(float(np.dot(rows, ordered.y)))
