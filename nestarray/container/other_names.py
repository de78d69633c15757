"""Names that other tree and array libraries give to what Containers do otherwise.

They are no methods: there is one name for one thing. The error for such a name says which.
"""

from __future__ import annotations

from nestarray.errors.suggestions import OURS, TREES
from nestarray.errors.unknown_names import nearest_name

_COPY = "copy.deepcopy(c); nothing writes into a Container, so it can be shared"
_NOTHING = "nothing: a Container never changes"
_PATHS = "c.paths() and c.leaves(), or c.nodes() for what is between"
_BUILD = "na.Container(tree)"
_OBJECT = "na.Container.from_object(x)"
_FILE = "c.save(path), and na.Container.load(path)"
_BACKEND = "c.to_backend({!r})"

#: What to write here → names of JAX, optree, Equinox, optax, TensorDict, Ivy, PyTorch or dict.
_NAMES = {
    # making one
    _BUILD: "from_dict from_items from_list from_tuple from_namedtuple from_tensordict from_any",
    _OBJECT: "from_dataclass from_attrs from_struct",
    "na.Container.from_torch_module(module)": "from_module from_torch",
    "na.Container.from_torch_state_dict(tensors)": "from_state_dict load_state_dict",
    "na.Container.from_flax(variables)": "from_linen from_nnx",
    "na.Container.from_pytree(tree)": "from_optax from_jax",
    "na.Container.from_flat_dict(flat)": "from_flat from_flat_path unflatten_dict from_flat_list",
    "na.Container(dict.fromkeys(keys, x))": "fromkeys",
    "na.Container()": "clear empty",
    "na.stack(trees)": "stack list_stack maybe_dense_stack stack_tensors",
    "na.concat(trees)": "concat cat list_join concatenate",
    "na.LazyStack(trees)": "lazy_stack to_lazystack",
    "na.LazyStack(trees).pad()": "to_padded_tensor densify",
    "na.Container.load(directory), a model's files": "from_pretrained",
    "na.Container.load(path)": "from_file from_safetensors from_disk_as_hdf5 from_disk_as_json "
    "from_h5 from_zarr from_json read load_memmap tree_deserialise_leaves",
    # mapping
    "c.map(fn)": "apply",
    "c.map(fn, with_path=True)": "map_with_path named_apply",
    "c.map(fn, other)": "multi_map",
    "c.map_nodes(fn)": "map_sub_conts map_containers",
    # keys, paths and structure
    "c.leaves()": "tree_leaves to_flat_list",
    "c.paths()": "all_key_chains key_chains",
    _PATHS: "to_iterator to_iterator_keys to_iterator_values",
    "dict(c.flat_items())": "flatten_with_path",
    "c.flat_items()": "flat_state named_leaves",
    "c.to_flat_dict()": "flatten_dict",
    "c.to_dict()": "to_pure_dict unfreeze to_raw as_dict asdict to_nested_list",
    "c.to_object(like)": "to_dataclass to_namedtuple",
    "c.spec": "structure treedef",
    "na.tree.flatten(c), or c.leaves() and c.spec": "tree_flatten",
    "path in c": "has has_key has_key_chain",
    "c.at[path].set(x), or c.set(path, x)": "set_at_keys set_at_key_chain set_non_tensor create_nested",
    "c[path]": "at_key_chain get_path get_non_tensor",
    "c[path][index]": "get_at",
    "c.at[path][index].set(x)": "set_at update_at index_put",
    "c.get(path, default)": "setdefault if_exists",
    "x = c[path] and c = c.delete(path)": "pop",
    "c.delete(path)": "remove drop popitem del prune_key_chain",
    "c.exclude(pattern)": "prune_keys prune_key_chains without drop_keys",
    "c.insert(path, x)": "append extend",
    "c.select(…), c.exclude(…) or c.partition(…)": "filter split_keys separates",
    "c.select(…)": "filter_like at_keys keep_keys slice_keys",
    "c.find(part)": "find_sub_container find_sub_structure contains_sub_container "
    "contains_sub_structure",
    "c.rename({old: new})": "rename_key rename_keys map_keys",
    "c.restructure({old: new})": "restructure_key_chains restructure_keys",
    "c.flatten_keys()": "flatten_key_chains",
    "c.unflatten_keys()": "unflatten",
    "c.prune()": "prune_empty filter_empty",
    "c.sort_keys()": "sorted_keys sort_by_key sorted",
    "c.cut(depth=depth)": "cutoff_at_depth",
    "c.cut(height=height)": "cutoff_at_height",
    "c.count()": "num_leaves num_arrays num_tensors",
    "c.size": "num_params numel nelement param_count",
    "c.nbytes": "bytes",
    "len(c)": "num_entries",
    "max(map(len, c.spec.paths))": "depth max_depth",
    "not c.leaves()": "is_empty",
    "not isinstance(x, na.Container)": "is_leaf",
    # arrays of a batch
    "c.batch_shape": "batch_size auto_batch_size",
    "len(c.batch_shape)": "batch_dims dim ndimension",
    "c.reshape_batch(shape) for the axes of c.batch_shape, or na.reshape(c, shape)": "view",
    "c.reshape_batch(shape)": "flatten_batch",
    "c.permute_batch(axes) for the axes of c.batch_shape, or na.permute_dims(c, axes)": "permute",
    "c.expand_batch(shape), or na.broadcast_to(c, shape)": "expand",
    "na.expand_dims(c, axis=axis)": "unsqueeze",
    "c.unstack()": "unbind unstack_conts",
    "na.take(c, indices, axis=axis)": "index_select",
    "c.split(sizes)": "split_conts tensor_split split_with_sizes",
    "c.transpose()": "transpose_keys tree_transpose",
    # values
    "c.tree_ravel() for one vector of all leaves, na.reshape(c, (-1,)) for each": "ravel",
    "vector, unravel = c.tree_ravel()": "unravel",
    "c.tree_norm()": "global_norm norm",
    "c.tree_dot(other)": "tree_vdot",
    "c.global_clip(max_norm)": "clip_by_global_norm clip_norm",
    "c.ema(new, decay)": "polyak incremental_update update_moment",
    "not c.diff(other)": "tree_equal equals identical all_equal is_equal assert_identical",
    "c.isclose(other).tree_all()": "tree_allclose",
    "not c.isfinite().tree_all()": "has_nan has_nans any_nan",
    "c.spec is other.spec": "identical_structure assert_identical_structure same_structure",
    "c.random_like(key)": "randn_like rand_like normal uniform",
    "c.map(lambda x: x.shape)": "shapes",
    "c.map(na.dtype_of)": "dtypes",
    "c.map(na.backend_of)": "backend backends",
    "c.astype(dtype)": "type to_dtype",
    "c.astype('float16')": "half float16",
    "c.astype('bfloat16')": "bfloat16",
    "c.astype('float32')": "float float32",
    "c.astype('float64')": "double float64",
    "c.astype('int32')": "int int32",
    "c.astype('int64')": "long int64",
    "c.astype('bool')": "bool",
    "c.to_device(device), c.astype(dtype) or c.to_backend(name)": "to",
    "c.to_device('cuda')": "cuda",
    "c.to_device('cpu')": "cpu",
    _BACKEND.format("numpy"): "numpy to_numpy",
    _BACKEND.format("torch"): "to_torch",
    _BACKEND.format("jax"): "to_jax",
    _BACKEND.format("tensorflow"): "to_tensorflow to_tf",
    "na.stop_gradient(c)": "detach data",
    "na.clip(c, min, max)": "clamp_min clamp_max",
    "na.psum(c, axis_name)": "all_reduce",
    "na.zeros_like(c), or na.full_like(c, x)": "new_zeros new_ones new_full",
    "na.full_like(c, x)": "fill",
    "na.zeros_like(c)": "zero zero_grad",
    "na.grad(f)(c), or c.map(lambda x: x.grad) after backward()": "grad",
    "c.map(lambda x: x.requires_grad_())": "requires_grad_",
    "c.map(lambda x: x.requires_grad)": "requires_grad",
    "c.device": "is_cuda is_cpu get_device",
    "c.dtype": "is_floating_point is_complex",
    "c.map(lambda x: x.contiguous())": "contiguous",
    "c.map(lambda x: x.pin_memory())": "pin_memory",
    "c.map(lambda x: x.share_memory_())": "share_memory_",
    "c.map(lambda x: x.sharding)": "sharding",
    "c.map(lambda x: x.block_until_ready())": "block_until_ready wait",
    "c.map(lambda x: x.tolist())": "tolist to_list",
    "c.map(lambda x: x.item())": "item",
    "c.fuse()": "consolidate fused",
    # other libraries, files, looking
    "c.to_torch_state_dict()": "state_dict to_state_dict",
    "c.load_into_torch_module(module)": "to_module",
    "c.to_flax(like)": "to_nnx to_linen",
    "c.load_into_keras(model)": "to_keras",
    "TensorDict(c.to_dict(), c.batch_shape)": "to_tensordict",
    _FILE: "memmap memmap_like to_json to_h5 to_hdf5 to_zarr to_file to_disk save_to_disk "
    "to_disk_as_hdf5 to_disk_as_json tree_serialise_leaves dump",
    "pickle.dumps(c)": "dumps",
    "print(c), or c.summary() and c.describe()": "show pprint tree_pprint tree_pformat info",
    "na.Schema(entries).check(c)": "check validate conforms",
    "na.Schema.of(c)": "schema",
    _COPY: "clone copy deep_copy",
    _NOTHING: "lock unlock is_locked freeze",
}  # fmt: skip
#: What another library calls it → what to write here.
INSTEAD = {
    **{f"tree_{theirs}": instead for theirs, instead in TREES.items()},
    **{theirs: instead for instead, names in _NAMES.items() for theirs in names.split()},
}


def instead_of(name: str, cls: type) -> str:
    """What to write for `name`, which `cls` lacks; nothing where nothing is known.

    Names may be as Ivy has them, ``cont_map``, or of what works in place, ``mul_``.
    """
    plain = name.removeprefix("cont_").removesuffix("_")
    found = INSTEAD.get(name) or INSTEAD.get(plain)
    ours = OURS.get(plain, plain)
    if found is None and name[0] != "_" and ours != name and hasattr(cls, ours):
        found = f"c.{ours}(…)"
    if found is None:
        return ""
    return f"c = {found}" if name[-1] == "_" and found.startswith(("c.", "na.")) else found


def class_message(cls: type, name: str) -> str:
    """The message for ``Container.name`` when the class has no such attribute."""
    text = f"type object {cls.__name__!r} has no attribute {name!r}"
    if instead := instead_of(name, cls):
        return f"{text}; write {instead}"
    near = nearest_name(name, [own for own in dir(cls) if own[0] != "_"])
    return f"{text}; did you mean {near!r}?" if near is not None else text
