"""The antecedent model: a distribution over the clusterings of a document."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult, minimize
from sklearn.exceptions import ConvergenceWarning

from sklearn_calib._validation import Array, check_integer, check_number, check_sample_weight
from sklearn_calib.coref._chosen_features import Features, features_of
from sklearn_calib.coref._document import Document
from sklearn_calib.coref._encoding import Encoder, Weights
from sklearn_calib.coref._model_input import check_truth
from sklearn_calib.coref._objective import Objective, antecedent_probabilities, check_costs
from sklearn_calib.coref._ranker import MentionRanker

__all__ = ["AntecedentModel"]


class AntecedentModel(MentionRanker):
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
    types_ : list of str
        The types of mentions seen in training.

    See Also
    --------
    link_probabilities : The step from antecedents to links, for any system.
    CalibratedStructureCV : Mends links that are miscalibrated.
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
        max_antecedents: int | None = None,
        min_count: int = 20,
        max_iter: int = 100,
        tol: float = 1e-4,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.C = C
        self.cost = cost
        self.max_antecedents = max_antecedents
        self.min_count = min_count
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

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
        weight = check_sample_weight(sample_weight, len(documents), of="documents")
        if weight is not None:
            kept = np.flatnonzero(weight)
            documents, entities = [documents[i] for i in kept], [entities[i] for i in kept]
            weight = weight[kept]
        if sum(map(len, documents)) == 0:
            with_weight = "" if weight is None else " with a positive weight"
            raise ValueError(
                f"No document in X{with_weight} has a mention, so that there is nothing to learn."
            )
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

    def _antecedents(self, documents: list[Document]) -> Iterator[Array]:
        """Yield the antecedent probabilities of one checked document after the other."""
        weights = Weights.of(self.coef_, self._encoder)

        def one(document: Document) -> Array:
            encoded = self._encoder.encode(features_of(document, self._features))
            return antecedent_probabilities(encoded, self._encoder, weights)

        return map(one, documents)
