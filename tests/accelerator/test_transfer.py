"""Arrays move between devices and frameworks, and share the memory of one GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import backends
from nestarray.testing import assert_close
from tests.arrays import host, on

VALUES = np.arange(128, dtype="float32").reshape(2, 64)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "bool"])
@pytest.mark.parametrize(("source", "target"), [("torch", "jax"), ("jax", "torch")])
def test_frameworks_share_the_memory_of_the_gpu(source: str, target: str, dtype: str) -> None:
    x = na.to_device(on(source, VALUES, dtype), "gpu")
    moved = na.to_backend(x, target, copy=False)
    assert backends.core(target).address(moved) == backends.core(source).address(x)
    assert backends.core(target).device_of(moved).startswith(("cuda", "gpu"))
    assert_close(host(moved), host(x))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_arrays_of_the_host_go_to_the_default_device_of_jax(dtype: str) -> None:
    x = on("torch", VALUES, dtype).cpu()
    moved = na.to_backend(x, "jax")
    assert backends.core("jax").device_of(moved) == "gpu"
    assert not moved.committed
    stays = na.to_backend(x, "jax", device="cpu")
    assert backends.core("jax").device_of(stays) == "cpu"
    assert_close(host(moved), host(stays))


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_trees_go_to_the_gpu_and_back(backend: str, tmp_path: Path) -> None:
    c = na.Container(a=on(backend, VALUES), b={"c": on(backend, VALUES[0])})
    there = na.to_device(c, "gpu")
    core = backends.core(backend)
    assert {core.device_of(x) for x in there.leaves()} <= {"cuda:0", "gpu"}
    assert_close(na.to_device(there * 2 + there, "cpu"), na.to_device(c * 3, "cpu"))
    there.save(tmp_path / "tree.safetensors")
    loaded = na.Container.load(tmp_path / "tree.safetensors", backend=backend)
    assert_close(host(loaded.a), VALUES)
    assert_close(host(there.to_backend("numpy").b.c), VALUES[0])


def test_new_arrays_are_on_the_device_of_the_context() -> None:
    with na.use_backend("torch", device="cuda"):
        made = (na.zeros(2), na.arange(3), na.asarray([1.0, 2.0]), na.eye(2), na.random.key(0))
        assert {x.device.type for x in made} == {"cuda"}
        assert na.to_backend(VALUES, "torch").device.type == "cuda"
        assert na.zeros(2, device="cpu").device.type == "cpu"
        assert na.zeros(2, like=torch.ones(2)).device.type == "cpu"
    assert na.zeros(2, like=torch.ones(2, device="cuda")).device.type == "cuda"


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_random_numbers_are_those_of_the_cpu(backend: str) -> None:
    def drawn(device: str) -> list[np.ndarray]:
        key = na.to_device(na.random.key(3, backend=backend), device)
        draws = (
            na.random.bits(key, (5,)),
            na.random.uniform(key, (5,)),
            na.random.randint(key, (5,), 0, 100),
            na.random.permutation(key, 7),
        )
        return [host(x) for x in draws]

    assert_close(drawn("gpu"), drawn("cpu"))
