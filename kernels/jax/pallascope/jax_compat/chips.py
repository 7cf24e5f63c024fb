"""The chips that JAX knows, under the names of their chip files."""

from __future__ import annotations

from pallascope.jax_compat import gpu_chips

# JAX's names for the devices of TPUs.
DEVICE_KINDS = {
    "tpu_v2": "TPU v2", "tpu_v3": "TPU v3", "tpu_v4": "TPU v4", "tpu_v5e": "TPU v5 lite",
    "tpu_v5p": "TPU v5p", "tpu_v6e": "TPU v6 lite", "tpu_v7x": "TPU7x"}

# Other names of the chips, as in the chip files.
_ALIASES = {name.removeprefix("tpu_"): name for name in DEVICE_KINDS} | {
    "trillium": "tpu_v6e", "ironwood": "tpu_v7x"} | gpu_chips.ALIASES

NAMES = (*DEVICE_KINDS, *gpu_chips.GPUS)

# Chips whose two cores are one device in JAX.
MEGACORE = ("tpu_v4", "tpu_v5p")


def chip_named(name: str) -> str:
    """Returns the name of a chip, such as "tpu_v6e", also for an alias such as "v6e". Raises
    ValueError for any other name."""
    found = _ALIASES.get(name, name)
    if found not in NAMES:
        raise ValueError(f"chip {name!r} is not known; use one of {', '.join(NAMES)}")
    return found


def multiplies_from_shared(chip: str) -> bool:
    """Returns whether the chip is a GPU with wgmma or tcgen05."""
    return is_gpu(chip) and gpu_chips.GPUS[chip].compute_capability >= (9, 0)


def is_gpu(chip: str) -> bool:
    return chip in gpu_chips.GPUS


def platform(chip: str) -> str:
    """Returns JAX's name for the family of the chip, as the platform of a device."""
    return "gpu" if is_gpu(chip) else "tpu"


def device_kind(chip: str) -> str:
    return gpu_chips.GPUS[chip].device_kind if is_gpu(chip) else DEVICE_KINDS[chip]
