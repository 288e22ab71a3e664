"""Write the checksums by which ``load_gum`` knows its documents, from a folder of GUM.

    python benchmarks/gum_checksums.py DEP SPLITS

DEP is the folder ``dep`` of a clone of https://github.com/amir-zeldes/gum at the commit that
``sklearn_calib/datasets/_gum.py`` names, and SPLITS its file ``splits.md``. The texts of Reddit are
not in the repository, and their documents are left out.
"""

import re
import sys
from pathlib import Path

from sklearn_calib.datasets import _gum
from sklearn_calib.datasets._fetch import lines

TABLE = Path(_gum.__file__).with_name("data") / "gum.tsv"


def rows(folder: Path, splits: Path) -> list[tuple[str, str, str]]:
    """Return split, name and checksum of each document."""
    found, split = [], ""
    for line in splits.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"#+\s*(train|dev|test)\b", line):
            split = heading[1]
        elif (item := re.match(r"\s*[*-]\s*(GUM_\w+)", line)) and "_reddit_" not in item[1]:
            text = (line for _, line in lines(folder / f"{item[1]}.conllu"))
            found.append((split, item[1], _gum.checksum(_gum.pruned(text))))
    order = {"train": 0, "dev": 1, "test": 2}
    return sorted(found, key=lambda row: (order[row[0]], row[1]))


if __name__ == "__main__":
    table = rows(Path(sys.argv[1]), Path(sys.argv[2]))
    TABLE.write_text("".join("\t".join(row) + "\n" for row in table), encoding="utf-8")
    print(f"{len(table)} documents in {TABLE}")
