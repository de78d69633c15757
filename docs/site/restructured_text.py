"""Pages of the reference as reStructuredText.

Docstrings have Google's sections and Markdown's inline markup: single backticks for code and names,
double ones for code. A name in single backticks becomes a link if it is public.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from typing import Any

import reference
from reference import Entry, Page
from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.util.inspect import stringify_signature

import nestarray as na

#: Roles, code, bold text and addresses; they stay as they are, single backticks excepted.
TOKEN = re.compile(r"(:\w+:`[^`]+`|``[^`]+``\w?|`[^`]+`\w?|\*\*\w[^*]*\*\*|https?://\S+)")
NAME = re.compile(r"[A-Za-z_][\w.]*")
PROMPT = re.compile(r"^ *>>>", re.MULTILINE)
SECTION = re.compile(r"^(Returns|Yields|References):\n((?:    .*\n|\n)*)", re.MULTILINE)
NAPOLEON = Config(napoleon_use_ivar=True, napoleon_use_rtype=False, napoleon_use_keyword=False)
#: Replaces colons in Returns: napoleon would read the text before a colon as a type.
COLON = "\ue000"


def page(page: Page) -> str:
    """The text of a page."""
    listed = [entry for entries in page.sections.values() for entry in entries]
    module = listed[0].module if listed else "nestarray"
    parts = [heading(page.title, "="), document(page.text, module, ())]
    for title, entries in page.sections.items():
        if title:
            parts.append(heading(title, "-"))
        parts += [entry(e, with_members=page.file != "container") for e in entries]
    if page.file == "container":
        parts += [heading("Functions as methods", "-"), functions_as_methods()]
    return "\n".join(parts)


def heading(text: str, underline: str) -> str:
    return f"{text}\n{underline * len(text)}\n"


def functions_as_methods() -> str:
    """The ops that are methods of Container, by chapter."""
    lines = [
        "Operators of Python (``+``, ``@``, ``==``, ``<``, …) apply leaf by leaf. These functions are "
        "methods too: ``c.softmax(axis=-1)`` is ``na.softmax(c, axis=-1)``.\n"
    ]
    for chapter, entries in reference.chapters().items():
        methods = [e for e in entries if getattr(na.Container, e.name, None) is e.object]
        if methods:
            links = ", ".join(f":py:obj:`{e.name} <{e.full}>`" for e in methods)
            lines.append(f"* :doc:`{reference.titled(chapter)} <functions/{chapter}>`: {links}")
    return "\n".join(lines) + "\n"


def entry(e: Entry, with_members: bool = True) -> str:
    """The directive of an entry."""
    value, kind, options = e.object, "data", [f":module: {e.module}"]
    is_ours = reference.source(value).startswith("nestarray")
    is_member = "." in e.name
    signature = ""
    if isinstance(value, (property, functools.cached_property)):
        kind = "property"
        getter = getattr(value, "fget", None) or value.func
        if returns := getter.__annotations__.get("return"):
            options.append(f":type: {returns}".replace("builtins.", ""))
    elif inspect.isclass(value) and is_ours:
        kind, signature = "class", signature_of(value, without_first=False)
    elif is_ours and (callable(value) or isinstance(value, (staticmethod, classmethod))):
        kind = "method" if is_member else "function"
        is_static = isinstance(value, staticmethod)
        signature = signature_of(value, without_first=is_member and not is_static)
        if isinstance(value, (staticmethod, classmethod)):
            options.append(f":{type(value).__name__}:")
    elif is_member:
        kind = "attribute"
    else:
        shown = repr(value).replace("typing.", "").replace("collections.abc.", "")
        options += [f":value: {shown}"] if not isinstance(value, dict) else []
    scope = f"{e.module}.{e.name.rpartition('.')[0] or e.name}"
    text = document(documentation(e), scope, parameters(value), is_method=kind == "method")
    if kind == "class" and with_members:
        text += "\n" + "\n".join(entry(m) for m in reference.members_of(e) if documentation(m))
    body = "\n".join(f"   {line}".rstrip() for line in [*options, "", *text.splitlines()])
    return f".. py:{kind}:: {e.name}{signature}\n{body}\n"


def documentation(e: Entry) -> str:
    """The docstring of an entry; of a value, the ``#:`` comment above its assignment."""
    document = inspect.getdoc(e.object) or ""
    if document.startswith("Alias for field number"):
        return ""
    if not reference.source(e.object).startswith("nestarray"):
        return comment(e)
    if callable(e.object) or hasattr(e.object, "__get__"):
        return document
    if document == (inspect.getdoc(type(e.object)) or ""):
        return comment(e)
    return document


def comment(e: Entry) -> str:
    """The comment above the assignment of a value, in the module or one below it."""
    pattern = re.compile(rf"^((?:#: .*\n)+){e.name}\b", re.MULTILINE)
    for name, module in sorted(sys.modules.items()):
        is_here = f"{name}.".startswith(f"{e.module}.")
        if is_here and vars(module).get(e.name) is e.object:
            found = pattern.search(inspect.getsource(module))
            if found:
                return found[1].replace("#: ", "")
    return ""


def signature_of(value: Any, *, without_first: bool) -> str:
    """The parameters, with annotations; classes show none, because their docstrings do."""
    try:
        signature = inspect.signature(getattr(value, "__func__", value))
    except (TypeError, ValueError):
        return ""
    shown = list(signature.parameters.values())[int(without_first) :]
    shown = [p.replace(default=_Printed(p.default)) if _is_object(p.default) else p for p in shown]
    result = inspect.Signature.empty if inspect.isclass(value) else signature.return_annotation
    signature = signature.replace(parameters=shown, return_annotation=result)
    return stringify_signature(signature, unqualified_typehints=True).replace("builtins.", "")


def _is_object(default: Any) -> bool:
    return default is not inspect.Parameter.empty and repr(default).startswith("<")


class _Printed:
    """A default that prints as its name."""

    def __init__(self, value: Any) -> None:
        self.text = getattr(value, "__name__", type(value).__name__)

    def __repr__(self) -> str:
        return self.text


def parameters(value: Any) -> tuple[str, ...]:
    """The names of the parameters: they are no links."""
    try:
        return tuple(inspect.signature(getattr(value, "__func__", value)).parameters)
    except (TypeError, ValueError):
        return ()


def document(text: str, scope: str, own: tuple[str, ...], *, is_method: bool = False) -> str:
    """A docstring as reStructuredText; `scope` is the module or class, `own` are parameters."""
    text = text + "\n"
    if is_method:  # the first parameter is the object itself
        text = re.sub(rf"(?m)^    {own[0]}: .*\n(        .*\n)*", "", text, count=1)
        text = re.sub(r"(?m)^Args:\n(?!    )", "", text)
    text = SECTION.sub(_section, text)
    blocks = [
        part if PROMPT.match(part) else _inline(part, scope, own)
        for block in re.split(r"(?<=\n)(?=\n)", text)
        for part in re.split(r"(?<=\n)(?= *>>>)", block, maxsplit=1)
    ]
    lines = GoogleDocstring("".join(blocks), NAPOLEON, what="function").lines()
    return "\n".join(lines).replace(COLON, ":") + "\n"


def _section(found: re.Match[str]) -> str:
    name, body = found.groups()
    if name == "References":  # one item per line
        body = re.sub(r"^    (?=\S)", "    - ", body, flags=re.MULTILINE)
    else:
        body = body.replace(":", COLON)
    return f"{name}:\n{body}"


def _inline(text: str, scope: str, own: tuple[str, ...]) -> str:
    """Inline markup; a blank line before each list."""
    parts = TOKEN.split(text)
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = re.sub(r"[\\*|]|_(?!\w)", r"\\\g<0>", part)
        elif part.startswith("`"):
            parts[i] = _code(part, scope, own)
    return re.sub(r"(?<=\S)\n(?= *- )", "\n\n", "".join(parts), count=1)


def _code(token: str, scope: str, own: tuple[str, ...]) -> str:
    """A literal, or a link to the entry of that name."""
    end = "" if token.endswith("`") else "\\ " + token[-1]
    name = token.rstrip("abcdefghijklmnopqrstuvwxyz").strip("`") if end else token.strip("`")
    full = target(name, scope) if not token.startswith("``") and name not in own else None
    return f":py:obj:`{name} <{full}>`{end}" if full else f"``{name}``{end}"


@functools.cache
def target(name: str, scope: str) -> str | None:
    """The full name of the entry that a docstring of a module or class calls `name`."""
    if not NAME.fullmatch(name):
        return None
    entries = reference.entries()
    bare = name.removeprefix("nestarray.").removeprefix("na.")
    scopes = (scope, scope.rpartition(".")[0], "nestarray", "nestarray.Container")
    return next((full for s in scopes if (full := f"{s}.{bare}") in entries), None)
