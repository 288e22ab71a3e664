"""Raw columns become queries, or an error that says where."""

import numpy as np
import pytest

from sklearn_calib import calibration_bins, scan_queries


def read(y, q, **more):
    options = {name: more.pop(name) for name in ("pos_label",) if name in more}
    columns = {"y_true": y, "y_prob": q, **more}
    names = {name: name for name in more}
    half = len(q) // 2

    def chunks():
        yield {name: values[:half] for name, values in columns.items()}
        yield {name: values[half:] for name, values in columns.items()}

    return scan_queries(chunks, **names, **options).collect()


Q = np.array([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("y", "pos_label"),
    [
        ([0, 1, 1, 0], None),
        ([-1, 1, 1, -1], None),
        ([0.0, 1.0, 1.0, 0.0], None),
        ([False, True, True, False], None),
        (["no", "yes", "yes", "no"], "yes"),
        ([3, 7, 7, 3], 7),
    ],
)
def test_labels_of_many_kinds(y, pos_label):
    found = read(np.array(y), Q, pos_label=pos_label)
    assert found.y_true.tolist() == [False, True, True, False]


def test_a_third_label_in_a_late_row():
    with pytest.raises(ValueError, match=r"chunk 1, row 1 of it .*'y_true' is 'maybe'"):
        read(np.array(["no", "yes", "yes", "maybe"]), Q, pos_label="yes")
    with pytest.raises(ValueError, match=r"chunk 1, row 0 of it .*is 2"):
        read(np.array([0, 1, 2, 0]), Q)
    with pytest.raises(ValueError, match=r"chunk 1, row 1 of it .*is -1, after 0 and 1"):
        read(np.array([0, 1, 1, -1]), Q)


def test_which_label_means_yes():
    with pytest.raises(ValueError, match="Set pos_label"):
        read(np.array(["no", "yes", "yes", "no"]), Q)
    with pytest.raises(ValueError, match="Set pos_label"):
        read(np.array([3, 7, 7, 3]), Q)


@pytest.mark.parametrize("bad", [1.2, -0.1, np.nan, np.inf])
def test_no_probability(bad):
    with pytest.raises(ValueError, match=r"chunk 1, row 0 of it \(counted from 0\): 'y_prob' is"):
        read(np.array([0, 1, 1, 0]), np.array([0.1, 0.2, bad, 0.4]))


def test_rounding_beyond_the_ends_and_signs_of_zero():
    q = np.array([-0.0, 0.2, 1.0 + 1e-16, np.float64(1.0) + np.finfo(float).eps])
    found = read(np.array([0, 1, 1, 0]), q).y_prob
    assert found.tolist() == [0.0, 0.2, 1.0, 1.0]
    assert not np.signbit(found).any()


def test_missing_values():
    with pytest.raises(ValueError, match=r"row 1 of it .*'y_true' is missing"):
        read(np.array([0, 1, 1, np.nan]), Q)
    with pytest.raises(ValueError, match=r"row 1 of it .*'group' is missing"):
        read(np.array([0, 1, 1, 0]), Q, group=np.array(["a", "b", "a", None], dtype=object))


def test_weights():
    with pytest.raises(ValueError, match=r"row 1 of it .*'sample_weight' is -1"):
        read(np.array([0, 1, 1, 0]), Q, sample_weight=np.array([1.0, 0.0, 2.0, -1.0]))
    with pytest.raises(ValueError, match=r"must hold numbers"):
        read(np.array([0, 1, 1, 0]), Q, sample_weight=np.array(["a"] * 4))
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match=rf"chunk 1, row 0 .*'sample_weight' is {wrong:g}: "):
            read(np.array([0, 1, 1, 0]), Q, sample_weight=np.array([1.0, 0.0, wrong, 1.0]))


@pytest.mark.parametrize("large", [1e12, 1e16, 1e200, 1e308, 1e-40, 1e-320])
def test_one_weight_beside_which_others_are_nothing(large):
    rng = np.random.default_rng(0)
    q = rng.random(3000).round(2)
    y, w = rng.random(3000) < q, np.where(np.arange(3000) == 5, large, 1.0)
    scan = scan_queries(
        lambda: iter([{"y": y, "p": q, "w": w}]), y_true="y", y_prob="p", sample_weight="w"
    )
    whole = calibration_bins(y, q, sample_weight=w)
    assert calibration_bins(scan).error() == pytest.approx(whole.error(), rel=1e-9)


def test_columns_of_unequal_length():
    with pytest.raises(ValueError, match="unequal length"):
        scan_queries(lambda: iter([([0, 1], [0.1, 0.2, 0.3])])).collect()


def test_columns_that_are_no_columns_of_numbers():
    with pytest.raises(ValueError, match=r"'y_prob' must be 1-D, and has the shape \(2, 2\)"):
        read(np.array([0, 1, 1, 0]), np.stack((Q, 1 - Q), axis=1))
    with pytest.raises(
        ValueError, match=r"'y_prob' must hold numbers, and holds values of type com"
    ):
        read(np.array([0, 1, 1, 0]), Q + 0j)
    with pytest.raises(ValueError, match=r"'y_prob' must hold numbers, and holds text"):
        read(np.array([0, 1, 1, 0]), Q.astype(str))
