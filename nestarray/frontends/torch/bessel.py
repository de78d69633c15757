"""Bessel functions and Airy's, by Chebyshev series; torch.special has them without gradients.

Near 0 the series are in x². Far away, oscillating functions are two series times a cosine and a
sine, √(2 / πx) (P cos χ − Q sin χ), and decaying functions are a series times an exponential. The
coefficients were computed with 40 digits.

Upstream: https://docs.pytorch.org/docs/stable/special.html
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch.promotion import floating
from nestarray.ops.bessel import chebyshev_series
from nestarray.typing import Array

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0",
    "modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1", "spherical_bessel_j0",
]  # fmt: skip

# J₀, J₁ / x on [0, 8] in x²/32 − 1; Y without its logarithm and pole, over x for Y₁.
_J0 = (
    0.15772797147489012, -0.00872344235285222129, 0.26517861320333681, -0.370094993872649779,
    0.158067102332097261, -0.0348937694114088852, 0.0048191800694676045, -0.000460626166206275048,
    0.0000324603288210050808, -1.76194690776215075e-6, 7.60816359241878187e-8,
    -2.6792535305576729e-9, 7.84869631447946442e-11, -1.94383468673701657e-12,
    4.12532059563437393e-14, -7.58850812544754634e-16, 1.2218515873961411e-17,
)  # fmt: skip
_J1 = (
    0.0810448463256581151, -0.148975145067652109, 0.160999262357209703, -0.0826804917668179066,
    0.0222136396549660354, -0.00364694060076927596, 0.000405033772835482183,
    -0.0000325555486685725852, 1.98587740499151674e-6, -9.52198475675043618e-8,
    3.68713375909714824e-9, -1.17802662269588484e-10, 3.16015458034800332e-12,
    -7.22175523965177343e-14, 1.42321440035139423e-15, -2.44419729161904639e-17,
    3.69126829979293326e-19,
)  # fmt: skip
_Y0 = (
    -0.0331461132032849417, -0.274474305529745265, 0.179034314077182663, 0.261567346255046637,
    -0.177302012781143582, 0.0471966895957633869, -0.00728796247955207918,
    0.000753113593257774228, -0.0000563207914105698698, 3.20653253765480098e-6,
    -1.44072332740186995e-7, 5.24879478733051612e-9, -1.58375525418120151e-10,
    4.02633081830612075e-12, -8.74734120331076955e-14, 1.6434898714919469e-15,
    -2.69778811525668356e-17, 3.90325841734759827e-19,
)  # fmt: skip
_Y1 = (
    0.00253801323574178173, -0.0160871730476687502, -0.0959120453608307425, 0.0844519725965234584,
    -0.0283281239445943656, 0.00528989754416711301, -0.000641455145132635599,
    0.0000550598287333874384, -3.5380800186893499e-6, 1.77078045561544034e-7,
    -7.11055004989927978e-9, 2.34433790591151639e-10, -6.46515184141159424e-12,
    1.51429151205001995e-13, -3.05118596944732527e-15, 5.34668038572867012e-17,
    -8.22491137202158463e-19,
)  # fmt: skip
# P, and x/8 Q, beyond 8 in 2 (8/x)² − 1.
_P0 = (
    0.999460349347518665, -0.000536522046813211742, 3.07518478751947462e-6,
    -5.1705945376060977e-8, 1.63064646351513831e-9, -7.86409137723707e-11,
    5.16826238734919246e-12, -4.30457886992539122e-13, 4.32659574315494056e-14,
    -5.06903409593523608e-15, 6.7480722157338737e-16, -1.00115137234677858e-16,
    1.63059192337441847e-17, -2.8808661694828712e-18,
)  # fmt: skip
_Q0 = (
    -0.0155558546053370091, 0.000068385199426116496, -7.41449841106064726e-7,
    1.79724572479689918e-8, -7.27191593686631998e-10, 4.22012190466873844e-11,
    -3.20674742099663474e-12, 3.00614512535170631e-13, -3.336328185322427e-14,
    4.25522504024546112e-15, -6.09993013164005001e-16, 9.66212897030325674e-17,
    -1.66860652143781463e-17, 3.10824404867381443e-18, -6.19111578735814493e-19,
    1.30914487172201215e-19, -2.92116271526427736e-20,
)  # fmt: skip
_P1 = (
    1.0009030408600137, 0.000898989833085940856, -3.98728430048890852e-6, 6.17763396064429853e-8,
    -1.87189074910630661e-9, 8.8168986595823389e-11, -5.7048636403956447e-12,
    4.69919551523054238e-13, -4.68422378399048922e-14, 5.45267489604471717e-15,
    -7.22118084227401792e-16, 1.06676891143354125e-16, -1.7312313216116335e-17,
    3.04929911976658723e-18,
)  # fmt: skip
_Q1 = (
    0.0467777870695353252, -0.0000962772354915707932, 9.13861525795545412e-7,
    -2.09597813840834225e-8, 8.22919332765055413e-10, -4.68636368817694523e-11,
    3.51521879496860809e-12, -3.26431567432789993e-13, 3.59677658291652919e-14,
    -4.56125239507729719e-15, 6.50828295778338395e-16, -1.02691475318232429e-16,
    1.76763554877647916e-17, -3.28345198729816146e-18, 6.5240811495892603e-19,
    -1.3765771484849488e-19,
)  # fmt: skip
# K₀ without its logarithm, x K₁ likewise, on [0, 2] in x²/2 − 1; √x eˣ K beyond in 4/x − 1.
_K0_NEAR = (
    0.843397727577222296, 0.787078990859295949, 0.0615257786024407219, 0.00194589461418532832,
    0.0000332479987005976285, 3.55638251662770057e-7, 2.60562074189884976e-9,
    1.38951416319827786e-11, 5.63521466184184671e-14, 1.79662787031360826e-16,
)  # fmt: skip
_K1_NEAR = (
    -0.229283228840510612, -1.45144446392717895, -0.233138133755639413, -0.0112316332278748339,
    -0.000258176026200635486, -3.47192379806981144e-6, -3.06468428334956554e-8,
    -1.91226740027170661e-10, -8.88277929301539821e-13, -3.19155430202488229e-15,
    -9.13466483882320743e-18,
)  # fmt: skip
_K0_FAR = (
    1.22015154103297773, -0.0314481013119645005, 0.00156988388573005337, -0.000128495495816278026,
    0.0000139498137188764994, -1.83175552271911948e-6, 2.76681363944501508e-7,
    -4.66048989768794767e-8, 8.57403401741422609e-9, -1.69753450938906152e-9,
    3.57739728140032845e-10, -7.95748924447739704e-11, 1.85594911495492655e-11,
    -4.51459788337451918e-12, 1.14034058820734423e-12, -2.98009692314817835e-13,
    8.03289077506837437e-14, -2.22751332674629636e-14, 6.34007647627664597e-15,
    -1.84859337792090717e-15, 5.51205599940433336e-16, -1.67823112575490064e-16,
    5.21039177764355411e-17, -1.64758059398426328e-17, 5.30043377117733577e-18,
    -1.73317120058210003e-18,
)  # fmt: skip
_K1_FAR = (
    1.36031309524222133, 0.103923736576817238, -0.00285781685962277939, 0.000195215518471351631,
    -0.0000193619797416608296, 2.40648494783721712e-6, -3.50196060308781254e-7,
    5.74108412545004929e-8, -1.0345762465678097e-8, 2.01504975519703462e-9,
    -4.19035475934192558e-10, 9.21831518760531413e-11, -2.12996783842779102e-11,
    5.13963967348234354e-12, -1.28917396094982294e-12, 3.34841966605224312e-13,
    -8.97670518201014607e-14, 2.47715442421959868e-14, -7.01983708921476885e-15,
    2.03870316623986088e-15, -6.05704727064301782e-16, 1.83809357524304543e-16,
    -5.68946284919364837e-17, 1.79405104788635729e-17, -5.75674448207330245e-18,
    1.87786519016232674e-18,
)  # fmt: skip
# Ai on [−4, 2.5]; factor of the exponential above in 2 (2.5/x)^(3/2) − 1; P and Q below in 2 (4/x)³ − 1.
_AIRY_NEAR = (
    0.0503826025314292513, 0.155380858854338127, -0.258366478786654148, -0.0448445172192050502,
    0.204049314002693621, -0.095879532759093145, -0.0159389786471281041, 0.0302043476884652024,
    -0.00911248984795211125, -0.00152316419140047762, 0.0017942831185675566,
    -0.000398004015825245697, -0.0000692044997178217171, 0.0000577218566905097962,
    -9.9839639802314581e-6, -1.83542877260315582e-6, 1.16484732465626727e-6,
    -1.62335902053691684e-7, -3.18511349102468832e-8, 1.61192574572625747e-8,
    -1.84666513623997264e-9, -3.89402113156623875e-10, 1.62432962253634005e-10,
    -1.54902774352162253e-11, -3.53290628155503766e-12, 1.24486208607866142e-12,
    -9.95502042589200192e-14, -2.47218346560743186e-14, 7.49852563100989542e-15,
    -5.04506562713467417e-16, -1.3745872628951991e-16, 3.64288093290809546e-17,
    -2.06149630271893899e-18, -6.21847191441981314e-19,
)  # fmt: skip
_AIRY_FAR = (
    0.27881738894725118, -0.00314778249042121184, 0.000120815184346954772,
    -7.99658779038403452e-6, 7.17708619741386568e-7, -7.9013407282213808e-8,
    1.01095390931752107e-8, -1.45418195102949686e-9, 2.29985523582338347e-10,
    -3.93648849997124474e-11, 7.20685261860135169e-12, -1.39860796758475626e-12,
    2.85675743507894761e-13, -6.10646992780480437e-14, 1.35958169061987896e-14,
    -3.14063718443164118e-15, 7.5022534049585106e-16, -1.84799672339925801e-16,
    4.68262046361963854e-17, -1.21796650822081362e-17, 3.2458922808213954e-18,
    -8.84857778405750066e-19,
)  # fmt: skip
_AIRY_P = (
    0.999370889074277834, -0.00062168365843741161, 7.18119377436864486e-6,
    -2.31626981350175815e-7, 1.32162838885287557e-8, -1.09387361727581263e-9,
    1.17946207379085343e-10, -1.55188419099298557e-11, 2.38692741149246599e-12,
    -4.16552889201034997e-13, 8.0716781107414668e-14, -1.70875732111056695e-14,
    3.90294514854081473e-15, -9.52397678490706461e-16, 2.46328108857526029e-16,
    -6.70907746346485779e-17, 1.91393968371870712e-17, -5.69308436211376999e-18,
    1.75895281622296004e-18,
)  # fmt: skip
_AIRY_Q = (
    0.0129040697930775017, -0.000114171597015613012, 2.4701533151418698e-6,
    -1.12763848367030586e-7, 8.11413251680968616e-9, -7.96449699929011027e-10,
    9.81053508156467567e-11, -1.43855455783406697e-11, 2.42321427238100836e-12,
    -4.57224329457804368e-13, 9.48571357101015796e-14, -2.13347133604806151e-14,
    5.14525824531042319e-15, -1.31896539611860866e-15, 3.56852144384979669e-16,
    -1.01307010151424514e-16, 3.00313331748473123e-17, -9.25786395066151252e-18,
    2.95751921208396606e-18, -9.76149296594710876e-19, 3.32002274013753084e-19,
    -1.16093805389686401e-19, 4.16529978414508027e-20, -1.5306603799082378e-20,
)  # fmt: skip


def bessel_j0(input: Array) -> Array:
    """J₀(x), the Bessel function of the first kind of order 0."""
    x = floating(input)
    return _finite(x, _of_first_kind(na.abs(x), 0))


def bessel_j1(input: Array) -> Array:
    """J₁(x), the Bessel function of the first kind of order 1."""
    x = floating(input)
    value = _of_first_kind(na.abs(x), 1)
    return _finite(x, na.where(na.less(x, 0.0), na.negative(value), value))


def bessel_y0(input: Array) -> Array:
    """Y₀(x), the Bessel function of the second kind of order 0; NaN below 0, −∞ at 0."""
    return _of_second_kind(floating(input), 0)


def bessel_y1(input: Array) -> Array:
    """Y₁(x), the Bessel function of the second kind of order 1; NaN below 0, −∞ at 0."""
    return _of_second_kind(floating(input), 1)


def modified_bessel_i0(input: Array) -> Array:
    """I₀(x), the modified Bessel function of the first kind of order 0."""
    return na.i0(floating(input))


def modified_bessel_i1(input: Array) -> Array:
    """I₁(x), the modified Bessel function of the first kind of order 1."""
    return na.i1(floating(input))


def modified_bessel_k0(input: Array) -> Array:
    """K₀(x), the modified Bessel function of the second kind of order 0; NaN below 0."""
    return _decaying(floating(input), 0, is_scaled=False)


def modified_bessel_k1(input: Array) -> Array:
    """K₁(x), the modified Bessel function of the second kind of order 1; NaN below 0."""
    return _decaying(floating(input), 1, is_scaled=False)


def scaled_modified_bessel_k0(input: Array) -> Array:
    """eˣ K₀(x)."""
    return _decaying(floating(input), 0, is_scaled=True)


def scaled_modified_bessel_k1(input: Array) -> Array:
    """eˣ K₁(x)."""
    return _decaying(floating(input), 1, is_scaled=True)


def spherical_bessel_j0(input: Array) -> Array:
    """sin x / x, 1 at 0 and 0 at ±∞."""
    x = floating(input)
    return _finite(x, na.sinc(na.divide(_where_finite(x), math.pi)))


def airy_ai(x: Array) -> Array:
    """Ai(x), Airy's function that decays for large x."""
    wide = _working(floating(x))
    near = chebyshev_series((na.clip(wide, -4.0, 2.5) + 0.75) / 3.25, _AIRY_NEAR)
    large = na.clip(_where_finite(wide), min=2.5)
    root = na.sqrt(large)
    decay = na.exp(large * root * (-2.0 / 3.0)) / na.sqrt(root)
    above = decay * chebyshev_series(7.905694150420949 / (large * root) - 1.0, _AIRY_FAR)
    deep = -na.clip(_where_finite(wide), max=-4.0)
    root = na.sqrt(deep)
    cube = 64.0 / (deep * deep * deep)
    angle = deep * root * (2.0 / 3.0) + math.pi / 4.0
    below = (
        chebyshev_series(2.0 * cube - 1.0, _AIRY_P) * na.sin(angle)
        - 8.0 / (deep * root) * chebyshev_series(2.0 * cube - 1.0, _AIRY_Q) * na.cos(angle)
    ) / (na.sqrt(root) * math.sqrt(math.pi))
    value = na.where(wide > 2.5, above, na.where(wide < -4.0, below, near))
    value = na.where(na.isinf(wide), na.full_like(wide, math.nan), value)
    return na.astype(value, dtypes.dtype_of(floating(x)), copy=False)


# -- parts ---------------------------------------------------------------------------------


def _working(x: Array) -> Array:
    """`x` in the dtype to compute in: half precision loses digits in series."""
    return x if dtypes.dtype_of(x) is dtypes.float64 else na.astype(x, dtypes.float32, copy=False)


def _where_finite(x: Array) -> Array:
    return na.where(na.isfinite(x), x, na.ones_like(x))


def _finite(x: Array, value: Array) -> Array:
    """`value` in the dtype of `x`, 0 at ±∞ and NaN at NaN."""
    value = na.astype(value, dtypes.dtype_of(x), copy=False)
    value = na.where(na.isinf(x), na.zeros_like(x), value)
    return na.where(na.isnan(x), x, value)


def _waves(y: Array, order: int) -> tuple[Array, Array]:
    """J and Y for y ≥ 8, from the factors P and Q of cosine and sine."""
    large = na.clip(_where_finite(y), min=8.0)
    inverse = 8.0 / large
    square = 2.0 * inverse * inverse - 1.0
    P = chebyshev_series(square, (_P0, _P1)[order])
    Q = chebyshev_series(square, (_Q0, _Q1)[order]) * inverse
    # the phase is x − π/4 − order · π/2, and a sum of angles keeps the digits of x
    turned = large - math.pi * (2 * order + 1) / 4.0
    c, s = na.cos(turned), na.sin(turned)
    scale = na.sqrt((2.0 / math.pi) / large)
    return scale * (P * c - Q * s), scale * (P * s + Q * c)


def _near(y: Array, order: int) -> tuple[Array, Array]:
    """y limited to [0, 8], and J of it."""
    small = na.clip(y, 0.0, 8.0)
    series = chebyshev_series(small * small / 32.0 - 1.0, (_J0, _J1)[order])
    return small, series * small if order else series


def _of_first_kind(x: Array, order: int) -> Array:
    y = _working(x)
    return na.where(y <= 8.0, _near(y, order)[1], _waves(y, order)[0])


def _of_second_kind(x: Array, order: int) -> Array:
    y = _working(x)
    positive = na.where(na.greater(y, 0.0), y, na.ones_like(y))
    small, first = _near(positive, order)
    series = chebyshev_series(small * small / 32.0 - 1.0, (_Y0, _Y1)[order])
    logarithm = na.log(small) * first
    if order:
        near = small * series + (2.0 / math.pi) * (logarithm - 1.0 / small)
    else:
        near = series + (2.0 / math.pi) * logarithm
    value = na.where(positive <= 8.0, near, _waves(positive, order)[1])
    return _above_zero(x, value, -math.inf)


def _decaying(x: Array, order: int, *, is_scaled: bool) -> Array:
    y = _working(x)
    positive = na.where(na.greater(y, 0.0), y, na.ones_like(y))
    small = na.clip(positive, max=2.0)
    series = chebyshev_series(small * small / 2.0 - 1.0, (_K0_NEAR, _K1_NEAR)[order])
    if order:
        near = na.log(small) * na.i1(small) + series / small
    else:
        near = series - na.log(small) * na.i0(small)
    large = na.clip(_where_finite(positive), min=2.0)
    far = chebyshev_series(4.0 / large - 1.0, (_K0_FAR, _K1_FAR)[order]) * na.rsqrt(large)
    if is_scaled:
        near = near * na.exp(small)
    else:
        far = far * na.exp(-large)
    value = na.where(positive <= 2.0, near, far)
    return _above_zero(x, value, math.inf)


def _above_zero(x: Array, value: Array, at_zero: float) -> Array:
    """`value` for x > 0, `at_zero` at 0, NaN elsewhere."""
    below = na.where(na.equal(x, 0.0), na.full_like(x, at_zero), na.full_like(x, math.nan))
    return na.where(na.greater(x, 0.0), _finite(x, value), below)
