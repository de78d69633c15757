"""Distributions, ranks and densities.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.stats
"""

from nestarray.frontends.jax.scipy.stats import bernoulli as bernoulli
from nestarray.frontends.jax.scipy.stats import beta as beta
from nestarray.frontends.jax.scipy.stats import betabinom as betabinom
from nestarray.frontends.jax.scipy.stats import binom as binom
from nestarray.frontends.jax.scipy.stats import cauchy as cauchy
from nestarray.frontends.jax.scipy.stats import chi2 as chi2
from nestarray.frontends.jax.scipy.stats import dirichlet as dirichlet
from nestarray.frontends.jax.scipy.stats import expon as expon
from nestarray.frontends.jax.scipy.stats import gamma as gamma
from nestarray.frontends.jax.scipy.stats import gennorm as gennorm
from nestarray.frontends.jax.scipy.stats import geom as geom
from nestarray.frontends.jax.scipy.stats import gumbel_l as gumbel_l
from nestarray.frontends.jax.scipy.stats import gumbel_r as gumbel_r
from nestarray.frontends.jax.scipy.stats import laplace as laplace
from nestarray.frontends.jax.scipy.stats import logistic as logistic
from nestarray.frontends.jax.scipy.stats import multinomial as multinomial
from nestarray.frontends.jax.scipy.stats import multivariate_normal as multivariate_normal
from nestarray.frontends.jax.scipy.stats import nbinom as nbinom
from nestarray.frontends.jax.scipy.stats import norm as norm
from nestarray.frontends.jax.scipy.stats import pareto as pareto
from nestarray.frontends.jax.scipy.stats import poisson as poisson
from nestarray.frontends.jax.scipy.stats import t as t
from nestarray.frontends.jax.scipy.stats import truncnorm as truncnorm
from nestarray.frontends.jax.scipy.stats import uniform as uniform
from nestarray.frontends.jax.scipy.stats import vonmises as vonmises
from nestarray.frontends.jax.scipy.stats import wrapcauchy as wrapcauchy
from nestarray.frontends.jax.scipy.stats.kde import *
from nestarray.frontends.jax.scipy.stats.summaries import *
