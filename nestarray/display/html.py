"""HTML of trees, tables and reports: a common style, and escaped text.

It is plain HTML and CSS without a script: static notebook viewers can show it, and text from keys
is never executed. Colors follow the theme of the page, light or dark.
"""

from __future__ import annotations

from html import escape

_STYLE = """
.nestarray {font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: inherit;
  max-width: 100%; overflow-x: auto}
.nestarray details > div {margin-left: 1.1em; padding-left: .5em;
  border-left: 1px solid rgba(128, 128, 128, .35)}
.nestarray summary {cursor: pointer; white-space: nowrap}
.nestarray summary:hover {background: rgba(128, 128, 128, .12)}
.nestarray .leaf {display: flex; align-items: center; gap: 1em; white-space: nowrap}
.nestarray .key {font-weight: 600; overflow-wrap: anywhere}
.nestarray .note {opacity: .65}
.nestarray .wrong {color: #d42b2b; font-weight: 600}
.nestarray svg {height: 1.3em; width: 5em; fill: #4a90d9; flex: none}
.nestarray table {border-collapse: collapse; font: inherit; white-space: nowrap}
.nestarray th, .nestarray td {padding: .1em .8em .1em 0; text-align: left; border: 0;
  background: none; font-weight: inherit}
.nestarray th {opacity: .65}
.nestarray .number {text-align: right}
.nestarray tfoot td {border-top: 1px solid rgba(128, 128, 128, .6)}
"""


def framed(body: str) -> str:
    """The HTML of one output: its style and `body`."""
    return f'<div class="nestarray"><style>{_STYLE}</style>\n{body}</div>'


def escaped(text: str) -> str:
    """Escape text for HTML; lone surrogates, which documents must not contain, are written as codes."""
    return escape(text.encode("utf-8", "backslashreplace").decode())
