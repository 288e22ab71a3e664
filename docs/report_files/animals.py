import csv

import numpy as np

rng = np.random.default_rng(0)
proba = rng.dirichlet([2, 1, 1], size=3000)
names = ["cat", "dog", "fox"]
y = [rng.choice(names, p=p) for p in proba]
proba = proba**2 / (proba**2).sum(axis=1, keepdims=True)  # overconfident
with open("animals.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["animal", *names])
    for label, row in zip(y, proba.tolist(), strict=True):
        writer.writerow([label, *row])
