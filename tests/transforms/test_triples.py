"""Three transformations around each other: the numbers of NumPy's rules, or a refusal that is listed.

Where two derivatives are taken around a rule that is not the derivative of its function, PyTorch
and TensorFlow follow the rule in both, JAX and NumPy in the inner one; such triples are left out.
"""

from __future__ import annotations

import random
from itertools import product

import pytest

from nestarray.errors import UnsupportedError
from tests.transforms.test_pairs import TRANSFORMS, assert_same, of

Triple = tuple[str, ...]

DERIVATIVES = {"grad", "jvp", "vjp"}
RULES = {"custom_vjp", "custom_jvp"}


def is_ambiguous(names: Triple) -> bool:
    return names[-1] in RULES and set(names[:2]) <= DERIVATIVES


def is_refused(names: Triple, backend: str) -> str | None:
    """The error's text for a transformation that a backend lacks."""
    is_pushed = "jvp" in names and "custom_vjp" in names[names.index("jvp") :]
    if is_pushed and backend == "jax":
        return "jvp: a function with custom_vjp has no derivative in forward mode on JAX"
    if backend == "torch" and "jit" in names and {"cond", "while_loop"} & set(names):
        return "(cond|while_loop): PyTorch cannot compile a"
    return None


def check(names: Triple, backend: str) -> None:
    try:
        found = of(names, backend)
    except UnsupportedError as error:
        text = is_refused(names, backend)
        assert text is not None, f"{backend} has not {'/'.join(names)}"
        with pytest.raises(UnsupportedError, match=f"^{text}"):
            raise error
        return
    assert_same(found, of(names, "numpy"))


def rows(texts: str, backend: str) -> list[tuple[str, Triple]]:
    return [(backend, tuple(text.split("/"))) for text in texts.split()]


#: What once gave another number, or an error of the framework.
MENDED = [
    *rows("jvp/jvp/custom_jvp custom_jvp/vjp/custom_jvp grad/vmap/custom_vjp", "torch"),
    *rows("vjp/custom_jvp/vjp checkpoint/fori_loop/grad checkpoint/vmap/grad", "torch"),
    *rows("grad/vmap/custom_vjp grad/checkpoint/checkpoint jit/jvp/map", "tensorflow"),
    *rows("grad/jvp/custom_vjp checkpoint/jvp/custom_vjp", "jax"),
]
SLOW = [
    *rows("jit/cond/grad jit/cond/vmap jit/while_loop/grad grad/map/jit", "torch"),
    *rows("grad/checkpoint/jit checkpoint/grad/jit", "torch"),
    *rows(
        "jvp/vmap/custom_jvp jvp/grad/vmap vjp/vmap/cond jvp/vmap/cond grad/jvp/vmap", "tensorflow"
    ),
    *rows("jvp/jit/vmap vmap/vjp/while_loop vmap/vjp/scan", "tensorflow"),
]
OTHERS = [names for names in product(TRANSFORMS, repeat=3) if not is_ambiguous(names)]
SAMPLE = list(product(("jax", "torch", "tensorflow"), random.Random(0).sample(OTHERS, 40)))


@pytest.mark.parametrize(
    ("backend", "names"),
    MENDED + [pytest.param(*row, marks=pytest.mark.full) for row in SLOW + SAMPLE],
    ids=lambda x: x if isinstance(x, str) else "/".join(x),
)
def test_triples(backend: str, names: Triple) -> None:
    check(names, backend)
