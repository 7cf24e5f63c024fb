"""Arrays of the function around the kernels. An array is a ref in HBM, a ref in SMEM if a kernel
of a TPU wants scalars before it starts, or a scalar in a register. Its first use decides where it
lives. It is copied if a later use wants it elsewhere."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from pallascope import sources, types
from pallascope.outside_kernel import fusion_operation
from pallascope.problems import NotCaptured
from pallascope.program import Region, Type
from pallascope.walk import Walk


@dataclasses.dataclass(eq=False)
class Array:
    """An array of the function: an argument, a constant, or what was made of these."""

    aval: Any
    name: str
    is_named: bool = False  # whether the name is the author's
    value: Any = None  # for a constant
    is_result: bool = False
    scalar: int | None = None  # its only element, once it was loaded or computed
    alias_of: Array | None = None
    base: Array | None = None  # the array that this one shows in another shape
    order: tuple[int, ...] | None = None  # or with its axes in this order
    layout: tuple[int, ...] | None = None  # for an input whose axes do not lie in order
    row_major: Array | None = None  # the array in row-major order that was made of the input
    refs: dict[str, int] = dataclasses.field(default_factory=dict)  # for each memory space
    home: str = ""  # the memory space where it was made
    is_prefetched: bool = False  # whether it holds scalars that kernels want before they start
    of_kernel: bool = False  # whether a kernel makes it or takes it, with its last axis in the lanes
    of_round: bool = False  # whether it is the slice that a round of a scan is given
    changes: int = 0  # how often its contents changed
    is_donated: bool = False  # whether it is an input whose memory the function may reuse
    # On several devices, `aval` is the type of one device's part. `partition` has, for each axis,
    # the mesh axes that cut it.
    partition: list[list[str]] | None = None

    def root(self) -> Array:
        return self.base.root() if self.base else self

    @property
    def is_of_kernel(self) -> bool:
        """Returns whether it lies as kernels have it, or is a view of what does."""
        return self.of_kernel or (self.base is not None and self.base.is_of_kernel)

    @property
    def is_slice(self) -> bool:
        """Returns whether it is a part of another array."""
        return self.of_round or (self.base is not None and self.base.is_slice)

    @property
    def is_semaphore(self) -> bool:
        """Returns whether it holds semaphores, which one kernel hands to another."""
        return self.home.endswith("semaphore")

    @property
    def is_known(self) -> bool:
        """Returns whether `value` is what the program sees. For a constant that is cut it is not,
        because `value` is the whole."""
        return self.value is not None and not any(self.partition or [])

    def ref(self) -> int:
        """Returns the ref in which the array was made."""
        return self.refs[self.home]


class Arrays:
    """The arrays of a function. In the end, `inputs` and `results` are in the order of the file."""

    def __init__(self, walk: Walk, is_tpu: bool = True) -> None:
        self.walk = walk
        self._is_tpu = is_tpu
        self.inputs: list[Array] = []
        self.results: list[Array] = []
        self._scratch: list[int] = []  # refs other than those of inputs and results
        # For each region that is open, arrays as they were before copies or views of them were made
        # in it.
        self._changed: list[list[tuple[Array, int | None, dict[str, int], str]]] = []

    def constant(self, aval: Any, value: Any, name: str = "") -> Array:
        return Array(aval, name or "constant", bool(name), value=types.words_of(value))

    def rename(self, array: Array, name: str, is_named: bool = True) -> None:
        array.name, array.is_named = name, is_named
        for ref in array.refs.values() if array.base is None else ():
            self.walk.builder.values[ref]["name"] = name

    def name_apart(self, between: list[int]) -> None:
        """Gives every array in the memory of the function a name of its own. `between` are the refs
        of those that are neither inputs nor results."""
        values, listed = self.walk.builder.values, [*self.inputs, *self.results]
        for number, array in enumerate(self.inputs):
            array.name = array.name or f"arg{number}"
        names = {array.ref(): array.name for array in listed}
        names = {ref: values[ref].get("name", "") for ref in between} | names
        refs = list(dict.fromkeys([*(array.ref() for array in listed), *sorted(between)]))
        apart = dict(zip(refs, sources.apart([names[ref] for ref in refs]), strict=True))
        for ref in filter(apart.get, refs):
            values[ref]["name"] = apart[ref]
        for array in listed:
            array.name = apart[array.ref()]

    @contextlib.contextmanager
    def inside(self, arguments: list[int]) -> Iterator[Region]:
        """Opens a region of a branch or a loop. What arrays become inside it ends with it."""
        self._changed.append([])
        with self.walk.builder.region(arguments) as region:
            yield region
        for array, scalar, refs, home in reversed(self._changed.pop()):
            array.scalar, array.refs, array.home = scalar, refs, home

    def _changes(self, array: Array) -> None:
        if self._changed:
            self._changed[-1].append((array, array.scalar, dict(array.refs), array.home))

    def scalar(self, array: Array) -> int:
        """Returns the only element of an array of rank 0."""
        builder = self.walk.builder
        if (array.scalar is None and array.value is not None
                and types.key_words(array.aval.dtype) is None):
            array.scalar = builder.literal(types.dtype_of(array.aval.dtype),
                                           types.stored(array.value)[()])
        if array.scalar is None:
            ref = self.ref(array, "smem" if self._is_tpu else "hbm")
            self._changes(array)
            array.scalar = (builder.one("get", [ref], builder.types[ref]._replace(space=None),
                                        self._whole(ref)) if self._is_tpu
                            else fusion_operation.load(self.walk, ref))
        return array.scalar

    def is_scalar(self, array: Array) -> bool:
        """Returns whether the array is a scalar that need not be loaded."""
        return array.aval.shape == () and (array.scalar is not None or array.value is not None)

    def ref(self, array: Array, space: str) -> int:
        """Returns the ref of the whole array in this memory."""
        if space in array.refs or array.is_semaphore:
            return array.refs.get(space, array.ref())
        is_declared = False
        if array.base is not None:
            base, shape = self.ref(array.base, space), self._type(array, space).shape
            found = self._view(base, shape, array.order)
        elif not array.refs and (array.scalar is None or array.value is not None):
            if array.value is not None and array not in self.inputs:
                self.inputs.append(array)
            found = self.walk.builder.value(self._type(array, space), array.name)
            is_declared = True
        elif array.refs:
            found = self._new(self._type(array, space), array.name)
            self.copy(array.ref(), found)
        else:
            self._changes(array)
            self._store_scalar(array)
            return self.ref(array, space)
        if not is_declared:
            self._changes(array)
        array.refs[space] = found
        array.home = array.home or space
        return found

    def _store_scalar(self, array: Array) -> None:
        """Gives memory to an array that is a scalar: SMEM, which on a GPU only blocks of kernels
        have."""
        assert array.scalar is not None
        array.home = "smem" if self._is_tpu else "hbm"
        found = array.refs[array.home] = self._new(self._type(array, array.home), array.name)
        if self._is_tpu:
            self.walk.builder.one("swap", [found, array.scalar],
                                  self.walk.builder.types[array.scalar], self._whole(found))
        else:
            fusion_operation.store(self.walk, array.scalar, found)

    def own_scalars(self, array: Array) -> int:
        """Returns a copy in SMEM for a kernel that writes to its scalars."""
        source = self.ref(array, "hbm")
        found = self._new(self._type(array, "smem"), array.name)
        self.copy(source, found)
        return found

    def copy(self, source: int, target: int) -> None:
        """Copies the whole array and waits until it has landed."""
        builder = self.walk.builder
        if all(builder.types[ref].space == "hbm" for ref in (source, target)):
            fusion_operation.copy(self.walk, source, target)
            return
        semaphore = builder.value(Type("int32", (), "dma_semaphore"))
        with builder.region([semaphore]) as region:
            builder.emit("dma_start", [source, target, semaphore], [])
            builder.emit("dma_wait", [target, semaphore], [])
        builder.emit("run_scoped", [], [], regions=[region])

    def new_result(self, aval: Any, name: str = "") -> Array:
        """Returns an array in HBM, or semaphores, for an operation or a kernel to fill."""
        semaphores = types.semaphore_type(aval)
        if semaphores is not None:
            return Array(aval, name, home=semaphores.space,
                         refs={semaphores.space: self._new(semaphores, name)})
        array = Array(aval, name or aval.str_short(), is_result=True)
        self.ref(array, "hbm")
        self.results.append(array)
        return array

    def copied(self, array: Array, name: str = "") -> Array:
        """Returns another array with the same contents."""
        found = self.new_result(array.aval, name or array.name)
        found.partition = array.partition
        self.copy(self.ref(array, "hbm"), found.ref())
        return found

    def move(self, array: Array, views: Iterable[Array]) -> None:
        """Moves an array to other memory, with its views."""
        self._changes(array)
        array.refs = array.refs | {"hbm": self.copied(array).ref()}
        for view in views:
            self._changes(view)
            view.refs, view.home = {}, ""

    def forget(self, array: Array) -> None:
        """Forgets what was made of the array before its contents changed."""
        if self._changed and (array.scalar is not None or len(array.refs) > 1):
            raise NotCaptured("a ref that is read as scalars and written to in a branch or a loop")
        array.scalar, array.refs = None, {array.home: array.ref()}
        array.changes += 1

    def order_results(self, found: list[Array]) -> list[int]:
        """Puts results into the order of the function. Returns the refs of those that it does not
        return."""
        listed: list[Array] = []
        returned: set[int] = set()
        for array in found:
            root = array.root()
            if not root.is_result or root.ref() in returned or (
                    array is not root and root.alias_of is not None):
                array = self.copied(array)
            returned.add(array.root().ref())
            listed.append(array)
        dropped = {array.ref(): array for array in self.results if array.ref() not in returned}
        updated = [array for array in dropped.values() if array.alias_of is not None]  # the caller's
        self.results = [self._in_shape(array) for array in listed] + updated
        return [ref for ref, array in dropped.items() if array not in updated] + self._scratch

    def with_memory(self, region: Region, refs: list[int]) -> Region:
        """Returns the region with arrays around it that live while it runs."""
        if not refs:
            return region
        region.arguments = refs
        with self.walk.builder.region() as whole:
            self.walk.builder.emit("run_scoped", [], [], regions=[region])
        return whole

    def declared(self) -> list[int]:
        """Returns the refs of all inputs and results. Notes problems for what the format lacks."""
        found = []
        for array in (*self.inputs, *self.results):
            try:
                found.append(array.ref() if array.refs else self.ref(array, "hbm"))
            except NotCaptured as reason:
                self.walk.problem(f"{reason}, of {array.name}")
        return found

    def arguments(self) -> list[dict[str, Any]]:
        """Returns the arguments as the file holds them."""
        listed = [{"name": array.name, "ref": array.ref()} for array in self.inputs]
        for array in self.results:
            listed.append({"name": array.name, "kind": "output", "ref": array.ref()})
            if array.alias_of is not None:
                listed[-1]["alias_of"] = self.inputs.index(array.alias_of)
        for entry, array in zip(listed, [*self.inputs, *self.results], strict=True):
            cut = array.partition or (array.alias_of and array.alias_of.partition)
            if cut:
                entry["partition"] = cut
        return listed

    # ---- refs ------------------------------------------------------------------------------

    def _type(self, array: Array, space: str) -> Type:
        return types.array_type(array.aval)._replace(space=space)

    def _whole(self, ref: int) -> dict[str, Any]:
        return {"entries": [{"size": size} for size in self.walk.builder.types[ref].shape]}

    def _new(self, type_: Type, name: str) -> int:
        self._scratch.append(self.walk.builder.value(type_, name))
        return self._scratch[-1]

    def reshaped(self, ref: int, shape: tuple[int, ...]) -> int:
        builder = self.walk.builder
        return builder.one("ref_reshape", [ref], builder.types[ref]._replace(shape=shape),
                           {"shape": list(shape)})

    def _view(self, ref: int, shape: tuple[int, ...], order: tuple[int, ...] | None) -> int:
        """Returns a view of a ref with its axes in this order, or in another shape."""
        if order is None:
            return self.reshaped(ref, shape)
        builder = self.walk.builder
        return builder.one("ref_transpose", [ref], builder.types[ref]._replace(shape=shape),
                           {"permutation": list(order)})

    def _in_shape(self, array: Array) -> Array:
        """Returns the result in the shape in which the function returns it. Its kernel sees it in
        the shape in which it makes it."""
        root, builder, returned = array.root(), self.walk.builder, array
        if array is root:
            return root
        ref = whole = builder.value(self._type(array, "hbm"), root.name)
        views = []
        while array.base is not None:
            seen = root.ref() if array.base is root else builder.value(
                self._type(array.base, "hbm"))
            if array.order is None:
                views.append(("ref_reshape", ref, seen, {"shape": list(builder.types[seen].shape)}))
            else:
                inverse = [array.order.index(axis) for axis in range(len(array.order))]
                views.append(("ref_transpose", ref, seen, {"permutation": inverse}))
            ref, array = seen, array.base
        for op, source, result, params in reversed(views):
            builder.define_first(op, [source], result, params)
        return Array(returned.aval, root.name, is_result=True, refs={"hbm": whole}, home="hbm",
                     partition=returned.partition)
