"""Examples of all layers, losses, metrics and optimizers of Keras."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

import nestarray as na

layers = keras.layers
_rng = np.random.default_rng(0)


def _normal(*shape: int) -> np.ndarray:
    return _rng.standard_normal(shape).astype("float32")


#: The inputs of layers, by name.
INPUTS = {
    "rows": _normal(3, 4),
    "signal": _normal(2, 6, 3),
    "image": _normal(2, 8, 7, 3),
    "volume": _normal(2, 4, 5, 6, 2),
    "film": _normal(2, 3, 6, 5, 2),
    "line": _normal(2, 3, 6, 2),
    "films": _normal(1, 2, 4, 4, 4, 2),
    "words": np.asarray([[1, 2, 0, 0], [3, 4, 5, 0]]),
    "colours": _rng.uniform(0.1, 0.9, (2, 8, 8, 3)).astype("float32"),
    "sound": _normal(2, 64),
}

#: Layer → (its construction, the name of its input or the names of its inputs).
LAYERS: dict[str, tuple[str, Any]] = {
    "Activation": ("Activation('gelu')", "rows"),
    "ActivityRegularization": ("ActivityRegularization(0.1, 0.1)", "rows"),
    "AdaptiveAveragePooling1D": ("AdaptiveAveragePooling1D(4)", "signal"),
    "AdaptiveAveragePooling2D": ("AdaptiveAveragePooling2D((3, 4))", "image"),
    "AdaptiveAveragePooling3D": ("AdaptiveAveragePooling3D(2)", "volume"),
    "AdaptiveMaxPooling1D": ("AdaptiveMaxPooling1D(4)", "signal"),
    "AdaptiveMaxPooling2D": ("AdaptiveMaxPooling2D((3, 4))", "image"),
    "AdaptiveMaxPooling3D": ("AdaptiveMaxPooling3D(2)", "volume"),
    "Add": ("Add()", ("rows", "rows")),
    "AdditiveAttention": ("AdditiveAttention()", ("signal", "signal")),
    "AlphaDropout": ("AlphaDropout(0.3, seed=1)", "rows"),
    "Attention": ("Attention(use_scale=True)", ("signal", "signal")),
    "Average": ("Average()", ("rows", "rows")),
    "AveragePooling1D": ("AveragePooling1D(2)", "signal"),
    "AveragePooling2D": ("AveragePooling2D(3, 2, 'same')", "image"),
    "AveragePooling3D": ("AveragePooling3D(2)", "volume"),
    "BatchNormalization": ("BatchNormalization()", "image"),
    "Bidirectional": ("Bidirectional(layers.LSTM(3, return_sequences=True))", "signal"),
    "CategoryEncoding": ("CategoryEncoding(6, 'multi_hot')", "words"),
    "CenterCrop": ("CenterCrop(4, 5)", "image"),
    "Concatenate": ("Concatenate()", ("rows", "rows")),
    "Conv1D": ("Conv1D(4, 3, padding='causal', dilation_rate=2)", "signal"),
    "Conv1DTranspose": ("Conv1DTranspose(4, 3, 2, 'same')", "signal"),
    "Conv2D": ("Conv2D(6, 3, 2, 'same', activation='relu')", "image"),
    "Conv2DTranspose": ("Conv2DTranspose(4, 3, 2)", "image"),
    "Conv3D": ("Conv3D(4, 2)", "volume"),
    "Conv3DTranspose": ("Conv3DTranspose(3, 2, 2)", "volume"),
    "ConvLSTM1D": ("ConvLSTM1D(3, 2)", "line"),
    "ConvLSTM2D": ("ConvLSTM2D(3, 2, return_sequences=True)", "film"),
    "ConvLSTM3D": ("ConvLSTM3D(2, 2)", "films"),
    "Cropping1D": ("Cropping1D((1, 2))", "signal"),
    "Cropping2D": ("Cropping2D(((1, 2), (0, 1)))", "image"),
    "Cropping3D": ("Cropping3D(1)", "volume"),
    "Dense": ("Dense(5, activation='tanh')", "signal"),
    "DepthwiseConv1D": ("DepthwiseConv1D(3, depth_multiplier=2)", "signal"),
    "DepthwiseConv2D": ("DepthwiseConv2D(3, 2, 'same')", "image"),
    "Discretization": ("Discretization([-1.0, 0.0, 1.0])", "rows"),
    "Dot": ("Dot(-1, normalize=True)", ("rows", "rows")),
    "Dropout": ("Dropout(0.4, seed=1)", "rows"),
    "ELU": ("ELU(0.5)", "rows"),
    "EinsumDense": ("EinsumDense('abc,cd->abd', (None, 4), bias_axes='d')", "signal"),
    "Embedding": ("Embedding(6, 4, mask_zero=True)", "words"),
    "Flatten": ("Flatten()", "image"),
    "GRU": ("GRU(3, return_sequences=True, return_state=True)", "signal"),
    "GRUCell": ("RNN(layers.GRUCell(3, reset_after=False))", "signal"),
    "GaussianDropout": ("GaussianDropout(0.3, seed=1)", "rows"),
    "GaussianNoise": ("GaussianNoise(0.3, seed=1)", "rows"),
    "GlobalAveragePooling1D": ("GlobalAveragePooling1D()", "signal"),
    "GlobalAveragePooling2D": ("GlobalAveragePooling2D(keepdims=True)", "image"),
    "GlobalAveragePooling3D": ("GlobalAveragePooling3D()", "volume"),
    "GlobalMaxPooling1D": ("GlobalMaxPooling1D()", "signal"),
    "GlobalMaxPooling2D": ("GlobalMaxPooling2D()", "image"),
    "GlobalMaxPooling3D": ("GlobalMaxPooling3D()", "volume"),
    "GroupNormalization": ("GroupNormalization(3)", "image"),
    "GroupQueryAttention": ("GroupQueryAttention(4, 4, 2)", ("signal", "signal")),
    "Identity": ("Identity()", "rows"),
    "LSTM": ("LSTM(3, dropout=0.2, seed=1)", "signal"),
    "LSTMCell": ("RNN(layers.LSTMCell(3), go_backwards=True)", "signal"),
    "Lambda": ("Lambda(lambda x: keras.ops.sin(x) * 2)", "rows"),
    "LayerNormalization": ("LayerNormalization(axis=(1, 2))", "signal"),
    "LeakyReLU": ("LeakyReLU(0.2)", "rows"),
    "Masking": ("Masking(0.0)", "signal"),
    "MaxPooling1D": ("MaxPooling1D(2)", "signal"),
    "MaxPooling2D": ("MaxPooling2D(3, 2, 'same')", "image"),
    "MaxPooling3D": ("MaxPooling3D(2)", "volume"),
    "Maximum": ("Maximum()", ("rows", "rows")),
    "MelSpectrogram": ("MelSpectrogram(fft_length=16, sampling_rate=8000, num_mel_bins=4)", "sound"),
    "Minimum": ("Minimum()", ("rows", "rows")),
    "MultiHeadAttention": ("MultiHeadAttention(2, 4, dropout=0.1, seed=1)", ("signal", "signal")),
    "Multiply": ("Multiply()", ("rows", "rows")),
    "Normalization": ("Normalization(mean=[0.5] * 4, variance=[2.0] * 4)", "rows"),
    "PReLU": ("PReLU()", "rows"),
    "Permute": ("Permute((2, 1))", "signal"),
    "Pipeline": ("Pipeline([layers.Rescaling(2.0), layers.CenterCrop(4, 4)])", "image"),
    "RMSNormalization": ("RMSNormalization()", "rows"),
    "RNN": ("RNN([layers.SimpleRNNCell(3), layers.SimpleRNNCell(2)], unroll=True)", "signal"),
    "ReLU": ("ReLU(2.0, 0.1, 0.2)", "rows"),
    "RepeatVector": ("RepeatVector(3)", "rows"),
    "Rescaling": ("Rescaling(2.0, 1.0)", "image"),
    "Reshape": ("Reshape((-1, 2))", "rows"),
    "Resizing": ("Resizing(5, 6)", "image"),
    "ReversibleEmbedding": ("ReversibleEmbedding(6, 4)", "words"),
    "STFTSpectrogram": ("STFTSpectrogram('magnitude', 16, 8, 16)", "sound2"),
    "SeparableConv1D": ("SeparableConv1D(4, 3)", "signal"),
    "SeparableConv2D": ("SeparableConv2D(4, 3, 2, 'same')", "image"),
    "SimpleRNN": ("SimpleRNN(3, stateful=True)", "signal"),
    "SimpleRNNCell": ("RNN(layers.SimpleRNNCell(3), return_sequences=True)", "signal"),
    "Softmax": ("Softmax(1)", "signal"),
    "Solarization": ("Solarization(value_range=(0, 1))", "colours"),
    "SpatialDropout1D": ("SpatialDropout1D(0.3, seed=1)", "signal"),
    "SpatialDropout2D": ("SpatialDropout2D(0.3, seed=1)", "image"),
    "SpatialDropout3D": ("SpatialDropout3D(0.3, seed=1)", "volume"),
    "SpectralNormalization": ("SpectralNormalization(layers.Dense(4))", "rows"),
    "StackedRNNCells": ("RNN(layers.StackedRNNCells([layers.GRUCell(3), layers.LSTMCell(2)]))", "signal"),
    "Subtract": ("Subtract()", ("rows", "rows")),
    "TimeDistributed": ("TimeDistributed(layers.Dense(4))", "signal"),
    "UnitNormalization": ("UnitNormalization()", "rows"),
    "UpSampling1D": ("UpSampling1D(2)", "signal"),
    "UpSampling2D": ("UpSampling2D(2, interpolation='bilinear')", "image"),
    "UpSampling3D": ("UpSampling3D(2)", "volume"),
    "ZeroPadding1D": ("ZeroPadding1D((1, 2))", "signal"),
    "ZeroPadding2D": ("ZeroPadding2D(((1, 0), (2, 1)))", "image"),
    "ZeroPadding3D": ("ZeroPadding3D(1)", "volume"),
    "AugMix": ("AugMix((0, 1), seed=1)", "colours"),
    "AutoContrast": ("AutoContrast((0, 1))", "colours"),
    "ContrastLimitedAdaptiveHistogramEqualization": (
        "ContrastLimitedAdaptiveHistogramEqualization((0, 1), tile_grid_size=(2, 2))", "colours"
    ),
    "CutMix": ("CutMix(seed=1)", "colours"),
    "Equalization": ("Equalization((0, 1))", "colours"),
    "MixUp": ("MixUp(seed=1)", "colours"),
    "RandAugment": ("RandAugment((0, 1), seed=1)", "colours"),
    "RandomBrightness": ("RandomBrightness(0.2, (0, 1), seed=1)", "colours"),
    "RandomColorDegeneration": ("RandomColorDegeneration(0.5, (0, 1), seed=1)", "colours"),
    "RandomColorJitter": ("RandomColorJitter((0, 1), 0.2, 0.2, 0.2, 0.1, seed=1)", "colours"),
    "RandomContrast": ("RandomContrast(0.3, (0, 1), seed=1)", "colours"),
    "RandomCrop": ("RandomCrop(4, 5, seed=1)", "colours"),
    "RandomElasticTransform": ("RandomElasticTransform(0.5, value_range=(0, 1), seed=1)", "colours"),
    "RandomErasing": ("RandomErasing(value_range=(0, 1), seed=1)", "colours"),
    "RandomFlip": ("RandomFlip(seed=1)", "colours"),
    "RandomGaussianBlur": ("RandomGaussianBlur(value_range=(0, 1), seed=1)", "colours"),
    "RandomGrayscale": ("RandomGrayscale(0.5, seed=1)", "colours"),
    "RandomHue": ("RandomHue(0.3, (0, 1), seed=1)", "colours"),
    "RandomInvert": ("RandomInvert(0.5, (0, 1), seed=1)", "colours"),
    "RandomPerspective": ("RandomPerspective(0.5, 0.5, seed=1)", "colours"),
    "RandomPosterization": ("RandomPosterization(4, (0, 1), seed=1)", "colours"),
    "RandomRotation": ("RandomRotation(0.2, seed=1)", "colours"),
    "RandomSaturation": ("RandomSaturation(0.3, (0, 1), seed=1)", "colours"),
    "RandomSharpness": ("RandomSharpness(0.3, (0, 1), seed=1)", "colours"),
    "RandomShear": ("RandomShear(0.2, 0.2, seed=1)", "colours"),
    "RandomTranslation": ("RandomTranslation(0.2, 0.3, seed=1)", "colours"),
    "RandomZoom": ("RandomZoom(0.2, seed=1)", "colours"),
}  # fmt: skip
INPUTS["sound2"] = INPUTS["sound"][..., None]

#: Layers without an example, and why.
OMITTED = {
    "FlaxLayer": "a layer of another framework",
    "HashedCrossing": "of text",
    "Hashing": "of text",
    "InputLayer": "no computation",
    "InputSpec": "no layer",
    "IntegerLookup": "a table of text",
    "JaxLayer": "a layer of another framework",
    "Layer": "the base class",
    "MaxNumBoundingBoxes": "of dictionaries of boxes",
    "StringLookup": "a table of text",
    "TFSMLayer": "a SavedModel, which has tests of its own",
    "TextVectorization": "a table of text",
    "TorchModuleWrapper": "a layer of another framework",
    "Wrapper": "the base class",
}


def build(name: str) -> tuple[Any, Any]:
    """A layer with an example, built, and its inputs."""
    keras.utils.set_random_seed(0)
    made, given = LAYERS[name]
    layer = eval(f"layers.{made}", {"layers": layers, "keras": keras})
    if isinstance(given, str):
        x: Any = INPUTS[given]
    else:
        x = [INPUTS[given[0]], *[INPUTS[n][::-1].copy() * 0.5 for n in given[1:]]]
    if name in ("MultiHeadAttention", "GroupQueryAttention"):
        layer(*x)
        return layer, tuple(x)
    layer(x)
    return layer, (x,)


_PROBABILITIES = _rng.uniform(0.05, 0.95, (4, 3)).astype("float32")
_TARGETS = np.eye(3, dtype="float32")[[0, 2, 1, 1]]

#: Loss → (its construction, target, prediction).
LOSSES: dict[str, tuple[str, np.ndarray, np.ndarray]] = {
    name: (f"{name}()", _TARGETS, _PROBABILITIES)
    for name in (
        "BinaryCrossentropy", "BinaryFocalCrossentropy", "CategoricalCrossentropy",
        "CategoricalFocalCrossentropy", "CategoricalHinge", "CosineSimilarity", "Dice", "Hinge", "Huber", "KLDivergence", "LogCosh",
        "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredError",
        "MeanSquaredLogarithmicError", "Poisson", "SquaredHinge", "Tversky",
    )
}  # fmt: skip
LOSSES |= {
    "SparseCategoricalCrossentropy": (
        "SparseCategoricalCrossentropy(from_logits=True)", np.asarray([0, 2, 1, 1]), _PROBABILITIES
    ),
    "CategoricalGeneralizedCrossEntropy": (
        "CategoricalGeneralizedCrossEntropy()", np.asarray([0, 2, 1, 1]), _PROBABILITIES
    ),
    "CTC": ("CTC()", np.asarray([[1, 2, 3, 0], [2, 2, 0, 0]]), _normal(2, 8, 5)),
    "Circle": ("Circle()", np.asarray([0, 1, 1, 0]), _normal(4, 3)),
}  # fmt: skip

#: Metric → (its construction, target, prediction).
METRICS: dict[str, tuple[str, np.ndarray, np.ndarray]] = {
    name: (f"{name}()", _TARGETS, _PROBABILITIES)
    for name in (
        "AUC", "Accuracy", "BinaryAccuracy", "BinaryCrossentropy", "CategoricalAccuracy",
        "CategoricalCrossentropy", "CategoricalHinge", "ConcordanceCorrelation",
        "CosineSimilarity", "F1Score", "FBetaScore", "FalseNegatives", "FalsePositives", "Hinge",
        "KLDivergence", "LogCoshError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
        "MeanSquaredError", "MeanSquaredLogarithmicError", "PearsonCorrelation", "Poisson",
        "Precision", "R2Score", "Recall", "RootMeanSquaredError", "SquaredHinge",
        "TopKCategoricalAccuracy", "TrueNegatives", "TruePositives",
    )
}  # fmt: skip
_CLASSES = np.asarray([0, 2, 1, 1])
METRICS |= {
    "BinaryIoU": ("BinaryIoU()", _TARGETS, _PROBABILITIES),
    "IoU": ("IoU(3, [0, 1])", _CLASSES, np.asarray([0, 1, 1, 2])),
    "MeanIoU": ("MeanIoU(3)", _CLASSES, np.asarray([0, 1, 1, 2])),
    "OneHotIoU": ("OneHotIoU(3, [0, 2])", _TARGETS, _PROBABILITIES),
    "OneHotMeanIoU": ("OneHotMeanIoU(3)", _TARGETS, _PROBABILITIES),
    "PrecisionAtRecall": ("PrecisionAtRecall(0.5)", _TARGETS, _PROBABILITIES),
    "RecallAtPrecision": ("RecallAtPrecision(0.5)", _TARGETS, _PROBABILITIES),
    "SensitivityAtSpecificity": ("SensitivityAtSpecificity(0.5)", _TARGETS, _PROBABILITIES),
    "SpecificityAtSensitivity": ("SpecificityAtSensitivity(0.5)", _TARGETS, _PROBABILITIES),
    "SparseCategoricalAccuracy": ("SparseCategoricalAccuracy()", _CLASSES, _PROBABILITIES),
    "SparseCategoricalCrossentropy": ("SparseCategoricalCrossentropy()", _CLASSES, _PROBABILITIES),
    "SparseTopKCategoricalAccuracy": (
        "SparseTopKCategoricalAccuracy(2)", _CLASSES, _PROBABILITIES
    ),
}  # fmt: skip

#: Optimizer → its construction.
OPTIMIZERS = {
    "Adadelta": "Adadelta(0.1)",
    "Adafactor": "Adafactor(0.1)",
    "Adagrad": "Adagrad(0.1)",
    "Adam": "Adam(0.1, amsgrad=True)",
    "AdamW": "AdamW(0.1, weight_decay=0.1)",
    "Adamax": "Adamax(0.1)",
    "Ftrl": "Ftrl(0.1, l1_regularization_strength=0.1)",
    "Lamb": "Lamb(0.1)",
    "Lion": "Lion(0.1)",
    "LossScaleOptimizer": "LossScaleOptimizer(keras.optimizers.SGD(0.1))",
    "Muon": "Muon(0.1)",
    "Nadam": "Nadam(0.1)",
    "RMSprop": "RMSprop(0.1, momentum=0.5, centered=True)",
    "SGD": "SGD(keras.optimizers.schedules.CosineDecay(0.1, 10), momentum=0.9, nesterov=True)",
    "ScheduleFreeAdamW": "ScheduleFreeAdamW(0.1)",
}


class Loss(tf.Module):
    """A loss as a program."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.loss = eval(f"keras.losses.{LOSSES[name][0]}", {"keras": keras})

    def __call__(self, target: Any, prediction: Any) -> Any:
        return self.loss(target, prediction)


class Metric(tf.Module):
    """The update of a metric, and its result."""

    def __init__(self, name: str) -> None:
        super().__init__()
        made, target, prediction = METRICS[name]
        self.metric = eval(f"keras.metrics.{made}", {"keras": keras})
        self.metric.update_state(target, prediction)

    def __call__(self, target: Any, prediction: Any) -> Any:
        self.metric.update_state(target, prediction)
        return self.metric.result()


class Step(tf.Module):
    """A step of an optimizer for a network of one layer."""

    def __init__(self, name: str) -> None:
        super().__init__()
        keras.utils.set_random_seed(0)
        self.layer = layers.Dense(3)
        self.layer.build((None, 4))
        made = OPTIMIZERS[name]
        self.optimizer = eval(f"keras.optimizers.{made}", {"keras": keras})
        self.optimizer.build(self.layer.trainable_variables)

    def __call__(self, x: Any, target: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.layer(x) - target))
        variables = self.layer.trainable_variables
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        return loss


#: The inputs of a `Step`.
STEP_INPUTS = (INPUTS["rows"], _normal(3, 3))


def verify(source: Any, inputs: Any, target: str, **settings: Any) -> None:
    """The graph of a program agrees with it on a backend: outputs, state and gradients.

    Args:
        source: the program.
        inputs: its arguments.
        target: the backend.
        **settings: of `na.trace_graph`.
    """
    graph = na.trace_graph(source, *inputs, **settings)
    graph.to_backend(target).verify().raise_if_failed()
