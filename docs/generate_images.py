"""Write the pictures of docs/images/ again: diagrams of models, and HTML in notebooks.

usage: python docs/generate_images.py    needs Chromium, transformers and Pillow
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from PIL import Image

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import nestarray as na  # noqa: E402
from tests.browser import Browser  # noqa: E402

IMAGES = ROOT / "docs" / "images"


def resnet() -> na.Graph:
    from transformers import ResNetConfig, ResNetModel

    config = ResNetConfig(
        embedding_size=64, hidden_sizes=[64, 128, 256, 512], depths=[2, 2, 2, 2], layer_type="basic"
    )
    return na.trace_graph(ResNetModel(config).eval(), torch.ones(1, 3, 224, 224))


def transformer() -> na.Graph:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        n_embd=256, n_head=8, n_layer=6, vocab_size=1000, n_positions=64, use_cache=False,
        bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    ids = torch.arange(32).reshape(1, 32)
    return na.trace_graph(GPT2LMHeadModel(config).eval(), ids).optimize()


def with_a_bug(graph: na.Graph) -> na.Graph:
    """The graph with another epsilon in one normalization."""
    (node,) = [node for node in graph.calls if node.module == "transformer.h.1.ln_2"]
    node.kwargs = {**node.kwargs, "eps": 1e-2}
    return graph


def save(browser: Browser, name: str) -> None:
    """Write the window as a PNG file with few colors."""
    with tempfile.TemporaryDirectory() as folder:
        browser.picture(Path(folder) / "window.png")
        picture = Image.open(io.BytesIO((Path(folder) / "window.png").read_bytes()))
    few = picture.convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE)
    few.save(IMAGES / f"{name}.png", optimize=True)


def search(browser: Browser, text: str) -> None:
    browser.click_on("#search")
    browser.type(text)
    browser.key("Enter")
    browser.key("Escape")


def attention(browser: Browser) -> None:
    browser.run("setOpen(groups.find(g => g.path === 'transformer.h.0.attn'), true)")
    search(browser, "scaled_dot_product_attention")
    browser.run("search.value = ''; find()")


def shortcut(browser: Browser) -> None:
    search(browser, "stages.1.layers.0.shortcut conv2d")
    browser.run("search.value = ''; find()")


def difference(browser: Browser) -> None:
    browser.click_on("#difference")


def main() -> None:
    torch.manual_seed(0)
    net, model = resnet(), transformer()
    wrong = with_a_bug(transformer().to_backend("jax"))
    report = wrong.verify(nodes=True, gradients=False)
    pictures: list[tuple[str, na.Graph, Any, str, Callable[[Browser], None]]] = [
        ("diagram_transformer", model, None, "light", attention),
        ("diagram_resnet", net, None, "dark", shortcut),
        ("diagram_verify", wrong, report, "light", difference),
    ]
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder) / "profile") as browser:
        browser.resize(1280, 800)
        for name, graph, found, theme, prepare in pictures:
            browser.theme(theme)
            page = graph.show(Path(folder) / f"{name}.html", report=found, open=False)
            browser.open(page.path)
            prepare(browser)
            browser.run("document.activeElement.blur()")
            browser.frame()
            save(browser, name)
        browser.theme("light")
        browser.resize(900, 760)
        page = Path(folder) / "notebook.html"
        page.write_text(
            '<!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
            f"<body>{model.v.select('transformer/h/0/**')._repr_html_()}<br>{model._repr_html_()}</body>"
        )
        browser.open(page)
        save(browser, "notebook")
        assert browser.messages == [], browser.messages


if __name__ == "__main__":
    main()
