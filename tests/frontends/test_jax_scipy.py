"""The functions of `jax.scipy`, `jax.ops` and `jax.random` against JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.scipy
import jax.scipy.cluster.vq
import jax.scipy.integrate
import jax.scipy.interpolate
import jax.scipy.optimize
import jax.scipy.signal
import jax.scipy.sparse.linalg
import jax.scipy.stats
import numpy as np
import pytest

import nestarray as na
import nestarray.frontends.jax as frontend
from nestarray import backends
from tests.arrays import host, on
from tests.frontends import jax_expressions as expressions
from tools.releases.jax import SPACES as SPACES_OF_JAX

ROWS = {
    "special": """hyp1f1(p, p + 1, x); hyp1f1(p * 3, 2.0, x * 3); hyp1f1(p, p, x); hyp1f1(0.0 * p, p, x); hyp1f1(p, 0.0, x); hyp1f1(p[0] + 20, p[1], -0.5); hyp1f1(p, p + 2, p + 100); hyp2f1(p, p * 2, p + 1, p * 0.8); hyp2f1(p, 1.0, 2.0, x / 3); hyp2f1(i, p, j, p); hyp2f1(p - p + 2, 1.5, p + 0.5, p * 0.8); hyp2f1(p, 1.0 - p, 2.0, 0.95); hyp2f1(p, 1.5 - p, 3.5, 0.95); hyp2f1(p + 2, p - p + 3, p + 3, 0.95); hyp2f1(p, 2.0, p, p); hyp2f1(2.0, p, p, p); hyp2f1(p, 0.5, p + 1, 1.0); hyp2f1(p, 0.5, 1.5, 1.5); hyp2f1(p, 0.5, -2.0, p)
        bernoulli(12); bernoulli(1); bessel_jn(p * 5, v=3); bessel_jn(v, v=2, n_iter=30); dawsn(x); dawsn(x * 5); exp1(p); exp1(p * 9); exp1(e[:2]); expi(p); expi(x * 5); expi(p * 60); expn(1, p); expn(j, p * 3); expn(3.0, p); expn(i, p); expn(j // 4, 0.0 * p); fresnel(x); fresnel(x * 4); owens_t(x, y); owens_t(x, y * 5); owens_t(x, p); sici(p); sici(x * 7); spence(p); spence(p * 9)
        sph_harm_y(k, k // 2, ties, ties * 2); sph_harm_y(k, -k, ties, ties * 2, n_max=6); wofz(c); wofz(cv * 3); wofz(x)
        betainc(p, p + 1, p); beta(p, p + 1); beta(-p, p * 3); betaln(p, 2.0); boxcox(p, y); boxcox(p, 0.0); boxcox1p(p, y); comb(i, j - 1); comb(j + 1, 2.0, repetition=True)
        digamma(p); entr(p); erf(x); erfc(x); erfcinv(p); erfcinv(p * 2e-6); erfcinv(i); erfcx(x); erfinv(p); expit(x); factorial(j); factorial(p); gamma(p); gamma(x); gammainc(p, p * 2); gammaincc(p, p * 2); gammaln(p); gammaln(x); gammasgn(x); gammasgn(e)
        i0(x); i0e(x); i1(x); i1e(x); kl_div(p, p * p); kl_div(i, j); rel_entr(p, p * p); rel_entr(i, j); log_ndtr(x * 5); log_softmax(x); log_softmax(x, axis=0); loggamma(p); logit(p); logsumexp(x); logsumexp(x, 0, b=y, return_sign=True)
        multigammaln(p + 2, 3); ndtr(x); ndtri(p); poch(p, 2.0); poch(p, p * 3); polygamma(2, p); polygamma(k[:3], p); softmax(x); softmax(x, axis=0); xlog1py(x, p); xlogy(x, p); xlogy(i - i, p); zeta(p + 2, p)""",
    "linalg": """schur(m); schur(t[:, :, :3]); schur(m, 'complex'); schur(cm); rsf2csf(*schur(t[:, :, :3])); rsf2csf(*schur(a)); funm(m, lambda s: s * s + 1j); funm(t[0][:, :3], lambda s: s * s * s, False); funm(hilbert(2), lambda s: s * 2)
        block_diag(x, m, v); cho_factor(a)[0]; cho_solve(cho_factor(a), z); cho_solve(cho_factor(a, True), m); cholesky(a); cholesky(a, lower=True); cholesky(m * 3); circulant(v); companion(v); companion(t); convolution_matrix(v, 3)
        convolution_matrix(z, 5, 'same'); convolution_matrix(v, 2, 'valid'); det(m); dft(4); dft(3, 'sqrtn'); eigh(a)[0]; eigh(m, lower=False, eigvals_only=True); expm(m); expm(a / 10); fiedler(v); fiedler(x); hadamard(4); hankel(v); hankel(v, z)
        hilbert(3); inv(m); leslie(v, z); lu(m); lu(m, permute_l=True); lu_factor(m); lu_factor(a); lu_solve(lu_factor(m), z); lu_solve(lu_factor(m), m, 1); lu_solve(lu_factor(cm), c[0], 2); polar(m); polar(x, 'left'); qr(m, mode='r')[0] ** 2
        qr(tall, mode='economic')[1] ** 2; qr(m)[1] ** 2; solve(m, z); solve(a, z, assume_a='pos'); solve_triangular(m, z); solve_triangular(m, m, 'T', lower=True); solve_triangular(cm, c[0], 2, unit_diagonal=True); sqrtm(a)
        eigh_tridiagonal(z, v[:2], eigvals_only=True); eigh_tridiagonal(z, v[:2], eigvals_only=True, select='i', select_range=(1, 2)); expm_frechet(m / 3, a / 9); expm_frechet(m / 3, a / 9, compute_expm=False); fiedler_companion(v); fiedler_companion(ties); fiedler_companion(z[:2]); helmert(4); helmert(3, full=True)
        hessenberg(m); hessenberg(m, calc_q=True); hessenberg(cm, calc_q=True); invhilbert(4); invpascal(4); invpascal(3, 'lower'); pascal(4); pascal(3, 'upper'); qr_multiply(m, a)[0] ** 2; qr_multiply(tall, x[:, :2], 'left')[1] ** 2; qr_multiply(tall, z)[0] ** 2; solve_sylvester(m, a, m); solve_sylvester(a, m[:2, :2] + 5, tall)
        svd(x, compute_uv=False); svd(x)[1]; toeplitz(v); toeplitz(v, z); toeplitz(x)""",
    "sparse.linalg": """cg(a, z); cg(a, z, z * 0.5, tol=1e-6, M=lambda v: v * 0.5); cg(a, z, maxiter=2); cg(lambda v: (2.0 * v[0], 3.0 * v[1]), (x, z))[0]; bicgstab(m, z); bicgstab(m, z, z, atol=1e-3, M=lambda v: v * 0.5); bicgstab(cm, c[0]); gmres(m, z); gmres(cm, c[0], restart=2, tol=1e-6)
        gmres(m, z, restart=1, M=lambda v: v * 0.5, solve_method='incremental'); gmres(a, z * 0)""",
    "integrate": "trapezoid(x); trapezoid(x, y, axis=0); trapezoid(i, dx=0.5)",
    "cluster.vq": "vq(x, m); vq(v, z); vq(i, j)",
    "interpolate": """RegularGridInterpolator((k[1:4], k[1:3]), tall)(tall * 2); RegularGridInterpolator((k[1:4], k[1:3]), tall, 'nearest')((p[:, 0] * 2, p[:, 1] + 2.0)); RegularGridInterpolator((k[1:4],), tall, fill_value=None)(v[:, None]); RegularGridInterpolator((k[1:4],), z, fill_value=5.0)(v[:, None])""",
    "signal": """convolve(v, z); convolve(v, z, 'same'); convolve(z, v, 'valid'); convolve(x, p, mode='same', method='fft'); convolve(cv, z); convolve(k, l); convolve(t, t[:1, :2, :2]); correlate(v, z); correlate(v, z, 'same'); correlate(v, l, 'same'); correlate(x, m[:2, :2], 'same'); convolve(v, l, 'same'); istft(stft(t, nperseg=2, axis=1)[2], nperseg=2, freq_axis=1); correlate(z, v, 'valid'); correlate(v, z, 'valid'); correlate(cv, c[0], 'full'); correlate(c, c[:, :2], 'same', method='fft')
        correlate(c[0], cv, 'valid'); convolve2d(m, x, 'same'); convolve2d(m, tall); correlate2d(m, x, 'same'); correlate2d(a, x[:, :2], 'valid'); correlate2d(x[:, :2], a, 'valid'); fftconvolve(x, y); fftconvolve(t, t, 'same', axes=(1, 2)); fftconvolve(c, x, 'valid'); fftconvolve(x[:, :2], m, 'valid')
        detrend(x); detrend(t, 1); detrend(x, type='constant'); detrend(ties, bp=[2]); detrend(ties, bp=2); stft(v, nperseg=2); stft(ties, 2.0, 'hamming', 4, 3, 6); stft(cv, nperseg=2, return_onesided=False); stft(t, nperseg=3, boundary='even', axis=1); stft(ties, nperseg=3, boundary='odd', padded=False); stft(ties, nperseg=3, boundary=None, detrend='linear')
        stft(ties, nperseg=3, boundary='constant', return_onesided=False); stft(ties, window=p[0], nperseg=3); istft(stft(ties, nperseg=4)[2]); istft(stft(ties, 2.0, nperseg=4, noverlap=3)[2], 2.0, noverlap=3); istft(stft(t, nperseg=2)[2], nperseg=2); istft(stft(cv, nperseg=2, return_onesided=False)[2], nperseg=2, input_onesided=False)
        csd(v, w, nperseg=2); csd(x, y, 2.0, nperseg=3, scaling='spectrum'); csd(cv, w, nperseg=2, return_onesided=False, average='median'); csd(ties, v, nperseg=3); welch(v); welch(ties, nperseg=2, noverlap=1, nfft=5, average='median'); welch(t, nperseg=2, axis=0, window='boxcar', detrend=False); welch(cv, nperseg=3, return_onesided=False, scaling='spectrum')""",
    "fft": "dct(v); dct(x, axis=0, norm='ortho'); dct(v, n=6); idct(v); idct(x, norm='ortho'); dctn(x); dctn(t, axes=(0, 2), norm='ortho'); idctn(x); idctn(t, s=(3, 2), axes=(0, 1))",
    "ndimage": """map_coordinates(m, [p[0] * 2, p[1] * 2], 1); map_coordinates(m, [x[0], y[1]], 1, 'nearest'); map_coordinates(m, [x[0] * 3, y[1] * 3], 1, mode='constant', cval=2.0)
        map_coordinates(m, [x[0] * 3, y[1] * 3], 1, mode='wrap'); map_coordinates(m, [x[0] * 3, y[1] * 3], 1, mode='mirror'); map_coordinates(m, [x[0] * 3, y[1] * 3], 1, mode='reflect'); map_coordinates(m, [p[0], p[1] * 2], 0); map_coordinates(i, [p[0], p[1]], 1)""",
    "stats": """bernoulli.cdf(x, p); bernoulli.logpmf(i, 0.3); bernoulli.pmf(b * 1, p); bernoulli.ppf(q, 0.4); beta.cdf(p, 2.0, 3.0); beta.logcdf(p, 2.0, 1.5); beta.logpdf(p, p + 1, p * 2); beta.logpdf(x, 2.0, 3.0); beta.logsf(p, 2.0, 1.5, scale=2.0); beta.pdf(p, 0.5, p); beta.sf(p, 2.0, 3.0, -0.5, 2.0)
        expon.cdf(x); expon.cdf(p, 0.0, p); expon.logcdf(p); expon.logpdf(x, 0.1, p); expon.logsf(x, 0.2); expon.pdf(p); expon.ppf(q, 1.0, 2.0); expon.ppf(v); expon.sf(x); gamma.cdf(p, 2.0); gamma.logcdf(p, p + 1); gamma.logpdf(x, 2.0); gamma.logpdf(p, p, 0.05, 2.0)
        gamma.logsf(p, 1.5, scale=2.0); gamma.pdf(p, 0.7); gamma.sf(x, 2.0); laplace.cdf(x); laplace.cdf(x, y, p); laplace.logpdf(x, y, p); laplace.pdf(x); multivariate_normal.logpdf(x, z, a); multivariate_normal.logpdf(z, z + 1, 2.0); multivariate_normal.pdf(x[0], z, a); multivariate_normal.logpdf(x, 0.5, 2.0)
        norm.cdf(x); norm.isf(p); norm.logcdf(x * 5, y, p); norm.logpdf(x); norm.logpdf(x, y, p); norm.logpdf(i, 1); norm.logsf(x * 5); norm.pdf(x, y, p); norm.ppf(p, y, 2.0); norm.sf(x, y, p)
        poisson.cdf(j, 2.5); poisson.logpmf(i, p * 3); poisson.logpmf(x, 2.0); poisson.pmf(j, p * 3); t.logpdf(x, 3.0); t.logpdf(x, p * 5, y, p); t.pdf(x, 2.0); uniform.cdf(x, -0.5, 1.2); uniform.logpdf(x); uniform.logpdf(p, 0.05, 2.0); uniform.pdf(x); uniform.ppf(v, 1.0, 2.0)
        betabinom.logpmf(i, 5.0, p, p + 1); betabinom.pmf(j, j + 1, 2.0, 0.5, 1); binom.logpmf(i, 5, p); binom.pmf(j, j + 2, p, 1); cauchy.cdf(x, y, p); cauchy.isf(p, y, 2.0); cauchy.logcdf(x); cauchy.logpdf(x, y, p); cauchy.logsf(x, 0.5); cauchy.pdf(x); cauchy.ppf(p, 1.0); cauchy.sf(x, y, p)
        chi2.cdf(p * 3, 2.5); chi2.logcdf(p, p + 1); chi2.logpdf(p * 3, p + 2, 0.1, 2.0); chi2.logpdf(x - 3, 2.0); chi2.logsf(p, 3.0); chi2.pdf(p, 2.0); chi2.sf(p * 4, p + 1); dirichlet.logpdf(p / (p[0] + p[1]), q[:2]); dirichlet.logpdf(q[:2] / 3, z * z); dirichlet.pdf(z, z * z)
        gennorm.cdf(x, p + 1); gennorm.logpdf(x, p + 1); gennorm.pdf(x, 2.0); geom.logpmf(j, p); geom.pmf(i, 0.3, -1); gumbel_l.cdf(x); gumbel_l.logcdf(x, y, p); gumbel_l.logpdf(x, y, p); gumbel_l.logpdf(x, y, -p); gumbel_l.logsf(x, y); gumbel_l.pdf(x); gumbel_l.ppf(p, y, 2.0); gumbel_l.ppf(v); gumbel_l.sf(x, y, p)
        gumbel_r.cdf(x); gumbel_r.logcdf(x, y, p); gumbel_r.logpdf(x, y, p); gumbel_r.logsf(x, y, p + 1); gumbel_r.pdf(x); gumbel_r.ppf(p, y, 2.0); gumbel_r.sf(x, y, p); logistic.cdf(x, y, p); logistic.isf(p, y, 2.0); logistic.logpdf(x, y, p); logistic.pdf(x); logistic.ppf(p); logistic.sf(x, y, p)
        multinomial.logpmf(k, 10, ties / 10); multinomial.pmf(k, 9, ties / 10); nbinom.logpmf(i, 5, p); nbinom.pmf(j, 2.5, p, 1); pareto.cdf(p + 1, p + 1); pareto.logcdf(p + 1, 2.0); pareto.logpdf(p + 1, 2.0, 0.5, p); pareto.logpdf(x, 2.0); pareto.logsf(p + 1, p); pareto.pdf(p + 1, 2.0); pareto.ppf(p, 2.0, y, p); pareto.ppf(v, 2.0); pareto.sf(p + 1, p)
        poisson.entropy(p * 20); poisson.entropy(j * 40); truncnorm.cdf(x, -1.0, 2.0); truncnorm.logcdf(x, -p, p * 3); truncnorm.logpdf(x, -1.0, p); truncnorm.logpdf(x, 1.0, 2.0, -1.0, 0.5); truncnorm.logsf(x, -2.0, p); truncnorm.pdf(x, -1.0, 1.0, y, 2.0); truncnorm.sf(x, -2.0, -p); vonmises.logpdf(x, p); vonmises.logpdf(x, y); vonmises.pdf(x, 2.0); wrapcauchy.logpdf(p * 6, p); wrapcauchy.logpdf(x, y); wrapcauchy.pdf(p, 0.5)
        mode(i); mode(k); mode(ties, keepdims=True); mode(i % 2, axis=None); mode(i % 2, 1, keepdims=True); mode(n, None); rankdata(ties); rankdata(k, 'min'); rankdata(ties, 'max'); rankdata(ties, 'dense'); rankdata(ties, 'ordinal'); rankdata(x, axis=1); rankdata(n)
        sem(x); sem(x, None, 0); sem(n, nan_policy='omit'); sem(i, 1, keepdims=True)
        gaussian_kde(x).evaluate(y[:, :2]); gaussian_kde(x, 'silverman').logpdf(y); gaussian_kde(v, 0.5)(w); gaussian_kde(v, lambda kde: 0.7, q).pdf(w); gaussian_kde(v).integrate_box_1d(-1.0, 0.5); gaussian_kde(v).integrate_gaussian(w[:1], w[1:2] ** 2); gaussian_kde(v).integrate_kde(gaussian_kde(w)); gaussian_kde(x).integrate_gaussian(p[:, 0], a[:2, :2])""",
    "ops": """segment_sum(t, k[:2]); segment_sum(ties, k, 4); segment_sum(ties, k, num_segments=8); segment_prod(ties, k, 6); segment_max(ties, k, 6); segment_min(ties, k, 6); segment_max(k, k, 6); segment_min(k, k, 7); segment_sum(k, k - 3, 5)
        segment_sum(ties, k, 4, mode='clip')""",
}  # fmt: skip
SPACES = {
    "special": (jax.scipy.special, frontend.scipy.special),
    "linalg": (jax.scipy.linalg, frontend.scipy.linalg),
    "sparse.linalg": (jax.scipy.sparse.linalg, frontend.scipy.sparse.linalg),
    "integrate": (jax.scipy.integrate, frontend.scipy.integrate),
    "cluster.vq": (jax.scipy.cluster.vq, frontend.scipy.cluster.vq),
    "interpolate": (jax.scipy.interpolate, frontend.scipy.interpolate),
    "signal": (jax.scipy.signal, frontend.scipy.signal),
    "fft": (jax.scipy.fft, frontend.scipy.fft),
    "ndimage": (jax.scipy.ndimage, frontend.scipy.ndimage),
    "stats": (jax.scipy.stats, frontend.scipy.stats),
    "ops": (jax.ops, frontend.ops),
}
EXPRESSIONS = [
    (space, row.strip())
    for space, rows in ROWS.items()
    for row in rows.replace("\n", ";").split(";")
]
#: Expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    **dict.fromkeys(
        ["betainc(p, p + 1, p)", "xlogy(i - i, p)", "polar(m)", "polar(x, 'left')", "sqrtm(a)", "svd(x)[1]",
         "hessenberg(m)", "hessenberg(m, calc_q=True)", "solve_sylvester(m, a, m)",
         "solve_sylvester(a, m[:2, :2] + 5, tall)",
         "segment_prod(ties, k, 6)", "qr_multiply(m, a)[0] ** 2", "qr_multiply(tall, x[:, :2], 'left')[1] ** 2",
         "qr_multiply(tall, z)[0] ** 2"], "upstream has no derivative"
    ),
    **dict.fromkeys(
        ["cho_factor(a)[0]", "cho_solve(cho_factor(a), z)", "cho_solve(cho_factor(a, True), m)", "cholesky(a)",
         "cholesky(a, lower=True)", "cholesky(m * 3)", "solve(a, z, assume_a='pos')"],
        "upstream's derivative by the triangle that is not read is not zero",
    ),
    **dict.fromkeys(
        ["schur(m)", "schur(t[:, :, :3])", "schur(m, 'complex')", "rsf2csf(*schur(t[:, :, :3]))", "rsf2csf(*schur(a))",
         "funm(m, lambda s: s * s + 1j)", "funm(t[0][:, :3], lambda s: s * s * s, False)"], "upstream has no derivative"
    ),
    **dict.fromkeys(
        ["hyp1f1(p, p, x)", "hyp1f1(0.0 * p, p, x)", "hyp1f1(p, 0.0, x)", "hyp2f1(p, 0.5, -2.0, p)", "hyp2f1(i, p, j, p)",
         "hyp2f1(p, 0.5, 1.5, 1.5)", "hyp2f1(p, 0.5, p + 1, 1.0)", "hyp1f1(p, p + 2, p + 100)", "hyp1f1(p[0] + 20, p[1], -0.5)"],
        "upstream's series do not converge, or overflow or cancel in float32"
    ),
    "gamma.sf(x, 2.0)": "upstream's derivative is NaN below 0",
    **dict.fromkeys(
        ["bessel_jn(p * 5, v=3)", "bessel_jn(v, v=2, n_iter=30)"], "the recurrence overflows in float32"
    ),
    **dict.fromkeys(
        ["expn(i, p)", "expn(j // 4, 0.0 * p)"], "upstream's derivative is NaN outside of the domain"
    ),
    **dict.fromkeys(
        ["eigh_tridiagonal(z, v[:2], eigvals_only=True)",
         "eigh_tridiagonal(z, v[:2], eigvals_only=True, select='i', select_range=(1, 2))"],
        "upstream has no derivative",
    ),
}  # fmt: skip


#: Calls of `jax.random` with the names of a key and of arrays.
SAMPLES = """ball(key, 3, shape=(2,)); bernoulli(key, 0.3, (4,)); beta(key, 1.5, 2.0, (3,)); binomial(key, 10.0, 0.3, (3,)); bits(key, (3,)); bits(key, (2,), 'uint8'); categorical(key, x)
categorical(key, x, axis=0, shape=(4, 3)); cauchy(key, (3,)); chisquare(key, 3.0, (2,)); choice(key, 5, (3,), False); choice(key, v, (2,), p=q / sum(q)); clone(key); dirichlet(key, q, (2,)); double_sided_maxwell(key, 0.5, 2.0, (3,))
exponential(key, (3,)); f(key, 2.0, 3.0, (2,)); fold_in(key, 7); gamma(key, 0.7, (3,)); generalized_normal(key, 1.5, (3,)); geometric(key, 0.3, (4,)); gumbel(key, (3,)); laplace(key, (3,)); loggamma(key, 0.7, (3,)); logistic(key, (3,))
lognormal(key, 0.5, (3,)); maxwell(key, (3,)); multinomial(key, 5.0, q / sum(q)); multivariate_normal(key, z, a); normal(key, (2, 3)); normal(key, (3,), 'float16'); orthogonal(key, 3); pareto(key, 2.0, (3,)); permutation(key, 6); permutation(key, x, 1)
poisson(key, 3.0, (4,)); rademacher(key, (4,)); randint(key, (4,), 0, 10); randint(key, (3,), -5, 100, 'int8'); rayleigh(key, 2.0, (3,)); split(key); split(key, (2, 3)); t(key, 3.0, (3,)); triangular(key, 0.0, 0.5, 2.0, (3,))
truncated_normal(key, -1.0, 2.0, (3,)); uniform(key, (3,)); uniform(key, (2,), minval=-1.0, maxval=3.0); wald(key, 2.0, (3,)); weibull_min(key, 2.0, 1.5, (3,)); PRNGKey(5); PRNGKey(i[0, 0])"""  # fmt: skip
#: Calls of test_keys, whose results are not arrays in JAX.
KEYS = ["key_data(wrap_key_data(key))", "key_impl(key)", "key_dtype()"]
SAMPLES_LIST = [row.strip() for row in SAMPLES.replace("\n", ";").split(";")]


@pytest.mark.one_in(64)
@pytest.mark.parametrize(("space", "expression"), EXPRESSIONS)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_values(space: str, expression: str, backend: str) -> None:
    expressions.assert_equal(expression, *SPACES[space], backend)


@pytest.mark.full
@pytest.mark.parametrize(("space", "expression"), EXPRESSIONS)
@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_values_on_other_backends(space: str, expression: str, backend: str) -> None:
    expressions.assert_equal(expression, *SPACES[space], backend)


@pytest.mark.full
@pytest.mark.parametrize(("space", "expression"), EXPRESSIONS)
def test_gradients(space: str, expression: str, backend: str) -> None:
    is_compared = expression not in NOT_DIFFERENTIATED
    if is_compared and expressions.is_differentiable(expression, SPACES[space][0]):
        expressions.assert_gradients(expression, *SPACES[space], backend)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", SAMPLES_LIST)
def test_samples(expression: str) -> None:
    used = [name for name in expressions.used(expression) if not hasattr(jax.random, name)]
    arrays = {name: expressions.INPUTS[name] for name in used}
    key = np.asarray([0, 42], "uint32")
    theirs = {name: jax.numpy.asarray(x) for name, x in {**arrays, "key": key}.items()}
    names = {**vars(jax.random), "sum": jax.numpy.sum}
    wanted = np.asarray(eval(expression, names | theirs))
    names = {**vars(frontend.random), "sum": frontend.numpy.sum}
    for backend in ("numpy", "torch"):
        ours = {name: on(backend, x) for name, x in {**arrays, "key": key}.items()}
        found = eval(expression, names | ours)
        values = backends.core(na.backend_of(found)).to_numpy(found)
        assert values.dtype == wanted.dtype
        rtol = 1e-3 if wanted.dtype == "float16" else 2e-5
        np.testing.assert_allclose(values, wanted, rtol=rtol, atol=rtol / 10)


@pytest.mark.parametrize(
    "space", [s for s in SPACES_OF_JAX if s.startswith(("scipy.", "ops", "random"))]
)
def test_every_function_has_an_expression(space: str) -> None:
    expressions.assert_every_function_is_used(
        space, [*[row for _, row in EXPRESSIONS], *SAMPLES_LIST, *KEYS, "minimize(x)"]
    )


def test_keys(backend: str) -> None:
    key = frontend.random.key(on(backend, np.asarray(7, "int32")))
    bits = frontend.random.key_data(frontend.random.wrap_key_data(key))
    assert backends.core(backend).to_numpy(bits).tolist() == [0, 7]
    assert frontend.random.key_impl(key) == "threefry2x32"
    assert na.dtype_of(key) is frontend.random.key_dtype()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda j, x: j.special.loggamma(x * 1j), "loggamma: x: got complex128"),
        (lambda j, x: j.linalg.solve(x, x, assume_a="tri"), "solve: assume_a: got 'tri'"),
        (lambda j, x: j.linalg.solve_triangular(x, x, "X"), "trans: got 'X', expected 0, 1, 2"),
        (lambda j, x: j.linalg.hadamard(3), "hadamard: n: got 3, expected a power of 2"),
        (lambda j, x: j.linalg.dft(3, "1"), "dft: scale: got '1'"),
        (lambda j, x: j.linalg.convolution_matrix(x[0], 2, "all"), "mode: got 'all'"),
        (lambda j, x: j.linalg.eigh(x, b=x), "eigh: b, eigvals, type: expected their defaults"),
        (lambda j, x: j.fft.dct(x, 3), "type: got 3, expected 2"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(na.errors.ArgumentError, match=message):
        call(frontend.scipy, np.eye(2))


def test_exponential_integrals_at_zero_and_infinity() -> None:
    found = frontend.scipy.special.expn(np.asarray([2.0, 5.0]), np.asarray([0.0, 0.0]))
    assert found.tolist() == [1.0, 0.25]
    assert frontend.scipy.special.exp1(np.asarray([np.inf, -1.0])).tolist()[0] == 0.0


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "expression",
    ["exp1(x)", "expn(n, x)", "dawsn(x)", "fresnel(x)", "sici(x)", "spence(x)", "owens_t(x, n)",
     "expi(x)", "bessel_jn(x, v=3)"],
)  # fmt: skip
def test_special_functions_in_double_precision(expression: str) -> None:
    arrays = {"x": np.linspace(0.05, 12.0, 40), "n": np.arange(40) % 7 + 1.0}
    with np.errstate(all="ignore"):
        found = eval(expression, vars(frontend.scipy.special) | arrays)
    want = eval(expression, vars(jax.scipy.special) | arrays)
    for x, y in zip(expressions.leaves(found), expressions.leaves(want), strict=True):
        np.testing.assert_allclose(x, np.asarray(y), rtol=1e-9, atol=1e-11)


def test_minima(backend: str) -> None:
    target = expressions.INPUTS["z"]

    def loss(j: Any, x: Any, scale: float, aim: Any) -> Any:
        return j.numpy.sum((x - aim) ** 2 * scale) + j.numpy.sum((x - aim) ** 4)

    start = np.zeros(3, "float32")
    minimize = frontend.scipy.optimize.minimize
    aim = on(backend, target)
    found = minimize(
        lambda x, s: loss(frontend, x, s, aim), on(backend, start), (3.0,), method="BFGS"
    )
    want = jax.scipy.optimize.minimize(
        lambda x, s: loss(jax, x, s, target), jax.numpy.asarray(start), (3.0,), method="BFGS"
    ) if backend == "numpy" else None  # fmt: skip
    np.testing.assert_allclose(host(found.x), expressions.INPUTS["z"], atol=1e-4)
    assert bool(found.success)
    assert int(found.status) == 0
    if want is not None:
        np.testing.assert_allclose(found.x, want.x, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, x: s.optimize.minimize(lambda x: x.sum(), x[0], method="CG"), "got 'CG', expected"),
        (lambda s, x: s.optimize.minimize(lambda x: x.sum(), x, method="BFGS"), "got 2 axes"),
        (lambda s, x: s.cluster.vq.vq(x, x[0]), "expected two matrices or two vectors"),
        (lambda s, x: s.interpolate.RegularGridInterpolator((x[0],), x, "cubic"), "got 'cubic'"),
        (lambda s, x: s.interpolate.RegularGridInterpolator((x[0, :1],), x), "got .1. coordinates"),
        (lambda s, x: s.signal.convolve(x, x, "all"), "mode: got 'all'"),
        (lambda s, x: s.signal.fftconvolve(x, x[0]), "got 2 and 1 axes"),
        (lambda s, x: s.signal.convolve(x, x, method="best"), "method: got 'best'"),
        (lambda s, x: s.signal.stft(x, noverlap=9, nperseg=2), "noverlap: got 9, expected less"),
        (lambda s, x: s.signal.detrend(x, type="cubic"), "type: got 'cubic'"),
        (lambda s, x: s.stats.rankdata(x, "first"), "method: got 'first'"),
        (lambda s, x: s.stats.dirichlet.pdf(x, x), "alpha: got 2 axes"),
        (lambda s, x: s.stats.gaussian_kde(x, "wide"), "bw_method: got 'wide'"),
        (lambda s, x: s.special.exp1(x * 1j), "exp1: x: got complex128"),
        (lambda s, x: s.linalg.pascal(3, "left"), "kind: got 'left'"),
        (lambda s, x: s.linalg.schur(x, "upper"), "schur: output: got 'upper'"),
        (lambda s, x: s.linalg.funm(x[0], abs), "funm: A: got the shape .2,., expected .n, n."),
        (lambda s, x: s.special.hyp1f1(x, x, x * 1j), "hyp1f1: got complex128, expected real"),
    ],
)  # fmt: skip
def test_errors_of_further_modules(call: Any, message: str) -> None:
    with pytest.raises(na.errors.ArgumentError, match=message):
        call(frontend.scipy, np.eye(2))
