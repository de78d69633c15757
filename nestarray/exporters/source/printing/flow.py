"""Branches and loops as statements of Python."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nestarray.exporters.source.printing.expressions import Expression
from nestarray.exporters.source.recording.records import Call, Function, Value
from nestarray.exporters.source.tree.modules import numbered

if TYPE_CHECKING:
    from nestarray.exporters.source.printing.bodies import Body


class Flow:
    """Writes a branch or a loop as a statement of Python.

    Args:
        body: the writer of the statements around it.
        i: the number of the call in the body.
        call: the call, with a target of `control_flow`.
    """

    def __init__(self, body: Body, i: int, call: Call) -> None:
        self.body, self.i, self.call = body, i, call
        has_rows = call.target == "flow:for"
        self.results = parts_of(call.result[0] if has_rows else call.result)
        self.stacked = parts_of(call.result[1]) if has_rows else []

    def lines(self) -> list[str]:
        """The statement."""
        kind = self.call.target.removeprefix("flow:")
        lines = getattr(self, f"_{kind}")(*self.call.args)
        self.body.release(self.i)
        for value in (*self.results, *self.stacked):
            self.body.free.discard(self.body.names[value])
        return lines

    def _if(self, choice: Any, *functions: Function) -> list[str]:
        text = self.body.text_of(choice)
        used = [k for k, value in enumerate(self.results) if value in self.body.position]
        self.body.names |= dict.fromkeys(self.results, "_")
        names = self.body.fresh_names([self.results[k] for k in used])
        is_switch = len(functions) != 2 or choice.dtype != "bool"
        lines = []
        for k, function in enumerate(functions):
            condition = f"{text} == {k}" if is_switch else text
            head = f"{'elif' if k else 'if'} {condition}:"
            lines.append("else:" if k == len(functions) - 1 else head)
            inner, written = self._block(function, {}, names)
            outputs = parts_of(function.output)
            texts = [inner.text_of(outputs[j]) for j in used]
            lines += indented([*written, *assignment(names, texts)])
        return lines

    def _while(self, test: Function, step: Function, start: Any, most: int | None) -> list[str]:
        names, lines = self._carry(start, (test, step))
        carry = dict(zip(parts_of(test.inputs[0]), names, strict=True))
        inner, written = self._block(test, {}, kept=carry)
        condition = inner.text_of(test.output)
        steps = self._step(step, [(step.inputs[0], names)], names)
        if most is None and not written:
            return [*lines, f"while {condition}:", *indented(steps)]
        head = "while True:" if most is None else f"for _ in range({most}):"
        stop = [*written, f"if not ({condition}):", "    break"]
        return [*lines, head, *indented([*stop, *steps])]

    def _range(self, first: int, end: int, step: Function, start: Any) -> list[str]:
        names, lines = self._carry(start, (step,))
        counter = step.inputs[0]
        index = "i" if counter in step.used else "_"
        steps = self._step(step, [(counter, [index]), (step.inputs[1], names)], names)
        integers = (
            f"{self.body.language.array}.arange({first}, {end})"
            if index == "i"
            else f"range({first}, {end})"
        )
        return [*lines, f"for {index} in {integers}:", *indented(steps)]

    def _for(
        self, step: Function, start: Any, xs: Any, count: int | None, reverse: bool
    ) -> list[str]:
        arrays = [self.body.text_of(x) for x in parts_of(xs)]
        names, lines = self._carry(start, (step,))
        used = {k: value for k, value in enumerate(self.stacked) if value in self.body.position}
        self.body.names |= dict.fromkeys(self.stacked, "_")
        lists = dict(zip(used, self.body.fresh_names(list(used.values()), "ys"), strict=True))
        lines += [f"{name} = []" for name in lists.values()]
        rows: list[str] = []
        for text in arrays:
            taken = {*self.body.reserved, *self.body.names.values(), *rows}
            rows.append(next(n for n in numbered(_row_name(text)) if n not in taken))
        steps = self._step(step, [(step.inputs[0], names), (step.inputs[1], rows)], names, lists)
        arrays = [f"reversed({text})" if reverse else text for text in arrays]
        of = arrays[0] if len(arrays) == 1 else f"zip({', '.join(arrays)})"
        head = f"for {', '.join(rows)} in {of}:" if arrays else f"for _ in range({count}):"
        order = "[::-1]" if reverse else ""
        end: list[str] = []
        for k, name in lists.items():
            text = f"{self.body.language.array}.stack({name}{order})"
            if self.body.is_read_once(used[k]) and not self._is_looped(used[k]):
                self.body.texts[used[k]] = Expression(text)
            else:
                end.append(f"{name} = {text}")
        return [*lines, head, *indented(steps), *end]

    def _is_looped(self, value: Value) -> bool:
        """Whether a loop or a branch reads a value first."""
        readers = self.body.items[self.body.position[value][0] :][:1]
        return any(isinstance(item, Call) and item.target.startswith("flow:") for item in readers)

    def _carry(self, nest: Any, functions: Sequence[Function]) -> tuple[list[str], list[str]]:
        """(names of the carry, statements that assign its start)."""
        body = self.body
        free = {value for function in functions for value in function.free}
        names: list[str] = []
        lines: list[str] = []
        for start, result in zip(parts_of(nest), self.results, strict=True):
            name = body.text_of(start)
            is_own = start in body.names and start not in body.around and start not in free
            if not is_own or body.last_use(start) > self.i or name in names:
                (fresh,) = body.fresh_names([result])
                lines.append(f"{fresh} = {name}")
                name = fresh
            names.append(name)
            body.names[result] = name
            body.free.discard(name)
        return names, lines

    def _block(
        self,
        function: Function,
        inputs: dict[Value, str],
        results: Sequence[str] = (),
        kept: Mapping[Value, str] | None = None,
    ) -> tuple[Body, list[str]]:
        """The statements of a function.

        Args:
            function: the function.
            inputs: its inputs → names that its statements may assign to.
            results: names outside that its statements assign.
            kept: its inputs → names that later statements read.
        """
        inner = self.body.inner(self.i)
        inner.around |= kept or {}
        outside = {*inner.reserved, *self.body.names.values()}
        inner.reserved = outside - {*inputs.values(), *results}
        return inner, inner.statements(function.calls, inputs, function.output)

    def _step(
        self,
        step: Function,
        parameters: Sequence[tuple[Any, list[str]]],
        names: list[str],
        lists: Mapping[int, str] | None = None,
    ) -> list[str]:
        """The statements of a step, which assign the carry and append to lists."""
        inputs = {
            v: n for nest, texts in parameters for v, n in zip(parts_of(nest), texts, strict=True)
        }
        inner, written = self._block(step, inputs)
        carry = parts_of(step.output if lists is None else step.output[0])
        ys = [] if lists is None else parts_of(step.output[1])
        appended = [f"{name}.append({inner.text_of(ys[k])})" for k, name in (lists or {}).items()]
        return [*written, *appended, *assignment(names, [inner.text_of(x) for x in carry])]


def _row_name(text: str) -> str:
    """A name after the one of an array: ``"x_t"``, ``"query_kernel_t"`` for ``self.query.kernel``."""
    is_access = re.fullmatch(r'[\w.\[\]"]+', text) is not None
    words = re.findall(r"[A-Za-z]\w*", text)
    names = [word for word in words if word not in ("self", "params", "state")]
    names = names[-2:] if is_access else names[:1]
    return f"{'_'.join(names)}_t" if names else "row"


def parts_of(nest: Any) -> list[Any]:
    """The items of an argument: of a tuple, a single one, or none."""
    if nest is None:
        return []
    return list(nest) if isinstance(nest, tuple) else [nest]


def assignment(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The statement that assigns values to names, if it changes any."""
    pairs = [(name, text) for name, text in zip(names, texts, strict=True) if name != text]
    left, right = (", ".join(part) for part in zip(*pairs, strict=True)) if pairs else ("", "")
    return [f"{left} = {right}"] if pairs else []


def indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines or ["pass"]]
