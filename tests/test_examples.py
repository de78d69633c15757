"""The examples do what they say."""

from __future__ import annotations

import pytest

from examples import lora_in_jax


def test_adapters_trained_in_jax_improve_the_model_in_torch(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, after = lora_in_jax.main(steps=20)
    assert after < 0.95 * before
    printed = capsys.readouterr().out
    assert printed.startswith("8 changed; 28 leaves → 28\n")
    assert "16 leaves, 4096 numbers trained" in printed
