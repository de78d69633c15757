"""Programs of pure functions, in the style of papers and tutorials."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.flatten_util import ravel_pytree

from tests.arrays import normal as array

KEY = jax.random.PRNGKey(0)


def dense(n: int, m: int, seed: int = 0) -> Any:
    return {"w": array(n, m, seed=seed, scale=n**-0.5), "b": array(m, scale=0.0)}


def mlp(layers: Any, x: Any, activation: Any = jnp.tanh) -> Any:
    for layer in layers[:-1]:
        x = activation(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def layers(*sizes: int) -> list[Any]:
    return [dense(n, m, i) for i, (n, m) in enumerate(pairwise(sizes))]


# -- flows and differential equations ------------------------------------------------------------

MASKS = [jnp.asarray([1.0, 0.0, 1.0, 0.0]), jnp.asarray([0.0, 1.0, 0.0, 1.0])]


def flow_forward(params: Any, x: Any) -> Any:
    """Affine coupling layers: (y, log |det J|)."""
    logdet = jnp.zeros(x.shape[0])
    for mask, net in zip(MASKS, params):
        shift, scale = jnp.split(mlp(net, x * mask), 2, axis=-1)
        scale = jnp.tanh(scale) * (1 - mask)
        x = x * jnp.exp(scale) + shift * (1 - mask)
        logdet += scale.sum(-1)
    return x, logdet


def flow_loss(params: Any, x: Any) -> Any:
    z, logdet = flow_forward(params, x)
    return -(jax.scipy.stats.norm.logpdf(z).sum(-1) + logdet).mean()


def flow_sample(params: Any, key: Any) -> Any:
    y = jax.random.normal(key, (5, 4))
    for mask, net in reversed(list(zip(MASKS, params))):
        shift, scale = jnp.split(mlp(net, y * mask), 2, axis=-1)
        y = (y - shift * (1 - mask)) * jnp.exp(-jnp.tanh(scale) * (1 - mask))
    return y


def continuous_flow(params: Any, x: Any) -> Any:
    """The exact trace of the Jacobian along an Euler path."""

    def field(t: Any, x: Any) -> Any:
        return mlp(params, jnp.append(x, t))

    def step(carry: Any, t: Any) -> Any:
        x, logdet = carry
        trace = jnp.trace(jax.jacfwd(partial(field, t))(x))
        return (x + 0.1 * field(t, x), logdet - 0.1 * trace), x

    return jax.vmap(lambda x: lax.scan(step, (x, 0.0), jnp.linspace(0, 1, 5)))(x)


def neural_ode(params: Any, x: Any) -> Any:
    """Fixed steps of Runge–Kutta."""

    def field(x: Any) -> Any:
        return mlp(params, x)

    def step(x: Any, _: Any) -> Any:
        k1 = field(x)
        k2 = field(x + 0.05 * k1)
        k3 = field(x + 0.05 * k2)
        k4 = field(x + 0.1 * k3)
        x = x + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x, x

    return lax.scan(jax.checkpoint(step), x, None, length=6)


def adaptive_ode(params: Any, x: Any) -> Any:
    """Steps of a size that the error determines."""

    def condition(state: Any) -> Any:
        return (state[0] < 1.0) & (state[3] < 50)

    def body(state: Any) -> Any:
        t, x, h, n = state
        k1 = mlp(params, x)
        k2 = mlp(params, x + h * k1)
        error = jnp.max(jnp.abs(k2 - k1)) * h / 2
        good = error < 1e-2
        x = jnp.where(good, x + h / 2 * (k1 + k2), x)
        t = jnp.where(good, t + h, t)
        factor = jnp.clip(0.9 * jnp.sqrt(1e-2 / (error + 1e-9)), 0.3, 2.0)
        return t, x, jnp.minimum(h * factor, 1.0 - t + 1e-6), n + 1

    t, x, _, n = lax.while_loop(condition, body, (0.0, x, 0.2, 0))
    return t, lax.stop_gradient(x), n


# -- probabilistic models ------------------------------------------------------------------------


def gaussian_process(params: Any, x: Any, y: Any) -> Any:
    """−log p(y | x), and the prediction at new points."""
    amplitude, scale, noise = (jax.nn.softplus(params[k]) for k in ("amplitude", "scale", "noise"))

    def kernel(a: Any, b: Any) -> Any:
        return amplitude * jnp.exp(-0.5 * jnp.sum(((a - b) / scale) ** 2))

    gram = jax.vmap(lambda a: jax.vmap(lambda b: kernel(a, b))(x))(x)
    factor = jnp.linalg.cholesky(gram + noise * jnp.eye(len(x)))
    alpha = jax.scipy.linalg.cho_solve((factor, True), y)
    nll = 0.5 * y @ alpha + jnp.log(jnp.diag(factor)).sum() + 0.5 * len(x) * jnp.log(2 * jnp.pi)
    new = jnp.linspace(-1, 1, 3)[:, None] * jnp.ones(x.shape[1])
    cross = jax.vmap(lambda a: jax.vmap(lambda b: kernel(a, b))(x))(new)
    v = jax.scipy.linalg.solve_triangular(factor, cross.T, lower=True)
    return nll, cross @ alpha, amplitude - jnp.sum(v**2, 0)


def hmm(params: Any, observed: Any) -> Any:
    """The forward algorithm: log p(observed), and the posterior by its gradient."""

    def evidence(emission: Any) -> Any:
        transition = jax.nn.log_softmax(params["transition"])

        def step(alpha: Any, e: Any) -> Any:
            alpha = jax.scipy.special.logsumexp(alpha[:, None] + transition, axis=0) + e
            return alpha, alpha

        alpha, _ = lax.scan(step, jax.nn.log_softmax(params["start"]) + emission[0], emission[1:])
        return jax.nn.logsumexp(alpha)

    emission = jax.nn.log_softmax(params["emission"]).T[observed]
    return jax.value_and_grad(evidence)(emission)


def viterbi(params: Any, observed: Any) -> Any:
    """The most likely states."""
    emission = jax.nn.log_softmax(params["emission"]).T[observed]

    def step(score: Any, e: Any) -> Any:
        options = score[:, None] + params["transition"]
        return options.max(0) + e, options.argmax(0)

    score, back = lax.scan(step, emission[0], emission[1:])
    _, path = lax.scan(lambda i, b: (b[i], b[i]), score.argmax(), back, reverse=True)
    return score.max(), path


def kalman(params: Any, ys: Any) -> Any:
    """A filter and its smoother."""
    a, c = params["a"], params["c"]
    q, r = jnp.eye(3) * 0.1, jnp.eye(2) * 0.2

    def step(carry: Any, y: Any) -> Any:
        mean, cov, total = carry
        mean, cov = a @ mean, a @ cov @ a.T + q
        s = c @ cov @ c.T + r
        gain = jnp.linalg.solve(s, c @ cov).T
        residual = y - c @ mean
        total += jax.scipy.stats.multivariate_normal.logpdf(residual, jnp.zeros(2), s)
        mean, cov = mean + gain @ residual, (jnp.eye(3) - gain @ c) @ cov
        return (mean, cov, total), (mean, cov)

    (_, _, total), (means, covs) = lax.scan(step, (jnp.zeros(3), jnp.eye(3), 0.0), ys)

    def back(carry: Any, given: Any) -> Any:
        mean, cov = given
        predicted = a @ cov @ a.T + q
        gain = jnp.linalg.inv(predicted) @ a @ cov
        mean = mean + gain.T @ (carry - a @ mean)
        return mean, mean

    return total, lax.scan(back, means[-1], (means[:-1], covs[:-1]), reverse=True)[1]


def vae(params: Any, x: Any, key: Any) -> Any:
    mean, logvar = jnp.split(mlp(params["encoder"], x), 2, -1)
    z = mean + jnp.exp(0.5 * logvar) * jax.random.normal(key, mean.shape)
    logits = mlp(params["decoder"], z)
    likelihood = -jnp.sum(jnp.logaddexp(0, -(2 * (x > 0) - 1) * logits), -1)
    kl = 0.5 * jnp.sum(jnp.exp(logvar) + mean**2 - 1 - logvar, -1)
    return -jnp.mean(likelihood - kl)


def score_matching(params: Any, x: Any, key: Any) -> Any:
    """Sliced score matching: vᵀ ∇s v by a Jacobian–vector product."""
    v = jax.random.rademacher(key, x.shape, dtype=x.dtype)
    s, along = jax.jvp(lambda x: mlp(params, x), (x,), (v,))
    return jnp.mean(jnp.sum(v * along, -1) + 0.5 * jnp.sum(s * v, -1) ** 2)


def langevin(params: Any, x: Any, key: Any) -> Any:
    """Samples of an energy-based model."""
    energy = lambda x: jnp.sum(mlp(params, x) ** 2)  # noqa: E731

    def step(i: Any, carry: Any) -> Any:
        x, key = carry
        key, sub = jax.random.split(key)
        return x - 0.05 * jax.grad(energy)(x) + 0.1 * jax.random.normal(sub, x.shape), key

    return lax.fori_loop(0, 4, step, (x, key))[0]


def hmc(params: Any, x: Any, key: Any) -> Any:
    """One step of Hamiltonian Monte Carlo with acceptance."""
    logp = lambda q: -jnp.sum(mlp(params, q) ** 2) - 0.5 * jnp.sum(q**2)  # noqa: E731
    p_key, u_key = jax.random.split(key)
    p = jax.random.normal(p_key, x.shape)

    def leap(carry: Any, _: Any) -> Any:
        q, p = carry
        p = p + 0.05 * jax.grad(logp)(q)
        q = q + 0.1 * p
        return (q, p + 0.05 * jax.grad(logp)(q)), None

    (q, p_new), _ = lax.scan(leap, (x, p), None, length=3)
    ratio = logp(q) - 0.5 * jnp.sum(p_new**2) - logp(x) + 0.5 * jnp.sum(p**2)
    accepted = jnp.log(jax.random.uniform(u_key)) < ratio
    return jnp.where(accepted, q, x), ratio


# -- learning ------------------------------------------------------------------------------------


def ppo(params: Any, batch: Any) -> Any:
    """Generalized advantages by a reversed scan, clipped objective, value and entropy terms."""
    logits, values = mlp(params["policy"], batch["obs"]), mlp(params["value"], batch["obs"])[..., 0]

    def gae(carry: Any, step: Any) -> Any:
        advantage, following = carry
        reward, value, done = step
        delta = reward + 0.99 * following * (1 - done) - value
        advantage = delta + 0.99 * 0.95 * (1 - done) * advantage
        return (advantage, value), advantage

    fixed = lax.stop_gradient(values)
    steps = (batch["reward"], fixed, batch["done"].astype(jnp.float32))
    _, advantages = lax.scan(gae, (0.0, fixed[-1]), steps, reverse=True)
    targets = advantages + fixed
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    logp = jax.nn.log_softmax(logits)
    taken = jnp.take_along_axis(logp, batch["action"][:, None], -1)[:, 0]
    ratio = jnp.exp(taken - batch["logp"])
    clipped = jnp.clip(ratio, 0.8, 1.2) * advantages
    policy = -jnp.minimum(ratio * advantages, clipped).mean()
    entropy = -(jnp.exp(logp) * logp).sum(-1).mean()
    value = 0.5 * jnp.maximum((values - targets) ** 2, 0.1).mean()
    return policy + 0.5 * value - 0.01 * entropy, {"ratio": ratio.mean(), "entropy": entropy}


def dqn(params: Any, batch: Any) -> Any:
    q = mlp(params["online"], batch["obs"])
    following = mlp(params["target"], jnp.cos(batch["obs"]))
    best = jnp.argmax(mlp(params["online"], jnp.cos(batch["obs"])), -1)
    target = batch["reward"] + 0.9 * (1 - batch["done"]) * following[jnp.arange(6), best]
    error = q[jnp.arange(6), batch["action"]] - lax.stop_gradient(target)
    return jnp.where(jnp.abs(error) < 1, 0.5 * error**2, jnp.abs(error) - 0.5).mean()


def maml(params: Any, x: Any, y: Any) -> Any:
    """The loss after two inner steps, through the inner gradients."""

    def loss(params: Any, x: Any, y: Any) -> Any:
        return jnp.mean((mlp(params, x) - y) ** 2)

    def task(x: Any, y: Any) -> Any:
        adapted = params
        for _ in range(2):
            grads = jax.grad(loss)(adapted, x[:2], y[:2])
            adapted = jax.tree.map(lambda p, g: p - 0.1 * g, adapted, grads)
        return loss(adapted, x[2:], y[2:])

    return jax.vmap(task)(x, y).mean()


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def fixed_point(f: Any, a: Any, x: Any) -> Any:
    def condition(state: Any) -> Any:
        return (jnp.max(jnp.abs(state[0] - state[1])) > 1e-5) & (state[2] < 60)

    return lax.while_loop(condition, lambda s: (s[1], f(a, s[1]), s[2] + 1), (x, f(a, x), 0))[1]


def _fixed_forward(f: Any, a: Any, x: Any) -> Any:
    z = fixed_point(f, a, x)
    return z, (a, z)


def _fixed_backward(f: Any, saved: Any, g: Any) -> Any:
    a, z = saved
    _, of_z = jax.vjp(lambda z: f(a, z), z)
    u = fixed_point(lambda _, u: g + of_z(u)[0], None, g)
    _, of_a = jax.vjp(lambda a: f(a, z), a)
    return of_a(u)[0], jnp.zeros_like(z)


fixed_point.defvjp(_fixed_forward, _fixed_backward)


def equilibrium(params: Any, x: Any) -> Any:
    """A deep equilibrium layer."""
    f = lambda a, z: jnp.tanh(0.4 * z @ a[0] / 3 + a[1])  # noqa: E731
    return fixed_point(f, (params["w"], x), jnp.zeros_like(x)) @ params["out"]


def contrastive(params: Any, a: Any, b: Any) -> Any:
    za, zb = (mlp(params["net"], z) for z in (a, b))
    za, zb = (z / jnp.linalg.norm(z, axis=-1, keepdims=True) for z in (za, zb))
    logits = jnp.exp(params["temperature"]) * za @ zb.T
    labels = jnp.arange(len(a))
    both = jax.nn.log_softmax(logits)[labels, labels] + jax.nn.log_softmax(logits.T)[labels, labels]
    return -both.mean() / 2, (logits.argmax(-1) == labels).mean()


def sinkhorn(params: Any, x: Any, y: Any) -> Any:
    """Entropic optimal transport in the log domain."""
    cost = jnp.sum((mlp(params, x)[:, None] - y[None]) ** 2, -1)

    def step(potentials: Any, _: Any) -> Any:
        f, g = potentials
        f = -0.5 * jax.nn.logsumexp((g[None] - cost) / 0.5, axis=1)
        g = -0.5 * jax.nn.logsumexp((f[:, None] - cost) / 0.5, axis=0)
        return (f, g), None

    (f, g), _ = lax.scan(step, (jnp.zeros(len(x)), jnp.zeros(len(y))), None, length=8)
    plan = jnp.exp((f[:, None] + g[None] - cost) / 0.5)
    return jnp.sum(plan * cost), plan


def natural_gradient(params: Any, x: Any, y: Any) -> Any:
    """A Gauss–Newton step by conjugate gradients."""
    flat, unflatten = ravel_pytree(params)
    residual = lambda p: (mlp(unflatten(p), x) - y).ravel()  # noqa: E731
    g = jax.grad(lambda p: 0.5 * jnp.sum(residual(p) ** 2))(flat)

    def product(v: Any) -> Any:
        _, jv = jax.jvp(residual, (flat,), (v,))
        return jax.vjp(residual, flat)[1](jv)[0] + 0.1 * v

    step, _ = jax.scipy.sparse.linalg.cg(product, g, maxiter=5)
    return unflatten(flat - step)


def gradient_penalty(params: Any, real: Any, fake: Any) -> Any:
    """A Wasserstein critic with a penalty on its gradient."""
    critic = lambda x: mlp(params, x)[..., 0]  # noqa: E731
    mixed = 0.3 * real + 0.7 * fake
    norms = jnp.sqrt(jnp.sum(jax.vmap(jax.grad(critic))(mixed) ** 2, -1) + 1e-8)
    return critic(fake).mean() - critic(real).mean() + 10 * jnp.mean((norms - 1) ** 2)


def physics_informed(params: Any, x: Any) -> Any:
    """The residual of the heat equation."""
    u = lambda t, x: mlp(params, jnp.stack([t, x]))[0]  # noqa: E731

    def residual(point: Any) -> Any:
        t, x = point
        return jax.grad(u, 0)(t, x) - 0.1 * jax.grad(jax.grad(u, 1), 1)(t, x)

    return jnp.mean(jax.vmap(residual)(x) ** 2)


# -- structures ----------------------------------------------------------------------------------

SENDERS, RECEIVERS = jnp.asarray([0, 1, 2, 3, 1, 4]), jnp.asarray([1, 0, 1, 2, 4, 3])


def graph_attention(params: Any, nodes: Any) -> Any:
    h = nodes @ params["w"]
    scores = jax.nn.leaky_relu(h[SENDERS] @ params["a"] + h[RECEIVERS] @ params["b"], 0.2)
    largest = jax.ops.segment_max(scores, RECEIVERS, num_segments=5)
    weights = jnp.exp(scores - largest[RECEIVERS])
    total = jax.ops.segment_sum(weights, RECEIVERS, num_segments=5)
    messages = h[SENDERS] * (weights / total[RECEIVERS])[:, None]
    return jax.nn.elu(jax.ops.segment_sum(messages, RECEIVERS, num_segments=5))


def message_passing(params: Any, nodes: Any, edges: Any) -> Any:
    for _ in range(2):
        inputs = jnp.concatenate([nodes[SENDERS], nodes[RECEIVERS], edges], -1)
        edges = edges + mlp(params["edge"], inputs, jax.nn.relu)
        received = jnp.zeros_like(nodes).at[RECEIVERS].add(edges)
        nodes = nodes + mlp(params["node"], jnp.concatenate([nodes, received], -1), jax.nn.silu)
    counts = jax.ops.segment_sum(jnp.ones(6), RECEIVERS, 5)
    return (
        nodes.mean(0),
        edges.max(),
        jax.ops.segment_prod(edges[:, 0], RECEIVERS, 5) / (1 + counts),
    )


def mixture_of_experts(params: Any, x: Any) -> Any:
    """Top-2 routing with capacity, and the balancing loss."""
    probabilities = jax.nn.softmax(x @ params["router"])
    gates, chosen = lax.top_k(probabilities, 2)
    gates = gates / gates.sum(-1, keepdims=True)
    hot = jax.nn.one_hot(chosen, 4)
    place = (jnp.cumsum(hot.reshape(-1, 4), 0) - 1).reshape(hot.shape) * hot
    kept = hot * (place < 3)
    dispatch = jnp.einsum("tke,tkec->tec", kept, jax.nn.one_hot(place.astype(int), 3))
    inputs = jnp.einsum("tec,td->ecd", dispatch, x)
    outputs = jax.vmap(lambda w, h: jax.nn.gelu(h @ w["up"]) @ w["down"])(params["experts"], inputs)
    weights = jnp.einsum("tk,tke->te", gates, kept)
    balance = 4 * jnp.sum(probabilities.mean(0) * hot[:, 0].mean(0))
    return jnp.einsum("tec,te,ecd->td", dispatch, weights, outputs), balance


def state_space(params: Any, x: Any) -> Any:
    """A diagonal linear recurrence by an associative scan, in complex numbers."""
    a = jnp.exp(-jnp.exp(params["log_decay"]) + 1j * params["phase"])
    b = x @ params["in"] * jnp.sqrt(1 - jnp.abs(a) ** 2)

    def combine(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    _, h = lax.associative_scan(combine, (jnp.broadcast_to(a, b.shape), b.astype(a.dtype)))
    return (h @ (params["out_re"] + 1j * params["out_im"])).real + x * params["skip"]


def selective_scan(params: Any, x: Any) -> Any:
    """Mamba's recurrence."""
    delta = jax.nn.softplus(x @ params["delta"])
    b, c = x @ params["b"], x @ params["c"]
    decay = jnp.exp(delta[:, :, None] * -jnp.exp(params["log_a"]))
    inputs = delta[:, :, None] * b[:, None, :] * x[:, :, None]

    def step(h: Any, row: Any) -> Any:
        decay, u, c = row
        h = decay * h + u
        return h, h @ c

    _, y = lax.scan(step, jnp.zeros(decay.shape[1:]), (decay, inputs, c))
    return y * jax.nn.silu(x)


def convolution_by_fft(params: Any, x: Any) -> Any:
    """A long convolution."""
    n = x.shape[0]
    kernel = jnp.fft.rfft(params["kernel"], 2 * n, axis=0)
    return jnp.fft.irfft(kernel * jnp.fft.rfft(x, 2 * n, axis=0), 2 * n, axis=0)[:n]


def n_body(params: Any, positions: Any, velocities: Any) -> Any:
    """Velocity Verlet with forces from an energy."""

    def energy(r: Any) -> Any:
        d = r[:, None] - r[None]
        square = jnp.sum(d**2, -1) + jnp.eye(len(r))
        off = 1 - jnp.eye(len(r))
        s = params["sigma"] ** 2 / square
        return jnp.sum(off * 2 * params["epsilon"] * (s**6 - s**3))

    force = lambda r: -jax.grad(energy)(r)  # noqa: E731

    def step(carry: Any, _: Any) -> Any:
        r, v = carry
        v = v + 0.005 * force(r)
        r = r + 0.01 * v
        v = v + 0.005 * force(r)
        return (r, v), energy(r) + 0.5 * jnp.sum(v**2)

    return lax.scan(step, (positions, velocities), None, length=4)


def neighbours(params: Any, r: Any) -> Any:
    """Symmetry functions over neighbours in a periodic box."""
    d = r[:, None] - r[None]
    d = d - 2.0 * jnp.round(d / 2.0)
    distance = jnp.sqrt(jnp.where(jnp.eye(len(r)) > 0, 1.0, jnp.sum(d**2, -1)))
    cutoff = jnp.where(distance < 1.0, 0.5 * (1 + jnp.cos(jnp.pi * distance)), 0.0)
    features = jnp.exp(-params["eta"] * (distance[..., None] - params["mu"]) ** 2)
    return jnp.sum(features * cutoff[..., None] * (1 - jnp.eye(len(r)))[..., None], 1)


def beam_search(params: Any, start: Any) -> Any:
    def step(carry: Any, _: Any) -> Any:
        scores, tokens, hidden = carry
        hidden = jnp.tanh(params["embed"][tokens] + hidden @ params["w"])
        logp = jax.nn.log_softmax(hidden @ params["out"])
        options = (scores[:, None] + logp).ravel()
        scores, best = lax.top_k(options, 3)
        beam, token = best // logp.shape[1], best % logp.shape[1]
        return (scores, token, hidden[beam]), (beam, token)

    first = (jnp.asarray([0.0, -1e9, -1e9]), jnp.full(3, start), jnp.zeros((3, 4)))
    (scores, _, _), (beams, tokens) = lax.scan(step, first, None, length=5)
    _, path = lax.scan(lambda b, s: (s[0][b], s[1][b]), 0, (beams, tokens), reverse=True)
    return scores, path


def sampled(params: Any, start: Any, key: Any) -> Any:
    """Nucleus sampling until an end token."""

    def step(state: Any) -> Any:
        i, tokens, hidden, key = state
        key, sub = jax.random.split(key)
        hidden = jnp.tanh(params["embed"][tokens[i]] + hidden @ params["w"])
        logits = hidden @ params["out"] / 0.8
        order = jnp.argsort(-logits)
        total = jnp.cumsum(jax.nn.softmax(logits[order]))
        cut = jnp.where(jnp.roll(total, 1).at[0].set(0.0) < 0.9, logits[order], -jnp.inf)
        token = order[jax.random.categorical(sub, cut)]
        return i + 1, tokens.at[i + 1].set(token), hidden, key

    def condition(state: Any) -> Any:
        return (state[0] < 6) & (state[1][state[0]] != 5)

    tokens = jnp.zeros(7, jnp.int32).at[0].set(start)
    return lax.while_loop(condition, step, (0, tokens, jnp.zeros(4), key))[1]


def transducer(params: Any, x: Any, labels: Any) -> Any:
    """The loss of an RNN transducer: a scan over rows of a lattice, a scan in each."""
    encoded = x @ params["encoder"]
    predicted = params["embed"][jnp.concatenate([jnp.zeros(1, labels.dtype), labels])]
    logp = jax.nn.log_softmax(jnp.tanh(encoded[:, None] + predicted[None]) @ params["joint"])
    blank = logp[:, :, 0]
    emit = jnp.take_along_axis(logp[:, :-1], labels[None, :, None], -1)[..., 0]

    def row(above: Any, given: Any) -> Any:
        blank_above, emits = given
        from_above = above + blank_above

        def cell(left: Any, args: Any) -> Any:
            value = jnp.logaddexp(args[0], left + args[1])
            return value, value

        _, rest = lax.scan(cell, from_above[0], (from_above[1:], emits))
        new = jnp.concatenate([from_above[:1], rest])
        return new, None

    first = jnp.concatenate([jnp.zeros(1), jnp.cumsum(emit[0])])
    last, _ = lax.scan(row, first, (blank[:-1], emit[1:]))
    return -(last[-1] + blank[-1, -1])


def crf(params: Any, x: Any, labels: Any) -> Any:
    """The likelihood of a linear-chain conditional random field."""
    scores = x @ params["w"]
    path = scores[jnp.arange(6), labels].sum() + params["t"][labels[:-1], labels[1:]].sum()
    step = lambda a, s: (jax.nn.logsumexp(a[:, None] + params["t"], axis=0) + s, None)  # noqa: E731
    return jax.nn.logsumexp(lax.scan(step, scores[0], scores[1:])[0]) - path


def nerf(params: Any, origins: Any, directions: Any) -> Any:
    """Volume rendering along rays."""
    t = jnp.linspace(0.1, 1.0, 6)
    points = origins[:, None] + t[:, None] * directions[:, None]
    angles = points[..., None] * 2.0 ** jnp.arange(3)
    encoded = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1).reshape(
        *points.shape[:-1], -1
    )
    found = mlp(params, encoded, jax.nn.relu)
    alpha = 1 - jnp.exp(-jax.nn.relu(found[..., 3]) * 0.18)
    clear = jnp.cumprod(jnp.concatenate([jnp.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)
    weights = alpha * clear[:, :-1]
    return (weights[..., None] * jax.nn.sigmoid(found[..., :3])).sum(-2), weights @ t


def quantized(params: Any, x: Any) -> Any:
    """Weights rounded with a straight-through gradient."""

    def rounded(w: Any) -> Any:
        scale = jnp.max(jnp.abs(w)) / 7
        return w + lax.stop_gradient(jnp.round(w / scale).clip(-8, 7) * scale - w)

    return mlp(jax.tree.map(rounded, params), x)


def lattice(params: Any, x: Any) -> Any:
    """The Ising model: checkerboard sums with periodic borders."""
    neighbours = sum(jnp.roll(x, s, a) for s in (1, -1) for a in (0, 1))
    return jnp.mean(-params["j"] * x * neighbours - params["h"] * x), jax.nn.sigmoid(2 * neighbours)


EDGES = array(6, 4, seed=9)
BATCH = {
    "obs": array(6, 3),
    "reward": array(6, seed=1),
    "done": jnp.asarray([0, 0, 1, 0, 0, 0]),
    "action": jnp.asarray([0, 1, 1, 0, 2, 1]),
    "logp": -jnp.ones(6),
}
LANGUAGE = {"embed": array(6, 4), "w": array(4, 4, seed=1), "out": array(4, 6, seed=2)}
HIDDEN_MARKOV = {
    "start": array(3), "transition": array(3, 3, seed=1), "emission": array(3, 4, seed=2)
}  # fmt: skip
TOKENS = jnp.asarray([0, 3, 1, 1, 2, 0])

#: name → (function, parameters, other arguments).
PROGRAMS: dict[str, Any] = {
    "flow": (flow_forward, [layers(4, 8, 8)] * 2, array(5, 4)),
    "flow-loss": (flow_loss, [layers(4, 8, 8), layers(4, 6, 8)], array(5, 4)),
    "flow-sample": (flow_sample, [layers(4, 8, 8), layers(4, 6, 8)], KEY),
    "continuous-flow": (continuous_flow, layers(4, 8, 3), array(2, 3)),
    "neural-ode": (neural_ode, layers(3, 8, 3), array(2, 3)),
    "adaptive-ode": (adaptive_ode, layers(3, 8, 3), array(2, 3)),
    "gaussian-process": (
        gaussian_process,
        {"amplitude": jnp.asarray(0.5), "scale": jnp.ones(2), "noise": jnp.asarray(-1.0)},
        array(6, 2),
        array(6),
    ),
    "hmm": (hmm, HIDDEN_MARKOV, TOKENS),
    "viterbi": (viterbi, HIDDEN_MARKOV, TOKENS),
    "kalman": (kalman, {"a": 0.5 * array(3, 3), "c": array(2, 3, seed=1)}, array(5, 2)),
    "vae": (vae, {"encoder": layers(4, 8, 6), "decoder": layers(3, 8, 4)}, array(5, 4), KEY),
    "score-matching": (score_matching, layers(4, 8, 4), array(5, 4), KEY),
    "langevin": (langevin, layers(4, 8, 4), array(5, 4), KEY),
    "hmc": (hmc, layers(4, 8, 4), array(4), KEY),
    "ppo": (ppo, {"policy": layers(3, 8, 3), "value": layers(3, 8, 1)}, BATCH),
    "dqn": (dqn, {"online": layers(3, 8, 3), "target": layers(3, 6, 3)}, BATCH),
    "maml": (maml, layers(3, 8, 1), array(2, 4, 3), array(2, 4, 1)),
    "equilibrium": (equilibrium, {"w": array(4, 4), "out": array(4, 2)}, array(3, 4)),
    "contrastive": (
        contrastive, {"net": layers(4, 8, 3), "temperature": jnp.asarray(0.5)}, array(5, 4), array(5, 4, seed=1)
    ),
    "sinkhorn": (sinkhorn, layers(4, 8, 2), array(5, 4), array(6, 2)),
    "natural-gradient": (natural_gradient, layers(3, 4, 1), array(6, 3), array(6, 1)),
    "gradient-penalty": (gradient_penalty, layers(4, 8, 1), array(5, 4), array(5, 4, seed=1)),
    "physics-informed": (physics_informed, layers(2, 8, 1), array(5, 2)),
    "graph-attention": (
        graph_attention, {"w": array(3, 4), "a": array(4), "b": array(4, seed=1)}, array(5, 3)
    ),
    "message-passing": (
        message_passing, {"edge": layers(12, 8, 4), "node": layers(8, 8, 4)}, array(5, 4), EDGES
    ),
    "mixture-of-experts": (
        mixture_of_experts,
        {"router": array(4, 4), "experts": {"up": array(4, 4, 8), "down": array(4, 8, 4)}},
        array(6, 4),
    ),
    "state-space": (
        state_space,
        {
            "log_decay": array(5), "phase": array(5, seed=1), "in": array(4, 5), "out_re": array(5, 4),
            "out_im": array(5, 4, seed=3), "skip": array(4),
        },
        array(7, 4),
    ),
    "selective-scan": (
        selective_scan,
        {"delta": array(4, 4), "b": array(4, 3), "c": array(4, 3, seed=1), "log_a": array(4, 3, seed=2)},
        array(7, 4),
    ),
    "fft-convolution": (convolution_by_fft, {"kernel": array(7, 4)}, array(7, 4)),
    "n-body": (n_body, {"sigma": jnp.asarray(0.5), "epsilon": jnp.asarray(0.7)}, array(4, 3) * 2, array(4, 3)),
    "neighbours": (neighbours, {"eta": jnp.asarray(2.0), "mu": jnp.linspace(0, 1, 3)}, array(4, 3)),
    "beam-search": (beam_search, LANGUAGE, jnp.asarray(0)),
    "sampled": (sampled, LANGUAGE, jnp.asarray(0), KEY),
    "transducer": (
        transducer,
        {"encoder": array(3, 4), "embed": array(5, 4), "joint": array(4, 5)},
        array(6, 3),
        jnp.asarray([2, 1, 4]),
    ),
    "crf": (crf, {"w": array(3, 4), "t": array(4, 4)}, array(6, 3), TOKENS),
    "nerf": (nerf, layers(18, 8, 4), array(3, 3), array(3, 3, seed=1)),
    "quantized": (quantized, layers(3, 8, 2), array(4, 3)),
    "lattice": (lattice, {"j": jnp.asarray(0.4), "h": jnp.asarray(0.1)}, jnp.sign(array(4, 4))),
}  # fmt: skip
