"""A small tagged text, with more words than a test needs to repeat."""

TEXT = """
The/D old/A dog/N barks/V at/P the/D cat/N ./.
A/D cat/N sleeps/V on/P a/D warm/A stone/N ./.
Dogs/N chase/V cats/N ./.
Birds/N sing/V in/P the/D green/A trees/N ./.
She/R sees/V a/D bird/N in/P the/D garden/N ./.
He/R walks/V ./.
The/D quick/A fox/N jumps/V over/P the/D lazy/A dog/N ./.
They/R run/V fast/B ./.
Rain/N falls/V softly/B on/P old/A roofs/N ./.
The/D 2/M small/A birds/N fly/V quickly/B ./.
Stop/V !/.
A/D well-known/A singer/N sings/V ./.
She/R quietly/B reads/V 3/M books/N ./.
The/D warm/A rain/N stops/V ./.
He/R sees/V green/A birds/N and/C foxes/N ./.
Foxes/N and/C dogs/N run/V ./.
"""


def sentences():
    rows = [[token.rsplit("/", 1) for token in line.split()] for line in TEXT.strip().splitlines()]
    return [[w for w, _ in row] for row in rows], [[t for _, t in row] for row in rows]
