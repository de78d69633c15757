"""Products of factors at repeated positions, in multiplications.

Frameworks divide a product by a factor to differentiate it, which is wrong at zeros.
"""

from __future__ import annotations

from typing import Any


def products_at(xp: Any, x: Any, places: Any, factors: Any) -> Any:
    """The elements of a vector, times the factors at their places.

    Sorted by place, the factors of an element are neighbours; each step doubles the number of
    factors that the last of them contains.

    Args:
        xp: a namespace with the names of the ops.
        x: `(n,)`
        places: `(m,)`, integers from 0; n and later belong to no element.
        factors: `(m,)`
    """
    (n,), (m,) = x.shape, factors.shape
    elements = xp.astype(xp.arange(n, like=places), places.dtype)
    at = xp.concat([elements, places])
    order = xp.argsort(at, stable=True)
    at = xp.take(at, order)
    products = xp.take(xp.concat([x, factors]), order)
    reach = 1
    while reach <= m:
        is_same = xp.equal(at[reach:], at[:-reach])
        earlier = xp.where(is_same, products[:-reach], 1.0)
        products = xp.concat([products[:reach], xp.multiply(products[reach:], earlier)])
        reach *= 2
    return xp.take(products, xp.searchsorted(at, elements, side="right") - 1)
