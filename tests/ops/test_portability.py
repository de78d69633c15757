"""The lint of code over `na`: each expression that it names does differ between frameworks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import errors
from nestarray.cli import main
from nestarray.config import BACKENDS
from nestarray.testing import lint
from tests.arrays import on

#: The text of a function of x and y, matrices, and the rule that it breaks.
DIFFERENT = {
    "na.exp(x) @ y[0]": "operator",
    "+x": "operator",
    "divmod(x, y)": "operator",
    "round(x)": "operator",
    "x[::-1]": "index",
    "x[[0, 1]]": "index",
    "x[na.argmax(y, axis=0)]": "index",
    "x[:, na.argmax(y, axis=0)]": "index",
    "x[x > 0]": "index",
    "x.T": "method",
    "x.sum()": "method",
    "x.reshape(-1)": "method",
    "(x + y).max(0)": "method",
    "float(na.sum(x))": "value",
    "x if na.sum(x) > 0 else y": "value",
    "na.where(x.dtype == 'float32', x, y)": "dtype",
    "na.ones(2, like=x) + na.astype(x, na.float64)": "dtype",
    "na.ones(2, dtype=na.float32) + x": "like",
    "np.sin(x)": "framework",
}
#: Texts without a finding.
ALIKE = (
    "x * 2 - y / 3",
    "x ** 2 // y % 3",
    "(x > 0) & ~(y <= 1)",
    "x[0, None, :1] + x[..., -1]",
    "na.zeros(2, like=x, dtype=x.dtype) + x",
    "abs(-x)",
    "na.matmul(x, y[0])",
    "na.take(x, na.argmax(y, axis=0), axis=0)",
    "x if x.shape[0] > 1 else y",
    "na.Container(a=x).sum().a",
)


def function(text: str) -> str:
    return (
        f"import numpy as np\nimport nestarray as na\ndef f(x, y):\n    return na.asarray({text})\n"
    )


def on_each_backend(text: str) -> dict[str, Any]:
    """Backend → dtype and values of the function, compiled, or the class of its error."""
    names: dict[str, Any] = {}
    exec(function(text), names)
    results: dict[str, Any] = {}
    for backend in BACKENDS:
        x, y = (on(backend, np.float32([[1.5, -2.0], [3.0, c]])) for c in (4.0, 0.5))
        try:
            result = (na.jit(names["f"]) if backend in ("jax", "tensorflow") else names["f"])(x, y)
            results[backend] = (
                str(na.dtype_of(result)),
                np.asarray(na.to_backend(result, "numpy")).tolist(),
            )
        except Exception as error:
            results[backend] = type(error)
    return results


@pytest.mark.parametrize("text", DIFFERENT)
def test_a_finding_differs_between_backends(text: str) -> None:
    assert {finding.rule for finding in lint(function(text))} == {DIFFERENT[text]}
    first, *others = on_each_backend(text).values()
    assert any(other != first for other in others)


@pytest.mark.parametrize("text", ALIKE)
def test_portable_code_has_no_finding(text: str) -> None:
    assert lint(function(text)) == []
    first, *others = on_each_backend(text).values()
    assert isinstance(first, tuple)
    assert all(other == first for other in others)


@pytest.mark.parametrize(
    ("statement", "rules"),
    [
        ("x[0] = 1.0", ["in-place"]),
        ("x += 1.0", ["in-place"]),
        ("z = {}; z['x'] = x; n = 0; n += 1", []),
        ("z = na.exp(x)\n    if na.all(z > 0): pass", ["value"]),
        ("z = na.exp(x)\n    while bool(z): z = z - 1", ["value"]),
        ("x @ y  # noqa", []),
    ],
)
def test_statements(statement: str, rules: list[str]) -> None:
    text = f"import nestarray as na\ndef f(x, y):\n    {statement}\n    return na.sum(x)\n"
    assert [finding.rule for finding in lint(text)] == rules


def test_which_functions_are_code_over_na() -> None:
    text = """
import numpy
import nestarray as na
from nestarray import nn

def host(x):
    return x.T @ x

def passed(x):
    return x @ x

gradient = na.grad(passed), na.vmap(lambda x: x.T)

class Net(nn.Module):
    def forward(self, x):
        return self.w.T @ x

class Other:
    def forward(self, x):
        return x @ x
"""
    places = [(finding.line, finding.rule) for finding in lint(text)]
    assert places == [(10, "operator"), (12, "method"), (16, "operator")]


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "loss.py"
    path.write_text(function("x @ y"))
    assert main(["check", str(path)]) == 1
    out = capsys.readouterr().out
    assert f"{path}:4:23: operator: @ fails for vectors" in out
    assert f"{path}: 1 finding" in out
    path.write_text(function("x * y"))
    assert main(["check", str(path)]) == 0
    path.write_text("def f(:")
    assert main(["check", str(path)]) == 2
    assert "line 1" in capsys.readouterr().err


def test_other_text_is_refused() -> None:
    with pytest.raises(errors.ArgumentError, match=r"lint: <text>: line 1: invalid syntax"):
        lint("def f(:")


def test_examples_of_the_repository() -> None:
    assert lint(Path(__file__).parents[2] / "examples" / "gaussian_process.py") == []
