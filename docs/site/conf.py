"""Sphinx settings of the site; `build.py` calls Sphinx.

The pages load nothing from the network: fonts are the system's, formulas are MathML, and
the search index is a local file.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import pending_xref

import nestarray as na

project = "nestarray"
author = "The nestarray authors"
release = version = na.__version__

extensions = ["myst_nb", "sphinx_copybutton"]
html_math_renderer = "mathml"
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"}
html_theme = "furo"
html_title = "nestarray"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
pygments_style, pygments_dark_style = "friendly", "monokai"

add_module_names = False
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

nb_execution_mode = "off"  # notebooks contain their outputs
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_merge_streams = True
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["myst.header"]  # pages may skip a level
copybutton_exclude = ".linenos, .gp, .go"


def math(self: Any, node: nodes.Element) -> None:
    """Write a formula as MathML, which browsers draw."""
    is_block = isinstance(node, nodes.math_block)
    self.body.append(tex2mathml(node.astext(), as_block=is_block))
    raise nodes.SkipNode


def unlink_builtins(app: Any, doctree: nodes.document) -> None:
    """Remove the links from annotations with the type `bool` to the dtype `na.bool`."""
    for node in list(doctree.findall(pending_xref)):
        if node["reftype"] == "class" and node["reftarget"] == "bool":
            node.replace_self(node.children)


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer of formulas."""
    app.add_html_math_renderer("mathml", (math, None), (math, None))
    app.connect("doctree-read", unlink_builtins)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
