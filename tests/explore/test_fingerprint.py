"""Equal things share a fingerprint, in every process; different things do not."""

import functools
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sklearn_calib.coref import AntecedentModel, Document, load_antecedent_model
from sklearn_calib.datasets import make_coref_documents, make_event_corpus
from sklearn_calib.explore import AgentRule, country_lexicon
from sklearn_calib.explore._fingerprint import fingerprint

ROOT = Path(__file__).parents[2]
LIMIT = 3


def test_values_and_not_identities():
    name = "".join(["a", "b"])
    assert fingerprint([name, name]) == fingerprint(["ab", "".join(["a", "b"])])
    assert fingerprint({"x", "y", "z"}) == fingerprint({"z", "y", "x"})
    different = ["ab", b"ab", ["ab"], ("ab",), {"ab"}, {"ab": None}, 1, 1.0, True, None, "abc", ""]
    assert len({fingerprint(value) for value in different}) == len(different)


def test_arrays():
    a = np.array([["x", "yz"], ["xy", "z"]], dtype=object)
    assert fingerprint(a[0]) != fingerprint(a[1])
    assert fingerprint(a[0]) == fingerprint(np.array(["x", "yz"], dtype=object))
    assert fingerprint(np.arange(3)) != fingerprint(np.arange(3.0))
    fixed = np.arange(3)
    fixed.flags.writeable = False
    assert fingerprint(np.arange(3)) == fingerprint(np.arange(6)[:3]) == fingerprint(fixed)


def test_models_rules_and_documents():
    simulated = make_coref_documents(12, random_state=0)
    X, y = simulated.X, simulated.y
    fit = [AntecedentModel().fit(X, y) for _ in range(2)]
    assert fingerprint(fit[0]) == fingerprint(fit[1])
    assert fingerprint(fit[0]) == fingerprint(pickle.loads(pickle.dumps(fit[0])))
    assert fingerprint(fit[0]) != fingerprint(AntecedentModel().fit(X[1:], y[1:]))
    before = fingerprint(fit[0])
    fit[0].predict(X)
    assert fingerprint(fit[0]) == before
    rule = AgentRule(country_lexicon())
    rule.may_hold("An army.")
    assert fingerprint(rule) == fingerprint(AgentRule(country_lexicon()))
    assert fingerprint(rule) != fingerprint(AgentRule(country_lexicon(), verbs=["say"]))
    document = make_event_corpus(2, random_state=0).X[0]
    assert fingerprint(document) == fingerprint(pickle.loads(pickle.dumps(document)))
    for changed in ({"metadata": {"a": 1}}, {"tokens": ["x", *document.tokens[1:]]}, {"id": "b"}):
        assert fingerprint(document) != fingerprint(document.replace(**changed))
    document.sentence_index  # noqa: B018 -- what is computed on demand is no part of it
    assert fingerprint(document) == fingerprint(pickle.loads(pickle.dumps(document)))


def test_functions_are_known_by_their_code():
    def keep(limit):
        return lambda document, entity: len(entity) > limit

    assert fingerprint(keep(2)) == fingerprint(keep(2))
    assert fingerprint(keep(2)) != fingerprint(keep(3))
    assert fingerprint(lambda d: d.date) == fingerprint(lambda d: d.date)
    assert fingerprint(lambda d: d.date) != fingerprint(lambda d: d.genre)
    assert fingerprint(lambda d: 1) != fingerprint(lambda d: 2)
    assert fingerprint(functools.partial(open, "a")) != fingerprint(functools.partial(open, "b"))
    namespace = {}
    for limit, same in ((3, True), (4, False)):
        code = "def rule(d, e):\n    return len(e) > LIMIT and rule(d, e[1:])"
        exec(code, names := {"LIMIT": limit, "__name__": "__main__"})
        namespace.setdefault("rule", names["rule"])
        assert (fingerprint(namespace["rule"]) == fingerprint(names["rule"])) == same


def test_classes_are_known_by_their_code():
    def make(verb, bonus=0):
        class Rule:
            """A rule."""

            limit = 3

            def __call__(self, document, entity):
                return verb if len(entity) > self.limit + bonus else None

        return Rule

    assert fingerprint(make("a")()) == fingerprint(make("a")())
    assert fingerprint(make("a")()) != fingerprint(make("b")())
    other = make("a")
    other.limit = 4
    assert fingerprint(make("a")()) != fingerprint(other())


PROGRAM = """
from sklearn_calib.coref import load_antecedent_model
from sklearn_calib.datasets import make_event_corpus
from sklearn_calib.explore import AgentRule, country_lexicon
from sklearn_calib.explore._fingerprint import fingerprint
for value in (
    load_antecedent_model(), AgentRule(country_lexicon()), make_event_corpus(3, random_state=0).X,
    make_event_corpus(3, random_state=0).model, {"a", "b", "c", "d"},
    lambda d: "x" if d in {"p", "q", "r"} else None,
):
    print(fingerprint(value))
"""


def test_another_process_agrees():
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT, check=True, capture_output=True, text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1
    assert fingerprint(load_antecedent_model()) in found.pop()


def test_what_cannot_be_recognised():
    for value in ((i for i in "ab"), [open]):
        if callable(value[0] if isinstance(value, list) else None):
            assert fingerprint(value)
            continue
        with pytest.raises(TypeError, match="A generator cannot be recognised again"):
            fingerprint(value)
    nested = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(TypeError, match="A list cannot be recognised again"):
        fingerprint(nested)
    while nested:  # or Python would be slow to forget it
        nested = nested.pop()
    assert fingerprint(Document("a", ["b"], metadata={"f": len})) != fingerprint(
        Document("a", ["b"], metadata={"f": max})
    )
