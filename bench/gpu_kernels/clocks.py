#!/usr/bin/env python3
"""The SM clock while kernels of cases.py run without a pause for 10 and for 60 ms.

    build/jaxgpu/bin/python bench/gpu_kernels/clocks.py OUT.csv [--only WORD]

One warp on a stream of its own counts the cycles between two times. Needs CuPy and what measure.py needs.
"""
import argparse
import csv
import pathlib
import sys
import time

import compiler
import measure

BURSTS_MS = 10, 60
_WATCH = r"""
extern "C" __global__ void watch(long long* out, long long ns)
{
    const long long begin = clock64();
    unsigned long long from, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(from));
    do {
        __nanosleep(2000);
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while ((long long)(now - from) < ns);
    out[0] = clock64() - begin;
    out[1] = (long long)(now - from);
}"""


class Watch:
    def __init__(self, cupy):
        self._kernel = cupy.RawKernel(_WATCH, "watch", options=("-maxrregcount=24",))
        self._out = cupy.zeros(2, cupy.int64)
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self.start(0)
        self.mhz()

    def start(self, ms):
        self._kernel((1,), (1,), (self._out, int(ms * 1e6)), stream=self._stream)

    def mhz(self):
        self._stream.synchronize()
        cycles, ns = map(int, self._out.get())
        return round(1e3 * cycles / max(ns, 1), 1)


def clocks(case, watch):
    import inputs
    import jax
    from case import shapes_of
    made = case.make()
    with compiler.Caught():
        compiled = jax.jit(made.fn).lower(*shapes_of(made.args)).compile()
    args = inputs.on_device(made.args)
    jax.block_until_ready(compiled(*args))
    begin = time.perf_counter()
    jax.block_until_ready([compiled(*args) for _ in range(5)])
    once_s = (time.perf_counter() - begin) / 5
    found = {"name": case.name}
    for ms in BURSTS_MS:
        time.sleep(0.1)  # cool and at its highest clock, as at the start of any burst
        out = compiled(*args)
        watch.start(ms)
        for _ in range(max(3, int(1.3e-3 * ms / once_s))):  # a little longer than the watch looks
            out = compiled(*args)
        jax.block_until_ready(out)
        found[f"mhz_{ms}ms"] = watch.mhz()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="cases with this word in their names")
    arguments = parser.parse_args()
    measure.check_machine()
    try:
        import cupy
    except ImportError:
        measure.skip("this Python has no CuPy")
    import cases
    watch = Watch(cupy)
    with open(arguments.out, "w", newline="") as file:
        writer = csv.DictWriter(file, ("name", *(f"mhz_{ms}ms" for ms in BURSTS_MS)), lineterminator="\n")
        writer.writeheader()
        for case in cases.CASES:
            if arguments.only not in case.name:
                continue
            try:
                writer.writerow(clocks(case, watch))
            except Exception as error:  # noqa: BLE001: whatever a kernel raises is told, and the next one runs
                print(f"{case.name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}", file=sys.stderr)


if __name__ == "__main__":
    main()
