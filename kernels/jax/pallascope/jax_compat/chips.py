"""The chips that JAX knows, by the names that chip files have for them."""

from __future__ import annotations

# What JAX calls the device of a chip.
DEVICE_KINDS = {
    "tpu_v2": "TPU v2", "tpu_v3": "TPU v3", "tpu_v4": "TPU v4", "tpu_v5e": "TPU v5 lite",
    "tpu_v5p": "TPU v5p", "tpu_v6e": "TPU v6 lite", "tpu_v7x": "TPU7x"}

# What else they are called, as in the chip files.
_ALIASES = {name.removeprefix("tpu_"): name for name in DEVICE_KINDS} | {
    "trillium": "tpu_v6e", "ironwood": "tpu_v7x"}

# Chips whose two cores are one device for JAX.
MEGACORE = ("tpu_v4", "tpu_v5p")


def chip_named(name: str) -> str:
    """Returns the name of a chip, "tpu_v6e", also by an alias, "v6e". Raises ValueError for
    another."""
    found = _ALIASES.get(name, name)
    if found not in DEVICE_KINDS:
        raise ValueError(f"chip {name!r} is not known; use one of {', '.join(DEVICE_KINDS)}")
    return found
