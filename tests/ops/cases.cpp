// Reads the cases of cases.json and runs them.
#include "tests/ops/cases.h"

#include "core/base/element.h"
#include "core/ir/infer.h"
#include "core/machine/ops/evaluate.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>

namespace pallascope::ops_test {

namespace {

using nlohmann::json;
using Axes = std::vector<std::int32_t>;
using Extents = std::vector<Extent>;

DType dtypeOf(const json& name)
{
    return dtypeFromName(name.get<std::string>()).value();
}

Array arrayFrom(const json& text)
{
    Array array = makeArray(dtypeOf(text[0]), Shape(text[1].get<Extents>()));
    const auto hex = text[2].get<std::string>();
    if (hex.size() != static_cast<std::size_t>(array.byteCount()) * 2) {
        throw std::runtime_error("cases.json: another number of bytes than its shape says");
    }
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        array.data[static_cast<std::ptrdiff_t>(i / 2)] =
            static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    return array;
}

ir::GatherMode modeOf(const std::string& name)
{
    return name == "clip" ? ir::GatherMode::Clip : ir::GatherMode::FillOrDrop;
}

ir::Combine combineOf(const std::string& name)
{
    using enum ir::Combine;
    const std::map<std::string, ir::Combine> names{
        {"replace", Replace}, {"add", Add}, {"mul", Mul}, {"min", Min}, {"max", Max}};
    return names.at(name);
}

ir::Params paramsOf(ir::OpCode code, const json& p)
{
    using enum ir::OpCode;
    switch (code) {
    case Round:
        return ir::RoundParams{static_cast<ir::RoundingMethod>(p["round"].get<int>())};
    case IntegerPow:
        return ir::IntegerPowParams{p["pow"]};
    case Reciprocal:
        return ir::ReciprocalParams{p["approx"]};
    case MultipleOf:
        return ir::MultipleOfParams{p["multiple"]};
    case ConvertElementType:
    case BitcastConvertType:
    case Bitcast:
    case PackElementwise:
    case StochasticRound:
        return ir::DTypeParams{dtypeOf(p["dtype"])};
    case UnpackElementwise:
        return ir::UnpackParams{p["index"], dtypeOf(p["packed"]), dtypeOf(p["unpacked"])};
    case ReduceSum:
    case ReduceMax:
    case ReduceMin:
    case ReduceAnd:
    case ReduceOr:
    case ReduceProd:
    case Squeeze:
    case Rev:
        return ir::AxesParams{p["axes"].get<Axes>()};
    case Argmax:
    case Argmin:
        return ir::ArgParams{p["axis"], dtypeOf(p["index_dtype"])};
    case BroadcastInDim:
        return ir::BroadcastParams{Shape(p["shape"].get<Extents>()), p["dimensions"].get<Axes>()};
    case Reshape:
    case Iota2x32Shape:
    case PrngRandomBits:
        return ir::ShapeParams{Shape(p["shape"].get<Extents>())};
    case Transpose:
        return ir::PermutationParams{p["permutation"].get<Axes>()};
    case Concatenate:
    case Stack:
    case Unstack:
        return ir::AxisParams{p["axis"]};
    case Split:
        return ir::SplitParams{p["sizes"].get<Extents>(), p["axis"]};
    case Slice:
        return ir::SliceParams{p["start"].get<Extents>(), p["limit"].get<Extents>(),
                               p["strides"].get<Extents>()};
    case Pad:
        return ir::PadParams{p["low"].get<Extents>(), p["high"].get<Extents>(),
                             p["interior"].get<Extents>()};
    case Tile:
        return ir::TileParams{p["repetitions"].get<Extents>()};
    case Roll:
        return ir::RollParams{p["axis"], p["stride"], p["stride_axis"]};
    case Gather:
        return ir::GatherParams{p["axis"], modeOf(p["mode"])};
    case Scatter:
        return ir::ScatterParams{p["axis"], combineOf(p["combine"]), modeOf(p["mode"])};
    case Cumsum:
    case Cumprod:
    case Cummax:
    case Cummin:
        return ir::CumulativeParams{p["axis"], p["reverse"]};
    case DynamicSlice:
        return ir::SizesParams{p["sizes"].get<Extents>()};
    case Sort:
        return ir::SortParams{p["axis"], p["keys"]};
    case Iota:
        return ir::IotaParams{dtypeOf(p["dtype"]), Shape(p["shape"].get<Extents>()),
                              p["dimension"]};
    case DotGeneral:
        return ir::DotParams{p["contracting"][0].get<Axes>(), p["contracting"][1].get<Axes>(),
                             p["batch"][0].get<Axes>(), p["batch"][1].get<Axes>(),
                             dtypeOf(p["dtype"])};
    default:
        return {};
    }
}

std::vector<Case> readCases()
{
    std::ifstream file(PALLASCOPE_OPS_TESTS "/cases.json");
    const json all = json::parse(file);
    std::vector<Case> result;
    for (const json& entry : all["cases"]) {
        const auto name = entry["op"].get<std::string>();
        const std::optional<ir::OpCode> code = ir::opFromName(name);
        if (!code) {
            throw std::runtime_error("cases.json names the operation " + name);
        }
        Case one{.name = name + " #" + std::to_string(result.size()), .code = *code};
        one.params = paramsOf(*code, entry.value("params", json::object()));
        for (const json& array : entry["in"]) {
            one.in.push_back(arrayFrom(array));
        }
        for (const json& array : entry["out"]) {
            one.out.push_back(arrayFrom(array));
        }
        one.ulp = entry.value("ulp", 0);
        result.push_back(std::move(one));
    }
    return result;
}

} // namespace

const std::vector<Case>& cases()
{
    static const std::vector<Case> kCases = readCases();
    return kCases;
}

Single single(const Case& one)
{
    Single result{.operation = {.code = one.code, .params = one.params}};
    const auto add = [&](const Array& array) {
        result.program.values.push_back({{array.dtype, array.shape, {}}, {}, {}});
        return ir::ValueId{static_cast<std::int32_t>(result.program.values.size() - 1)};
    };
    for (const Array& array : one.in) {
        result.operation.operands.push_back(add(array));
    }
    for (const Array& array : one.out) {
        result.operation.results.push_back(add(array));
    }
    return result;
}

machine::RuntimeValue valueOf(const Array& array)
{
    if (array.shape.rank() == 0) {
        return machine::RuntimeValue::scalarOf(array.dtype, array.at(0));
    }
    machine::RuntimeValue value = machine::RuntimeValue::arrayOf(array.dtype, array.shape);
    std::memcpy(value.data.get(), array.data.get(), static_cast<std::size_t>(array.byteCount()));
    return value;
}

Array arrayOf(const machine::RuntimeValue& value)
{
    Array array = makeArray(value.dtype, value.shape);
    if (value.isScalar()) {
        writeElement(value.dtype, array.data.get(), 0, value.scalar);
    } else {
        std::memcpy(array.data.get(), value.data.get(),
                    static_cast<std::size_t>(array.byteCount()));
    }
    return array;
}

std::vector<machine::RuntimeValue> run(const Case& one, std::vector<machine::RuntimeValue> operands)
{
    const Single test = single(one);
    std::vector<machine::RuntimeValue*> pointers;
    for (machine::RuntimeValue& operand : operands) {
        pointers.push_back(&operand);
    }
    std::vector<machine::RuntimeValue> results;
    for (std::size_t i = 0; i < one.out.size(); ++i) {
        results.push_back(machine::evaluate(test.operation, pointers, 0, i));
    }
    return results;
}

} // namespace pallascope::ops_test
