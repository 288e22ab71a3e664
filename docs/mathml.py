"""Formulas as MathML, which browsers draw by themselves: without scripts, and offline."""

import html
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
SPACE = {"width": "0.167em"}
APPLY = "\N{FUNCTION APPLICATION}"
BRACE = "\N{BOTTOM CURLY BRACKET}"


def tidy(parent):
    """Put right what docutils writes in a way that browsers draw badly."""
    for child in list(parent):
        tidy(child)
    for place, child in enumerate(list(parent)):
        if child.tag == "munderover" and child[0].tag == "mi":
            # An index of a letter with a bar stands beside it, not below.
            base, index, accent = child
            child[:] = []
            child.tag = "msub"
            over = ElementTree.SubElement(child, "mover")
            over.extend([base, accent])
            child.append(index)
        elif child.tag == "msub" and child[0].tag == "munder" and child[0][1].text == BRACE:
            # The words below a brace stand in its middle.
            child.tag = "munder"
        elif child.text == APPLY:
            # There is room on both sides of the name of a function.
            parent[place] = ElementTree.Element("mspace", SPACE)
            parent[place - 1].set("class", "function")
    for child in parent.findall("*[@class='function']"):
        parent.insert(list(parent).index(child), ElementTree.Element("mspace", SPACE))


def formula(node, **options):
    """Return a formula as MathML; one that cannot be read stays as it was written."""
    try:
        text = str(tex2mathml(node.astext(), **options))
    except MathError as error:
        LOGGER.warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{html.escape(node.astext())}</code>"
    # The namespace is that of HTML anyway.
    text = text.replace("&ApplyFunction;", APPLY).replace(
        ' xmlns="http://www.w3.org/1998/Math/MathML"', ""
    )
    tree = ElementTree.fromstring(text)
    tidy(tree)
    return ElementTree.tostring(tree, encoding="unicode")


def visit_math(translator, node):
    translator.body.append(formula(node))
    raise nodes.SkipNode


def visit_displaymath(translator, node):
    translator.body.append(f'<div class="formula">{formula(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
