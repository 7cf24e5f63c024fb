"""Kernels for several devices: ours, after the patterns of JAX's guide to distributed Pallas, and
JAX's own all-gather. Run as a script, this is the oracle: JAX's results on eight simulated devices.

    device_kernels.py OUT.npz MODE NAME...

prints for each kernel whether JAX found a race; MODE is its dma_execution_mode.
"""

import os
import sys

if __name__ == "__main__":  # must happen before JAX starts
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "")
                               + " --xla_force_host_platform_device_count=8")

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas.ops.tpu import all_gather as jax_all_gather
from jax.sharding import PartitionSpec as P

DEVICES = 8
ANY = pl.BlockSpec(memory_space=pl.ANY)
DMA = pltpu.SemaphoreType.DMA
REGULAR = pltpu.SemaphoreType.REGULAR
LOGICAL = pl.DeviceIdType.LOGICAL
F32 = jnp.float32


def sharded(kernel, mesh, specs, out_specs=None):
    """Runs the kernel on every device of the mesh."""
    return jax.shard_map(kernel, mesh=mesh, in_specs=specs, out_specs=out_specs or specs,
                         check_vma=False)


def neighbours(axis="x"):
    me, size = lax.axis_index(axis), lax.axis_size(axis)
    return me, lax.rem(me + size - 1, size), lax.rem(me + 1, size)


def meet(left, right):
    """Lets nobody go on before both neighbours are here."""
    barrier = pltpu.get_barrier_semaphore()
    for device in (left, right):
        pl.semaphore_signal(barrier, 1, device_id=device, device_id_type=LOGICAL)
    pl.semaphore_wait(barrier, 2)


def permute_right(mesh, collective_id):
    def kernel(x_ref, o_ref, sent, received):
        _, left, right = neighbours()
        if collective_id is not None:
            meet(left, right)
        copy = pltpu.make_async_remote_copy(x_ref, o_ref, sent, received, device_id=right,
                                            device_id_type=LOGICAL)
        copy.start()
        copy.wait()

    params = {} if collective_id is None else {
        "compiler_params": pltpu.CompilerParams(collective_id=collective_id)}
    return sharded(pl.pallas_call(
        kernel, in_specs=[ANY], out_specs=ANY, scratch_shapes=[DMA, DMA],
        out_shape=jax.ShapeDtypeStruct((16, 128), F32), **params), mesh, P("x"))


def permute_on_one_axis(mesh):
    """Permutes along b on a mesh of two axes, in each row of devices for itself."""
    def kernel(x_ref, o_ref, sent, received):
        _, _, after = neighbours("b")
        copy = pltpu.make_async_remote_copy(x_ref, o_ref, sent, received, device_id={"b": after})
        copy.start()
        copy.wait()

    return sharded(pl.pallas_call(
        kernel, in_specs=[ANY], out_specs=ANY, scratch_shapes=[DMA, DMA],
        out_shape=jax.ShapeDtypeStruct((16, 128), F32)), mesh, P(("a", "b")))


def permute_diagonally(mesh):
    """Permutes on a mesh of two axes, by coordinates and between blocks in VMEM; the array is cut
    twice."""
    def kernel(x_ref, o_ref, sent, received):
        place = (neighbours("a")[2], neighbours("b")[1])
        copy = pltpu.make_async_remote_copy(x_ref, o_ref, sent, received, device_id=place)
        copy.start()
        copy.wait()

    return sharded(pl.pallas_call(
        kernel, scratch_shapes=[DMA, DMA], out_shape=jax.ShapeDtypeStruct((64, 128), F32)),
        mesh, P("a", "b"))


def permute_behind_signals(mesh):
    """Permutes along b of a mesh of two axes. A sender waits for signals that come by each way to
    name a device: by one axis, by coordinates, by number, and by both axes at once."""
    def kernel(x_ref, o_ref, sent, received, ready):
        a, (_, before, after) = lax.axis_index("a"), neighbours("b")
        number = a * lax.axis_size("b") + before
        for way, device in enumerate([{"b": before}, (a, before), number, {("a", "b"): number}]):
            kind = {"device_id_type": LOGICAL} if way == 2 else {}
            pl.semaphore_signal(ready.at[way], way + 1, device_id=device, **kind)
        for way in range(4):
            pl.semaphore_wait(ready.at[way], way + 1)
        copy = pltpu.make_async_remote_copy(x_ref, o_ref, sent, received, device_id=(a, after))
        copy.start()
        copy.wait()

    return sharded(pl.pallas_call(
        kernel, in_specs=[ANY], out_specs=ANY,
        scratch_shapes=[DMA, DMA, pltpu.SemaphoreType.REGULAR((4,))],
        out_shape=jax.ShapeDtypeStruct((16, 128), F32)), mesh, P(("a", "b")))


def gather_in_steps(mesh):
    """All-gather on a grid: each step passes on what the step before brought."""
    def kernel(x_ref, o_ref, local, sent, received):
        step = pl.program_id(0)
        me, left, right = neighbours()

        @pl.when(step == 0)
        def _():
            meet(left, right)
            copy = pltpu.make_async_copy(x_ref, o_ref.at[me], local)
            copy.start()
            copy.wait()

        slot = lax.rem(me - step + DEVICES, DEVICES)
        copy = pltpu.make_async_remote_copy(o_ref.at[slot], o_ref.at[slot], sent,
                                            received.at[step], device_id=right,
                                            device_id_type=LOGICAL)
        copy.start()
        copy.wait()

    return sharded(pl.pallas_call(
        kernel, grid=(DEVICES - 1,), in_specs=[ANY], out_specs=ANY,
        scratch_shapes=[DMA, DMA, DMA((DEVICES - 1,))],
        out_shape=jax.ShapeDtypeStruct((DEVICES, 8, 128), F32),
        compiler_params=pltpu.CompilerParams(collective_id=0)), mesh, P("x"), P())


def all_reduce(mesh):
    """Sums over all devices. A capacity semaphore holds back senders that are too fast."""
    def kernel(x_ref, o_ref, slots_ref, tile_ref, local, sent, received, capacity):
        step = pl.program_id(0)
        _, left, right = neighbours()
        working = lax.rem(step, 2)

        def pass_on(source, slot):
            return pltpu.make_async_remote_copy(source, slots_ref.at[slot], sent, received,
                                                device_id=right, device_id_type=LOGICAL)

        @pl.when(step == 0)
        def _():
            meet(left, right)
            o_ref[...] = jnp.zeros_like(o_ref)
            first = pass_on(x_ref, working)
            first.start()
            first.wait()

        pl.semaphore_signal(capacity, 1, device_id=left, device_id_type=LOGICAL)
        bring = pltpu.make_async_copy(slots_ref.at[working], tile_ref, local)
        bring.start()
        pl.semaphore_wait(capacity, 1)
        copy = pass_on(slots_ref.at[working], 1 - working)
        copy.start()
        bring.wait()
        o_ref[...] += tile_ref[...]
        copy.wait()

    block = pl.BlockSpec((8, 128), lambda i: (0, 0))
    call = pl.pallas_call(
        kernel, grid=(DEVICES,), in_specs=[block], out_specs=[block, ANY],
        out_shape=[jax.ShapeDtypeStruct((8, 128), F32), jax.ShapeDtypeStruct((2, 8, 128), F32)],
        scratch_shapes=[pltpu.VMEM((8, 128), F32), DMA, DMA, DMA, REGULAR],
        compiler_params=pltpu.CompilerParams(collective_id=0))
    return sharded(lambda x: call(x)[0], mesh, P("x"), P())


def reduce_scatter(mesh):
    """Block j starts at device j + 1 and goes round; every device adds its own part."""
    def kernel(x_ref, o_ref, tile_ref, out_ref, in_ref, sent, received, capacity):
        me, left, right = neighbours()
        meet(left, right)
        copies = []
        for step in range(DEVICES):
            mine = lax.rem(me - 1 - step + 2 * DEVICES, DEVICES)
            pltpu.sync_copy(x_ref.at[mine], tile_ref)
            if step > 0:
                copies[step - 1].wait_recv()
                tile_ref[...] += in_ref[(step - 1) % 2]
                if step <= DEVICES - 3:
                    pl.semaphore_signal(capacity, 1, device_id=left, device_id_type=LOGICAL)
            if step == DEVICES - 1:
                o_ref[...] = tile_ref[...]
                continue
            if step >= 2:
                pl.semaphore_wait(capacity, 1)
                copies[step - 2].wait_send()
            slot = step % 2
            out_ref[slot] = tile_ref[...]
            copies.append(pltpu.make_async_remote_copy(
                out_ref.at[slot], in_ref.at[slot], sent.at[slot], received.at[slot],
                device_id=right, device_id_type=LOGICAL))
            copies[step].start()
        copies[-2].wait_send()
        copies[-1].wait_send()

    pair = pltpu.VMEM((2, 8, 128), F32)
    return sharded(pl.pallas_call(
        kernel, in_specs=[ANY], out_specs=pl.BlockSpec(memory_space=pltpu.VMEM),
        out_shape=jax.ShapeDtypeStruct((8, 128), F32),
        scratch_shapes=[pltpu.VMEM((8, 128), F32), pair, pair, DMA((2,)), DMA((2,)), REGULAR],
        compiler_params=pltpu.CompilerParams(collective_id=0)), mesh, P("x"))


def gather_of_jax(mesh, space):
    return lambda x: jax_all_gather.all_gather(x, mesh=mesh, axis_name="x", memory_space=space)


LINE, TWO = {"x": DEVICES}, {"a": 2, "b": 4}
# The axes of the mesh, the function on it, and the shape of its argument.
KERNELS = {
    "permute": (LINE, functools.partial(permute_right, collective_id=3), (128, 128)),
    "permute_from_the_start": (LINE, functools.partial(permute_right, collective_id=None),
                               (128, 128)),
    "permute_on_one_axis": (TWO, permute_on_one_axis, (128, 128)),
    "permute_diagonally": (TWO, permute_diagonally, (128, 512)),
    "permute_behind_signals": (TWO, permute_behind_signals, (128, 128)),
    "gather_in_steps": (LINE, gather_in_steps, (64, 128)),
    "all_reduce": (LINE, all_reduce, (64, 128)),
    "reduce_scatter": (LINE, reduce_scatter, (64, 8, 128)),
    "all_gather_vmem": (LINE, functools.partial(gather_of_jax, space=pltpu.VMEM), (128, 128)),
    "all_gather_hbm": (LINE, functools.partial(gather_of_jax, space=pltpu.HBM), (128, 128)),
}


def argument(name):
    shape = KERNELS[name][2]
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32)


def main(out, mode, *names):
    from jax._src.pallas.mosaic.interpret import interpret_pallas_call as interpreter
    results = {}
    known = {field.name for field in dataclasses.fields(pltpu.InterpretParams)}
    params = pltpu.InterpretParams(dma_execution_mode=mode, detect_races=True,
                                   **({"on_race": "warn"} if "on_race" in known else {}))
    for name in names:
        axes, make, _ = KERNELS[name]
        devices = np.array(jax.devices()).reshape(tuple(axes.values()))
        mesh = jax.sharding.Mesh(devices, tuple(axes))
        try:
            with pltpu.force_tpu_interpret_mode(params):
                results[name] = np.asarray(jax.jit(make(mesh))(argument(name)))
        # JAX 0.9 has no barrier before a kernel without a barrier of its own.
        except jax.errors.JaxRuntimeError:
            print(name, "failed")
        else:
            print(name, "race" if interpreter.races.races_found else "no race")
        pltpu.reset_tpu_interpret_mode_state()
    np.savez(out, **results)


if __name__ == "__main__":
    main(*sys.argv[1:])
