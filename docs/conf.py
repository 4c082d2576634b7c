"""How Sphinx makes the documentation site (`make docs`); nothing in it is loaded from another place."""

import sense7_qual

project = "sense7_qual"
author = "The sense7_qual team"
copyright = "The sense7_qual team, GPL-3.0-or-later"
release = version = sense7_qual.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["data"]

html_theme = "furo"
html_title = f"sense7_qual {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False

default_role = "code"  # one pair of backticks, as in the docstrings
add_module_names = False
autodoc_typehints = "none"  # the signature has them as words already
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
python_use_unqualified_type_names = True

myst_heading_anchors = 3
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_output_stderr = "remove"  # progress
nb_ipywidgets_js = {}  # would come from another server; a page cannot record anyway
suppress_warnings = [
    "mystnb.unknown_mime_type",  # the widget itself: its other forms are shown
    "ref.python",  # words in descriptions of types, such as "units", that are names elsewhere, too
]
