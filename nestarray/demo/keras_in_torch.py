"""A Keras network, trained on digits with ``fit``, fine-tuned with ``torch.optim``, and moved back.

A convolutional network of Keras with batch normalization learns scikit-learn's digits. `na.trace_graph`
moves it to PyTorch, with proof that it computes the same. The data change (another camera) and the
network fails. `to_torch_module` makes a ``torch.nn.Module`` of it, which ``torch.optim.Adam``
fine-tunes. The new weights and statistics return to the Keras model, which is accurate again.

usage: nestarray demo
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

import nestarray as na
from nestarray.demo.digits import accuracy, load_images, other_camera
from nestarray.demo.flax_in_torch import channels_last, fine_tune_in_torch

#: No progress lines; Keras annotates a str.
QUIET: Any = 0


def network() -> keras.Model:
    """Two convolutions with batch normalization, dropout, a dense layer; images are NHWC."""
    return keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            keras.layers.Conv2D(16, 3, padding="same"),
            keras.layers.BatchNormalization(momentum=0.9),
            keras.layers.Activation("relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(32, 3, padding="same"),
            keras.layers.BatchNormalization(momentum=0.9),
            keras.layers.Activation("relu"),
            keras.layers.Flatten(),
            keras.layers.Dropout(0.25, seed=0),
            keras.layers.Dense(10),
        ]
    )


def keras_accuracy(model: keras.Model, images: Any) -> float:
    """The accuracy of the Keras model on the test images."""
    logits = model.predict(np.asarray(channels_last(images.test)), batch_size=512, verbose=QUIET)
    return accuracy(logits, images.test_labels)


def run(*, epochs: int = 4, tuning_epochs: int = 10) -> dict[str, Any]:
    """Run all steps, print them, and return the figures."""
    keras.utils.set_random_seed(0)
    images, model = load_images(), network()
    model.compile(
        keras.optimizers.Adam(2e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    x = np.asarray(channels_last(images.train))
    model.fit(x, images.train_labels, batch_size=64, epochs=epochs, verbose=QUIET)
    learned = keras_accuracy(model, images)
    print(f"Keras network, trained with fit: test accuracy {learned:.1%}")

    report = na.trace_graph(model, x[:64]).to_backend("torch").verify()
    print(f"in PyTorch: {str(report).splitlines()[0]}, error {report.output_error:.1e}")

    shifted = other_camera(images)
    before = keras_accuracy(model, shifted)
    native = na.to_module(model, x[:64]).to_torch_module()
    fine_tune_in_torch(native, shifted, epochs=tuning_epochs)

    na.load_into_keras(na.Container.from_torch_state_dict(native.state_dict()), model)
    after = keras_accuracy(model, shifted)
    print(f"another camera, fine-tuned with torch.optim, back in Keras: {before:.1%} → {after:.1%}")
    return {"learned": learned, "agrees": report.ok, "before": before, "after": after}
