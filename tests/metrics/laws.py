"""Laws of predictions and truths that simulations share."""

LAWS = {
    "bathtub": {"a": 0.3, "b": 0.3},
    "skewed": {"a": 0.5, "b": 2},
    "bell": {"a": 5, "b": 5},
    "tagger": {"predictions": "mixture"},
}


TRUTHS = {
    "calibrated": {},
    "shift": {"distortion": "shift", "strength": 0.05},
    "overconfident": {"distortion": "slope", "strength": 1 / 1.5},
    "underconfident": {"distortion": "slope", "strength": 1 / 0.7},
}
