"""The line of progress."""

from __future__ import annotations

import io
import re

import jax.numpy as jnp
import pytest

from nestarray import nn
from nestarray.errors import ArgumentError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_has_position_values_and_rate() -> None:
    file = Terminal()
    steps = nn.progress(range(4), title="train", file=file)
    items = []
    for i in steps:
        items.append(i)
        steps.set(loss=jnp.asarray(0.5) ** i, phase="warm-up")
    assert items == [0, 1, 2, 3]
    last = file.getvalue().split("\r")[-1]
    pattern = r"train 4/4 \(100%\), loss 0\.125, phase warm-up, \S+ items/s, \d+ s *\n"
    assert re.fullmatch(pattern, last)


def test_a_shorter_line_covers_the_longer_one() -> None:
    file = Terminal()
    steps = nn.progress(range(2), file=file)
    for i in steps:
        steps.set(loss="long text" if i == 0 else "")
        steps._drawn = 0.0
    _, first, second, _ = file.getvalue().split("\r")
    assert len(second) == len(first)


@pytest.mark.parametrize(("show", "is_shown"), [(None, False), (True, True), (False, False)])
def test_only_terminals_show_it_unless_asked(show: bool | None, is_shown: bool) -> None:
    file = io.StringIO()
    assert list(nn.progress(range(3), show=show, file=file)) == [0, 1, 2]
    assert bool(file.getvalue()) == is_shown


def test_stderr_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(nn.progress("ab", show=True)) == ["a", "b"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "2/2 (100%)" in captured.err


def test_generators_have_no_total() -> None:
    file = io.StringIO()
    steps = nn.progress((i for i in range(3)), show=True, file=file)
    assert list(steps) == [0, 1, 2]
    assert re.search(r"\r3, \S+ items/s", file.getvalue())
    with pytest.raises(TypeError, match="total="):
        len(steps)
    assert len(nn.progress(iter([1, 2]), total=2)) == 2


def test_values_are_read_when_the_line_is_drawn() -> None:
    class Loss:
        reads = 0

        def __float__(self) -> float:
            Loss.reads += 1
            return 1.0

    steps = nn.progress(range(1000), show=True, file=io.StringIO())
    for _ in steps:
        steps.set(loss=Loss())
    assert Loss.reads < 100


def test_an_error_in_the_loop_ends_the_line() -> None:
    file = io.StringIO()
    steps = nn.progress(range(3), show=True, file=file)
    with pytest.raises(ZeroDivisionError):
        [1 / (1 - i) for i in steps]
    assert "1/3 (33%)" in file.getvalue()


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentError, match="progress: total: got -1, expected a number of items"):
        nn.progress([], total=-1)
