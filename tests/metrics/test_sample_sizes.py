"""How the error settles as the sample grows."""

import pytest

from sklearn_calib import sample_size_curve
from sklearn_calib.datasets import make_queries

SAMPLE = make_queries(1500, distortion="slope", random_state=0)


def test_sample_size_curve_checks_its_sizes():
    assert sample_size_curve(SAMPLE.queries, [100, 50]).sample_size.tolist() == [50, 100]
    assert "sample_size" in str(sample_size_curve(SAMPLE.queries, [100, 50]))
    assert sample_size_curve(SAMPLE.queries).to_frame().shape[1] == 7
    with pytest.raises(ValueError, match="up to the number of queries, 1500"):
        sample_size_curve(SAMPLE.queries, [2000])
    with pytest.raises(ValueError, match="at least 4"):
        sample_size_curve(SAMPLE.queries, [2])
