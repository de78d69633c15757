"""Text generation with a decoder and its cache, on every backend.

`generate` calls a function that reads tokens and returns logits and the new cache. It is written on
`na.while_loop`, so it runs inside of `na.jit`. `top_k` and `top_p` are the filters of logits that
it samples from; `token_by_token` makes a prompt readable for a decoder of single tokens.
"""

from nestarray.decoding.filters import top_k, top_p
from nestarray.decoding.generation import generate, token_by_token

__all__ = ["generate", "token_by_token", "top_k", "top_p"]
