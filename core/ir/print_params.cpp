#include "core/ir/print_params.h"

#include "core/base/check.h"

#include <array>
#include <fmt/format.h>

namespace pallascope::ir {

namespace {

std::string named(AtomicType type)
{
    constexpr const char* kTypes[] = {"xchg", "add", "max", "min", "and", "or", "xor"};
    return kTypes[static_cast<std::size_t>(type)];
}

template<class T>
std::string tuple(const std::vector<T>& numbers)
{
    std::string text = "(";
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        text += (i > 0 ? "," : "") + std::to_string(numbers[i]);
    }
    return text + ")";
}

std::string named(DType dtype)
{
    return std::string(jaxprName(dtype));
}

// The text in the brackets for each kind of parameters; empty if there is nothing to show.
struct ParametersText
{
    template<class P>
    std::string operator()(const P&) const // those of control and memory are printed elsewhere
    {
        return "";
    }

    std::string operator()(const AxisParams& p) const { return "axis=" + std::to_string(p.axis); }

    std::string operator()(const AxesParams& p) const { return "axes=" + tuple(p.axes); }

    std::string operator()(const DTypeParams& p) const
    {
        return "new_dtype=" + named(p.dtype) + (p.saturates ? " saturate" : "");
    }

    std::string operator()(const PermutationParams& p) const
    {
        return "permutation=" + tuple(p.permutation);
    }

    std::string operator()(const IotaParams& p) const
    {
        return "dimension=" + std::to_string(p.dimension);
    }

    std::string operator()(const BroadcastParams& p) const
    {
        return p.dimensions.empty() ? "" : "broadcast_dimensions=" + tuple(p.dimensions);
    }

    std::string operator()(const RoundParams& p) const
    {
        return p.method == RoundingMethod::ToNearestEven ? "rounding_method=TO_NEAREST_EVEN"
                                                         : "rounding_method=AWAY_FROM_ZERO";
    }

    std::string operator()(const IntegerPowParams& p) const
    {
        return "y=" + std::to_string(p.exponent);
    }

    std::string operator()(const ReciprocalParams& p) const
    {
        return p.approx ? "approx=True" : "";
    }

    std::string operator()(const ArgParams& p) const
    {
        return "axes=(" + std::to_string(p.axis) + ",) index_dtype=" + named(p.dtype);
    }

    std::string operator()(const SplitParams& p) const
    {
        return "axis=" + std::to_string(p.axis) + " sizes=" + tuple(p.sizes);
    }

    std::string operator()(const SliceParams& p) const
    {
        return "start_indices=" + tuple(p.start) + " limit_indices=" + tuple(p.limit)
               + (p.strides.empty() ? "" : " strides=" + tuple(p.strides));
    }

    std::string operator()(const PadParams& p) const
    {
        std::string text = "padding_config=(";
        for (std::size_t axis = 0; axis < p.low.size(); ++axis) {
            text += (axis > 0 ? "," : "")
                    + tuple(std::vector{p.low[axis], p.high[axis], p.interior[axis]});
        }
        return text + ")";
    }

    std::string operator()(const TileParams& p) const { return "reps=" + tuple(p.repetitions); }

    std::string operator()(const RollParams& p) const
    {
        return "axis=" + std::to_string(p.axis)
               + (p.strideAxis < 0 ? ""
                                   : " stride=" + std::to_string(p.stride)
                                         + " stride_axis=" + std::to_string(p.strideAxis));
    }

    std::string operator()(const GatherParams& p) const
    {
        const char* mode = p.mode == GatherMode::FillOrDrop ? ""
                           : p.mode == GatherMode::Clip     ? " mode=CLIP"
                                                            : " mode=PROMISE_IN_BOUNDS";
        return "axis=" + std::to_string(p.axis) + mode;
    }

    std::string operator()(const ScatterParams& p) const
    {
        constexpr const char* kCombine[] = {"", " combine=add", " combine=mul", " combine=min",
                                            " combine=max"};
        return (*this)(GatherParams{p.axis, p.mode})
               + kCombine[static_cast<std::size_t>(p.combine)];
    }

    std::string operator()(const CumulativeParams& p) const
    {
        return "axis=" + std::to_string(p.axis) + (p.reverse ? " reverse=True" : "");
    }

    std::string operator()(const SizesParams& p) const { return "slice_sizes=" + tuple(p.sizes); }

    std::string operator()(const SortParams& p) const
    {
        return "dimension=" + std::to_string(p.axis) + " num_keys=" + std::to_string(p.keys);
    }

    std::string operator()(const UnpackParams& p) const
    {
        return "index=" + std::to_string(p.index) + " packed_dtype=" + named(p.packed)
               + " unpacked_dtype=" + named(p.unpacked);
    }

    std::string operator()(const MultipleOfParams& p) const
    {
        return "values=(" + std::to_string(p.multiple) + ",)";
    }

    std::string operator()(const TextParams& p) const { return "fmt='" + p.text + "'"; }

    std::string operator()(const KernelParams& p) const
    {
        return p.name.empty() ? "" : "name=" + p.name;
    }

    std::string operator()(const FusionParams& p) const
    {
        return (*this)(KernelParams{p.name}) + (p.launches ? "" : " launches=False");
    }

    std::string operator()(const DmaParams& p) const
    {
        std::vector<std::string> parts;
        if (p.device) {
            parts.emplace_back("device");
        }
        if (p.priority != 0) {
            parts.push_back("priority=" + std::to_string(p.priority));
        }
        if (p.rows != CopyRows::All) {
            parts.emplace_back(p.rows == CopyRows::Source ? "rows=source" : "rows=target");
        }
        if (p.ignored >= 0) {
            parts.push_back("ignored=" + std::to_string(p.ignored));
        }
        if (p.add) {
            parts.emplace_back("add");
        }
        return fmt::format("{}", fmt::join(parts, " "));
    }

    std::string operator()(const SignalParams& p) const { return p.device ? "device" : ""; }

    std::string operator()(const SemaphoreWaitParams& p) const
    {
        return p.decrement ? "" : "decrement=False";
    }

    std::string operator()(const MatrixUnitParams& p) const
    {
        return "mxu=" + std::to_string(p.mxu);
    }

    std::string operator()(const BarrierParams& p) const
    {
        return "collective_id=" + std::to_string(p.collectiveId);
    }

    std::string operator()(const CoreMapParams& p) const
    {
        std::string text = "axis=" + p.axis + " cores=" + std::to_string(p.cores);
        for (const MeshAxis& axis : p.grid) {
            text += " " + axis.name + "=" + std::to_string(axis.size);
        }
        for (const MeshAxis& axis : p.cluster) {
            text += " cluster " + axis.name + "=" + std::to_string(axis.size);
        }
        return text + (p.agents.empty() ? "" : " agents=" + p.agents)
               + (p.directAccess ? " direct_access" : "")
               + (p.threads == CoreMapParams{}.threads ? ""
                                                       : " threads=" + std::to_string(p.threads))
               + (p.compiler.empty() ? "" : " compiler=" + p.compiler);
    }

    std::string operator()(const AtomicParams& p) const
    {
        return named(p.atomicType) + (p.listed ? " listed" : "");
    }

    std::string operator()(const ScopedParams& p) const
    {
        std::string text = p.collective ? "collective" : "";
        if (!p.arrivals.empty()) {
            text += std::string(text.empty() ? "" : " ") + "arrivals=" + tuple(p.arrivals);
        }
        if (!p.unions.empty()) {
            text += std::string(text.empty() ? "" : " ") + "unions=" + tuple(p.unions)
                    + " groups=" + tuple(p.groups);
        }
        if (p.blocks != 1) {
            text += std::string(text.empty() ? "" : " ") + "blocks=" + std::to_string(p.blocks);
        }
        return text + (p.named ? " named" : "");
    }

    std::string operator()(const PredicateParams&) const { return ""; } // an operand says it

    std::string operator()(const LoadCopyParams& p) const
    {
        std::string text = p.blocks == 1 ? "" : "blocks=" + std::to_string(p.blocks);
        for (std::size_t i = 0; i < p.along.size(); ++i) {
            text += (i == 0 ? " along " : ",") + p.along[i];
        }
        if (p.parts != 1) {
            text += std::string(text.empty() ? "" : " ") + "parts=" + std::to_string(p.parts);
        }
        if (p.outside != OutsideMode::Zeros) {
            const bool isAny = p.outside == OutsideMode::Undefined;
            text += std::string(text.empty() ? "" : " ")
                    + (isAny ? "oob_mode=UNDEFINED" : "oob_mode=PROMISE_IN_BOUNDS");
        }
        return text;
    }

    std::string operator()(const WarpMapParams& p) const { return "warps=" + tuple(p.warps); }

    std::string operator()(const StoreCopyParams& p) const
    {
        std::string text = p.commit ? "" : "commit_group=False";
        if (p.reduction != AtomicType::Xchg) {
            text += (text.empty() ? "reduction_op=" : " reduction_op=") + named(p.reduction);
        }
        return text;
    }

    std::string operator()(const GroupWaitParams& p) const
    {
        return "n=" + std::to_string(p.n) + (p.readOnly ? " wait_read_only" : "");
    }

    std::string operator()(const WgmmaParams&) const { return ""; }

    std::string operator()(const ProductWaitParams& p) const { return "n=" + std::to_string(p.n); }

    std::string operator()(const RegistersParams& p) const
    {
        return "n=" + std::to_string(p.n) + (p.increase ? " increase" : " decrease");
    }

    std::string operator()(const DotParams& p) const
    {
        const bool plain = p.lhsContracting == std::vector{1} && p.rhsContracting == std::vector{0}
                           && p.lhsBatch.empty();
        std::string text = plain ? ""
                                 : "dimension_numbers=((" + tuple(p.lhsContracting) + ","
                                       + tuple(p.rhsContracting) + "),(" + tuple(p.lhsBatch) + ","
                                       + tuple(p.rhsBatch) + "))";
        if (p.precision != DotPrecision::Default) {
            text += text.empty() ? "" : " ";
            text += p.precision == DotPrecision::High ? "precision=HIGH" : "precision=HIGHEST";
        }
        return text;
    }
};

} // namespace

std::string parametersText(const Operation& operation)
{
    const std::string text = std::visit(ParametersText{}, operation.params);
    return text.empty() ? "" : "[" + text + "]";
}

std::string tupleText(const std::vector<std::int32_t>& numbers)
{
    return tuple(numbers);
}

} // namespace pallascope::ir
