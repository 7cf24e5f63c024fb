"""Everything that is changed in JAX while a function is traced for capture."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from jax._src import config as jax_config

from pallascope.jax_compat import pipeline_bodies
from pallascope.jax_compat.indirect_blocks import lists_hidden
from pallascope.jax_compat.stand_in_devices import device_of, devices_named

# None up to JAX 0.10.0, which has no equation for emit_pipeline.
_pipeline_flag = getattr(jax_config, "use_emit_pipeline_primitive", None)

# Whether emit_pipeline becomes one equation when it is traced: the values to try, in order.
PIPELINE_FORMS = (True, False)


def numbers_of_32_bits() -> contextlib.AbstractContextManager[None]:
    """Makes JAX treat 64-bit numbers as 32-bit numbers, as it does unless it is told otherwise. A
    chip has no 64-bit numbers."""
    return jax_config.enable_x64(False)


@contextlib.contextmanager
def tracing_for(chip: str, cores: int = 1, mesh: Any = None,
                whole_pipelines: bool = True) -> Iterator[None]:
    """Makes JAX trace as it would for these cores of each device."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(device_of(chip, cores, mesh))
        stack.enter_context(devices_named(chip, mesh))
        if _pipeline_flag is not None:
            stack.enter_context(_pipeline_flag(whole_pipelines))
            stack.enter_context(lists_hidden())
            if whole_pipelines:
                stack.enter_context(pipeline_bodies.all_arguments_taken())
        elif whole_pipelines:
            # Needs parts of JAX that later versions may lack.
            from pallascope.jax_compat import pipeline_equation
            stack.enter_context(pipeline_equation.pipelines_whole())
        yield
