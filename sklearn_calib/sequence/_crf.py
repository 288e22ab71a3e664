"""A conditional random field that gives exact marginals."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_calib._validation import (
    Array,
    check_integer,
    check_number,
    check_option,
    check_sample_weight,
)
from sklearn_calib._validation_sequences import (
    check_scores,
    check_tagged_sentences,
    check_tokens,
    flatten,
)
from sklearn_calib.queries._span_schemes import SCHEMES, read_scheme
from sklearn_calib.sequence._crfsuite_file import CRFModel, parse_model
from sklearn_calib.sequence._lattice_solver import OBJECTIVES, Objective, TokenMatrix, train
from sklearn_calib.sequence._packing import starts_of
from sklearn_calib.sequence._tagger import SequenceTagger
from sklearn_calib.sequence._token_features import (
    FEATURES,
    WordColumns,
    WordFeatures,
    feature_index,
    read_features,
    ready_matrix,
    summed,
)

__all__ = ["CRFTagger"]


class CRFTagger(SequenceTagger):
    """Linear-chain conditional random field with exact tag and tag-pair marginals.

    It is trained by CRFsuite (L-BFGS) through sklearn-crfsuite, which needs the
    extra `crf`; or on this package's own lattice, which takes sentence weights
    and objectives other than likelihood. At prediction all sentences are scored
    at once.

    Parameters
    ----------
    features : {"word", "rich"}, callable or None, default="word"
        What the model sees of a token. "word" is the word alone. "rich" adds
        its shape, length, prefixes and suffixes, and the words around it. A
        callable takes the tokens of a sentence and returns the features of
        each: a dict, or a list of strings. None says that X holds such
        features already.
    c1 : float, default=0.0
        Weight of the L1 penalty.
    c2 : float, default=1.0
        Weight of the L2 penalty: c2 times the sum of squared weights is added
        to the negative log-likelihood, summed over sentences. It decides how
        well the marginals are calibrated, and is worth a search.
    max_iterations : int, default=None
        Stop training after so many iterations; by default at convergence.
    all_possible_transitions : bool, default=False
        Learn weights also for tag pairs that the training data lack.
    constraints : {"BIO", "BIOES", "BILOU", "IO"} or None, default=None
        Allow only taggings that the named scheme of spans can spell: under
        "BIO" an I-PER comes after B-PER or I-PER and nowhere else, under
        "BIOES" and "BILOU" what is begun is also ended. Everything else has
        probability 0 in `predict`, marginals, spans and samples. Training is
        not changed.
    verbose : bool, default=False
        Show the progress of training.
    solver : {"crfsuite", "lattice"}, default="crfsuite"
        Who trains. With the same objective both find the same weights. Only
        "crfsuite" has an L1 penalty; only "lattice" has what follows.
    objective : {"likelihood", "marginal", "calibrated", "softmax_margin"}, \
            default="likelihood"
        What training lowers, beside the L2 penalty. "likelihood" is the negative
        log-likelihood of whole taggings. "marginal" is the summed log loss of
        the marginals of the true tags [1]_, a proper score of the questions
        that are asked of a tagger. "calibrated" adds `calibration_strength`
        times the squared calibration error of the marginals, summed over
        queries, with soft bins. "softmax_margin" is the likelihood of a model
        to which each wrong tag looks better by `margin` [2]_.
    calibration_strength : float, default=1.0
        Weight of the calibration error under "calibrated".
    margin : float, default=1.0
        Cost of a wrong tag under "softmax_margin".
    tol : float, default=1e-5
        With solver "lattice", stop when ten iterations have lowered the
        objective by less than this share of it: CRFsuite's own rule.
    warm_start : bool, default=False
        With solver "lattice", begin at the weights of the fit before, or where
        the weights of the last two fits lead to: a path over c2 becomes cheap.

    Attributes
    ----------
    classes_ : ndarray of str of shape (n_tags,)
        The tags, sorted.
    pairs_ : list of (str, str)
        Tag pairs of the training sentences, most frequent first. For a wrapped
        model: the pairs it has a weight for, largest weight first.
    crf_ : sklearn_crfsuite.CRF
        The model, as an object made on each access. Not with solver "lattice".
    model_ : bytes
        The model, as CRFsuite saves it. Not with solver "lattice".
    n_iter_ : int
        Iterations that training took. Only with solver "lattice".
    objective_value_ : float
        What training reached, with the penalty. Only with solver "lattice".

    See Also
    --------
    HMMTagger : A hidden Markov model.
    AdaptiveBinCalibrationError : Scorer for the calibration of its marginals.
    CalibratedStructureCV : Recalibrates its marginals after training.

    References
    ----------
    .. [1] S. Kakade, Y. W. Teh and S. Roweis (2002). An alternate objective
       function for Markovian fields. ICML.
    .. [2] K. Gimpel and N. A. Smith (2010). Softmax-margin CRFs: training
       log-linear models with cost functions. NAACL.

    Examples
    --------
    >>> from sklearn_calib.sequence import CRFTagger
    >>> X = [["the", "dog", "barks"], ["the", "cat"], ["dogs", "bark"]]
    >>> y = [["D", "N", "V"], ["D", "N"], ["N", "V"]]
    >>> tagger = CRFTagger(c2=0.1).fit(X, y)
    >>> tagger.predict([["the", "dogs", "bark"]])
    [['D', 'N', 'V']]
    >>> tagger.predict_proba([["the", "dogs"]]).shape
    (2, 3)
    >>> tagger.pairs_
    [('D', 'N'), ('N', 'V')]
    >>> tagger.predict_proba([["the", "dogs"]], unit="pair", pairs=1).round(2)
    array([[0.73]])

    The same model by the other solver, and one that is trained on marginals:

    >>> own = CRFTagger(c2=0.1, solver="lattice").fit(X, y)
    >>> own.predict_proba([["the", "dogs"]], unit="pair", pairs=1).round(2)
    array([[0.73]])
    >>> CRFTagger(c2=0.1, solver="lattice", objective="marginal").fit(X, y).predict([["the"]])
    [['D']]
    """

    def __init__(
        self,
        *,
        features: str | Callable[[Any], Any] | None = "word",
        c1: float = 0.0,
        c2: float = 1.0,
        max_iterations: int | None = None,
        all_possible_transitions: bool = False,
        constraints: str | None = None,
        verbose: bool = False,
        solver: str = "crfsuite",
        objective: str = "likelihood",
        calibration_strength: float = 1.0,
        margin: float = 1.0,
        tol: float = 1e-5,
        warm_start: bool = False,
    ) -> None:
        self.features = features
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.all_possible_transitions = all_possible_transitions
        self.constraints = constraints
        self.verbose = verbose
        self.solver = solver
        self.objective = objective
        self.calibration_strength = calibration_strength
        self.margin = margin
        self.tol = tol
        self.warm_start = warm_start

    def fit(
        self,
        X: Iterable[Sequence[Any]],
        y: Iterable[Sequence[str]],
        sample_weight: ArrayLike | None = None,
    ) -> CRFTagger:
        """Learn from tagged sentences.

        Parameters
        ----------
        X : list of sentences
            The tokens of each sentence; with `features=None` their features.
        y : list of lists of str
            Their tags.
        sample_weight : array-like of shape (n_sentences,), default=None
            How often each sentence counts. Needs solver="lattice".

        Returns
        -------
        CRFTagger
            The fitted tagger.
        """
        check_option(self.solver, "solver", ("crfsuite", "lattice"))
        check_option(self.objective, "objective", OBJECTIVES)
        if self.solver == "crfsuite":
            self._refuse_for_crfsuite(sample_weight)
            crf = self._new_crf()
        elif check_number(self.c1, "c1"):
            raise ValueError(
                f"c1={self.c1!r}: the lattice solver has no L1 penalty. Use solver='crfsuite', or "
                "c2 alone."
            )
        sentences, tags = check_tagged_sentences(X, y)
        weight = check_sample_weight(sample_weight, len(tags), of="sentences")
        if weight is not None:
            # What does not count is not there: neither its words nor its tags.
            kept = np.flatnonzero(weight)
            weight = weight[kept]
            sentences, tags = [sentences[i] for i in kept], [tags[i] for i in kept]
        allowed = _Allowed.under(self.constraints, np.unique(flatten(tags)))
        if allowed is not None:
            allowed.check(tags)
        if self.solver == "crfsuite":
            crf.fit(self._training_features(sentences), [list(map(str, row)) for row in tags])
            self._forget("n_iter_", "objective_value_", "_path")
            self._keep(Path(crf.modelfile.name).read_bytes())
            self._training_log = crf.training_log_
        else:
            self._train_on_lattice(sentences, tags, weight)
        self._learn_tags(tags)
        self._features = self.features
        self._wrapped = False
        self._allowed = allowed
        return self

    def _refuse_for_crfsuite(self, sample_weight: ArrayLike | None) -> None:
        """Refuse what CRFsuite does not have."""
        asked = {
            f"objective={self.objective!r}": self.objective != "likelihood",
            "sample_weight": sample_weight is not None,
            "warm_start=True": bool(self.warm_start),
        }
        for name, given in asked.items():
            if given:
                raise ValueError(f"{name} needs solver='lattice': CRFsuite does not have it.")

    def _train_on_lattice(
        self, sentences: list[Any], tags: Sequence[Sequence[str]], weight: Array | None
    ) -> None:
        """Learn the weights, leaving a model like the one that is read from CRFsuite's file."""
        most = self.max_iterations
        c2 = check_number(self.c2, "c2")
        options: dict[str, Any] = {
            "objective": Objective(
                self.objective,
                margin=check_number(self.margin, "margin"),
                strength=check_number(self.calibration_strength, "calibration_strength"),
            ),
            "max_iterations": None if most is None else check_integer(most, "max_iterations"),
            "tol": check_number(self.tol, "tol"),
        }
        labels = np.unique(flatten(tags))
        features, attributes = self._token_matrix(sentences)
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.intp)
        path = self._path_so_far()
        model, result = train(
            features,
            np.searchsorted(labels, flatten(tags)),
            lengths,
            np.ones(len(lengths)) if weight is None else weight,
            attributes=attributes,
            labels=[str(label) for label in labels],
            c2=c2,
            all_transitions=bool(self.all_possible_transitions),
            path=path,
            verbose=bool(self.verbose),
            **options,
        )
        self._forget("model_", "_training_log")
        self._parsed = model
        self._path = [*path[-1:], (c2, model)] if self.warm_start else []
        self.n_iter_ = int(result.nit)
        self.objective_value_ = float(result.fun)

    def _forget(self, *names: str) -> None:
        """Remove what an earlier fit by the other solver left."""
        for name in names:
            self.__dict__.pop(name, None)

    def _path_so_far(self) -> list[tuple[float, CRFModel]]:
        """Return the penalties and models of the last two fits, if training begins at them."""
        if not (self.warm_start and hasattr(self, "_parsed")):
            return []
        path: list[tuple[float, CRFModel]] = getattr(self, "_path", [])
        if path and path[-1][1] is self._parsed:
            return path
        # A model of CRFsuite's, or from a pickle: where it stands on a path is not known.
        return [(np.nan, self._model)]

    def _token_matrix(self, sentences: list[Any]) -> tuple[TokenMatrix, list[str]]:
        """Return the attributes of the training tokens, and their names."""
        if isinstance(self.features, str):
            named = _named_features(self.features)
            check_tokens(sentences)
            attributes = named.names(flatten(sentences))
            columns = WordColumns(named, {name: i for i, name in enumerate(attributes)})
            return TokenMatrix(named.factors(sentences, columns)), attributes
        ready = self._ready_features(sentences, self.features)
        index = feature_index(ready)
        return TokenMatrix([ready_matrix(ready, index)]), list(index)

    def _training_features(self, sentences: list[Any]) -> list[Any]:
        if isinstance(self.features, str):
            return _named_features(self.features).attributes(sentences)
        ready = self._ready_features(sentences, self.features)
        # Training and prediction read features by the same function.
        rows = map(summed, read_features(ready))
        return [list(islice(rows, len(sentence))) for sentence in ready]

    def _ready_features(self, sentences: list[Any], features: Any) -> list[Any]:
        if features is None:
            return sentences
        if not callable(features):
            _named_features(features)
        made = []
        for i, tokens in enumerate(sentences):
            rows = features(tokens)
            if isinstance(rows, (str, Mapping)) or not isinstance(rows, Iterable):
                raise TypeError(
                    f"features returned {rows!r} for sentence {i}: it should return a list with "
                    "the features of each token."
                )
            rows = list(rows)
            if len(rows) != len(tokens):
                raise ValueError(
                    f"features returned {len(rows)} items for the {len(tokens)} tokens of sentence "
                    f"{i}: it should return one for each token."
                )
            made.append(rows)
        return made

    def _new_crf(self) -> Any:
        try:
            import sklearn_crfsuite
        except ImportError:
            raise ImportError(
                "CRFTagger needs sklearn-crfsuite, which is not installed: "
                'pip install "sklearn-calib[crf]".'
            ) from None
        most = self.max_iterations
        # CRFsuite reads parameters as text, and takes what it cannot read for something else.
        return sklearn_crfsuite.CRF(
            algorithm="lbfgs",
            c1=check_number(self.c1, "c1"),
            c2=check_number(self.c2, "c2"),
            max_iterations=None if most is None else check_integer(most, "max_iterations"),
            all_possible_transitions=bool(self.all_possible_transitions),
            verbose=bool(self.verbose),
        )

    def _keep(self, model: bytes, name: str = "This") -> None:
        """Keep the bytes of a model, and what prediction needs of them."""
        self._parsed = parse_model(model, name)
        self.model_ = model

    @property
    def _model(self) -> CRFModel:
        # Read on demand, so that a pickle holds the model once.
        if self._parsed is None:
            self._parsed = parse_model(self.model_)
        return self._parsed

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "_parsed" in state and "model_" in state:
            state = {**state, "_parsed": None}
        # The fit before the last one only makes a path faster.
        return {name: value for name, value in state.items() if name != "_path"}

    @property
    def crf_(self) -> Any:
        """The model as an `sklearn_crfsuite.CRF`.

        It is made on each access: such an object keeps a temporary file for as
        long as it lives, and the tagger itself needs none.
        """
        if not hasattr(self, "model_"):
            raise AttributeError(
                "This CRFTagger has no crf_: it was trained on the lattice, not by CRFsuite."
                if hasattr(self, "_parsed")
                else "This CRFTagger is not fitted yet, so that it has no crf_."
            )
        crf = self._new_crf()
        crf.modelfile.ensure_name()
        Path(crf.modelfile.name).write_bytes(self.model_)
        crf.training_log_ = self._training_log
        return crf

    def _potentials(self, sentences: list[Any]) -> Array:
        potentials = self._scores(sentences)
        if self._allowed is not None:
            ends = np.cumsum([len(sentence) for sentence in sentences])
            starts = np.concatenate([[0], ends[:-1]])
            potentials[np.ix_(starts, ~self._allowed.start)] = -np.inf
            potentials[np.ix_(ends - 1, ~self._allowed.end)] = -np.inf
        return potentials

    def _scores(self, sentences: list[Any]) -> Array:
        """Return the scores of the model itself, before anything is forbidden."""
        model = self._model
        if isinstance(self._features, str):
            named = _named_features(self._features)
            return named.scores(sentences, model.columns(named), model.weights)
        ready = ready_matrix(self._ready_features(sentences, self._features), model.attributes)
        if self._wrapped and ready.nnz == 0 and model.attributes:
            warnings.warn(
                "The model knows none of the features in X. Are they made as in its training? It "
                f"knows features such as {list(model.attributes)[:5]}.",
                UserWarning,
                stacklevel=3,
            )
        # Features have values of any size, and weights times values may leave the range of a float.
        return check_scores((ready @ model.weights).toarray(), "The matrix of scores")

    @property
    def _log_transitions(self) -> Array:
        transitions = self._model.transitions
        if self._allowed is not None:
            transitions = np.where(self._allowed.step, transitions, -np.inf)
        return transitions

    @classmethod
    def from_crfsuite(
        cls,
        crf: Any,
        *,
        features: str | Callable[[Any], Any] | None = None,
        constraints: str | None = None,
    ) -> CRFTagger:
        """Wrap a model that was trained with CRFsuite.

        Parameters
        ----------
        crf : str, path, bytes or sklearn_crfsuite.CRF
            A model file, its content, or a fitted CRF, whose options of
            training are taken over.
        features : {"word", "rich"}, callable or None, default=None
            Makes the features the model was trained with, as in the class; by
            default X holds them.
        constraints : {"BIO", "BIOES", "BILOU", "IO"} or None, default=None
            Allow only taggings of this scheme, as in the class.

        Returns
        -------
        CRFTagger
            A fitted tagger. A clone of it, as cross-validation makes one, is
            trained anew; `sklearn.frozen.FrozenEstimator` keeps it as it is.
        """
        tagger, log = cls(features=features, constraints=constraints), None
        name = "This"
        if isinstance(crf, bytes):
            model_bytes = crf
        elif isinstance(crf, (str, os.PathLike)):
            model_bytes, name = Path(crf).read_bytes(), str(crf)
        else:
            path = getattr(getattr(crf, "modelfile", None), "name", None)
            if path is None:
                raise ValueError(f"{crf!r} is neither a model file nor a fitted CRF.")
            model_bytes, log = Path(path).read_bytes(), getattr(crf, "training_log_", None)
            options = ("c1", "c2", "max_iterations", "all_possible_transitions")
            given = {name: getattr(crf, name, None) for name in options}
            tagger.set_params(**{k: v for k, v in given.items() if v is not None})
        tagger._features = features
        tagger._training_log = log
        tagger._wrapped = True
        tagger._keep(model_bytes, name)
        model = tagger._model
        tagger.classes_ = np.array(model.labels)
        tagger._allowed = _Allowed.under(constraints, tagger.classes_)
        rows, columns = np.nonzero(model.seen)
        order = np.argsort(-model.transitions[rows, columns], kind="stable")
        tagger.pairs_ = [(model.labels[rows[i]], model.labels[columns[i]]) for i in order]
        return tagger


@dataclass(frozen=True, eq=False)
class _Allowed:
    """What a scheme of spans allows: the first tag, the last, and each step between.

    The order of the tags is that of `classes`.
    """

    scheme: str
    classes: Array
    start: Array
    end: Array
    step: Array

    @classmethod
    def under(cls, scheme: str | None, classes: Array) -> _Allowed | None:
        """Return what a scheme allows, or None where nothing is constrained."""
        if scheme is None:
            return None
        check_option(scheme, "constraints", tuple(SCHEMES))
        tags = read_scheme(classes.tolist(), scheme, option="constraints")
        return cls(scheme, classes, *tags.allowed(len(classes)))

    def check(self, tags: Sequence[Sequence[str]]) -> None:
        """Warn of training sentences that could never be predicted."""
        lengths = np.array([len(row) for row in tags], dtype=np.intp)
        codes = np.searchsorted(self.classes, flatten(tags))
        starts = starts_of(lengths)
        bad = np.zeros(len(codes), dtype=bool)
        bad[1:] = ~self.step[codes[:-1], codes[1:]]
        bad[starts] = ~self.start[codes[starts]]
        last = starts + lengths - 1
        bad[last] |= ~self.end[codes[last]]
        if not bad.any():
            return
        per_sentence = np.add.reduceat(bad, starts)
        sentence = int(np.flatnonzero(per_sentence)[0])
        token = int(np.flatnonzero(bad)[0] - starts[sentence])
        warnings.warn(
            f"{np.count_nonzero(per_sentence)} of {len(tags)} training sentences break "
            f"constraints={self.scheme!r}, first sentence {sentence} with "
            f"{tags[sentence][token]!r} at token {token}: the tagger will never predict such tags.",
            UserWarning,
            stacklevel=3,
        )


def _named_features(name: object) -> WordFeatures:
    if not isinstance(name, str) or name not in FEATURES:
        raise ValueError(
            f"features={name!r} is not known; it should be one of {sorted(FEATURES)}, a callable, "
            "or None if X holds features."
        )
    return FEATURES[name]
