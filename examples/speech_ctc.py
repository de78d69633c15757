"""An LSTM learns to spell sequences of tones by the CTC loss, without an alignment.

Each letter is a tone of random duration. The network reads spectra of short frames, and gives each
frame a letter or the blank. New recordings are drawn in each step, from one key on all frameworks.

usage: python examples/speech_ctc.py [--backend numpy | jax | torch | tensorflow]
"""

from __future__ import annotations

import argparse
import itertools
import math
from typing import Any

import nestarray as na
from nestarray import nn

ALPHABET = "_abcd"  # the first is the blank
BATCH, LETTERS, FRAMES, SAMPLES = 16, 4, 20, 16


def recordings(key: Any) -> na.Container:
    """Frames `(batch, frames, samples)`, the letters `(batch, letters)` and their number `(batch,)`.

    A letter lasts 3 to 5 frames, of which the last is silent.
    """
    draw = {name: na.random.fold_in(key, name) for name in ("letters", "count", "frames", "noise")}
    letters = na.random.randint(draw["letters"], (BATCH, LETTERS), 1, len(ALPHABET))
    count = na.random.randint(draw["count"], (BATCH,), 2, LETTERS + 1)
    ends = na.cumulative_sum(na.random.randint(draw["frames"], (BATCH, 1, LETTERS), 3, 6), axis=2)
    time = na.arange(FRAMES, dtype=ends.dtype, like=ends)[:, None]
    place = na.count_nonzero(time >= ends, axis=2)  # the place in the word at each frame
    is_silent = na.any(time == ends - 1, axis=2) | na.greater_equal(place, count[:, None])
    letter = na.take_along_axis(letters, na.minimum(place, LETTERS - 1), axis=1)
    pitch = na.where(is_silent, 0, letter)[..., None]
    phase = na.arange(SAMPLES, dtype="float32", like=key) * (2.0 * math.pi / SAMPLES)
    noise = na.random.normal(draw["noise"], (BATCH, FRAMES, SAMPLES))
    wave = na.sin(phase * 1.3 * na.astype(pitch, "float32"))
    return na.Container(wave=wave + 0.3 * noise, letters=letters, count=count)


class Listener(nn.Module):
    """Log probabilities of the letters at each frame, `(frames, batch, classes)`."""

    def __init__(self, size: int = 32) -> None:
        self.norm = nn.LayerNorm(SAMPLES // 2 + 1)
        self.lstm = nn.LSTM(SAMPLES // 2 + 1, size, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * size, len(ALPHABET))

    def forward(self, wave: Any) -> Any:
        """wave: `(batch, frames, samples)`."""
        spectra = self.norm(na.abs(na.fft.rfft(wave)))
        return na.swapaxes(na.log_softmax(self.head(self.lstm(spectra)[0]), axis=-1), 0, 1)


def spelled(log_probs: Any) -> list[str]:
    """The likeliest letters: repeated ones are merged, then the blank is removed."""
    likeliest = na.to_backend(na.argmax(log_probs, axis=-1), "numpy").T
    words = ("".join(ALPHABET[i] for i, _ in itertools.groupby(row)) for row in likeliest)
    return [word.replace("_", "") for word in words]


def main(backend: str = "jax", steps: int = 200) -> list[float]:
    """The loss of each step."""
    key = na.random.key(0, backend=backend)
    net = Listener().init(na.random.fold_in(key, "weights"))
    frames = na.full((BATCH,), FRAMES, dtype="int32", like=key)

    def loss_fn(v: na.Container, frames: Any, key: Any) -> Any:
        batch = recordings(key)
        return na.ctc_loss(net(batch.wave, v=v), batch.letters, frames, batch["count"])

    optimizer = nn.Adam(nn.schedules.cosine(0.01, steps=200))
    step = na.train_step(loss_fn, optimizer, compile=backend != "torch")  # its compiler is slow
    state = step.init(net.v, key=na.random.fold_in(key, "steps"))
    losses = []
    for _ in range(steps):
        state, metrics = step(state, frames)
        losses.append(float(metrics.loss))
    test = recordings(na.random.fold_in(key, "test"))
    heard = spelled(net(test.wave, v=state["v"]))
    letters, counts = (na.to_backend(test[name], "numpy") for name in ("letters", "count"))
    said = ["".join(ALPHABET[i] for i in row[:n]) for row, n in zip(letters, counts, strict=True)]
    share = sum(map(str.__eq__, said, heard)) / BATCH
    print(f"{backend}: loss {losses[0]:.4f} → {losses[-1]:.4f}, {share:.0%} of the words are right")
    print(f"said {' '.join(said[:6])}, heard {' '.join(heard[:6])}")
    return losses


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="jax")
    main(**vars(parser.parse_args()))
