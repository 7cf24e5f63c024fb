"""A ring of devices: who the neighbours are, and copies to them in both directions."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable
from typing import Any

from pallascope.program import INDEX, Type
from pallascope.walk import Walk

REMOTE = {"source_semaphore": True, "device": True}  # parameters of a dma_start to another device


class Ring:
    """A ring of `size` devices. All of them do the same; `me` is the place of the current one.
    Directions ("ways") are 1 and -1."""

    def __init__(self, walk: Walk, me: int, size: int, pieces: int) -> None:
        self.walk = walk
        self.me = me
        self.size = size
        self.pieces = pieces  # how many pieces a hop moves
        self.hops = {way: hops for way, hops in ((1, size // 2), (-1, (size - 1) // 2)) if hops}
        self.neighbours: dict[int, int] = {}  # their numbers
        shape = (len(self.hops), max(self.hops.values(), default=0), pieces)
        self.semaphores = [
            walk.builder.value(Type("int32", extents, "dma_semaphore"), name)
            for name, extents in (("kept", ()), ("received", shape), ("sent", shape))
            if 0 not in extents]
        # Refs that are being filled, for each way and piece, or that are being emptied, with their
        # semaphores.
        self._coming: dict[tuple[int, int], list[tuple[int, int]]] = collections.defaultdict(list)
        self._unfinished: list[tuple[int, int]] = []

    def index(self, distance: int) -> int:
        """Returns the place of the device that is this far forwards."""
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
        """Sends to the neighbour, to which `target` belongs."""
        place = [list(self.hops).index(way), hop, piece]
        received, sent = (self._semaphore(ref, place) for ref in self.semaphores[1:])
        self.walk.builder.emit(
            "dma_start", [source, target, received, sent, self.neighbours[way]], [], REMOTE)
        self._coming[way, piece].append((target, received))
        self._unfinished.append((source, sent))

    def run(self, step: Callable[[int, int, int], None],
            last: Callable[[int], Any] = lambda _: None) -> None:
        """Runs the ring. `step` sends one piece on the given hop of its way, counted from 0; what
        came on the hop before has arrived by then. `last` is called for a piece that has come from
        all devices. Returns when everything has arrived."""
        hops = max(self.hops.values(), default=0)
        for hop, piece in itertools.product(range(hops + 1), range(self.pieces)):
            for way in self.hops:
                self._wait(self._coming[way, piece])
                if hop < self.hops[way]:
                    step(way, hop, piece)
            if hop == hops:
                last(piece)
        self._wait(self._unfinished)

    def _wait(self, copies: list[tuple[int, int]]) -> None:
        for copy in copies:
            self.walk.builder.emit("dma_wait", copy, [])
        copies.clear()

    def _semaphore(self, ref: int, place: list[int]) -> int:
        return self.walk.builder.one(
            "ref_at", [ref], Type("int32", (), "dma_semaphore"),
            {"entries": [{"slice": False, "start": index} for index in place]})
