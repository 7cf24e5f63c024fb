"""Collectives around kernels, as copies between neighbours on the rings that the mesh axes are.

Whatever goes round does so both ways at once: of n devices forwards n // 2 hops, backwards
(n - 1) // 2. Of several axes one ring follows the other. Sums: on each device what came forwards,
its own, what came backwards; each of those from the farthest device on.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
from jax import lax

from pallascope import devices, stages
from pallascope.arrays import Array, Arrays
from pallascope.problems import NotCaptured
from pallascope.program import INDEX, Type
from pallascope.transforms import element, elements
from pallascope.walk import Walk

_REDUCTIONS = {"psum": lax.add, "psum_invariant": lax.add, "pmax": lax.max, "pmin": lax.min}
NAMES = frozenset({*_REDUCTIONS, "all_gather", "all_gather_invariant", "reduce_scatter",
                   "all_to_all", "ppermute"})

# The reduction of one array over its first axis, for each of two arrays.
_OF_ONE: dict[Any, Callable[[Any], Any]] = {
    lax.add: lambda array: lax.reduce_sum(array, (0,)),
    lax.max: lambda array: lax.reduce_max(array, (0,)),
    lax.min: lambda array: lax.reduce_min(array, (0,))}

# Of a reduction: a piece takes a link as long as a hop's latency.
_MOST_PIECES, _LEAST_BYTES = 4, 64 << 10
_REMOTE = {"source_semaphore": True, "device": True}  # of a dma_start

Operation = Callable[[Any, Any], Any]


class Collectives:
    """The rules, for operands and results that are arrays in HBM."""

    def __init__(self, walk: Walk, arrays: Arrays) -> None:
        self.walk = walk
        self.arrays = arrays
        self._eqn: Any = None
        self._barriers = itertools.count(devices.START_BARRIER - 1, -1)  # one for each ring

    def equation(self, eqn: Any, operands: list[Array]) -> list[Array]:
        self._eqn, name, params = eqn, eqn.primitive.name, eqn.params
        if params.get("axis_index_groups") is not None:
            raise NotCaptured(f"{name} with axis_index_groups")
        named = params.get("axis_name", params.get("axes"))
        axes = [named] if isinstance(named, str) else list(named)
        for axis in axes:
            if axis not in self.walk.devices:
                raise NotCaptured(f"{name} over {axis!r}, which is no axis of the mesh of devices")
        if name in _REDUCTIONS and all(self.walk.devices[axis] == 1 for axis in axes):
            return operands
        rule = {"all_gather": self._all_gather, "all_gather_invariant": self._all_gather,
                "reduce_scatter": self._reduce_scatter, "all_to_all": self._all_to_all,
                "ppermute": self._ppermute}.get(name, self._all_reduce)
        results = []
        for operand, v in zip(operands, eqn.outvars, strict=True):
            results.append(self.arrays.new_result(v.aval, name))
            rule(axes, self.arrays.ref(operand, "hbm"), results[-1].ref())
        return results

    # ---- over any axes ---------------------------------------------------------------------

    def _sizes(self, axes: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.walk.devices[axis] for axis in axes)

    def _all_gather(self, axes: list[str], source: int, target: int) -> None:
        place = int(self._eqn.params["all_gather_dimension"])
        self._gather_over(axes, source, self._by_device(target, place, axes, self._is_tiled()),
                          place)

    def _gather_over(self, axes: list[str], source: int, target: int, place: int) -> None:
        """`target` has an axis for each of `axes`, from `place` on."""
        for number in reversed(range(len(axes))):
            shape = self._type(target).shape
            part = target if number == 0 else self._scratch(
                target, shape[:place] + shape[place + number:])
            self._gather(axes[number], source, part, place)
            source = part

    def _reduce_scatter(self, axes: list[str], source: int, target: int) -> None:
        place = int(self._eqn.params["scatter_dimension"])
        self._scatter_over(axes, lax.add, self._by_device(source, place, axes, self._is_tiled()),
                           target, place)

    def _scatter_over(self, axes: list[str], op: Operation, source: int, target: int,
                      place: int) -> None:
        """`source` has an axis for each of `axes`, from `place` on."""
        for number, axis in enumerate(axes):
            shape = self._type(source).shape
            part = target if number == len(axes) - 1 else self._scratch(
                source, shape[:place] + shape[place + 1:])
            self._scatter(axis, op, source, part, place)
            source = part

    def _all_to_all(self, axes: list[str], source: int, target: int) -> None:
        """Along each axis in turn, the first at the end, so that what one copy fills lies together:
        what is still to go is behind `split`, what has come behind `joined`."""
        split, joined = (int(self._eqn.params[key]) for key in ("split_axis", "concat_axis"))
        sizes, shape = self._sizes(axes), self._type(source).shape
        block = (*shape[:split], shape[split] // math.prod(sizes), *shape[split + 1:])
        source = self._by_device(source, split, axes, tiled=True)
        first, last = min(split, joined), max(split, joined)
        for number in reversed(range(len(axes))):
            left, come = sizes[:number], sizes[number:]
            before, behind = (come, left) if joined <= split else (left, come)
            part = self._by_device(target, joined, axes, tiled=True)
            if number > 0:
                part = self._scratch(target, (*block[:first], *before, *block[first:last], *behind,
                                              *block[last:]))
            self._exchange(axes[number], source, part,
                           split + number + (len(come) - 1 if joined <= split else 0),
                           joined + (number if split < joined else 0))
            source = part

    def _all_reduce(self, axes: list[str], source: int, target: int) -> None:
        """Each device reduces a part, and all gather them. What cannot be cut into equal parts
        they gather whole."""
        axes = [axis for axis in axes if self.walk.devices[axis] > 1]
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
            self.arrays.copy(self._reshaped(gathered, shape), target)
        elif stages.bytes_of(dtype, count * total) <= stages.MOST_BYTES:
            gathered = self._scratch(source, self._sizes(axes) + shape)
            self._gather_over(axes, source, gathered, 0)
            self._reduced(_OF_ONE[op], [self._reshaped(gathered, (count, *(shape or (1,))))],
                          self._reshaped(target, shape or (1,)))
        else:
            for first, last in ((0, total - rest), (total - rest, total)):
                self._all_reduce(axes, *(elements(self.walk, self._reshaped(ref, (total,)), 0,
                                                  first, last - first)
                                         for ref in (source, target)))

    @staticmethod
    def _part_shape(shape: tuple[int, ...], count: int) -> tuple[int, ...]:
        """Of one of `count` equal parts of an array, in rows where it can be."""
        if shape[0] % count == 0:
            return (shape[0] // count, *shape[1:])
        size = math.prod(shape) // count
        return (size // 128, 128) if size % 128 == 0 else (size,)

    def _ppermute(self, axes: list[str], source: int, target: int) -> None:
        """One copy per pair; zeros for those who get nothing. JAX counts devices in the order of
        the mesh, whatever the order of `axes`."""
        axes = [axis for axis in self.walk.devices if axis in axes]
        builder, sizes = self.walk.builder, self._sizes(axes)
        perm = [(int(a), int(b)) for a, b in self._eqn.params["perm"]]
        aims, origins = dict(perm), {b: a for a, b in perm}
        me = builder.index(0)
        for axis, size in zip(axes, sizes, strict=True):
            me = builder.add_index(builder.scale_index(me, size), self._axis_index(axis))
        received, sent = (builder.value(Type("int32", (), "dma_semaphore"), name)
                          for name in ("received", "sent"))
        barrier = self._barrier()
        branches = []
        with builder.region([received, sent]) as region:
            for device in range(math.prod(sizes)):
                with builder.region() as branch:
                    aim, origin = aims.get(device), origins.get(device)
                    if origin is None:
                        stages.fill(self.walk, target)
                    elif origin == device:
                        self.arrays.copy(source, target)
                        aim = origin = None
                    if origin is not None:  # which may write now
                        self._signal(barrier, self._device(axes, origin))
                    if aim is not None:
                        builder.emit("semaphore_wait", [barrier, builder.index(1)], [])
                        builder.emit("dma_start", [source, target, received, sent,
                                                   self._device(axes, aim)], [], _REMOTE)
                    if origin is not None:
                        builder.emit("dma_wait", [target, received], [])
                    if aim is not None:
                        builder.emit("dma_wait", [source, sent], [])
                branches.append(branch)
            if len(branches) == 1:
                region.operations += branches[0].operations
            else:
                builder.emit("cond", [me], [], regions=branches)
        builder.emit("run_scoped", [], [], regions=[region])

    def _device(self, axes: list[str], index: int) -> int:
        """The number of the device at a place along several axes at once."""
        places, rest = {}, index
        for axis in reversed(axes):
            rest, place = divmod(rest, self.walk.devices[axis])
            places[axis] = self.walk.builder.index(place)
        return devices.number_of(self.walk, places)

    # ---- over one axis ---------------------------------------------------------------------

    def _gather(self, axis: str, source: int, target: int, place: int) -> None:
        """`target` has the blocks of all devices along its axis `place`."""
        with self._ring(axis) as ring:
            ring.keep(source, self._at(target, place, ring.index(0)))

            def step(way: int, hop: int, _: int) -> None:
                block = self._at(target, place, ring.index(-way * hop))
                ring.send(way, hop, 0, source if hop == 0 else block, block)

            ring.run(step)

    def _scatter(self, axis: str, op: Operation, source: int, target: int, place: int) -> None:
        """`target` is the reduction of all devices' blocks at this one's place. It goes in pieces,
        so that links have work while the core reduces."""
        shape = self._type(target).shape
        cut = next((number for number, extent in enumerate(shape) if extent > 1), 0)
        most = stages.bytes_of(self._type(target).dtype, math.prod(shape)) // _LEAST_BYTES
        pieces = next(n for n in range(max(1, min(_MOST_PIECES, most)), 0, -1)
                      if n == 1 or shape[cut] % n == 0)

        def piece_of(ref: int, piece: int) -> int:
            size = shape[cut] // pieces if pieces > 1 else 0
            return elements(self.walk, ref, cut, piece * size, size) if size else ref

        with self._ring(axis, pieces) as ring:
            came = {way: self._scratch(target, (hops, *shape)) for way, hops in ring.hops.items()}
            total = {way: self._scratch(target, (hops, *shape)) for way, hops in ring.hops.items()}

            def step(way: int, hop: int, piece: int) -> None:
                part = piece_of(self._at(source, place, ring.index(way * (ring.hops[way] - hop))),
                                piece)
                if hop > 0:
                    part = self._reduced(op, [piece_of(self._nth(came[way], hop - 1), piece), part],
                                         piece_of(self._nth(total[way], hop - 1), piece))
                ring.send(way, hop, piece, part, piece_of(self._nth(came[way], hop), piece))

            def last(piece: int) -> None:
                parts = [piece_of(self._at(source, place, ring.index(0)), piece)]
                for way, hops in ring.hops.items():
                    parts.insert(0 if way > 0 else 1,
                                 piece_of(self._nth(came[way], hops - 1), piece))
                if len(parts) == 3:
                    parts[:2] = [self._reduced(op, parts[:2], piece_of(
                        self._nth(total[1], ring.hops[1] - 1), piece))]
                self._reduced(op, parts, piece_of(target, piece))

            if ring.hops:
                ring.run(step, last)
            else:
                ring.keep(self._at(source, place, ring.index(0)), target)

    def _exchange(self, axis: str, source: int, target: int, place: int, to: int) -> None:
        """Block i of `source` goes to device i, and is this one's in its `target`. Those that have
        farther to go than the neighbour travel in a bag."""
        with self._ring(axis) as ring:
            mine = self._at(target, to, ring.index(0))
            ring.keep(self._at(source, place, ring.index(0)), mine)
            block = self._type(mine).shape
            bags = {way: [self._scratch(target, (hops - hop, *block)) for hop in range(1, hops)]
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

    @contextlib.contextmanager
    def _ring(self, axis: str, pieces: int = 1) -> Iterator[_Ring]:
        """Semaphores for one way round; goes on when both neighbours are there."""
        builder = self.walk.builder
        ring = _Ring(self.walk, self._axis_index(axis), self.walk.devices[axis], pieces)
        with builder.region(ring.semaphores) as region:
            for way in ring.hops:
                ring.neighbours[way] = devices.number_of(self.walk, {axis: ring.index(way)})
            if ring.hops:
                barrier = self._barrier()
                for device in ring.neighbours.values():
                    self._signal(barrier, device)
                builder.emit("semaphore_wait", [barrier, builder.index(len(ring.hops))], [])
            yield ring
            ring.finish()
        builder.emit("run_scoped", [], [], regions=[region])

    # ---- small parts -----------------------------------------------------------------------

    def _axis_index(self, axis: str) -> int:
        return self.walk.builder.one("axis_index", [], INDEX, {"text": axis})

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
        return self.arrays.scratch(Type(self._type(like).dtype, shape, "hbm"),
                                   self._eqn.primitive.name)

    def _reshaped(self, ref: int, shape: tuple[int, ...]) -> int:
        return ref if self._type(ref).shape == shape else self.arrays.reshaped(ref, shape)

    def _is_tiled(self) -> bool:
        return bool(self._eqn.params["tiled"])

    def _by_device(self, ref: int, place: int, axes: list[str], tiled: bool) -> int:
        """The axis at `place`, which counts devices, as one per mesh axis; where it is tiled, each
        device's part of it stays behind them."""
        shape, sizes = self._type(ref).shape, self._sizes(axes)
        block = (shape[place] // math.prod(sizes),) if tiled else ()
        return self._reshaped(ref, (*shape[:place], *sizes, *block, *shape[place + 1:]))

    def _at(self, ref: int, axis: int, index: int) -> int:
        return element(self.walk, ref, axis, index)

    def _nth(self, ref: int, number: int) -> int:
        return element(self.walk, ref, 0, self.walk.builder.index(number))

    def _reduced(self, function: Callable[..., Any], operands: list[int], result: int) -> int:
        """An operation of one equation on whole arrays in HBM; yields its result."""
        jaxpr = jax.make_jaxpr(function)(*(stages.struct(self._type(ref)) for ref in operands))
        (eqn,) = jaxpr.eqns
        stages.compute(self.walk, eqn.replace(source_info=self._eqn.source_info), operands,
                       [result])
        return result


class _Ring:
    """Of `size` devices; what one of them does, at place `me`, all do. Ways are 1 and -1."""

    def __init__(self, walk: Walk, me: int, size: int, pieces: int) -> None:
        self.walk = walk
        self.me = me
        self.size = size
        self.pieces = pieces  # of what goes one hop
        self.hops = {way: hops for way, hops in ((1, size // 2), (-1, (size - 1) // 2)) if hops}
        self.neighbours: dict[int, int] = {}  # their numbers
        shape = (len(self.hops), max(self.hops.values(), default=0), pieces)
        self.semaphores = [
            walk.builder.value(Type("int32", extents, "dma_semaphore"), name)
            for name, extents in (("kept", ()), ("received", shape), ("sent", shape))
            if 0 not in extents]
        # Refs that are filled, by way and piece, or emptied, with semaphores.
        self._coming: dict[tuple[int, int], list[tuple[int, int]]] = collections.defaultdict(list)
        self._unfinished: list[tuple[int, int]] = []

    def index(self, distance: int) -> int:
        """The place of the device that is so far forwards."""
        builder = self.walk.builder
        if distance % self.size == 0:
            return self.me
        ahead = builder.add_index(self.me, builder.index(distance % self.size))
        return builder.one("rem", [ahead, builder.index(self.size)], INDEX)

    def keep(self, source: int, target: int) -> None:
        """Copies what stays on the device."""
        kept = self.semaphores[0]
        self.walk.builder.emit("dma_start", [source, target, kept], [])
        self._unfinished.append((target, kept))

    def send(self, way: int, hop: int, piece: int, source: int, target: int) -> None:
        """To the neighbour, whose `target` it is."""
        place = [list(self.hops).index(way), hop, piece]
        received, sent = (self._semaphore(ref, place) for ref in self.semaphores[1:])
        self.walk.builder.emit(
            "dma_start", [source, target, received, sent, self.neighbours[way]], [], _REMOTE)
        self._coming[way, piece].append((target, received))
        self._unfinished.append((source, sent))

    def run(self, step: Callable[[int, int, int], None],
            last: Callable[[int], Any] = lambda _: None) -> None:
        """`step` sends one piece on its way's hop of this number, from 0; what came on the hop
        before is there. `last` is for a piece that has come from all devices."""
        hops = max(self.hops.values(), default=0)
        for hop, piece in itertools.product(range(hops + 1), range(self.pieces)):
            for way in self.hops:
                self._wait(self._coming[way, piece])
                if hop < self.hops[way]:
                    step(way, hop, piece)
            if hop == hops:
                last(piece)

    def finish(self) -> None:
        self._wait(self._unfinished)

    def _wait(self, copies: list[tuple[int, int]]) -> None:
        for copy in copies:
            self.walk.builder.emit("dma_wait", copy, [])
        copies.clear()

    def _semaphore(self, ref: int, place: list[int]) -> int:
        return self.walk.builder.one(
            "ref_at", [ref], Type("int32", (), "dma_semaphore"),
            {"entries": [{"slice": False, "start": index} for index in place]})
