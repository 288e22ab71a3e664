"""From queries to sums of bins: sorted queries, sizes of bins, and queries in bins."""
