"""Modified Bessel functions of the first kind, of the orders 0 and 1, and those scaled by exp(−|x|).

The bodies are Chebyshev series of exp(−x) I(x), on [0, 8] in x and beyond in 8/x, whose
coefficients were computed with 40 digits.
"""

from __future__ import annotations

from nestarray import ops
from nestarray.dispatch import Trait, op
from nestarray.ops.special import _as_result, _working
from nestarray.typing import Array

__all__ = ["i0", "i0e", "i1", "i1e"]
TRAITS = Trait.ELEMENTWISE

# Coefficients of exp(−x) I₀(x) and exp(−x) I₁(x) / x in x/4 − 1; of √x exp(−x) I(x) in 16/x − 1.
_I0_NEAR = (
    0.338397637204738042, -0.304682672343198399, 0.171620901522208775, -0.0949010970480476444,
    0.0493052842396707085, -0.0237374148058994688, 0.0105464603945949983, -0.00432430999505057594,
    0.0016394756169413358, -0.000576375574538582366, 0.000188502885095841656, -0.000057541950100821037,
    0.0000164484480707288971, -4.41673835845875056e-6, 1.11738753912010372e-6, -2.67079385394061173e-7,
    6.04699502254191895e-8, -1.30002500998624804e-8, 2.65982372468238665e-9, -5.18979560163526291e-10,
    9.67580903537323691e-11, -1.72682629144155571e-11, 2.95505266312963983e-12, -4.85644678311192946e-13,
    7.67618549860493562e-14, -1.16853328779934517e-14, 1.71539128555513303e-15, -2.43127984654795469e-16,
    3.3307945188222381e-17, -4.41534164647933938e-18,
)  # fmt: skip
_I0_FAR = (
    0.402245205507054416, 0.00336911647825569409, 0.0000688975834691682398, 2.89137052083475648e-6,
    2.04891858946906374e-7, 2.26666899049817806e-8, 3.39623202570838635e-9, 4.94060238822496959e-10,
    1.18891471078464383e-11, -3.14991652796324136e-11, -1.32158118404477131e-11, -1.79417853150680612e-12,
    7.18012445138366623e-13, 3.8527783827421427e-13, 1.54008621752140983e-14, -4.15056934728722209e-14,
    -9.55484669882830765e-15, 3.81168066935262242e-15, 1.77256013305652638e-15, -3.42548561967721914e-16,
    -2.82762398051658348e-16, 3.461222867697461e-17, 4.46562142029675996e-17, -4.83050448594417829e-18,
    -7.23318048787475975e-18, 9.92147541217367551e-19, 1.19365089084600623e-18,
)  # fmt: skip
_I1_NEAR = (
    0.126293593221816827, -0.176416518357834055, 0.102643658689847095, -0.0529459812080949914,
    0.0247264490306265168, -0.0105640848946261982, 0.00415642294431288816, -0.00151357245063125315,
    0.000512285956168575773, -0.000161760815825896746, 0.0000478156510755005423, -0.0000132731636560394358,
    3.47025130813767848e-6, -8.56872026469545474e-7, 2.00329475355213526e-7, -4.44505912879632808e-8,
    9.38153738649577178e-9, -1.88724975172282929e-9, 3.62559028155211704e-10, -6.66348972350202774e-11,
    1.17361862988909016e-11, -1.98397439776494372e-12, 3.22379336594557471e-13, -5.04218550472791169e-14,
    7.60068429473540693e-15, -1.10559694773538631e-15, 1.55363195773620047e-16, -2.11142121435816608e-17,
    2.77791411276104637e-18,
)  # fmt: skip
_I1_FAR = (
    0.38928811750914006, -0.00976109749136146841, -0.000110588938762623716, -3.88256480887769039e-6,
    -2.51223623787020893e-7, -2.63146884688951951e-8, -3.83538038596423702e-9, -5.58974346219658381e-10,
    -1.89749581235054123e-11, 3.25260358301548824e-11, 1.41258074366137813e-11, 2.03562854414708951e-12,
    -7.19855177624590851e-13, -4.08355111109219732e-13, -2.10154184277266431e-14, 4.27244001671195135e-14,
    1.04202769841288028e-14, -3.8144030724370078e-15, -1.88035477551078245e-15, 3.30820231092092828e-16,
    2.96262899764595013e-16, -3.20952592199342386e-17, -4.65030536848935829e-17, 4.41434832307170414e-18,
    7.51729631084211076e-18, -9.3141788673268624e-19, -1.24219327519491527e-18,
)  # fmt: skip


def chebyshev_series(t: Array, coefficients: tuple[float, ...]) -> Array:
    """Σ cₖ Tₖ(t), by Clenshaw's recurrence."""
    later = last = ops.zeros_like(t)
    for c in coefficients[:0:-1]:
        last, later = 2.0 * t * last - later + c, last
    return t * last - later + coefficients[0]


def _scaled(y: Array, near: tuple[float, ...], far: tuple[float, ...], odd: bool) -> Array:
    """exp(−y) I(y) for y ≥ 0."""
    small = ops.clip(y, 0.0, 8.0)
    close = chebyshev_series(small * 0.25 - 1.0, near)
    large = ops.clip(y, min=8.0)
    distant = chebyshev_series(16.0 / large - 1.0, far) * ops.rsqrt(large)
    return ops.where(y <= 8.0, small * close if odd else close, distant)


def _unscaled(y: Array, scaled: Array) -> Array:
    """I(x) from exp(−y) I(x) and y = |x|; at infinity, where that is 0 · ∞, `y`."""
    finite = ops.where(ops.isfinite(y), y, ops.zeros_like(y))
    # Two factors exp(x / 2), because exp(x) overflows before I(x).
    half = ops.exp(0.5 * finite)
    return ops.where(ops.isfinite(y), scaled * half * half, y)


@op
def i0(x: Array, /) -> Array:
    """The modified Bessel function of the first kind of order 0, 1/π ∫₀^π exp(x cos t) dt.

    Args:
        x: real; integers become float32.

    Returns:
        the shape of `x`, its dtype, float32 for integers; +∞ where it overflows, on PyTorch
        and TensorFlow where exp(|x|) does.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.i0(np.asarray([0.0, 1.0]))
        array([1.        , 1.26606588])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.i0
    """
    wide = _working(x)
    y = ops.abs(wide)
    return _as_result(_unscaled(y, _scaled(y, _I0_NEAR, _I0_FAR, odd=False)), x)


@op
def i0e(x: Array, /) -> Array:
    """exp(−|x|) · I₀(x), which neither overflows nor loses digits.

    Args:
        x: real; integers become float32.

    Returns:
        the shape of `x`, its dtype, float32 for integers; 0 at ±∞.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.i0e(np.asarray([0.0, 1000.0]))
        array([1.        , 0.01261724])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.i0e
    """
    wide = _working(x)
    return _as_result(_scaled(ops.abs(wide), _I0_NEAR, _I0_FAR, odd=False), x)


@op
def i1(x: Array, /) -> Array:
    """The modified Bessel function of the first kind of order 1, the derivative of `i0`.

    Args:
        x: real; integers become float32.

    Returns:
        the shape of `x`, its dtype, float32 for integers; ±∞ where it overflows, on PyTorch
        and TensorFlow where exp(|x|) does.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.i1(np.asarray([0.0, 1.0]))
        array([0.        , 0.5651591])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.i1
    """
    wide = _working(x)
    y = ops.abs(wide)
    magnitude = _unscaled(y, _scaled(y, _I1_NEAR, _I1_FAR, odd=True))
    return _as_result(ops.where(wide < 0.0, -magnitude, magnitude), x)


@op
def i1e(x: Array, /) -> Array:
    """exp(−|x|) · I₁(x), which neither overflows nor loses digits.

    Args:
        x: real; integers become float32.

    Returns:
        the shape of `x`, its dtype, float32 for integers; 0 at ±∞.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.i1e(np.asarray([0.0, 1000.0]))
        array([0.        , 0.01261093])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.i1e
    """
    wide = _working(x)
    magnitude = _scaled(ops.abs(wide), _I1_NEAR, _I1_FAR, odd=True)
    return _as_result(ops.where(wide < 0.0, -magnitude, magnitude), x)
