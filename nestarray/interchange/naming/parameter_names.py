"""Parsing of parameter names: synonyms between frameworks, and similarity.

A name is split into words at punctuation, capitals and digits. Synonyms are replaced by one word;
generic words, such as ``layer``, have a low weight. Numbers are kept separately, as positions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from nestarray.container.spec import Path

#: One line for each concept: its word, followed by synonyms.
_THINGS = [
    "",
    "weight kernel w table embeddings_table",
    "bias b offset beta",
    "scale gamma g",
    "mean moving_mean average",
    "var variance moving_variance",
    "attention attn mha multiheadattention multiheaddotproductattention selfattention attend",
    "query q wq",
    "key k wk",
    "value v wv val",
    "output out o wo to_out",
    "norm ln bn gn layernorm batchnorm groupnorm rmsnorm normalization layernormalization batchnormalization",
    "dense linear fc lin proj projection",
    "conv convolution",
    "embedding embed embeddings emb embedder wte",
    "position positional pos wpe",
    "token word tok",
    "encoder enc",
    "decoder dec",
    "layer block blk h layers blocks encoderblock decoderblock resnetblock",
    "downsample shortcut skip",
    "head classifier logits cls",
    "feedforward mlp ffn ff",
    "intermediate up wi",
    "hidden ih",
    "recurrent hh",
    "pooler pool",
    "",
]
_MEANING: dict[str, str] = {
    word: words[0] for words in (line.split() for line in _THINGS if line) for word in words
}
#: Generic words, without meaning for the match.
_FILLING = {
    "params", "param", "module", "model", "self", "running", "moving", "layer", "dense", "net",
    "network", "the", "to", "c", "stage", "base", "backbone", "variables", "state", "stats", "init",
}  # fmt: skip
_WEIGHT_OF_FILLING = 0.2
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_DIGITS = re.compile(r"[0-9]+")
#: The 2d of conv2d, which is not a position.
_DIMENSIONS = re.compile(r"(?<=[A-Za-z])[123][dD](?![A-Za-z])")
#: The axis order of a matrix: outputs first (torch), or inputs first (Flax, Haiku, Keras).
_OUTPUTS_FIRST, _INPUTS_FIRST = {"weight"}, {"kernel", "w"}


#: Last keys of the step counters of normalizations: PyTorch, and Haiku's moving averages.
_COUNTERS = ("num_batches_tracked", "counter")


@dataclass(frozen=True)
class Name:
    """A path as words and numbers.

    Attributes:
        words: the words in order, with synonyms replaced.
        numbers: for each word the number after it, or -1.
    """

    words: tuple[str, ...]
    numbers: tuple[int, ...]


@cache
def name_of(path: Path) -> Name:
    """The words and numbers of a path.

    Example:
        >>> name_of(("encoderblock_3", "MlpBlock_0", "Dense", "kernel"))
        Name(words=('layer', 'feedforward', 'layer', 'dense', 'weight'), numbers=(3, -1, 0, -1, -1))
    """
    words: list[str] = [""]
    numbers = [-1]
    for key in path:
        for piece in _pieces(str(key)):
            if not piece.isdigit():
                words.append(piece)
                numbers.append(-1)
            elif numbers[-1] < 0:
                numbers[-1] = int(piece)
            else:  # a second number, as in stages/0/1
                words.append("")
                numbers.append(int(piece))
    start = 1 if numbers[0] < 0 else 0
    return Name(tuple(words[start:]), tuple(numbers[start:]))


def _pieces(key: str) -> list[str]:
    key = _DIMENSIONS.sub("", key)
    whole = re.sub(r"[^a-z]", "", key.lower())
    if whole in _MEANING:  # LayerNorm_0 is one concept, not a layer and a norm
        return [_MEANING[whole], *_DIGITS.findall(key)[-1:]]
    pieces = [str(piece).lower() for piece in _PIECES.findall(key)]
    return [_MEANING.get(piece, piece) for piece in pieces]


@cache
def similarity(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    """The similarity of two lists of words: 1 for the same words, 0 for none in common.

    Example:
        >>> a = name_of(("attention", "self", "query")).words
        >>> round(similarity(a, name_of(("attn", "q")).words), 2)
        0.91
        >>> round(similarity(a, name_of(("attn", "v")).words), 2)
        0.31
    """
    left, right = list(dict.fromkeys(a)), list(dict.fromkeys(b))
    common = [word for word in left if word in right]
    left, right = ([w for w in words if w not in common] for words in (left, right))
    shared = sum(map(_importance, common))
    total = shared + sum(map(_importance, left)) + sum(map(_importance, right))
    for word in left:  # embed matches half of embedder
        match = next((w for w in right if _is_start(word, w)), None)
        if match is not None:
            right.remove(match)
            shared += 0.7 * min(_importance(word), _importance(match))
            total -= min(_importance(word), _importance(match))
    return shared / total if total else 1.0


def _importance(word: str) -> float:
    return _WEIGHT_OF_FILLING if word in _FILLING or not word else 1.0


def _is_start(a: str, b: str) -> bool:
    return min(len(a), len(b)) >= 3 and (a.startswith(b) or b.startswith(a))


def has_outputs_first(path: Path) -> bool | None:
    """Whether the last key implies outputs before inputs; None if it is inconclusive.

    Example:
        >>> has_outputs_first(("fc", "weight")), has_outputs_first(("fc", "kernel"))
        (True, False)
    """
    key = str(path[-1]) if path else ""
    return True if key in _OUTPUTS_FIRST else False if key in _INPUTS_FIRST else None


def is_transposed_by_name(source: Path, target: Path) -> bool | None:
    """Whether the last keys imply swapped axes; None if they are inconclusive.

    Example:
        >>> is_transposed_by_name(("fc", "weight"), ("Dense_0", "kernel"))
        True
    """
    if source[-1:] == target[-1:]:
        return False
    old, new = has_outputs_first(source), has_outputs_first(target)
    return None if old is None or new is None else old != new


_TRANSPOSED = re.compile(r"transpose|deconv|up_?conv", re.IGNORECASE)
_DEPTHWISE = re.compile(r"depth_?wise|(?<![a-z])dw(?![a-z])", re.IGNORECASE)


@cache
def kind_by_name(paths: tuple[Path, Path]) -> str:
    """The kind of a kernel, if the name of its layer tells in one of two libraries; else "".

    Example:
        >>> kind_by_name((("up", "0", "weight"), ("ConvTranspose_0", "kernel")))
        'transposed convolution'
    """
    text = " ".join("/".join(map(str, path)) for path in paths)
    if _TRANSPOSED.search(text):
        return "transposed convolution"
    return "depthwise" if _DEPTHWISE.search(text) else ""


def is_counter(path: Path) -> bool:
    """Whether a path names a counter of batches, which some libraries do not have.

    Example:
        >>> is_counter(("1", "num_batches_tracked"))
        True
    """
    return bool(path) and str(path[-1]).rpartition("/")[2] in _COUNTERS
