"""Run the command line: python -m sklearn_calib report ..."""

import sys

from sklearn_calib.report import main

sys.exit(main())
