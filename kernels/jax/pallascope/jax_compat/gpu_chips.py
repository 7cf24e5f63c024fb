"""The GPUs that functions can be captured for, with what JAX is told of them."""

from __future__ import annotations

from typing import NamedTuple


class Gpu(NamedTuple):
    """What a function may ask JAX about a GPU while it is traced."""

    device_kind: str
    multiprocessors: int
    compute_capability: tuple[int, int]
    shared_memory: int  # bytes that one block may have


_KIB = 1024

# Under the names of their chip files.
GPUS = {
    "a100_40": Gpu("NVIDIA A100-SXM4-40GB", 108, (8, 0), 163 * _KIB),
    "a100_80": Gpu("NVIDIA A100-SXM4-80GB", 108, (8, 0), 163 * _KIB),
    "b200": Gpu("NVIDIA B200", 148, (10, 0), 227 * _KIB),
    "h100_pcie": Gpu("NVIDIA H100 PCIe", 114, (9, 0), 227 * _KIB),
    "h100_sxm": Gpu("NVIDIA H100 80GB HBM3", 132, (9, 0), 227 * _KIB),
    "h200": Gpu("NVIDIA H200", 132, (9, 0), 227 * _KIB),
    "l4": Gpu("NVIDIA L4", 58, (8, 9), 99 * _KIB)}

# Other names, as in the chip files.
ALIASES = {"a100": "a100_80", "h100": "h100_sxm"}
