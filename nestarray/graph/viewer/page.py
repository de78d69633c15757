"""`Graph.show`: an interactive diagram in one HTML file.

The file needs no network: its style and script are in it, and its content security policy forbids
any request. The graph is in it as JSON, which the script shows as text, never as HTML.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from nestarray.graph.graph import Graph
from nestarray.graph.viewer.diagram import diagram
from nestarray.storage.atomic import replacing

if TYPE_CHECKING:
    from nestarray.proof.report import Report

_HERE = Path(__file__).parent
#: One script: declarations of the first files are used by the later ones.
_SCRIPTS = ("model.js", "layout.js", "viewer.js")


class Page:
    """An HTML file of a graph, which notebooks show in a frame.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"Page({str(self.path)!r})"

    def __fspath__(self) -> str:
        return str(self.path)

    def _repr_html_(self) -> str:
        # the page itself, not its address: a saved notebook shows it on another machine too
        page = escape(self.path.read_text(encoding="utf-8"))
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="model diagram" '
            'style="width: 100%; height: 640px; border: 0"></iframe>'
        )


def show(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    *,
    report: Report | None = None,
    open: bool = True,
) -> Page:
    """Write an interactive diagram as one HTML file, and open it in the browser.

    Modules, loops and branches are boxes that open and close. Edges have the shapes of arrays. A
    click on a call shows its source line, the printed call, dtype, shape and parameters. The
    search finds operations, paths and lines. The page needs no network and no server.

    Args:
        graph: the graph.
        path: of the file; by default a new file in the system's temporary directory.
        report: the result of `Graph.verify` of this graph: each call has the color of its error.
        open: open the file. Without a screen (on a server, under CI) and in notebooks, which show
            the returned page, it is not opened.

    Returns:
        a `Page` with the ``path`` of the file. As the last line of a notebook cell it shows the
        diagram.

    Raises:
        MissingFileError: the directory of `path` does not exist.
        ArgumentError: `report` is of another graph.

    Example:
        >>> import tempfile, torch, nestarray as na
        >>> from pathlib import Path
        >>> net = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU())
        >>> graph = na.trace_graph(net, torch.ones(2, 8))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = graph.show(Path(folder) / "net.html", open=False)
        ...     page.path.read_text().startswith("<!DOCTYPE html>")
        True
    """
    text = page_text(graph, report)
    file = Path(path or Path(tempfile.mkdtemp(prefix="nestarray-"), "graph.html"))
    with replacing(file, "Graph.show") as written:
        written.write_text(text, encoding="utf-8")
    if open and _has_screen():
        import webbrowser

        webbrowser.open(file.resolve().as_uri())
    return Page(file)


def page_text(graph: Graph, report: Report | None = None) -> str:
    """The HTML document of a graph."""
    whole = diagram(graph, report)
    text = json.dumps(whole.to_dict(), allow_nan=False, separators=(",", ":"))
    parts = {
        "TITLE": escape(whole.name.encode("utf-8", "backslashreplace").decode()),
        "STYLE": _asset("viewer.css"),
        "SCRIPT": "\n".join(map(_asset, _SCRIPTS)),
        "GRAPH": text.replace("<", "\\u003c"),  # a script element ends at any "</script"
    }
    pieces = _asset("viewer.html").split("%%")
    return "".join(parts.get(piece, piece) for piece in pieces)


def _asset(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _has_screen() -> bool:
    """Whether a browser can open a window, and no notebook shows the page."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if os.environ.get("CI") or hasattr(shell, "kernel"):
        return False
    is_linux = sys.platform.startswith("linux")
    return not is_linux or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
