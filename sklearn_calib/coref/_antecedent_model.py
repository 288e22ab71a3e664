"""The antecedent model: a distribution over the clusterings of a document."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult, minimize
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sklearn_calib._validation import (
    Array,
    check_generator,
    check_integer,
    check_number,
    check_sample_weight,
)
from sklearn_calib.coref._chosen_features import Features, features_of
from sklearn_calib.coref._clusters import best_entities, draw_entities, links
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._encoding import Encoder, Weights
from sklearn_calib.coref._link_tuning import adjusted, tune_links
from sklearn_calib.coref._model_input import (
    check_documents,
    check_truth,
    own_entities,
    truth_names,
)
from sklearn_calib.coref._objective import Objective, antecedent_probabilities, check_costs
from sklearn_calib.coref._scores import scored
from sklearn_calib.queries._links import LinkQuestions
from sklearn_calib.queries._queries import Queries

__all__ = ["AntecedentModel"]


class AntecedentModel(BaseEstimator):
    """Mention-ranking coreference with probabilities.

    Each mention chooses its antecedent among the mentions before it, or starts
    a new entity. The choice is a log-linear model, and choices are independent
    given the document. So the model is a distribution over all clusterings of
    the mentions: it gives the probability of any link exactly, and it can be
    sampled.

    Parameters
    ----------
    features : "surface", "extended", callable or list of these, default="surface"
        What the model sees: `surface_features`, `extended_features`, or a
        function that takes a Document and returns `MentionFeatures`. A list
        joins several; the types of mentions are those of the first.
    C : float, default=0.2
        Inverse strength of the L2 penalty.
    cost : None, "durrett-klein" or tuple of three floats, default=None
        Softmax-margin costs in training: of a link where the mention is new,
        of a new entity where the mention has an antecedent, and of a wrong
        link. "durrett-klein" is (0.1, 3.0, 1.0). Costs trade precision for
        recall, and they ruin calibration.
    link_cv : int, default=None
        Folds for tuning the links after training. Two numbers, a temperature
        and a shift of new entities, are chosen so that links of held-out
        training documents have the least Brier score. Training then takes so
        many times longer. The temperature stays within 0.1 and 10, the shift
        within -5 and 5.
    max_antecedents : int, default=None
        How many mentions back an antecedent may be. Bounds the work on long
        documents.
    min_count : int, default=20
        Words that are rarer in training are replaced by their part of speech.
    max_iter : int, default=100
        Most iterations of L-BFGS.
    tol : float, default=1e-4
        Training stops when an iteration lowers the objective by a smaller
        share.
    verbose : bool, default=False
        Print the objective after each iteration.

    Attributes
    ----------
    coef_ : ndarray of shape (n_weights,)
        The weights of all features.
    loss_ : float
        Mean negative log-likelihood of a mention in training, with the
        penalty.
    n_iter_ : int
        Number of iterations.
    temperature_ : float
        What scores are divided by; 1 without `link_cv`.
    new_shift_ : float
        What is added to the score of a new entity; 0 without `link_cv`.
    types_ : list of str
        The types of mentions seen in training.

    See Also
    --------
    link_probabilities : The step from antecedents to links, for any system.
    calibration_null : What error to expect of a calibrated model.
    coreference_scores : Scores of predicted entities.

    Notes
    -----
    The model is the mention-ranking model of Durrett and Klein (2013) [1]_,
    whose posterior Nguyen and O'Connor (2015) [2]_ examined. Training
    maximises the summed probability of all right antecedents of each mention.
    `X` is a list of documents, so that cross-validation moves whole documents.

    References
    ----------
    .. [1] Greg Durrett and Dan Klein, "Easy victories and uphill battles in
       coreference resolution", EMNLP 2013.
    .. [2] Khanh Nguyen and Brendan O'Connor, "Posterior calibration and
       exploratory analysis for natural language processing models", EMNLP 2015.

    Examples
    --------
    >>> from sklearn_calib.coref import AntecedentModel
    >>> from sklearn_calib.datasets import make_coref_documents
    >>> simulated = make_coref_documents(40, random_state=0)
    >>> docs, y = simulated.X, simulated.y
    >>> model = AntecedentModel().fit(docs[:30], y[:30])
    >>> model.predict_proba(docs[30:])[0].shape == (len(docs[30]), len(docs[30]))
    True
    >>> model.sample(docs[30:], 5, random_state=0)[0].shape == (5, len(docs[30]))
    True
    >>> model.score(docs[30:], y[30:]) > 0.5
    True
    """

    def __init__(
        self,
        *,
        features: Features = "surface",
        C: float = 0.2,
        cost: str | tuple[float, float, float] | None = None,
        link_cv: int | None = None,
        max_antecedents: int | None = None,
        min_count: int = 20,
        max_iter: int = 100,
        tol: float = 1e-4,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.C = C
        self.cost = cost
        self.link_cv = link_cv
        self.max_antecedents = max_antecedents
        self.min_count = min_count
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        tags.target_tags.required = False
        return tags

    def fit(
        self,
        X: Sequence[Document],
        y: Sequence[ArrayLike] | None = None,
        *,
        sample_weight: ArrayLike | None = None,
    ) -> AntecedentModel:
        """Train on documents with known entities.

        Parameters
        ----------
        X : list of Document
            The documents.
        y : list of array-like of shape (n_mentions,), default=None
            The entity of each mention; by default those of the documents.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document: 2 counts it twice, 0 leaves it out.

        Returns
        -------
        AntecedentModel
            The fitted model.
        """
        documents, entities = check_truth(X, y)
        C = check_number(self.C, "C", positive=True)
        costs = check_costs(self.cost)
        check_number(self.tol, "tol")
        check_integer(self.max_iter, "max_iter")
        check_integer(self.min_count, "min_count")
        if self.max_antecedents is not None:
            check_integer(self.max_antecedents, "max_antecedents")
        if self.link_cv is not None:
            check_integer(self.link_cv, "link_cv", low=2)
        weight = check_sample_weight(sample_weight, len(documents))
        if weight is not None:
            kept = np.flatnonzero(weight)
            documents, entities = [documents[i] for i in kept], [entities[i] for i in kept]
            weight = weight[kept]
        if sum(map(len, documents)) == 0:
            with_weight = "" if weight is None else " with a positive weight"
            raise ValueError(
                f"No document in X{with_weight} has a mention, so that there is nothing to learn."
            )
        temperature, new_shift = 1.0, 0.0
        if self.link_cv is not None:
            plain = clone(self).set_params(link_cv=None)
            temperature, new_shift = tune_links(plain, documents, entities, weight, self.link_cv)
        seen = [features_of(document, self.features) for document in documents]
        encoder = Encoder(self.min_count, self.max_antecedents).fit(seen, weight)
        objective = Objective(
            [encoder.encode(s) for s in seen],
            entities,
            encoder,
            C=C,
            costs=costs,
            document_weight=weight,
        )
        del seen
        coef, result = self._optimise(objective)
        # All at once, so that a fit that fails leaves the model as it was.
        self.coef_ = coef
        self.loss_ = float(result.fun)
        self.n_iter_ = int(result.nit)
        self.temperature_, self.new_shift_ = temperature, new_shift
        self.types_ = list(encoder.types)
        self._encoder = encoder
        self._features = self.features
        return self

    def _optimise(self, objective: Objective) -> tuple[Array, OptimizeResult]:
        scale = objective.scale()
        count = float(objective.weight.sum())
        step = 0

        def scaled(z: Array) -> tuple[float, Array]:
            value, gradient = objective(z * scale)
            return value / count, gradient * scale / count

        def report(intermediate_result: OptimizeResult) -> None:
            nonlocal step
            step += 1
            print(f"iteration {step}: objective {intermediate_result.fun:.6f}", flush=True)

        result = minimize(
            scaled,
            np.zeros_like(scale),
            jac=True,
            method="L-BFGS-B",
            callback=report if self.verbose else None,
            options={"maxiter": self.max_iter, "ftol": self.tol, "gtol": 1e-8, "maxcor": 20},
        )
        coef = result.x * scale
        if not (np.isfinite(result.fun) and np.isfinite(coef).all()):
            raise ValueError(
                f"Training failed: the objective is {result.fun}. The right answers have no "
                f"probability at all; lower cost={self.cost!r} or C={self.C!r}."
            )
        if result.status == 2:
            warnings.warn(
                f"Training stopped early, after {result.nit} iterations, because no step lowers "
                f"the objective ({result.message}). Lower C, or raise tol={self.tol}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif result.nit >= self.max_iter and result.status == 1:
            warnings.warn(
                f"Training stopped after max_iter={self.max_iter} iterations, before the "
                f"objective settled to tol={self.tol}. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return coef, result

    def _check(self, X: Sequence[Document]) -> list[Document]:
        """Return the documents: the door of every method but `fit`."""
        check_is_fitted(self)
        return check_documents(X)

    def _antecedents(self, documents: list[Document]) -> Iterator[Array]:
        """Yield the antecedent probabilities of one checked document after the other."""
        weights = Weights.of(self.coef_, self._encoder)

        def one(document: Document) -> Array:
            encoded = self._encoder.encode(features_of(document, self._features))
            proba = antecedent_probabilities(encoded, self._encoder, weights)
            return adjusted(proba, self.temperature_, self.new_shift_)

        return map(one, documents)

    def predict_antecedent_proba(self, X: Sequence[Document]) -> list[Array]:
        """Probability of each antecedent of each mention.

        Parameters
        ----------
        X : list of Document
            The documents.

        Returns
        -------
        list of ndarray of shape (n_mentions, n_mentions)
            For each document a lower triangular matrix whose rows sum to 1.
            Row i holds the probabilities of the mentions before i, and on the
            diagonal that of a new entity.
        """
        return list(self._antecedents(self._check(X)))

    def predict_proba(self, X: Sequence[Document]) -> list[Array]:
        """Probability of each link: that two mentions share an entity, exactly.

        Parameters
        ----------
        X : list of Document
            The documents.

        Returns
        -------
        list of ndarray of shape (n_mentions, n_mentions)
            For each document a symmetric matrix with ones on the diagonal.
        """
        return [links(proba) for proba in self._antecedents(self._check(X))]

    def predict(self, X: Sequence[Document]) -> list[Array]:
        """Entities that follow from the most probable antecedent of each mention.

        Parameters
        ----------
        X : list of Document
            The documents.

        Returns
        -------
        list of ndarray of int of shape (n_mentions,)
            For each document the entity of each mention: the index of the
            entity's first mention.
        """
        return [best_entities(proba) for proba in self._antecedents(self._check(X))]

    def sample(
        self, X: Sequence[Document], n_samples: int = 1, *, random_state: Any = None
    ) -> list[Array]:
        """Draw clusterings from the model.

        Parameters
        ----------
        X : list of Document
            The documents.
        n_samples : int, default=1
            How many clusterings to draw of each document.
        random_state : int, RandomState, Generator or None, default=None
            Seed.

        Returns
        -------
        list of ndarray of int of shape (n_samples, n_mentions)
            For each document the entity of each mention in each sample: the
            index of the entity's first mention.
        """
        documents = self._check(X)
        n_samples = check_integer(n_samples, "n_samples")
        rng = check_generator(random_state)
        return [draw_entities(proba, n_samples, rng) for proba in self._antecedents(documents)]

    def score(self, X: Sequence[Document], y: Sequence[ArrayLike] | None = None) -> float:
        """CoNLL score of the predicted entities: the mean F1 of MUC, B³ and CEAF-e.

        Parameters
        ----------
        X : list of Document
            The documents.
        y : list of array-like of shape (n_mentions,), default=None
            The true entities; by default those of the documents.

        Returns
        -------
        float
            Between 0 and 1; higher is better.
        """
        check_is_fitted(self)
        documents, true = check_truth(X, y)
        predicted = [best_entities(proba) for proba in self._antecedents(documents)]
        return scored(zip(true, predicted, strict=True)).conll

    def calibration_questions(
        self,
        X: Sequence[Document],
        *,
        min_proba: float = 0.0,
        sample_weight: ArrayLike | None = None,
    ) -> LinkQuestions:
        """Predict once, and return the questions about links, to be answered by any truth.

        Parameters
        ----------
        X : list of Document
            The documents.
        min_proba : float, default=0.0
            Leave out links with a lower probability.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document.

        Returns
        -------
        LinkQuestions
            Its method `answer` takes the entities of each document and
            returns Queries.
        """
        return self._questions(self._check(X), min_proba, sample_weight)

    def _questions(
        self, documents: list[Document], min_proba: float, sample_weight: ArrayLike | None
    ) -> LinkQuestions:
        return LinkQuestions(
            (links(proba) for proba in self._antecedents(documents)),
            min_proba=min_proba,
            sample_weight=sample_weight,
            names=truth_names(documents),
        )

    def calibration_queries(
        self,
        X: Sequence[Document],
        y: Sequence[ArrayLike] | None,
        *,
        min_proba: float = 0.0,
        sample_weight: ArrayLike | None = None,
    ) -> Queries:
        """Ask of every pair of mentions whether the two share an entity.

        Parameters
        ----------
        X : list of Document
            The documents.
        y : list of array-like of shape (n_mentions,)
            The true entities; None for those of the documents.
        min_proba : float, default=0.0
            Leave out links with a lower probability.
        sample_weight : array-like of shape (n_documents,), default=None
            Weight of each document.

        Returns
        -------
        Queries
            One query per link; its group is the number of the document.
        """
        documents = self._check(X)
        truth = own_entities(documents) if y is None else y
        return self._questions(documents, min_proba, sample_weight).answer(truth)
