"""CalibratedClassifierCV for models with structure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_calib._validation import Array, check_option, check_sample_weight
from sklearn_calib._version import VersionedEstimator
from sklearn_calib.coref._model_input import check_documents, own_entities
from sklearn_calib.queries._estimator import check_query_options
from sklearn_calib.queries._queries import Queries
from sklearn_calib.recalibration._families import METHODS, recalibrate
from sklearn_calib.recalibration._held_out import held_out_models, model_inside

__all__ = ["CalibratedStructureCV"]

# What a fit may leave behind, by method and kind of model.
_NUMBERS = ("temperature_", "transition_temperature_", "bias_", "new_shift_")


def _mended_has(name: str) -> Callable[[CalibratedStructureCV], bool]:
    """Return a check that the mended model, or the one to be fitted, has a method."""

    def check(self: CalibratedStructureCV) -> bool:
        # An AttributeError here is what hides the method.
        getattr(getattr(self, "calibrated_", model_inside(self.estimator)), name)
        return True

    return check


class CalibratedStructureCV(VersionedEstimator):
    """Recalibrate a tagger or a coreference model by cross-validation.

    What `sklearn.calibration.CalibratedClassifierCV` does for classifiers. The
    model is trained on all folds but one, and asked about the one that is left.
    What it said there decides how its probabilities are mended. Then the model
    is trained on everything.

    Parameters
    ----------
    estimator : estimator
        A tagger, a coreference model, a search over either, or another model
        that keeps the protocol below. A model that is fitted already, such as
        one wrapped from hmmlearn or CRFsuite, goes inside
        `sklearn.frozen.FrozenEstimator`; `fit` then takes samples that it has
        not been trained on, uses all of them to mend it, and trains nothing.
    method : {"temperature", "scaling", "isotonic"}, default="temperature"
        "temperature" divides all scores by one number. For coreference, new
        entities get a shift as well. "scaling" is for taggers: one temperature
        for potentials, one for transitions, and a bias for each tag, shrunk
        towards zero. Both leave one distribution, so that tags, pairs, spans,
        entities and samples agree with each other. "isotonic" mends answers
        one by one, by a monotone map for each label that is shrunk towards the
        map of all labels. It changes neither the samples nor the most probable
        tagging, and `sample` warns of that.
    cv : int, cross-validation generator or iterable, default=None
        As in scikit-learn. By default five folds of sentences, each of them
        consecutive. For documents by default two folds; a number of folds
        means that every so many-th document is held out.
    query_options : dict, default=None
        For "isotonic": which answers to mend, as `calibration_queries` of the
        model takes them, for example `{"unit": "pair", "pairs": 100}`. By
        default tags or links.
    n_jobs : int, default=None
        Number of folds to run at the same time.

    Attributes
    ----------
    estimator_ : estimator
        The model, trained on everything, as it was before recalibration.
    calibrated_ : object
        The mended model, which is what every method asks.
    classes_ : ndarray of str
        The tags of a tagger.
    temperature_ : float
        What scores are divided by; above 1, the model was too sure.
    transition_temperature_ : float
        For "scaling": what transition scores are divided by.
    bias_ : ndarray of shape (n_tags,)
        For "scaling": what is added to the potentials of each tag.
    new_shift_ : float
        For coreference: what is added to the score of a new entity.

    See Also
    --------
    calibration_error_interval : Tells whether there is anything to mend.
    compare_calibration : Tells whether it helped.
    sklearn.calibration.CalibratedClassifierCV : The same for classifiers.

    Notes
    -----
    Temperatures and biases of taggers are those of the least Brier score of the
    tag marginals of held-out tokens, the two numbers of coreference those of
    the least Brier score of held-out links. Held-out likelihood, of whole
    taggings or of single tags, calibrates less well.

    Another family of models takes part by one of these protocols. A linear
    chain has `classes_`, `log_potentials(X)`, with one row per token, and
    `log_transitions_`; all three methods apply. A model with
    `at_temperature(temperature)`, which returns a fitted copy whose
    distribution is raised to the power 1 / temperature and normalised, and
    `calibration_queries` has "temperature"; the questions it asks must not
    depend on the temperature. `calibration_queries` alone is enough for
    "isotonic". `sklearn_calib.coref.ScoreRanker` lends a mention-ranking
    system the rest.

    Examples
    --------
    >>> from sklearn_calib import CalibratedStructureCV, adaptive_bin_calibration_error
    >>> from sklearn_calib.datasets import make_tagged_sequences
    >>> from sklearn_calib.sequence import CRFTagger
    >>> data = make_tagged_sequences(300, random_state=0)
    >>> X, y, X_test, y_test = data.X[:150], data.y[:150], data.X[150:], data.y[150:]
    >>> raw = CRFTagger().fit(X, y)
    >>> mended = CalibratedStructureCV(CRFTagger()).fit(X, y)
    >>> round(mended.temperature_, 1)  # the tagger was not sure enough
    0.5
    >>> for tagger in (raw, mended):
    ...     queries = tagger.calibration_queries(X_test, y_test)
    ...     print(round(adaptive_bin_calibration_error(queries), 2))
    0.11
    0.01
    """

    estimator_: Any
    calibrated_: Any

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "temperature",
        cv: Any = None,
        query_options: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.query_options = query_options
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        return deepcopy(get_tags(self.estimator))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "calibrated_")

    def fit(
        self,
        X: Sequence[Any],
        y: Sequence[Any] | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> CalibratedStructureCV:
        """Train and recalibrate the model.

        Parameters
        ----------
        X : list
            Sentences or documents, as the model takes them.
        y : list, default=None
            Their tags or entities; for documents by default their own.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the sentences or documents, for recalibration, and for
            training where the model takes them.
        groups : array-like of shape (n_samples,), default=None
            For splitters such as `GroupKFold`.

        Returns
        -------
        CalibratedStructureCV
            The fitted object.
        """
        check_option(self.method, "method", METHODS)
        options = dict(self.query_options or {})
        X = list(X)
        y = own_entities(check_documents(X)) if y is None else list(y)
        if len(X) != len(y):
            raise ValueError(
                f"X and y must have one entry per sample, but X has {len(X)} and y has {len(y)}."
            )
        weight = check_sample_weight(sample_weight, len(X), of="samples")
        fit_options = {}
        if weight is not None and has_fit_parameter(self.estimator, "sample_weight"):
            fit_options["sample_weight"] = weight
        elif weight is not None:
            warnings.warn(
                f"{type(self.estimator).__name__} takes no sample_weight: the weights count in "
                "recalibration only.",
                UserWarning,
                stacklevel=2,
            )
        held_out = held_out_models(
            self.estimator,
            X,
            y,
            cv=self.cv,
            groups=groups,
            weight=weight,
            fit_options=fit_options,
            n_jobs=self.n_jobs,
        )
        # Fitting what is frozen does nothing.
        fitted = clone(self.estimator).fit(X, y, **fit_options)
        found = recalibrate(model_inside(fitted), held_out, self.method, options)
        # All at once, so that a fit that fails leaves the object as it was.
        for name in _NUMBERS:
            self.__dict__.pop(name, None)
        self.__dict__.update(found.numbers)
        self.estimator_ = fitted
        self.calibrated_ = found.model
        return self

    def _mended(self) -> Any:
        check_is_fitted(self)
        return self.calibrated_

    @property
    def classes_(self) -> Array:
        """The tags of the tagger."""
        return self.__getattr_mended("classes_")

    @property
    def pairs_(self) -> list[tuple[str, str]]:
        """Tag pairs of the training sentences, most frequent first."""
        return self.__getattr_mended("pairs_")

    @property
    def log_transitions_(self) -> Array:
        """Mended scores of going from a tag (row) to a tag (column)."""
        return self.__getattr_mended("log_transitions_")

    def __getattr_mended(self, name: str) -> Any:
        if "calibrated_" not in self.__dict__:
            raise AttributeError(f"This CalibratedStructureCV is not fitted: it has no {name}.")
        return getattr(self.calibrated_, name)

    @available_if(_mended_has("predict"))
    def predict(self, X: Sequence[Any], **options: Any) -> Any:
        """Predict tags or entities.

        Parameters
        ----------
        X : list
            Sentences or documents.
        **options
            As in `predict` of the model.

        Returns
        -------
        list
            As the model returns it.
        """
        return self._mended().predict(X, **options)

    @available_if(_mended_has("predict_proba"))
    def predict_proba(self, X: Sequence[Any], **options: Any) -> Any:
        """Predict mended probabilities: marginals of tags or pairs, or links.

        Parameters
        ----------
        X : list
            Sentences or documents.
        **options
            As in `predict_proba` of the model: `unit` and `pairs` for a tagger.

        Returns
        -------
        ndarray or list of ndarray
            As the model returns them.
        """
        return self._mended().predict_proba(X, **options)

    @available_if(_mended_has("predict_log_proba"))
    def predict_log_proba(self, X: Sequence[Any], **options: Any) -> Any:
        """Predict the logarithms of mended probabilities.

        Parameters
        ----------
        X : list
            Sentences.
        **options
            As in `predict_proba`.

        Returns
        -------
        ndarray
            As the model returns them.
        """
        return self._mended().predict_log_proba(X, **options)

    @available_if(_mended_has("predict_spans"))
    def predict_spans(self, X: Sequence[Any], **options: Any) -> Any:
        """Predict spans with mended probabilities.

        With "isotonic" this needs `query_options={"unit": "span"}`, and the
        spans are those that the model itself finds probable.

        Parameters
        ----------
        X : list
            Sentences.
        **options
            As in `predict_spans` of the tagger.

        Returns
        -------
        list of lists
            As the tagger returns them.
        """
        return self._mended().predict_spans(X, **options)

    @available_if(_mended_has("predict_k_best"))
    def predict_k_best(self, X: Sequence[Any], k: int) -> Any:
        """Predict the k most probable taggings with mended probabilities; not for "isotonic".

        Parameters
        ----------
        X : list
            Sentences.
        k : int
            How many taggings of each.

        Returns
        -------
        list of lists
            As the tagger returns them.
        """
        return self._mended().predict_k_best(X, k)

    @available_if(_mended_has("predict_entities"))
    def predict_entities(self, X: Sequence[Any], **options: Any) -> Any:
        """Predict entities with mended probabilities.

        With "isotonic" this needs `query_options={"unit": "entity"}`, and the
        entities are those that the model itself finds probable.

        Parameters
        ----------
        X : list
            Documents.
        **options
            As in `predict_entities` of the model.

        Returns
        -------
        list of lists of Entity
            For each document its entities.
        """
        return self._mended().predict_entities(X, **options)

    @available_if(_mended_has("predict_antecedent_proba"))
    def predict_antecedent_proba(self, X: Sequence[Any]) -> Any:
        """Predict mended probabilities of antecedents; not for "isotonic".

        Parameters
        ----------
        X : list
            Documents.

        Returns
        -------
        list of ndarray of shape (n_mentions, n_mentions)
            For each document a lower triangular matrix whose rows sum to 1.
        """
        return self._mended().predict_antecedent_proba(X)

    @available_if(_mended_has("log_likelihood"))
    def log_likelihood(self, X: Sequence[Any], y: Sequence[Any]) -> Array:
        """Return the log probability of each tag sequence; not for "isotonic".

        Parameters
        ----------
        X : list
            Sentences.
        y : list of lists of str
            Tags of each sentence.

        Returns
        -------
        ndarray of shape (n_sentences,)
            One for each sentence.
        """
        return self._mended().log_likelihood(X, y)

    @available_if(_mended_has("log_potentials"))
    def log_potentials(self, X: Sequence[Any]) -> Array:
        """Return the mended score of each tag of each token; not for "isotonic".

        Parameters
        ----------
        X : list
            Sentences.

        Returns
        -------
        ndarray of shape (n_tokens, n_tags)
            One row per token, sentences end to end.
        """
        return self._mended().log_potentials(X)

    @available_if(_mended_has("sample"))
    def sample(self, X: Sequence[Any], n_samples: int = 1, *, random_state: Any = None) -> Any:
        """Draw whole taggings or clusterings from the mended distribution.

        With "isotonic" they are drawn from the model as it was, with a warning.

        Parameters
        ----------
        X : list
            Sentences or documents.
        n_samples : int, default=1
            Number of draws of each.
        random_state : int, RandomState, Generator or None, default=None
            Seed.

        Returns
        -------
        list of ndarray of shape (n_samples, n_tokens) or (n_samples, n_mentions)
            For each sentence or document its draws, one per row.
        """
        return self._mended().sample(X, n_samples, random_state=random_state)

    @available_if(_mended_has("score"))
    def score(
        self,
        X: Sequence[Any],
        y: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the model's own score of the predictions.

        Parameters
        ----------
        X : list
            Sentences or documents.
        y : list, default=None
            True tags or entities.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, where the model takes them.

        Returns
        -------
        float
            Accuracy of a tagger, CoNLL score of a coreference model.
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._mended().score(X, y, **weights)

    def calibration_questions(self, X: Sequence[Any], **options: Any) -> Any:
        """Predict once, and return the questions, to be answered by any truth.

        Parameters
        ----------
        X : list
            Sentences or documents.
        **options
            As in `calibration_questions` of the model.

        Returns
        -------
        object
            Its method `answer` takes the truth and returns Queries.
        """
        mended = self._mended()
        check_query_options(model_inside(self.estimator_), options)
        return mended.calibration_questions(X, **options)

    def calibration_queries(
        self, X: Sequence[Any], y: Sequence[Any] | None = None, **options: Any
    ) -> Queries:
        """Return the yes/no questions that the mended model answers.

        Parameters
        ----------
        X : list
            Sentences or documents.
        y : list, default=None
            The truth; for documents by default their own.
        **options
            As in `calibration_queries` of the model.

        Returns
        -------
        Queries
            As the model makes them, with mended probabilities.
        """
        mended = self._mended()
        check_query_options(model_inside(self.estimator_), options)
        return mended.calibration_queries(X, y, **options)
