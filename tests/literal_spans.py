"""Spans read off tags token by token: slow, literal, and independent of the package."""


def literal_spans(tags, scheme):
    """Return (start, stop, type) of each span, as the words of the documentation say it."""
    n, found = len(tags), []

    def is_tag(t, prefix, kind):
        return 0 <= t < n and tags[t] == (f"{prefix}-{kind}" if kind else prefix)

    for i in range(n):
        prefix, _, kind = tags[i].partition("-")
        if scheme == "BIO" and prefix == "B":
            j = i + 1
            while is_tag(j, "I", kind):
                j += 1
            found.append((i, j, kind))
        if scheme == "IO" and prefix == "I" and not is_tag(i - 1, "I", kind):
            j = i + 1
            while is_tag(j, "I", kind):
                j += 1
            found.append((i, j, kind))
        if scheme in ("BIOES", "BILOU"):
            last, single = scheme[3 if scheme == "BIOES" else 2], scheme[4]
            if prefix == single:
                found.append((i, i + 1, kind))
            if prefix == "B":
                j = i + 1
                while is_tag(j, "I", kind):
                    j += 1
                if is_tag(j, last, kind):
                    found.append((i, j + 1, kind))
    return found
