"""Configuration of the documentation: ``make docs``."""

import runpy
import sys
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

import sklearn_calib

sys.path.insert(0, str(Path(__file__).parent))  # for the extension mathml

project = "sklearn-calib"
author = "sklearn-calib developers"
copyright = author
version = release = sklearn_calib.__version__

# Intersphinx is absent on purpose: the documentation builds offline, without warnings.
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathml",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
# Pages include what is in _tables; it makes no pages of its own.
exclude_patterns = ["_build", "_make", "_pages", "_pictures", "_tables", "_templates"]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext"}
default_role = "literal"

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_\w+\.py$",
    "ignore_pattern": r"^(?!plot_)",
    # From the first five minutes to the simulations; what is not named comes last.
    "within_subsection_order": ExplicitOrder(
        [
            "plot_first_five_minutes.py",
            "plot_shapes.py",
            "plot_skewed_predictions.py",
            "plot_model_selection.py",
            "plot_cv_folds.py",
            "plot_many_classes.py",
            "plot_label_display.py",
            "plot_decomposition.py",
            "plot_smooth_curve.py",
            "plot_bin_size.py",
            "plot_sample_size.py",
            "plot_compare_models.py",
            "plot_recalibration.py",
            "plot_training.py",
            "plot_groups.py",
            "plot_corpus_counts.py",
            "plot_counts_page.py",
            "plot_who_did_what.py",
            "plot_known_truth.py",
            "plot_taggers.py",
            "plot_spans.py",
            "plot_intervals_that_cover.py",
            "*",
        ]
    ),
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("sklearn_calib",),
    "reference_url": {"sklearn_calib": None},
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "sklearn-calib"
html_show_sourcelink = False
html_static_path = ["_static"]
# Pages that the package writes are shipped as they are, beside the others.
html_extra_path = ["_pages"]
(Path(__file__).parent / "_pages").mkdir(exist_ok=True)
html_css_files = ["custom.css"]
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {page: [] for page in ("benchmarks", "changelog", "contributing", "index", "paper")}


def skip_inherited(app, what, name, obj, skip, options):
    """Leave out what a class inherits from tuple, or from scikit-learn: that links elsewhere."""
    if (getattr(obj, "__module__", None) or "").startswith("sklearn."):
        return True
    return True if getattr(obj, "__objclass__", None) is tuple else None


def make(app):
    """Write the tables of measured numbers, the runs of commands and the pictures of pages."""
    folder = Path(__file__).parent / "_make"
    for name in (
        "tables",
        "paper_tables",
        "events_tables",
        "questions_tables",
        "claims_tables",
        "raw_text_tables",
        "report_runs",
        "pages",
        "pictures",
    ):
        runpy.run_path(str(folder / f"{name}.py"), run_name="__main__")


def setup(app):
    app.connect("builder-inited", make)
    app.connect("autodoc-skip-member", skip_inherited)
