"""Run the command line as a module: python -m sklearn_calib report ..."""

import sys

from sklearn_calib.report._command import main

sys.exit(main(prog="python -m sklearn_calib"))
