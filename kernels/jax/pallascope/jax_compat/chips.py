"""The chips that JAX knows, under the names of their chip files."""

from __future__ import annotations

# JAX's names for the devices of chips.
DEVICE_KINDS = {
    "tpu_v2": "TPU v2", "tpu_v3": "TPU v3", "tpu_v4": "TPU v4", "tpu_v5e": "TPU v5 lite",
    "tpu_v5p": "TPU v5p", "tpu_v6e": "TPU v6 lite", "tpu_v7x": "TPU7x"}

# Other names of the chips, as in the chip files.
_ALIASES = {name.removeprefix("tpu_"): name for name in DEVICE_KINDS} | {
    "trillium": "tpu_v6e", "ironwood": "tpu_v7x"}

# Chips whose two cores are one device in JAX.
MEGACORE = ("tpu_v4", "tpu_v5p")


def chip_named(name: str) -> str:
    """Returns the name of a chip, such as "tpu_v6e", also for an alias such as "v6e". Raises
    ValueError for any other name."""
    found = _ALIASES.get(name, name)
    if found not in DEVICE_KINDS:
        raise ValueError(f"chip {name!r} is not known; use one of {', '.join(DEVICE_KINDS)}")
    return found
