"""Names as numbers from 0."""

import numpy as np
import pytest

from sklearn_calib.queries import _numbered
from sklearn_calib.queries._numbered import numbered

RNG = np.random.default_rng(0)
NUMBERS = RNG.integers(-40, 60, 500)
NAMES = np.array([f"document {n % 37}" * (n % 3) for n in NUMBERS])
CASES = {
    "close": NUMBERS,
    "far apart": NUMBERS * 10**15,
    "short integers": np.array([-100, 100, -128, 127, 3], dtype=np.int8),
    "unsigned": (NUMBERS - NUMBERS.min()).astype(np.uint64) + np.uint64(2**64 - 200),
    "bools": NUMBERS > 0,
    "floats": NUMBERS / 7.0,
    "text": NAMES,
    "objects": NAMES.astype(object),
    "text of another byte order": NAMES.astype(NAMES.dtype.newbyteorder()),
    "every other": np.repeat(NAMES, 2)[::2],
    "empty text": np.array(["", ""]),
    "endings that fixed widths lose": np.array(["a", "a\0", "b", "a"], dtype=object),
    "one": np.array([5]),
    "dates": np.array(["2020-01-02", "2020-01-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_those_of_numpy(name):
    values = CASES[name]
    found = numbered(values)
    np.testing.assert_array_equal(found, np.unique(values, return_inverse=True)[1])
    assert found.dtype == np.intp


def test_names_that_mix_into_one_number_are_told_apart(monkeypatch):
    expected = numbered(NAMES)
    unique = np.unique

    def colliding(values, **options):
        return unique(values % np.uint64(5) if values.dtype == np.uint64 else values, **options)

    monkeypatch.setattr(_numbered.np, "unique", colliding)
    np.testing.assert_array_equal(numbered(NAMES), expected)
