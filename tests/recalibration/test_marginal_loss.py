"""The Brier score of marginals, and its gradient, against enumeration and differences."""

import numpy as np
import pytest

from sklearn_calib.recalibration._marginal_loss import Chains, marginal_loss
from sklearn_calib.sequence._log_recursions import ImpossibleError
from tests.sequence.chains import enumerate_chain, random_chains, sequences

# Plain scores, some that are forbidden, and some that need log space.
KINDS = [{"scale": 1.0}, {"scale": 2.0, "forbid": 0.15}, {"scale": 900.0}]


def some_chains(seed, **kind):
    potentials, transitions, lengths = random_chains(seed, **kind)
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, potentials.shape[1], len(potentials))
    gold[0] = -1  # a tag that the model does not know
    return Chains(potentials, transitions, lengths, gold, rng.random(len(potentials)))


def loss(chains):
    try:
        return marginal_loss(chains)
    except ImpossibleError:
        return None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_value_equals_enumeration(seed, kind):
    chains = some_chains(seed, **kind)
    found = loss(chains)
    parts = sequences(chains.potentials, chains.lengths)
    laws = [enumerate_chain(part, chains.transitions) for part in parts]
    if found is None:
        assert any(law is None for law in laws)
        return
    proba = np.concatenate([law[0] for law in laws])
    truth = np.eye(proba.shape[1] + 1)[chains.gold][:, :-1]
    expected = chains.weight @ ((proba - truth) ** 2).sum(axis=1)
    assert found.value == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_gradient_equals_differences(seed, kind):
    chains = some_chains(seed, **kind)
    found = loss(chains)
    if found is None:
        return
    step = 1e-5
    for name in ("potentials", "transitions"):
        scores, gradient = getattr(chains, name), getattr(found, name)
        for at in np.ndindex(scores.shape):
            if not np.isfinite(scores[at]):
                continue
            values = []
            for sign in (1, -1):
                moved = scores.copy()
                moved[at] += sign * step
                values.append(marginal_loss(chains._replace(**{name: moved})).value)
            expected = (values[0] - values[1]) / (2 * step)
            assert gradient[at] == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_long_sentences_and_several_chunks():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 120, size=200)
    chains = Chains(
        3 * rng.normal(size=(lengths.sum(), 6)),
        rng.normal(size=(6, 6)),
        lengths,
        rng.integers(0, 6, lengths.sum()),
        np.ones(lengths.sum()),
    )
    direction = rng.normal(size=chains.potentials.shape)
    found = marginal_loss(chains)
    up, down = (
        marginal_loss(chains._replace(potentials=chains.potentials + step * direction)).value
        for step in (1e-5, -1e-5)
    )
    assert np.vdot(found.potentials, direction) == pytest.approx((up - down) / 2e-5, rel=1e-6)
