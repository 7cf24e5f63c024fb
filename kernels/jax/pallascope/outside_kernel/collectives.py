"""Collectives around kernels, as copies between neighbours on rings, one ring for each mesh axis.

Everything goes round a ring in both directions at once: on a ring of n devices, n // 2 hops
forwards and (n - 1) // 2 backwards. Over several axes, the rings work one after the other. The
order of sums on each device is: what came forwards, its own part, what came backwards; each
direction begins with the farthest device.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax

from pallascope import types
from pallascope.outside_kernel import fusion_operation, rings, start_barrier
from pallascope.outside_kernel.arrays import Array, Arrays
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Region, Type
from pallascope.rules import device_ids
from pallascope.rules.ref_transforms import element, elements
from pallascope.walk import Walk

_REDUCTIONS = {"psum": lax.add, "psum_invariant": lax.add, "pmax": lax.max, "pmin": lax.min}
NAMES = frozenset({*_REDUCTIONS, "all_gather", "all_gather_invariant", "reduce_scatter",
                   "all_to_all", "ppermute"})

# For each reduction of two arrays, the reduction of one array over its first axis.
_OF_ONE: dict[Any, Callable[[Any], Any]] = {
    lax.add: lambda array: lax.reduce_sum(array, (0,)),
    lax.max: lambda array: lax.reduce_max(array, (0,)),
    lax.min: lambda array: lax.reduce_min(array, (0,))}

_MEMBERS = "members of a group"

# How a reduction is cut: the smallest piece keeps a link busy for about as long as a hop's latency.
_MOST_PIECES, _LEAST_BYTES = 4, 64 << 10
_MOST_WHOLE = 8 << 20  # bytes; up to this size arrays are gathered whole

Operation = Callable[[Any, Any], Any]


class Collectives:
    """The rules. Operands and results are arrays in HBM."""

    def __init__(self, walk: Walk, arrays: Arrays) -> None:
        self.walk = walk
        self.arrays = arrays
        self._eqn: Any = None
        self._name = ""  # of the collective
        self._extents: dict[str, int] = {}  # of mesh axes, and of axes that stand for groups
        self._groups: tuple[list[str], list[list[int]]] = [], []  # axes, and places along them
        self._scope = Region([])  # around the collective: its semaphores, and what is on its way
        self._barriers = itertools.count(start_barrier.START_BARRIER - 1, -1)  # one for each ring

    def equation(self, eqn: Any, operands: list[Array]) -> list[Array]:
        self._eqn, self._name, params = eqn, eqn.primitive.name, eqn.params
        name = self._name
        named = params.get("axis_name", params.get("axes"))
        axes = [named] if isinstance(named, str) else list(named)
        for axis in axes:
            if axis not in self.walk.devices:
                raise NotCaptured(f"{name} over {axis!r}, which is no axis of the mesh of devices")
        self._extents = dict(self.walk.devices)
        if params.get("axis_index_groups") is not None:
            axes = self._grouped(axes, params["axis_index_groups"])
        if name in _REDUCTIONS and math.prod(self._sizes(axes)) == 1:
            return operands
        rule = {"all_gather": self._all_gather, "all_gather_invariant": self._all_gather,
                "reduce_scatter": self._reduce_scatter, "all_to_all": self._all_to_all,
                "ppermute": self._ppermute}.get(name, self._all_reduce)
        results = []
        for operand, v in zip(operands, eqn.outvars, strict=True):
            source = self.arrays.ref(operand, "hbm")
            results.append(self.arrays.new_result(v.aval, name))
            with self.walk.builder.region() as self._scope:
                rule(axes, source, results[-1].ref())
            self.walk.builder.emit("run_scoped", [], [], regions=[self._scope])
        return results

    def _grouped(self, axes: list[str], groups: Any) -> list[str]:
        """Returns the name of an axis that counts the members of each group."""
        self._groups = axes, [[int(place) for place in group] for group in groups]
        sizes = {len(group) for group in self._groups[1]}
        if len(sizes) != 1:
            raise NotCaptured(f"{self._name} with axis_index_groups of different sizes, which JAX "
                              "does not lower for a TPU either")
        if sorted(itertools.chain(*self._groups[1])) != list(range(math.prod(self._sizes(axes)))):
            raise NotCaptured(f"{self._name} with axis_index_groups that lack devices")
        self._extents[_MEMBERS] = sizes.pop()
        return [_MEMBERS]

    def gathered(self, array: Array, place: int, axes: list[str]) -> Array:
        """Returns the parts of all devices along the axes, one after the other along axis `place`
        of the array."""
        self._name, self._extents = "all_gather", dict(self.walk.devices)
        shape = list(array.aval.shape)
        shape[place] *= math.prod(self._sizes(axes))
        found = self.arrays.new_result(jax.core.ShapedArray(shape, array.aval.dtype), array.name)
        with self.walk.builder.region() as self._scope:
            self._gather_over(axes, self.arrays.ref(array, "hbm"),
                              self._by_device(found.ref(), place, axes, tiled=True), place)
        self.walk.builder.emit("run_scoped", [], [], regions=[self._scope])
        return found

    # ---- over any axes ---------------------------------------------------------------------

    def _sizes(self, axes: Sequence[str]) -> tuple[int, ...]:
        return tuple(self._extents[axis] for axis in axes)

    def _all_gather(self, axes: list[str], source: int, target: int) -> None:
        place = int(self._eqn.params["all_gather_dimension"])
        tiled = bool(self._eqn.params["tiled"])
        self._gather_over(axes, source, self._by_device(target, place, axes, tiled), place)

    def _gather_over(self, axes: list[str], source: int, target: int, place: int) -> None:
        """Gathers into `target`, which has an axis for each of `axes`, from `place` on."""
        for number in reversed(range(len(axes))):
            shape = self._type(target).shape
            part = target if number == 0 else self._scratch(
                target, shape[:place] + shape[place + number:])
            self._gather(axes[number], source, part, place)
            source = part

    def _reduce_scatter(self, axes: list[str], source: int, target: int) -> None:
        place = int(self._eqn.params["scatter_dimension"])
        source = self._by_device(source, place, axes, bool(self._eqn.params["tiled"]))
        self._scatter_over(axes, lax.add, source, target, place)

    def _scatter_over(self, axes: list[str], op: Operation, source: int, target: int,
                      place: int) -> None:
        """Scatters `source`, which has an axis for each of `axes`, from `place` on."""
        for number, axis in enumerate(axes):
            shape = self._type(source).shape
            part = target if number == len(axes) - 1 else self._scratch(
                source, shape[:place] + shape[place + 1:])
            self._scatter(axis, op, source, part, place)
            source = part

    def _all_to_all(self, axes: list[str], source: int, target: int) -> None:
        """Exchanges along each axis in turn, the first axis last, so that what one copy fills lies
        together: what has still to go is after `split`, and what has come is after `joined`."""
        split, joined = (int(self._eqn.params[key]) for key in ("split_axis", "concat_axis"))
        sizes, shape = self._sizes(axes), self._type(source).shape
        share = (*shape[:split], shape[split] // math.prod(sizes), *shape[split + 1:])
        source = self._by_device(source, split, axes, tiled=True)
        first, last = min(split, joined), max(split, joined)
        for number in reversed(range(len(axes))):
            left, come = sizes[:number], sizes[number:]
            before, behind = (come, left) if joined <= split else (left, come)
            part = self._by_device(target, joined, axes, tiled=True)
            if number > 0:
                part = self._scratch(target, (*share[:first], *before, *share[first:last], *behind,
                                              *share[last:]))
            self._exchange(axes[number], source, part,
                           split + number + (len(come) - 1 if joined <= split else 0),
                           joined + (number if split < joined else 0))
            source = part

    def _all_reduce(self, axes: list[str], source: int, target: int) -> None:
        """Lets each device reduce a part, and all devices gather the parts. What cannot be cut into
        equal parts is gathered whole."""
        axes = [axis for axis in axes if self._extents[axis] > 1]
        op = _REDUCTIONS[self._eqn.primitive.name]
        count, (dtype, shape, _) = math.prod(self._sizes(axes)), self._type(source)
        total = math.prod(shape)
        rest = total % count
        if rest == 0:
            parts = self._part_shape(shape, count)
            part = self._scratch(source, parts)
            self._scatter_over(axes, op, self._reshaped(source, self._sizes(axes) + parts), part, 0)
            if shape[0] % count == 0:
                self._gather_over(axes, part, self._reshaped(target, self._sizes(axes) + parts), 0)
                return
            gathered = self._scratch(source, self._sizes(axes) + parts)
            self._gather_over(axes, part, gathered, 0)
            self._copy(self._reshaped(gathered, shape), target)
        elif types.bytes_of(dtype, count * total) <= _MOST_WHOLE:
            gathered = self._scratch(source, self._sizes(axes) + shape)
            self._gather_over(axes, source, gathered, 0)
            self._reduced(_OF_ONE[op], [self._reshaped(gathered, (count, *(shape or (1,))))],
                          self._reshaped(target, shape or (1,)))
        else:
            flat, reduced = self._reshaped(source, (total,)), self._scratch(source, (total,))
            for start, size in ((0, total - rest), (total - rest, rest)):
                self._all_reduce(axes, *(elements(self.walk, ref, 0, start, size)
                                         for ref in (flat, reduced)))
            self._copy(self._reshaped(reduced, shape), target)

    @staticmethod
    def _part_shape(shape: tuple[int, ...], count: int) -> tuple[int, ...]:
        """Returns the shape of one of `count` equal parts of an array; a part consists of rows if
        possible."""
        if shape[0] % count == 0:
            return (shape[0] // count, *shape[1:])
        size = math.prod(shape) // count
        return (size // 128, 128) if size % 128 == 0 else (size,)

    def _ppermute(self, axes: list[str], source: int, target: int) -> None:
        """Emits one copy for each pair, and zeros for devices that get nothing."""
        if axes != [axis for axis in self.walk.devices if axis in axes]:
            # Up to 0.11, JAX counts in the order of the mesh; later, in the order of the axes.
            raise NotCaptured("ppermute over axes in another order than the mesh's: name them in "
                              "the order of the mesh")
        builder, sizes = self.walk.builder, self._sizes(axes)
        perm = [(int(a), int(b)) for a, b in self._eqn.params["perm"]]
        aims, origins = dict(perm), {b: a for a, b in perm}
        me = device_ids.number_along(self.walk, axes)
        received, sent = (self._scoped(Type("int32", (), "dma_semaphore"), text)
                          for text in ("received", "sent"))
        barrier = self._barrier()
        branches = []
        for device in range(math.prod(sizes)):
            with builder.region() as branch:
                aim, origin = aims.get(device), origins.get(device)
                if origin not in (None, device):  # the origin may write from now on
                    self._signal(barrier, self._device(axes, origin))
                if aim not in (None, device):
                    builder.emit("semaphore_wait", [barrier, builder.index(1)], [])
                    builder.emit("dma_start", [source, target, received, sent,
                                               self._device(axes, aim)], [], rings.REMOTE)
                if origin is None:
                    fusion_operation.fill(self.walk, target, launches=False)
                elif origin == device:
                    self._copy(source, target)
                else:
                    builder.emit("dma_wait", [target, received], [])
                if aim not in (None, device):
                    builder.emit("dma_wait", [source, sent], [])
            branches.append(branch)
        if len(branches) == 1:
            self._scope.operations += branches[0].operations
        else:
            builder.emit("cond", [me], [], regions=branches)

    def _device(self, axes: list[str], index: int) -> int:
        """Returns the number of the device at a place along several axes at once."""
        places, rest = {}, index
        for axis in reversed(axes):
            rest, place = divmod(rest, self.walk.devices[axis])
            places[axis] = self.walk.builder.index(place)
        return device_ids.number_of(self.walk, places)

    # ---- over one axis ---------------------------------------------------------------------

    def _gather(self, axis: str, source: int, target: int, place: int) -> None:
        """Fills `target` with the parts of all devices along its axis `place`."""
        ring = self._ring(axis)
        ring.keep(source, self._at(target, place, ring.index(0)))

        def step(way: int, hop: int, _: int) -> None:
            share = self._at(target, place, ring.index(-way * hop))
            ring.send(way, hop, 0, source if hop == 0 else share, share)

        ring.run(step)

    def _scatter(self, axis: str, op: Operation, source: int, target: int, place: int) -> None:
        """Fills `target` with the reduction of all devices' parts at this device's place. It works
        in pieces, so that links have work while the core reduces."""
        if self._extents[axis] == 1:
            self._copy(self._at(source, place, self.walk.builder.index(0)), target)
            return
        shape = self._type(target).shape
        cut = next((number for number, extent in enumerate(shape) if extent > 1), 0)
        most = types.bytes_of(self._type(target).dtype, math.prod(shape)) // _LEAST_BYTES
        pieces = next(n for n in range(max(1, min(_MOST_PIECES, most)), 0, -1)
                      if n == 1 or shape[cut] % n == 0)

        def piece_of(ref: int, piece: int) -> int:
            size = shape[cut] // pieces if pieces > 1 else 0
            return elements(self.walk, ref, cut, piece * size, size) if size else ref

        ring = self._ring(axis, pieces)
        came = {way: self._scratch(target, (hops, *shape)) for way, hops in ring.hops.items()}
        total = {way: self._scratch(target, (hops, *shape)) for way, hops in ring.hops.items()
                 if ring.size > 2}

        def step(way: int, hop: int, piece: int) -> None:
            part = piece_of(self._at(source, place, ring.index(way * (ring.hops[way] - hop))),
                            piece)
            if hop > 0:
                part = self._reduced(op, [piece_of(self._nth(came[way], hop - 1), piece), part],
                                     piece_of(self._nth(total[way], hop - 1), piece))
            ring.send(way, hop, piece, part, piece_of(self._nth(came[way], hop), piece))

        def last(piece: int) -> None:
            parts = [piece_of(self._nth(came[way], hops - 1), piece)
                     for way, hops in ring.hops.items()]
            parts.insert(1, piece_of(self._at(source, place, ring.index(0)), piece))
            if len(parts) == 3:
                parts[:2] = [self._reduced(op, parts[:2], piece_of(
                    self._nth(total[1], ring.hops[1] - 1), piece))]
            self._reduced(op, parts, piece_of(target, piece))

        ring.run(step, last)

    def _exchange(self, axis: str, source: int, target: int, place: int, to: int) -> None:
        """Sends part i of `source` to device i, where it goes to this device's place in `target`.
        Parts that go farther than to the neighbour travel together in one array."""
        ring = self._ring(axis)
        mine = self._at(target, to, ring.index(0))
        ring.keep(self._at(source, place, ring.index(0)), mine)
        share = self._type(mine).shape
        bags = {way: [self._scratch(target, (hops - hop, *share)) for hop in range(1, hops)]
                for way, hops in ring.hops.items()}

        def step(way: int, hop: int, _: int) -> None:
            goal = self._at(target, to, ring.index(-way * hop))
            rest = ring.hops[way] - hop - 1
            if hop == 0:
                ring.send(way, 0, 0, self._at(source, place, ring.index(way)), goal)
                for far in range(rest):
                    ring.send(way, 0, 0, self._at(source, place, ring.index(way * (far + 2))),
                              self._nth(bags[way][0], far))
                return
            bag = bags[way][hop - 1]
            ring.send(way, hop, 0, self._nth(bag, 0), goal)
            if rest > 0:
                ring.send(way, hop, 0, elements(self.walk, bag, 0, 1, rest), bags[way][hop])

        ring.run(step)

    def _ring(self, axis: str, pieces: int = 1) -> rings.Ring:
        """Returns a ring once both neighbours are ready."""
        builder, size = self.walk.builder, self._extents[axis]
        me = (device_ids.axis_index(self.walk, axis) if axis != _MEMBERS
              else self._by_member(lambda _, number: builder.index(number)))
        ring = rings.Ring(self.walk, me, size, pieces)
        self._scope.arguments += ring.semaphores
        for way in ring.hops:
            ring.neighbours[way] = (
                device_ids.number_of(self.walk, {axis: ring.index(way)}) if axis != _MEMBERS
                else self._by_member(lambda group, number, way=way: self._device(
                    self._groups[0], group[(number + way) % size])))
        if ring.hops:
            barrier = self._barrier()
            for device in ring.neighbours.values():
                self._signal(barrier, device)
            builder.emit("semaphore_wait", [barrier, builder.index(len(ring.hops))], [])
        return ring

    def _by_member(self, value: Callable[[list[int], int], int]) -> int:
        """Returns what `value` says for this device, given its group and its number in the group.
        """
        builder, (axes, groups) = self.walk.builder, self._groups
        found = {group[number]: (group, number) for group in groups for number in range(len(group))}
        branches = []
        for place in sorted(found):
            with builder.region() as branch:
                branch.results = [value(*found[place])]
            branches.append(branch)
        (chosen,) = builder.emit("cond", [device_ids.number_along(self.walk, axes)], [INDEX],
                                 regions=branches)
        return chosen

    # ---- small parts -----------------------------------------------------------------------

    def _barrier(self) -> int:
        return self.walk.builder.one("get_barrier_semaphore", [],
                                     Type("int32", (), "barrier_semaphore"),
                                     {"collective_id": next(self._barriers)})

    def _signal(self, barrier: int, device: int) -> None:
        builder = self.walk.builder
        builder.emit("semaphore_signal", [barrier, builder.index(1), device], [],
                     {"device": True})

    def _type(self, ref: int) -> Type:
        return self.walk.builder.types[ref]

    def _scratch(self, like: int, shape: tuple[int, ...]) -> int:
        return self._scoped(Type(self._type(like).dtype, shape, "hbm"), self._name)

    def _scoped(self, type_: Type, name: str) -> int:
        self._scope.arguments.append(self.walk.builder.value(type_, name))
        return self._scope.arguments[-1]

    def _reshaped(self, ref: int, shape: tuple[int, ...]) -> int:
        return ref if self._type(ref).shape == shape else self.arrays.reshaped(ref, shape)

    def _by_device(self, ref: int, place: int, axes: list[str], tiled: bool) -> int:
        """Returns the ref with the axis at `place`, which counts devices, as one axis for each mesh
        axis. If it is tiled, each device's part of it stays after these axes."""
        shape, sizes = self._type(ref).shape, self._sizes(axes)
        share = (shape[place] // math.prod(sizes),) if tiled else ()
        return self._reshaped(ref, (*shape[:place], *sizes, *share, *shape[place + 1:]))

    def _copy(self, source: int, target: int) -> None:
        fusion_operation.copy(self.walk, source, target, launches=False)

    def _at(self, ref: int, axis: int, index: int) -> int:
        return element(self.walk, ref, axis, index)

    def _nth(self, ref: int, number: int) -> int:
        return element(self.walk, ref, 0, self.walk.builder.index(number))

    def _reduced(self, function: Callable[..., Any], operands: list[int], result: int) -> int:
        """Emits an operation of one equation on whole arrays in HBM. Returns its result."""
        jaxpr = jax.make_jaxpr(function)(*(types.struct(self._type(ref)) for ref in operands))
        (eqn,) = jaxpr.eqns
        fusion_operation.compute(self.walk, eqn.replace(source_info=self._eqn.source_info),
                                 operands, [result], launches=False)
        return result
