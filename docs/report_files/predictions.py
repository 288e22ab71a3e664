import csv

from sklearn_calib.datasets import make_queries

sample = make_queries(
    3000,
    distortion="slope",
    strength=0.6,
    group_size=10,
    dependence=0.5,
    random_state=0,
)
columns = sample.queries.group, sample.y_true, sample.y_prob
with open("predictions.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["doc", "label", "score"])
    for doc, answer, score in zip(*columns, strict=True):
        label = "spam" if answer else "ham"
        writer.writerow([f"doc{doc}", label, round(score, 4)])
