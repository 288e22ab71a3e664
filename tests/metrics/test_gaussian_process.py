"""The curve by a Gaussian process."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from sklearn_calib import gaussian_process_calibration_curve, smooth_calibration_curve
from sklearn_calib.datasets import make_queries


def test_few_queries_leave_the_model_believed():
    """Before any data the predictions are right; ten queries move the curve only a little."""
    sample = make_queries(10, a=1, b=1, random_state=0)
    curve = gaussian_process_calibration_curve(sample.queries)
    assert np.abs(curve.prob_true - curve.prob_pred).max() < 0.25
    low, high = curve.confidence_interval
    assert ((low < curve.prob_pred) & (curve.prob_pred < high)).mean() > 0.7


def test_closer_to_the_truth_than_the_smooth_curve_for_a_calibrated_model():
    rng = np.random.default_rng(0)
    errors = {gaussian_process_calibration_curve: [], smooth_calibration_curve: []}
    for _ in range(8):
        sample = make_queries(300, a=1, b=1, random_state=rng)
        for make, found in errors.items():
            curve = make(sample.queries)
            found.append(np.mean(np.square(curve.prob_true - curve.prob_pred)))
    process, smooth = (np.sqrt(np.mean(found)) for found in errors.values())
    assert process < 0.9 * smooth


def test_kernel_can_be_given_and_is_fitted():
    sample = make_queries(1000, a=1, b=1, distortion="slope", strength=0.5, random_state=0)
    kernel = ConstantKernel(0.1, (1e-4, 10.0)) * RBF(2.0, (0.25, 10.0))
    curve = gaussian_process_calibration_curve(sample.queries, kernel=kernel)
    assert curve.kernel.theta[0] > kernel.theta[0]
    assert list(curve.kernel.get_params()) == list(kernel.get_params())
    fixed = ConstantKernel(0.1, "fixed") * RBF(2.0, "fixed")
    again = gaussian_process_calibration_curve(sample.queries, kernel=fixed)
    assert again.kernel == fixed
    with pytest.raises(TypeError, match=r"kernel must be one of .*, got str"):
        gaussian_process_calibration_curve(sample.queries, kernel="rbf")


def test_groups_widen_the_intervals():
    """With one kernel for both, so that the data tell the difference."""
    sample = make_queries(2000, a=2, b=2, group_size=20, dependence=0.9, random_state=0)
    kernel = ConstantKernel(0.5, "fixed") * RBF(1.0, "fixed")
    widths = []
    for groups in (None, False):
        curve = gaussian_process_calibration_curve(sample.queries, groups=groups, kernel=kernel)
        widths.append(np.mean(np.subtract(*curve.confidence_interval[::-1])))
    assert widths[0] > 1.3 * widths[1]
