"""What to use in place of a name that nestarray does not have: errors for those who come from elsewhere.

There is one name for one thing, the Array API standard's where it has the function. People
arrive with the names of NumPy, JAX, PyTorch, TensorFlow and Keras in their fingers.
"""

from __future__ import annotations

#: Our name → what others call it.
_SAME = {
    "abs": "absolute fabs",
    "acos": "arccos",
    "acosh": "arccosh",
    "add": "bias_add",
    "asarray": "array tensor as_tensor convert_to_tensor constant",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "astype": "cast",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "adaptive_avg_pool2d": "adaptive_avg_pool adaptive_average_pool",
    "adaptive_max_pool2d": "adaptive_max_pool",
    "alibi_bias": "alibi",
    "argsort": "msort",
    "avg_pool": "average_pool",
    "batch_norm": "batch_normalization",
    "binary_cross_entropy": "binary_crossentropy bce_loss",
    "binary_cross_entropy_with_logits": (
        "sigmoid_cross_entropy_with_logits weighted_cross_entropy_with_logits bce_with_logits"
    ),
    "bitwise_count": "bit_count population_count popcount",
    "bitwise_invert": "bitwise_not invert",
    "bitwise_left_shift": "left_shift shift_left",
    "bitwise_right_shift": "right_shift shift_right_arithmetic",
    "broadcast_arrays": "broadcast_tensors",
    "clip": "clamp clip_by_value clamp_min clamp_max",
    "concat": "concatenate cat",
    "conj": "conjugate",
    "conv": "convolution conv_general_dilated",
    "conv_transpose": "conv1d_transpose conv2d_transpose conv3d_transpose",
    "cross_entropy": (
        "categorical_crossentropy sparse_categorical_crossentropy softmax_cross_entropy "
        "softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits"
    ),
    "cumulative_logsumexp": "logcumsumexp cumlogsumexp",
    "cumulative_prod": "cumprod",
    "cumulative_sum": "cumsum",
    "deg2rad": "radians",
    "depthwise_conv": "depthwise_conv2d",
    "digitize": "bucketize",
    "divide": "div truediv true_divide realdiv",
    "equal": "eq",
    "erfinv": "erf_inv",
    "expand_dims": "unsqueeze",
    "floor_divide": "floordiv",
    "expm": "matrix_exp",
    "eye": "identity",
    "fftn": "fft2",
    "flatten": "ravel",
    "flip": "fliplr flipud reverse rev",
    "full": "fill",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "greater": "gt",
    "greater_equal": "ge",
    "hard_shrink": "hardshrink",
    "hard_sigmoid": "hardsigmoid",
    "hard_swish": "hardswish hard_silu",
    "hanning": "hann_window",
    "hamming": "hamming_window",
    "bartlett": "bartlett_window",
    "blackman": "blackman_window",
    "kaiser": "kaiser_window",
    "hard_tanh": "hardtanh",
    "histogram": "histc",
    "interpolate": "resize upsample",
    "ifftn": "ifft2",
    "inv": "inverse",
    "isdtype": "issubdtype is_complex is_floating_point iscomplexobj isrealobj",
    "isfinite": "is_finite",
    "isinf": "is_inf",
    "isnan": "is_nan",
    "layer_norm": "layer_normalization",
    "less": "lt",
    "lgamma": "gammaln",
    "less_equal": "le",
    "local_response_norm": "lrn local_response_normalization",
    "log_sigmoid": "logsigmoid",
    "masked_select": "boolean_mask extract compress",
    "matmul": "dot mm bmm mv matvec vecmat batch_matmul",
    "max": "amax reduce_max",
    "max_pool_with_indices": "max_pool_with_argmax",
    "mean": "reduce_mean",
    "min": "amin reduce_min",
    "moveaxis": "movedim",
    "multigammaln": "mvlgamma",
    "multi_dot": "chain_matmul",
    "multiply": "mul",
    "negative": "neg",
    "normalize": "l2_normalize",
    "not_equal": "ne",
    "permute_dims": "transpose permute",
    "pinv": "pinverse",
    "pow": "power integer_pow",
    "prod": "reduce_prod product",
    "all": "reduce_all",
    "any": "reduce_any",
    "rad2deg": "degrees",
    "remainder": "mod floormod",
    "fmod": "truncatemod rem",
    "repeat": "repeat_interleave",
    "reshape": "view unflatten collapse",
    "rms_norm": "rms_normalization",
    "round": "around rint",
    "logsumexp": "reduce_logsumexp",
    "scaled_dot_product_attention": "dot_product_attention",
    "sigmoid": "logistic expit",
    "sign": "sgn",
    "silu": "swish",
    "soft_shrink": "softshrink",
    "softsign": "soft_sign",
    "stop_gradient": "detach",
    "subtract": "sub",
    "std": "reduce_std",
    "sum": "reduce_sum add_n",
    "take": "index_select index_take",
    "solve_triangular": "triangular_solve",
    "cho_solve": "cholesky_solve",
    "tanh_shrink": "tanhshrink",
    "trapezoid": "trapz",
    "unfold": "extract_patches",
    "unstack": "unbind",
    "var": "reduce_variance",
    "vstack": "row_stack",
    "arange": "range iota",
    "array_split": "tensor_split",
    "swapaxes": "swapdims",
    "take_along_axis": "take_along_dim",
    "to_device": "device_put",
    "top_k": "topk",
    "trunc": "fix",
    "unique_values": "unique",
    "vecdot": "vdot inner",
    "value_and_grad": "GradientTape backward",
    "custom_vjp": "custom_gradient",
    "checkpoint": "remat",
    "vmap": "vectorized_map vectorize",
    "jit": "compile",
    "Container": "TensorDict ParameterDict",
}
#: What others call it → our name.
OURS = {theirs: ours for ours, names in _SAME.items() for theirs in names.split()}
#: What tree libraries call it, without ``tree_`` → what to write here.
TREES = {
    theirs: instead
    for instead, names in {
        "c.map(fn)": "map map_params replace_nones",
        "na.tree.map(fn, nest, prefix)": "broadcast_map broadcast_common",
        "c.map_nodes(fn)": "map_structure_up_to traverse",
        "isinstance(x, na.Container)": "is_nested is_leaf",
        "c.items()": "flatten_one_level",
        "a.spec is b.spec": "assert_same_structure",
        "c.map(fn, with_path=True)": "map_with_path map_with_accessor map_structure_with_path",
        "c.leaves()": "leaves iter",
        "c.paths()": "paths accessors",
        "c.spec": "structure",
        "dict(c.flat_items())": "flatten_with_path leaves_with_path flatten_with_accessor",
        "na.tree.unflatten(structure, leaves)": "unflatten",
        "na.tree.broadcast(prefix, nest)": "broadcast_prefix flatten_up_to",
        "c.reduce(fn, initial)": "reduce reduce_associative",
        "c.transpose()": "transpose",
        "c.partition(…)": "partition",
        "c.select(…)": "get filter",
        "c.get(path, default)": "get_all_with_path",
        "c.set(path, x)": "set at",
        "not c.diff(other)": "equal",
        "na.isclose(c, other).tree_all()": "allclose",
        "na.tree_dot(c, other)": "vdot inner",
        "na.tree_norm(c)": "l2_norm",
        "na.tree_norm(c, ord=1)": "l1_norm",
        "na.tree_norm(c, ord=math.inf)": "linf_norm",
        "c + other, or na.add(c, other)": "add",
        "c - other, or na.subtract(c, other)": "sub",
        "c * other, or na.multiply(c, other)": "mul scale scalar_mul",
        "c / other, or na.divide(c, other)": "div",
        "c + scale * other": "add_scale add_scalar_mul",
        "na.clip(c, min, max)": "clip",
        "na.conj(c)": "conj",
        "na.real(c)": "real",
        "na.where(condition, c, other)": "where",
        "na.astype(c, dtype)": "cast",
        "c.map(lambda x, y: na.astype(x, na.dtype_of(y)), other)": "cast_like",
        "na.zeros_like(c)": "zeros_like",
        "na.ones_like(c)": "ones_like",
        "na.full_like(c, x)": "full_like",
        "c.random_like(key)": "random_like",
        "c.random_like(key), which splits the key": "split_key_like",
        "c.ema(new, decay)": "update_moment",
        "c.size": "size",
        "c.count()": "count",
        "c.batch_shape": "batch_shape",
        "c.map(na.dtype_of)": "dtype",
        "na.stack(trees)": "stack",
        "na.concat(trees)": "concat",
        "na.std(c.tree_ravel()[0])": "std",
        "na.var(c.tree_ravel()[0])": "var",
        "na.prod(c.tree_ravel()[0])": "prod",
        "print(c)": "pformat pprint",
        "c.save(path)": "serialise_leaves",
        "na.Container.load(path)": "deserialise_leaves",
    }.items()
    for theirs in names.split()
}
#: What `nestarray.tree` has itself.
_OWN = ("map", "unflatten")
#: Functions of `nestarray` over all leaves, which people look for in `nestarray.tree`.
_OVER_LEAVES = ("all", "any", "dot", "max", "mean", "min", "norm", "ravel", "sum")
_KEYS = "every draw names a key, na.random.normal(na.random.key(0), (2, 3))"
_SAVING = "files are c.save(path) and na.Container.load(path)"
_FUNCTION = "it is a function: na.{}, and na.nn.Lambda(na.{}) in a Sequential"

#: Module → name → what to use.
INSTEAD: dict[str, dict[str, str]] = {
    "nestarray": {
        **{theirs: f"it is na.{ours}" for theirs, ours in OURS.items()},
        **dict.fromkeys(("to_numpy", "convert_to_numpy"), 'it is na.to_backend(x, "numpy")'),
        **{
            name: f"it is na.random.{ours}(key, …)"
            for ours, names in {
                "bernoulli": "bernoulli",
                "binomial": "binomial",
                "categorical": "multinomial",
                "normal": "normal randn_like rng_normal",
                "permutation": "randperm",
                "poisson": "poisson",
                "randint": "randint randint_like",
                "uniform": "rand_like rng_uniform",
            }.items()
            for name in names.split()
        },
        **{
            name: f"write {call}"
            for call, names in {
                "x.ndim, or len(x.shape)": "ndim rank",
                "math.prod(x.shape)": "size numel",
                "na.dtype_of(x)": "dtype",
                "na.getitem(x, …), or x[…]": (
                    "slice narrow slice_in_dim dynamic_slice dynamic_slice_in_dim "
                    "dynamic_index_in_dim index_in_dim strided_slice get_item"
                ),
                "na.at(x)[…].set(y), or na.setitem(x, index, y)": (
                    "slice_update scatter_update dynamic_update_slice index_put index_fill "
                    "index_copy put place putmask select_scatter slice_scatter"
                ),
                'na.scatter(x, indices, updates, axis=axis, mode="add")': (
                    "scatter_add scatter_reduce scatter_max scatter_min scatter_mul"
                ),
                'na.scatter_nd(…, mode="add")': "tensor_scatter_nd_add tensor_scatter_nd_update",
                "na.mean(x) and na.var(x)": "moments var_mean",
                "na.mean(x) and na.std(x)": "std_mean",
                "na.min(x) and na.max(x)": "aminmax",
                "na.floor_divide(x, y) and na.remainder(x, y)": "divmod",
                "na.trunc(x) and x - na.trunc(x)": "modf",
                "x - na.trunc(x)": "frac",
                "na.matmul(a, b) + c": "addmm addbmm baddbmm addmv",
                "x + value * a * b": "addcmul",
                "x + value * a / b": "addcdiv",
                "na.all(na.equal(x, y))": "array_equal array_equiv",
                "na.equal(na.imag(x), 0)": "isreal",
                "na.not_equal(na.imag(x), 0)": "iscomplex",
                "na.sort(x) and take the k-th": "kthvalue",
                "na.concat([x, y])": "append",
                "na.concat([x[:i], y, x[i:]])": "insert",
                "na.concat([x[:i], x[i + 1 :]])": "delete",
                "na.diff(na.flatten(x))": "ediff1d",
                "na.vmap(fn)(x)": "apply_along_axis apply_over_axes map_fn",
                "na.scan(fn, init, xs)": "foldl foldr",
                "na.arange(n) < lengths[..., None]": "sequence_mask",
                "na.max(na.one_hot(x, n), axis=-2)": "multi_hot",
                "na.sliding_window_view(x, n)": "extract_sequences frame",
                "10 * na.log10(max_val**2 / na.mse_loss(x, y))": "psnr",
                "na.lstsq(na.vander(x, n), y)": "polyfit",
                "na.square(x - y)": "squared_difference",
                "na.swapaxes(na.conj(x), -1, -2)": "adjoint",
            }.items()
            for name in names.split()
        },
        **{
            f"unsorted_segment_{name}": f"it is na.segment_{name}"
            for name in ("sum", "max", "min", "mean", "prod")
        },
        "gradient": "derivatives are na.grad, differences na.diff",
        "clone": "arrays are values; na.asarray(x, copy=True) copies",
        "is_tensor": "write na.backend_of(x) is not None",
        "ctc_decode": "take na.argmax of the scores, and of equal ones in a row the first",
        "map_structure": "it is na.tree.map",
        "tree_flatten": "a Container has c.leaves() and c.paths(), any nest na.tree.flatten",
        **{f"tree_{name}": f"write {call}" for name, call in TREES.items()},
        "filter": "trees have c.select, c.exclude and c.partition",
        **{name: f"write c.{name}(…)" for name in ("combine", "align", "merge", "match", "global_clip", "parallel_map")},
        "global_norm": "it is na.tree_norm",
        **dict.fromkeys(("clip_by_global_norm", "clip_grad_norm_"), "write c.global_clip(max_norm)"),
        "apply_updates": "write c + updates",
        "device_get": 'it is na.to_backend(x, "numpy")',
        "eval_shape": "jax.eval_shape takes Containers and functions of na",
        "make_jaxpr": "jax.make_jaxpr takes Containers and functions of na",
        **{
            f"filter_{name}": f"it is na.{name}; c.partition(…) takes out what is no array"
            for name in ("jit", "vmap")
        },
        **{
            f"filter_{name}": f"it is na.{name}, and wrt= takes a pattern of leaves"
            for name in ("grad", "value_and_grad")
        },
        "lazy_stack": "it is na.LazyStack",
        "is_array": "write na.backend_of(x) is not None",
        **dict.fromkeys(("save", "load", "savez"), _SAVING),
        **dict.fromkeys(("seed", "manual_seed", "rand", "randn", "PRNGKey"), _KEYS),
        "no_grad": "gradients are only taken where they are asked for; na.stop_gradient(x) is a constant",
        "dropout": "it is na.random.dropout_mask(key, …), or the layer na.nn.Dropout",
        "numpy": "NumPy's functions are NumPy's: import numpy; na has its own",
        "norm": "it is na.vector_norm, na.matrix_norm, or na.tree_norm of a tree",
        "logdet": "it is na.slogdet",
        "copy": "arrays are values; na.asarray(x, copy=True) copies",
        "Module": "layers, initializers and optimizers are in na.nn",
        "pmap": "na.jit takes sharded arrays of JAX, and na.vmap maps",
        **dict.fromkeys(
            ("linalg", "special", "signal", "image", "losses", "activations", "functional"),
            "functions are in na itself: na.solve, na.erf, na.stft, na.interpolate, na.mse_loss",
        ),
        **dict.fromkeys(("optim", "optimizers", "initializers"), "it is in na.nn: na.nn.AdamW"),
        "lax": "loops are na.scan, na.while_loop, na.fori_loop and na.cond",
    },
    "nestarray.tree": {
        **{name: f"write {call}" for name, call in TREES.items() if name not in _OWN},
        **{f"tree_{name}": f"write {call}" for name, call in TREES.items()},
        **{name: f"it is na.tree_{name}" for name in _OVER_LEAVES},
        "map_structure": "it is na.tree.map",
        "unflatten_as": "it is na.tree.unflatten",
    },
    "nestarray.nn": {
        **{
            name: _FUNCTION.format(op, op)
            for name, op in {
                "ReLU": "relu", "GELU": "gelu", "SiLU": "silu", "ELU": "elu", "Sigmoid": "sigmoid",
                "Tanh": "tanh", "Softmax": "softmax", "Flatten": "flatten",
            }.items()
        },
        **dict.fromkeys(("MaxPool1d", "MaxPool2d", "MaxPool3d"), "it is a function: na.max_pool"),
        **dict.fromkeys(("AvgPool1d", "AvgPool2d", "AvgPool3d"), "it is a function: na.avg_pool"),
        **dict.fromkeys(("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"), "it is na.nn.BatchNorm"),
        **dict.fromkeys(("CrossEntropyLoss", "MSELoss"), "losses are functions: na.cross_entropy, na.mse_loss"),
        **dict.fromkeys(("ModuleList", "ModuleDict"), "a list or a dict of modules is an attribute like any other"),
        **dict.fromkeys(("Parameter", "ParameterList", "Param"), "a module declares its own variables: na.nn.Variable"),
        **dict.fromkeys(("clip_by_global_norm", "clip_grad_norm_"), "write grads.global_clip(max_norm)"),
        "Conv": "it is na.nn.Conv1d, Conv2d or Conv3d",
        "Dense": "it is na.nn.Linear",
        "functional": "functions are in na itself: na.relu, na.cross_entropy",
    },
    "nestarray.random": {
        **dict.fromkeys(("seed", "manual_seed", "default_rng", "RandomState"), _KEYS),
        **dict.fromkeys(("rand", "random"), "it is na.random.uniform, and every draw names a key"),
        **dict.fromkeys(("randn", "standard_normal"), "it is na.random.normal, and every draw names a key"),
        **dict.fromkeys(("randperm", "shuffle"), "it is na.random.permutation"),
        **dict.fromkeys(("PRNGKey",), "it is na.random.key"),
        **dict.fromkeys(("key_data", "wrap_key_data"), "a key is an array of its words"),
        "key_impl": "a key of two words is of Threefry, one of four of the framework's generator",
        "t": "it is na.random.student_t",
        "integers": "it is na.random.randint",
    },
}  # fmt: skip


#: Our parameter → what others call it.
_PARAMETERS = {
    "argnames": "argname",
    "argnums": "argnum",
    "arrays": "tensors xs",
    "axes": "dims perm axis dim",
    "axis": "dim dims axes reduction_indices",
    "backend": "framework lib",
    "bias": "use_bias",
    "correction": "ddof unbiased",
    "dtype": "output_type preferred_element_type",
    "fn": "f fun func function",
    "in_axes": "in_dims",
    "init": "carry initial",
    "join": "how",
    "keepdims": "keepdim keep_dims",
    "key": "rng seed generator",
    "learning_rate": "lr step_size",
    "negative_slope": "alpha",
    "maxval": "high b",
    "memory_map": "mmap mmap_mode",
    "max_shard_bytes": "max_shard_size shard_size",
    "minval": "low a",
    "ord": "p order",
    "out_axes": "out_dims",
    "rate": "p prob",
    "repeats": "reps n",
    "sep": "separator delimiter",
    "shape": "size newshape sizes",
    "static_argnums": "static_argnum",
    "tol": "rtol",
    "x": "input a tensor array",
    "x1": "input a",
    "x2": "other b",
}
#: What others call a parameter → ours, of which a signature has one at most.
MEANT: dict[str, list[str]] = {}
for _ours, _names in _PARAMETERS.items():
    for _theirs in _names.split():
        MEANT.setdefault(_theirs, []).append(_ours)


#: What others have as a parameter, and what to write where there is none.
WITHOUT = {
    **dict.fromkeys(
        ("nested", "include_nested", "leaves_only"),
        "c.paths() and c.leaves() are of all levels, c.nodes() what is between",
    ),
    "inplace": "nothing is changed in place: c = c.…",
    "is_leaf": "c.map_nodes(fn, pattern) takes whole nodes",
    **dict.fromkeys(
        ("workers", "n_jobs", "num_workers"), "c.parallel_map(fn, max_workers=n) has threads"
    ),
    "device": "to_device brings what comes to a device",
}


#: What others call an update of a part, of JAX and of tree libraries → ours.
UPDATES = {
    "at": "a place behind a place is one inside of it: c.at['a'][0]",
    "delete": "it is c.delete(path), or c.exclude(pattern)",
    "div": "it is divide",
    "mul": "it is multiply",
    "map": "it is apply",
    "pow": "it is power",
    "replace": "it is set",
    "sub": "it is subtract",
    "update": "it is set, or apply for a function",
}
