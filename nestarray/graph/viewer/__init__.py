"""Graphs as pictures: an interactive page, an outline for notebooks, a tree for terminals.

- `diagram`: the graph as nested groups of boxes, which all of them show.
- `page`: `Graph.show`, one HTML file from ``viewer.html``, ``viewer.css`` and three scripts.
- `outline`: the HTML of a graph in notebooks, and its tree for rich.
"""
