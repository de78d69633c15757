"""Mixed, missing and unknown frameworks, and values that are not arrays."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import jax.numpy as jnp
import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import errors


def test_arrays_of_two_frameworks_in_one_call():
    with pytest.raises(errors.MixedBackendError) as caught:
        na.add(torch.ones(2), jnp.ones(2))
    assert str(caught.value) == (
        "add: got arrays of torch and of jax in one call. Move one of them first, for example "
        'with na.to_backend(x, "torch")'
    )


def test_arrays_of_two_frameworks_in_a_sequence():
    with pytest.raises(errors.MixedBackendError, match=r"^concat: got arrays of "):
        na.concat([np.ones(2), torch.ones(2)])


def test_containers_of_two_frameworks_name_the_path():
    with pytest.raises(errors.MixedBackendError) as caught:
        na.add(na.Container(a={"w": np.ones(2)}), na.Container(a={"w": torch.ones(2)}))
    assert caught.value.__notes__ == ["at the Container path 'a/w'"]


def test_a_list_is_not_an_array():
    with pytest.raises(errors.ArgumentError) as caught:
        na.exp([1.0, 2.0])
    assert str(caught.value) == (
        "exp: array argument (x): got list, expected an array of numpy, jax, torch or "
        "tensorflow, a Container or a number; convert it with na.asarray(...), or take its arrays "
        "one by one: na.tree.map"
    )


def test_containers_that_do_not_match():
    left = na.Container(layer={"weight": np.ones(2), "bias": np.ones(1)})
    right = na.Container(layer={"wieght": np.ones(2), "bias": np.ones(1)})
    with pytest.raises(errors.StructureError) as caught:
        na.multiply(left, right)
    message = str(caught.value)
    assert message.startswith(
        "multiply: Containers do not match: 'layer/weight' is in the left one"
    )
    assert "the nearest there is 'layer/wieght'" in message


def test_an_unknown_backend():
    with pytest.raises(
        errors.ArgumentError,
        match=r"^backend: got 'mxnet', expected one of numpy, jax, torch, tensorflow$",
    ):
        na.set_backend("mxnet")


def test_float64_on_jax_without_x64():
    with pytest.raises(
        errors.DtypeError,
        match=r"jax computes in 32 bits and has no float64 now\. Call jax\.config\.update",
    ):
        na.to_backend(np.ones(2), "jax")


@pytest.mark.parametrize("framework", ["jax", "torch", "tensorflow"])
def test_a_missing_framework_names_the_extra(framework):
    code = f"""
        import sys
        sys.modules[{framework!r}] = None  # as if it were not installed
        import numpy as np
        import nestarray as na
        for call in (lambda: na.zeros((2,)), lambda: na.Container(a=np.ones(2)).to_backend({framework!r})):
            try:
                with na.use_backend({framework!r}):
                    call()
            except na.errors.MissingFrameworkError as error:
                print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith(f"backend {framework!r} needs the package {framework!r}")
        assert line.endswith(f"Install it with: pip install 'nestarray[{framework}]'")


@pytest.mark.one_in(1)
@pytest.mark.parametrize("framework", ["jax", "tensorflow", "numpy"])
def test_traces_need_the_framework_of_the_program_alone(framework):
    missing = {"jax", "torch", "tensorflow", "keras"} - {framework}
    code = f"""
        import sys
        sys.modules.update(dict.fromkeys({sorted(missing)!r}))  # as if they were not installed
        import numpy as np
        import nestarray as na
        x = na.to_backend(np.ones(3, np.float32), {framework!r})
        graph = na.trace_graph(lambda x: x * 2 + 1, x)
        print(graph.to_backend("numpy").verify().ok)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True
    )
    assert done.stdout.strip() == "True", done.stderr
