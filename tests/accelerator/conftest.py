"""These tests need a GPU that PyTorch and JAX have; their float32 products are exact there."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest
import torch

HAS_GPU = torch.cuda.is_available() and jax.default_backend() == "gpu"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Without a GPU the tests of this folder are skipped."""
    for item in items:
        if not HAS_GPU and "accelerator" in item.path.parts:
            item.add_marker(pytest.mark.skip(reason="PyTorch and JAX have no GPU here"))


@pytest.fixture(autouse=True)
def _exact_products() -> Iterator[None]:
    """Both frameworks round the factors of a float32 product to TF32 by default."""
    allowed = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    with jax.default_matmul_precision("highest"):
        yield
    torch.backends.cudnn.allow_tf32 = allowed
