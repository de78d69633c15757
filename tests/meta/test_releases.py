"""The gaps between the pinned releases and the frontends are those that ``accepted_gaps.toml`` lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.releases import accepted, gaps, report
from tools.releases.gaps import Gap


@pytest.mark.parametrize("framework", report.FRAMEWORKS)
def test_gaps_are_accepted_and_accepted_names_are_gaps(framework: str) -> None:
    if not accepted.is_pinned(framework):
        pytest.skip(f"constraints.txt pins another release than {accepted.installed(framework)}")
    found = report.gaps_of(framework)
    assert [gap for gap in found if accepted.reason(gap) is None] == []
    assert accepted.closed(framework, found) == []


def test_each_gap_has_one_reason() -> None:
    listed = [(entry.kind, entry.pattern) for entry in accepted.entries()]
    assert len(listed) == len({*listed})
    kinds = {entry.kind.partition(" ")[0] for entry in accepted.entries()}
    assert kinds <= {*report.FRAMEWORKS}


def _upstream(x: Any, axis: int = 0, *, is_stable: bool = True) -> None: ...


def _same(x: Any, axis: int = 0, *, is_stable: bool = True) -> None: ...


def _shorter(x: Any, axis: int = 0) -> None: ...


def _other(axis: int, x: Any, *, is_stable: bool = True, key: Any = None) -> None: ...


def test_names_and_arguments_that_one_side_lacks() -> None:
    theirs = {"same": _upstream, "shorter": _upstream, "other": _upstream, "new": _upstream}
    ours = {"same": _same, "shorter": _shorter, "other": _other, "old": _same}
    assert list(gaps.name_gaps("jax", "jax.lax.", theirs, ours)) == [
        Gap("jax names", "jax.lax.new"),
        Gap("jax names without upstream", "jax.lax.old"),
    ]
    assert list(gaps.argument_gaps("jax", "jax.lax.", theirs, ours)) == [
        Gap("jax arguments without upstream", "jax.lax.other(key)"),
        Gap("jax arguments", "jax.lax.other(order of arguments)"),
        Gap("jax arguments", "jax.lax.shorter(is_stable)"),
    ]


def test_a_new_primitive_and_a_new_overload_are_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    from nestarray.frontends.jax import vocabulary as jax_vocabulary
    from nestarray.frontends.torch import vocabulary as torch_vocabulary

    for vocabulary, unknown in ((jax_vocabulary, "tanh"), (torch_vocabulary, "aten.tanh.default")):
        find = vocabulary.find
        monkeypatch.setattr(
            vocabulary, "find",
            lambda op, *a, find=find, unknown=unknown, **k: None if str(op) == unknown else find(op, *a, **k),
        )  # fmt: skip
    assert Gap("jax primitives", "tanh") in report.gaps_of("jax")
    assert Gap("torch overloads", "aten.tanh.default") in report.gaps_of("torch")


def test_the_report_lists_new_gaps_and_closed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gaps.toml"
    path.write_text('["jax names"]\n"needs a mesh" = ["jax.lax.p*", "jax.lax.closed"]\n')
    monkeypatch.setattr(accepted, "PATH", path)
    monkeypatch.setattr(accepted, "entries", accepted.entries.__wrapped__)
    names = ["jax.lax.psend", "jax.lax.precv", "jax.lax.top_k"]
    assert report.described("jax", [Gap("jax names", name) for name in names]) == (
        "jax names: 2 accepted, 1 new\n"
        "  new: jax.lax.top_k\n"
        "  needs a mesh: jax.lax.psend, jax.lax.precv\n"
        "jax names: accepted, but no gap: jax.lax.closed\n"
    )
