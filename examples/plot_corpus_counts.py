"""
Counts that know how sure they are
==================================

In how many articles per quarter is a country the attacker? A model that reads the articles is
unsure of some of them. Its samples turn a falsely sharp line into one with an interval, and name
the articles that a person should read.
"""

# %%
# Simulated news
# --------------
# The articles are simulated, so that it is known who attacked. Each one names a few armies and says
# what "they" did. Who "they" are is a matter of probability, and the model knows the probabilities.

from sklearn_calib.datasets import make_event_corpus

corpus = make_event_corpus(1200, random_state=0)
for document in corpus.X[57], corpus.X[119]:
    print(document.date, " ".join(document.tokens))

# %%
# Count
# -----
# The rule asks of every entity which country it belongs to, and whether it attacks somewhere. The
# model draws 100 complete readings of each article, and an article counts for a country in as many
# of them as the rule says.

from sklearn_calib.explore import AgentRule, count_corpus, country_lexicon

rule = AgentRule(country_lexicon(), verbs=["attack"])
posterior = count_corpus(corpus.X, corpus.model, rule, period="Q", random_state=0)
print(posterior.select(["USA", "IRQ"]))

# %%
# Draw
# ----
# The line is the expected number of articles, and the band holds the true number with probability
# 95 %. Most systems would show the dotted line: the counts of the single best reading.

import matplotlib.pyplot as plt

posterior.plot(keys=["USA", "IRQ"], despine=True)
plt.show()

# %%
# With many countries, each has a panel of its own.

posterior.plot(panels=True, n_columns=2)
plt.show()

# %%
# Ask
# ---
# Was America the attacker more often than Iraq in 2002? And which articles are nearest to a coin
# toss?

print(posterior.difference("USA", "IRQ", periods="2002"))
for uncertain in posterior.most_uncertain(3):
    print(uncertain)

# %%
# Do the intervals hold the truth?
# --------------------------------
# Here the true counts are known. An interval may miss one count in twenty. A model that is too sure
# of itself (``temperature=0.25``) has narrow intervals, and they miss far more. So look at the
# calibration of a model before you believe its intervals: ``rule_queries`` turns the answers of the
# rule into queries.

import numpy as np

from sklearn_calib import adaptive_bin_calibration_error
from sklearn_calib.explore import count_documents, rule_queries

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
for ax, (name, temperature) in zip(
    axes, {"calibrated model": 1.0, "overconfident model": 0.25}.items(), strict=True
):
    news = make_event_corpus(1200, temperature=temperature, random_state=0)
    samples = news.model.sample(news.X, 200, random_state=0)
    truth = [document.entities for document in news.X]
    found = count_documents(news.X, samples, rule, best=truth)
    error = adaptive_bin_calibration_error(rule_queries(news.X, samples, rule))
    low, high = found.confidence_interval(0.95)
    missed = (found.best < low) | (found.best > high)
    order = np.argsort(found.mean.ravel())
    x = np.arange(len(order))
    ax.vlines(x, low.ravel()[order], high.ravel()[order], color="#0072B2", alpha=0.6, linewidth=2)
    for wrong, colour, label in ((False, "0.3", "inside"), (True, "#D55E00", "missed")):
        some = missed.ravel()[order] == wrong
        ax.plot(x[some], found.best.ravel()[order][some], ".", color=colour, label=label)
    ax.set_title(
        f"{name}: calibration error {error:.2f}\n{missed.sum()} of {missed.size} counts missed",
        fontsize="medium",
    )
    ax.set_xlabel("Quarter and country, by expected count")
axes[0].set_ylabel("True count and 95% interval")
axes[0].legend(loc="upper left", fontsize="small")
plt.show()
