#!/usr/bin/env python3
"""Compares the picture of each view with the committed one, text for text.

    golden.py PALLASCOPE            exits with 1 and prints what differs
    golden.py PALLASCOPE --write    makes the committed pictures anew (`make goldens`)

The run is a small matrix product, 60 % into it; values are not needed, so nothing here depends on
the arithmetic of the machine. The grid is also of a kernel with manual DMA, and of one whose arrays
are of rank 4; the memory too is also of a kernel with manual DMA. layer.kernel.json was captured from
the source that it holds: two kernels on each of eight devices, and a sum over all devices. Some are of a
run beside a kept one. Those of GPUs are of a product in several waves, and of two_gpus.kernel.json,
which was captured from tests/capture/gpu_several.py: each of two GPUs sends its rows to the other
over NVLink. Their GPU is an H100 with few SMs. The scatter plot is of small kernels and made-up
timings, the sweep is of a large product.
"""

import difflib
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
EXTENT, BLOCK = 512, 128
SIZES = {
    "grid": "640x520",
    "kernel": "360x520",
    "memory": "640x520",
    "roofline": "640x520",
    "source": "1000x260",
    "timeline": "1280x280",
    "verdict": "640x520",
}
ATTENTION = FOLDER.parents[1] / "resources/validation/kernels/attention_v5p_4_4096_8_256.kernel.json"
# What else the grid shows, by the name of the picture: the kernel with its options.
GRIDS = {
    "grid_manual_dma": ("add_by_hand",),
    "grid_rank_4": (ATTENTION,),
}
# Of the layer on eight devices: the view, its size, and the options.
OF_LAYER = {
    "program": ("program", "1000x100", "--at", "60%"),
    "devices": ("devices", "500x660", "--at", "12.7us", "--device", "5"),
    "timeline_devices": ("timeline", "1280x300", "--at", "12.7us", "--device", "5"),
}
# Of the product on a GPU: the view, its size, and the moment. 32 blocks, in clusters of two.
GPU_SMS = 8
GPU_PRODUCT = ("hopper_matmul", "-pm=1024", "-pn=1024", "-pk=256", "-ppersistent=0")
OF_GPU = {
    "gpu_waves": ("grid", "640x400", "70%"),
    "gpu_memory": ("memory", "640x520", "40%"),
    "gpu_timeline": ("timeline", "1280x280", "40%"),
    "gpu_roofline": ("roofline", "640x520", "60%"),
}
OF_TWO_GPUS = {
    "gpus_devices": ("devices", "500x300", "99.8%"),
    "gpus_memory": ("memory", "640x520", "99.8%"),
    "gpus_timeline": ("timeline", "1280x300", "99.8%"),
}
# A product with two buffers beside one with a single buffer: the picture, the view and its size.
BESIDE_KEPT = (
    ("timeline_kept", "timeline", "1280x300"),
    ("roofline_kept", "roofline", "640x520"),
    ("verdict_kept", "verdict", "640x620"),
)
# Some combinations do not fit, and some have findings.
SWEEP = ("sweep", "matmul", "-pm=8192", "-pn=8192", "-pk=8192", "-pbk=2048",
         "--over", "bm=512:8192:*4", "--over", "bn=512,2048", "--chip", "v5e,v6e")
# Predictions are compared with these: one family is near, one far off, one is both.
TIMINGS = """family,kernel,parameters,chip,measured
near,matmul,m=512 n=512 k=512 bm=128 bn=128 bk=128,v5e,27 us
near,matmul,m=1024 n=1024 k=1024 bm=512 bn=512 bk=512,v6e,15 us
far,matmul,m=512 n=512 k=512 bm=128 bn=128 bk=128,v6e,60 us
far,matmul,m=2048 n=2048 k=2048 bm=512 bn=512 bk=512,v5p,20 us
both,add_vectors,,v5e,2 us
both,add_vectors,"shape=65536,128 block=1024",v5e,0.16 ms
"""
FINDINGS = 1  # the exit code of a run that has some
MOST_LINES = 40  # lines of a difference that are printed


def drawn(program):
    """Returns the pictures as the program draws them now, by file name."""
    with tempfile.TemporaryDirectory() as scratch:
        trace = pathlib.Path(scratch) / "run.trace.json"
        picture = pathlib.Path(scratch) / "picture.svg"
        sizes = [f"-p{axis}={EXTENT}" for axis in "mnk"] + [f"-pb{axis}={BLOCK}" for axis in "mnk"]
        call(program, "run", "matmul", *sizes, "--values", "needed", "--trace", trace)
        pictures = {}
        for view, size in SIZES.items():
            options = ("--view", view, "--at", "60%", "--size", size, "--theme", "light")
            call(program, "report", trace, "--screenshot", picture, *options)
            pictures[view + ".svg"] = picture.read_text(encoding="utf-8")
        for name, kernel in GRIDS.items():
            options = ("--view", "grid", "--at", "45%", "--size", "495x560", "--theme", "light")
            call(program, "run", *kernel, "--values", "needed", "--screenshot", picture, *options)
            pictures[name + ".svg"] = picture.read_text(encoding="utf-8")
        call(program, "run", "add_by_hand", "--values", "needed", "--trace", trace)
        options = ("--view", "memory", "--at", "55%", "--size", "640x520", "--theme", "light")
        call(program, "report", trace, "--screenshot", picture, *options)
        pictures["memory_by_hand.svg"] = picture.read_text(encoding="utf-8")
        layer = FOLDER / "layer.kernel.json"
        call(program, "run", layer, "--values", "needed", "--trace", trace)
        for name, (view, size, *options) in OF_LAYER.items():
            options = ("--view", view, "--size", size, "--theme", "light", *options)
            call(program, "report", trace, "--screenshot", picture, *options)
            pictures[name + ".svg"] = picture.read_text(encoding="utf-8")
        gpu = gpu_with_few_sms(pathlib.Path(scratch))
        call(program, "run", *GPU_PRODUCT, "--chip", gpu, "--values", "needed", "--trace", trace)
        for name, (view, size, at) in OF_GPU.items():
            options = ("--view", view, "--size", size, "--at", at, "--sm", 5, "--theme", "light")
            call(program, "report", trace, "--screenshot", picture, *options)
            pictures[name + ".svg"] = picture.read_text(encoding="utf-8")
        two = FOLDER / "two_gpus.kernel.json"
        call(program, "run", two, "--chip", gpu, "--values", "needed", "--trace", trace)
        for name, (view, size, at) in OF_TWO_GPUS.items():
            options = ("--view", view, "--size", size, "--at", at, "--device", 1, "--sm", 1,
                       "--theme", "light")
            call(program, "report", trace, "--screenshot", picture, *options)
            pictures[name + ".svg"] = picture.read_text(encoding="utf-8")
        kept = ("matmul", *(f"{axis}={EXTENT}" for axis in "mnk"),
                *(f"b{axis}={BLOCK}" for axis in "mnk"), "buffers=1")
        now = [word.replace("buffers=1", "buffers=2") for word in kept]
        for name, view, size in BESIDE_KEPT:
            call(program, "compare", " ".join(kept), " ".join(now), "--screenshot", picture,
                 "--view", view, "--align", "step", "--at", "60%", "--size", size)
            pictures[name + ".svg"] = picture.read_text(encoding="utf-8")
        call(program, *SWEEP, "--screenshot", picture, "--size", "640x400")
        pictures["sweep.svg"] = picture.read_text(encoding="utf-8")
        timings = pathlib.Path(scratch) / "timings.csv"
        timings.write_text(TIMINGS, encoding="utf-8")
        call(program, "validate", "--measured", timings, "--scatter", picture, "--size", "640x520")
        pictures["scatter.svg"] = picture.read_text(encoding="utf-8")
        return pictures


def gpu_with_few_sms(folder):
    chip = json.loads((FOLDER.parents[1] / "resources/chips/h100_sxm.json").read_text())
    chip["agents"][0]["slots"]["value"] = GPU_SMS
    path = folder / "few_sms.json"
    path.write_text(json.dumps(chip))
    return path


def call(*command):
    ran = subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL)
    if ran.returncode not in (0, FINDINGS):
        sys.exit(f"{command}: ended with {ran.returncode}")


def difference(name, committed, now):
    lines = list(
        difflib.unified_diff(
            committed.splitlines(),
            now.splitlines(),
            f"{name} (committed)",
            f"{name} (now)",
            "",
            "",
            0,
            "",
        )
    )
    rest = len(lines) - MOST_LINES
    return "\n".join(lines[:MOST_LINES] + ([f"... and {rest} more lines"] if rest > 0 else []))


def main(program, write):
    pictures = drawn(program)
    committed = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}
    if write:
        for name, text in pictures.items():
            (FOLDER / name).write_text(text, encoding="utf-8")
        for name in committed.keys() - pictures.keys():
            (FOLDER / name).unlink()
        print(f"{len(pictures)} pictures written to {FOLDER}")
        return 0
    failures = [
        difference(name, committed.get(name, ""), pictures.get(name, ""))
        for name in sorted(pictures.keys() | committed.keys())
        if pictures.get(name) != committed.get(name)
    ]
    print("\n\n".join(failures))
    if failures:
        print(
            f"\n{len(failures)} pictures differ. Look at them; if they are right, `make goldens`."
        )
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--write"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:] == ["--write"]))
