"""
More predictions than memory
============================

Predictions in a folder of Parquet files are measured without loading them: in chunks, and with the
same answer. This example writes a small folder itself; a large one takes the same lines.
"""

# %%
# A folder of predictions
# -----------------------
# Three days of a model that says how likely a click is, 1.8 million rows in all. On the last day
# something has changed: the model promises more clicks than there are.

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
rng = np.random.default_rng(0)
for day, strength in enumerate((1.0, 1.0, 1.25)):
    score = rng.beta(0.6, 2.5, size=600_000)
    clicked = rng.random(len(score)) < score**strength
    columns = {"score": score, "clicked": clicked, "day": np.full(len(score), f"day {day}")}
    parquet.write_table(pa.table(columns), folder / f"day-{day}.parquet")

# %%
# The whole folder
# ----------------
# A scan stands in place of the arrays, and the columns are named once. Nothing but the heads of the
# files is read until a function asks for more.

from sklearn_calib import calibration_error_interval, scan_queries

scan = scan_queries(folder, y_true="clicked", y_prob="score", label="day")
print(scan)
print(calibration_error_interval(scan))

# %%
# Which day?
# ----------
# The column of days was given as the label of each row: "which question was this?" All labels are
# measured in the same passes over the files.

from sklearn_calib import label_calibration

print(label_calibration(scan))

# %%
# The picture
# -----------

from sklearn_calib import AdaptiveCalibrationDisplay

display = AdaptiveCalibrationDisplay.from_predictions(
    scan.where(label="day 2"), distribution="histogram", name="day 2"
)

# %%
# A few rows, where all are needed
# --------------------------------
# What needs all queries at once says so, and takes a sample of them, drawn in one pass. Here: would
# a few thousand rows have been enough to see that the last day is off?

from sklearn_calib import sample_size_curve

some = scan.where(label="day 2").sample(20_000, random_state=0)
print(sample_size_curve(some, [1000, 5000, 20_000]))

# %%
# How often were the files read?
# ------------------------------
# A pass holds one chunk of rows at a time, so that memory does not grow with the files. On a
# terminal, a line shows how far a pass has come; ``scan_queries(..., show_progress=True)`` shows it
# elsewhere.

print(scan)
temporary.cleanup()
