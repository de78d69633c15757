"""The reference: the public names by page.

Ops, methods that other packages attach to `Container` and `Graph`, and lazy names exist at run time
only. So the reference is made of the imported objects; Sphinx does not parse the package.
`entries` lists the names that have an entry. A test compares them with the public names.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import nestarray as na
from nestarray.dispatch import OPS

#: Public modules; `nestarray.ops` has the functions of `nestarray`.
MODULES = (
    "nestarray",
    "nestarray.nn",
    "nestarray.nn.initializers",
    "nestarray.nn.metrics",
    "nestarray.nn.recurrent_weights",
    "nestarray.nn.rotary",
    "nestarray.nn.schedules",
    "nestarray.random",
    "nestarray.decoding",
    "nestarray.graph",
    "nestarray.graph.passes",
    "nestarray.tree",
    "nestarray.storage",
    "nestarray.testing",
    "nestarray.dtypes",
    "nestarray.errors",
    "nestarray.exporters",
    "nestarray.typing",
)

#: Heading → names, or the modules that define them. A name precedes a module, a longer module a
#: shorter one.
Groups = Mapping[str, tuple[str, ...]]

CONTAINER: Groups = {
    "Look up": ("get", "keys", "values", "items", "paths", "leaves", "flat_items", "find", "nodes"),
    "Shape and size": ("nestarray.array_api", "nbytes", "size", "spec", "count"),
    "Change": ("set", "at", "update", "delete", "rename", "move", "insert", "replace", "cut"),
    "Select": ("nestarray.container.selection", "combine"),
    "Map and reduce": ("map", "nestarray.container.mapping", "reduce"),
    "Restructure": ("nestarray.container.structure", "nestarray.tree_math.alignment"),
    "Arithmetic over all leaves": ("nestarray.tree_math", "nestarray.random"),
    "Batches": ("nestarray.batches",),
    "Fused leaves": ("nestarray.dispatch",),
    "Compare and merge": ("nestarray.comparison",),
    "Plain Python": ("to_dict", "to_flat_dict", "from_flat_dict"),
    "Other libraries": ("nestarray.interchange",),
    "Files": ("nestarray.storage",),
    "Display": ("nestarray.display",),
}
TREES: Groups = {
    "Over all leaves": ("nestarray.tree_math",),
    "Comparison": ("nestarray.comparison",),
    "Records of different lengths": ("nestarray.batches",),
}
TRANSFORMS: Groups = {
    "Gradients": ("nestarray.transforms.gradients", "checkpoint"),
    "Products and matrices of derivatives": (
        "nestarray.transforms.products",
        "nestarray.transforms.jacobians",
    ),
    "Custom derivatives": ("nestarray.transforms.custom",),
    "Compilation and mapping": (
        "nestarray.transforms.compilation",
        "nestarray.transforms.batching",
        "map",
    ),
    "Choices and loops": (
        "nestarray.transforms.control_flow",
        "nestarray.transforms.associative_scans",
    ),
    "Minimization": ("minimize",),
    "Collectives": ("nestarray.transforms.collectives",),
}
TRACING: Groups = {
    "Tracing": ("nestarray.importers",),
    "Graphs": ("nestarray.graph",),
}
INTERCHANGE: Groups = {"": ("nestarray.interchange",)}
ARRAYS: Groups = {
    "Backends": ("nestarray.backends", "nestarray.config"),
    "The Array API standard": ("array_namespace", "e", "inf", "nan", "newaxis", "pi"),
}
NN: Groups = {
    "Module": ("Module", "Variable"),
    "Layers": ("nestarray.nn",),
    "Optimizers": ("nestarray.nn.optimizers",),
    "Optimizers of other libraries": ("nestarray.nn.optimizers.interchange",),
    "Training": (
        "train_step",
        "nestarray.nn.training",
        "nestarray.nn.loss_scaling",
        "nestarray.nn.checkpoints",
        "nestarray.nn.progress_line",
    ),
    "Meta-learning": ("nestarray.transforms",),
}

#: The results of methods, by module.
REPORTS = {
    "nestarray.proof.report": ("Report", "Comparison", "Sample"),
    "nestarray.graph.census": ("GraphReport",),
    "nestarray.importers.check": ("CheckReport",),
    "nestarray.display.table": ("Table",),
}

STORAGE = """Arrays that stay in their file.

`Container.save` and `Container.load` write and read the files.
"""
FRONTENDS = (
    ":doc:`PyTorch coverage <../torch_coverage>`, :doc:`JAX coverage <../jax_coverage>`, "
    ":doc:`TensorFlow coverage <../tensorflow_coverage>` and :doc:`NumPy coverage "
    "<../numpy_coverage>` list the names."
)


class Entry(NamedTuple):
    """A public name: the module, the name in it (`Container.map`), the object."""

    module: str
    name: str
    object: Any

    @property
    def full(self) -> str:
        """The name in the index of the site."""
        return f"{self.module}.{self.name}"


class Page(NamedTuple):
    """A page: its file, title, introduction (a docstring), and heading → entries."""

    file: str
    title: str
    text: str
    sections: dict[str, list[Entry]]


def public_names(module: ModuleType) -> list[str]:
    """The public names of a module, without modules."""
    names = getattr(module, "__all__", None) or dir(module)
    return sorted(n for n in names if n[0] != "_" and not inspect.ismodule(getattr(module, n)))


def public_members(cls: type) -> dict[str, Any]:
    """The public methods and properties of a class, without the members of public base classes."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base is cls or (
            base.__module__.startswith("nestarray") and base not in public_classes()
        ):
            found |= {n: v for n, v in vars(base).items() if not n.startswith("_")}
    for name in found:
        getattr(cls, name)  # replaces a lazy method by the method
    return {name: inspect.getattr_static(cls, name) for name in sorted(found)}


@functools.cache
def public_classes() -> frozenset[type]:
    """The classes among the public names."""
    modules = [importlib.import_module(module) for module in MODULES]
    values = [getattr(module, name) for module in modules for name in public_names(module)]
    return frozenset(value for value in values if inspect.isclass(value))


def source(value: Any) -> str:
    """The module that defines an object."""
    for attribute in ("fget", "func", "__func__"):
        value = getattr(value, attribute, None) or value
    return getattr(value, "__module__", None) or ""


def grouped(groups: Groups, entries: list[Entry]) -> dict[str, list[Entry]]:
    """Heading → entries; entries of no group are left out."""
    found: dict[str, list[Entry]] = {heading: [] for heading in groups}
    for entry in entries:
        name, origin = entry.name.rpartition(".")[2], source(entry.object)
        matches = {
            (key == name, len(key)): heading
            for heading, keys in groups.items()
            for key in keys
            if key == name or f"{origin}.".startswith(f"{key}.")
        }
        if matches:
            found[matches[max(matches)]].append(entry)
    return {heading: entries for heading, entries in found.items() if entries}


def entries_of(module: str) -> list[Entry]:
    """The public names of a module; of `nestarray`, those that are not in `nestarray.ops`."""
    value = importlib.import_module(module)
    own = {*dir(na.ops)} if value is na else set()
    return [Entry(module, n, getattr(value, n)) for n in public_names(value) if n not in own]


def members_of(entry: Entry) -> list[Entry]:
    """The public members of a class that are not ops; [] for other objects."""
    if not inspect.isclass(entry.object):
        return []
    return [
        Entry(entry.module, f"{entry.name}.{name}", value)
        for name, value in public_members(entry.object).items()
        if not hasattr(value, "op")
    ]


@functools.cache
def chapters() -> dict[str, list[Entry]]:
    """Chapter of `nestarray.ops` → its names."""
    found: dict[str, list[Entry]] = {}
    for chapter in sorted({record.chapter for record in OPS.values()}):
        names = sorted(importlib.import_module(f"nestarray.ops.{chapter}").__all__)
        found[chapter] = [Entry("nestarray", name, getattr(na, name)) for name in names]
    return found


@functools.cache
def pages() -> list[Page]:
    """All pages of the reference, in the order of the contents."""
    here = entries_of("nestarray")
    in_graph = [e for e in entries_of("nestarray.graph") if not hasattr(na, e.name)]
    container = Entry("nestarray", "Container", na.Container)
    reports = [
        Entry(module, name, getattr(importlib.import_module(module), name))
        for module, names in REPORTS.items()
        for name in names
    ]
    found = [
        Page(
            "container",
            "Container",
            "",
            {"": [container], **grouped(CONTAINER, members_of(container))},
        ),
        Page("trees", "Functions of trees", "", grouped(TREES, here)),
        *(
            Page(f"functions/{chapter}", titled(chapter), documented(f"ops.{chapter}"), {"": ops})
            for chapter, ops in chapters().items()
        ),
        Page("transforms", "Transformations", "", grouped(TRANSFORMS, here)),
        module_page("random"),
        Page(
            "nn",
            "nestarray.nn",
            "Layers hold settings, variables are Containers, and calls have no side effects.",
            {
                **grouped(NN, entries_of("nestarray.nn")),
                "Initializers": entries_of("nestarray.nn.initializers"),
                "Metrics": entries_of("nestarray.nn.metrics"),
                "Schedules": entries_of("nestarray.nn.schedules"),
                "Recurrent weights": entries_of("nestarray.nn.recurrent_weights"),
                "Rotary frequencies": [
                    e for e in entries_of("nestarray.nn.rotary") if not hasattr(na.nn, e.name)
                ],
            },
        ),
        Page(
            "graph",
            "nestarray.graph",
            "Models as graphs: trace, move, compile, prove.",
            {
                **grouped(TRACING, [*here, *in_graph]),
                "Passes": entries_of("nestarray.graph.passes"),
                "Reports": reports,
            },
        ),
        Page("interchange", "Variables of other libraries", "", grouped(INTERCHANGE, here)),
        Page("arrays", "Arrays and backends", "", grouped(ARRAYS, here)),
    ]
    return [
        *found,
        *(
            module_page(name)
            for name in ("decoding", "exporters", "dtypes", "tree", "testing", "errors")
        ),
        module_page("storage", STORAGE),
        module_page("typing", "Type aliases for annotations."),
        Page("frontends", "nestarray.frontends", f"{documented('frontends')}\n\n{FRONTENDS}", {}),
    ]


def module_page(name: str, text: str = "") -> Page:
    """A page for all public names of a module, below a text or the docstring of the module."""
    full = f"nestarray.{name}"
    return Page(name, full, text or documented(name), {"": entries_of(full)})


def documented(module: str) -> str:
    """The docstring of a module."""
    return inspect.getdoc(importlib.import_module(f"nestarray.{module}")) or ""


def titled(chapter: str) -> str:
    """The title of a chapter's page."""
    return chapter.replace("_", " ").capitalize().replace("Fft", "FFT")


@functools.cache
def entries() -> dict[str, Entry]:
    """Full name → entry, with the members of classes."""
    listed = [e for page in pages() for section in page.sections.values() for e in section]
    members = [member for entry in listed for member in members_of(entry)]
    return {entry.full: entry for entry in [*members, *listed]}
