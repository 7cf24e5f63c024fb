// The names that enumerators have in a kernel file; the empty name ends the list.
#pragma once

#include "core/ir/program.h"

#include <string_view>

namespace pallascope::kernel_file {

constexpr std::string_view enumName(ir::MemorySpace space)
{
    return ir::memorySpaceName(space);
}

constexpr std::string_view enumName(ir::BlockDirection direction)
{
    switch (direction) {
    case ir::BlockDirection::In:
        return "in";
    case ir::BlockDirection::Out:
        return "out";
    case ir::BlockDirection::InOut:
        return "inout";
    }
    return {};
}

constexpr std::string_view enumName(ir::CopyRows rows)
{
    switch (rows) {
    case ir::CopyRows::All:
        return "all";
    case ir::CopyRows::Source:
        return "source";
    case ir::CopyRows::Target:
        return "target";
    }
    return {};
}

constexpr std::string_view enumName(ir::BlockKind kind)
{
    switch (kind) {
    case ir::BlockKind::Blocked:
        return "blocked";
    case ir::BlockKind::Squeezed:
        return "squeezed";
    case ir::BlockKind::Element:
        return "element";
    case ir::BlockKind::BoundedSlice:
        return "bounded_slice";
    case ir::BlockKind::Indirect:
        return "indirect";
    }
    return {};
}

constexpr std::string_view enumName(ir::PipelineOrigin origin)
{
    switch (origin) {
    case ir::PipelineOrigin::EmitPipeline:
        return "emit_pipeline";
    case ir::PipelineOrigin::PallasCall:
        return "pallas_call";
    }
    return {};
}

constexpr std::string_view enumName(ir::ArgumentKind kind)
{
    switch (kind) {
    case ir::ArgumentKind::Input:
        return "input";
    case ir::ArgumentKind::Output:
        return "output";
    }
    return {};
}

constexpr std::string_view enumName(ir::DotPrecision precision)
{
    switch (precision) {
    case ir::DotPrecision::Default:
        return "default";
    case ir::DotPrecision::High:
        return "high";
    case ir::DotPrecision::Highest:
        return "highest";
    }
    return {};
}

constexpr std::string_view enumName(ir::RoundingMethod method)
{
    switch (method) {
    case ir::RoundingMethod::AwayFromZero:
        return "away_from_zero";
    case ir::RoundingMethod::ToNearestEven:
        return "to_nearest_even";
    }
    return {};
}

constexpr std::string_view enumName(ir::GatherMode mode)
{
    switch (mode) {
    case ir::GatherMode::FillOrDrop:
        return "fill_or_drop";
    case ir::GatherMode::PromiseInBounds:
        return "promise_in_bounds";
    case ir::GatherMode::Clip:
        return "clip";
    }
    return {};
}

constexpr std::string_view enumName(ir::OutsideMode mode)
{
    switch (mode) {
    case ir::OutsideMode::Zeros:
        return "zeros";
    case ir::OutsideMode::Undefined:
        return "undefined";
    case ir::OutsideMode::PromiseInBounds:
        return "promise_in_bounds";
    }
    return {};
}

constexpr std::string_view enumName(ir::AtomicType type)
{
    switch (type) {
    case ir::AtomicType::Xchg:
        return "xchg";
    case ir::AtomicType::Add:
        return "add";
    case ir::AtomicType::Max:
        return "max";
    case ir::AtomicType::Min:
        return "min";
    case ir::AtomicType::And:
        return "and";
    case ir::AtomicType::Or:
        return "or";
    case ir::AtomicType::Xor:
        return "xor";
    }
    return {};
}

constexpr std::string_view enumName(ir::Combine combine)
{
    switch (combine) {
    case ir::Combine::Replace:
        return "replace";
    case ir::Combine::Add:
        return "add";
    case ir::Combine::Mul:
        return "mul";
    case ir::Combine::Min:
        return "min";
    case ir::Combine::Max:
        return "max";
    }
    return {};
}

constexpr std::string_view enumName(ir::Verdict verdict)
{
    return ir::verdictName(verdict);
}

} // namespace pallascope::kernel_file
