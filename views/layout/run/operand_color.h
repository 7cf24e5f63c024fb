// The colour of an operand and of a buffer: one for an array, over all views, agents, devices and
// kernels of a run.
#pragma once

#include "core/trace/row.h"
#include "views/layout/run/run_view.h"
#include "views/layout/scene/theme.h"

namespace pallascope::layout {

[[nodiscard]] Role operandRole(const RunView& run, trace::OperandRow operand);
// Whether the colour is that of an earlier array too: then its key has an edge in Text.
[[nodiscard]] bool isRepeatedColor(const RunView& run, trace::OperandRow operand);
// A slot has its operand's colour, scratch that of the array whose bytes manual DMA brings to it
// or takes from it; what computing alone fills is Vmem, and what lies in SMEM is Smem.
[[nodiscard]] Role bufferRole(const RunView& run, trace::BufferRow buffer);

} // namespace pallascope::layout
