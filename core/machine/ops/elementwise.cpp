// Runs the rules of elementwise operations over whole arrays: chooses the loop for the dtype,
// widens narrow elements in chunks, and splits large arrays over the threads.
#include "core/machine/arith/elementwise.h"

#include "core/base/check.h"
#include "core/machine/arith/threads.h"
#include "core/machine/ops/lanes.h"
#include "core/machine/ops/ops.h"
#include "core/machine/ops/rules_arithmetic.h"
#include "core/machine/ops/rules_bits.h"
#include "core/machine/ops/rules_transcendental.h"

#include <algorithm>
#include <array>
#include <bit>

namespace pallascope::machine::ops {

namespace {

constexpr std::int64_t kChunk = 512; // elements widened at a time
constexpr std::size_t kMostOperands = 3;

// Applies a rule to `count` elements. `in` and `out` are arrays of lanes; comparisons write bools.
using Loop = void (*)(const RuleSetup&, const void* const* in, void* out, std::int64_t count);

struct Rule
{
    Loop real = nullptr, whole = nullptr, natural = nullptr, truth = nullptr;
};

template<class F>
F made(const RuleSetup& setup)
{
    if constexpr (std::constructible_from<F, const RuleSetup&>) {
        return F(setup);
    } else {
        return F();
    }
}

template<class T>
const typename Stored<T>::Type* lanes(const void* data)
{
    return static_cast<const typename Stored<T>::Type*>(data);
}

template<class T>
T lane(typename Stored<T>::Type stored)
{
    if constexpr (Boolean<T>) {
        return stored != 0;
    } else {
        return stored;
    }
}

template<class F, class T, class... Ts>
void loop(const RuleSetup& setup, const void* const* in, void* out, std::int64_t count)
{
    const F rule = made<F>(setup);
    using Result = typename Stored<decltype(rule(T{}, Ts{}...))>::Type;
    auto* to = static_cast<Result*>(out);
    const auto* a = lanes<T>(in[0]);
    if constexpr (requires { rule.all(a, to, count); }) {
        rule.all(a, to, count);
    } else if constexpr (requires { rule.all(a, a, to, count); }) {
        rule.all(a, lanes<T>(in[1]), to, count);
    } else {
        // No iteration depends on another: the result does not overlap the operands, or replaces
        // one of them element for element.
#pragma GCC ivdep
        for (std::int64_t i = 0; i < count; ++i) {
            if constexpr (sizeof...(Ts) == 0) {
                to[i] = rule(lane<T>(a[i]));
            } else if constexpr (sizeof...(Ts) == 1) {
                to[i] = rule(lane<T>(a[i]), lane<T>(lanes<T>(in[1])[i]));
            } else {
                to[i] =
                    rule(lane<T>(a[i]), lane<T>(lanes<T>(in[1])[i]), lane<T>(lanes<T>(in[2])[i]));
            }
        }
    }
}

template<class F, class T>
constexpr Loop loopOf()
{
    if constexpr (std::invocable<const F&, T>) {
        return &loop<F, T>;
    } else if constexpr (std::invocable<const F&, T, T>) {
        return &loop<F, T, T>;
    } else if constexpr (std::invocable<const F&, T, T, T>) {
        return &loop<F, T, T, T>;
    } else {
        return nullptr;
    }
}

// A rule of the table that is a struct, not an expression.
template<class F>
struct Named
{};

template<class F>
constexpr Named<F> rule{};

template<class F>
constexpr Rule ruleOf(Named<F> /*struct*/)
{
    return {loopOf<F, float>(), loopOf<F, std::int32_t>(), loopOf<F, std::uint32_t>(),
            loopOf<F, bool>()};
}

template<class F>
constexpr Rule ruleOf(F /*expression*/)
{
    return ruleOf(rule<F>);
}

constexpr Rule kRules[] = {
#define OPERATION(code, name, least, most, roles, types, cost, evaluation) Rule{},
#define ELEMENTWISE(code, name, operands, types, cost, ...) ruleOf(__VA_ARGS__),
#include "core/ir/operations.inc"
};

Loop loopFor(ir::OpCode code, DType dtype)
{
    const Rule& rule = kRules[static_cast<std::size_t>(code)];
    Loop found = nullptr;
    switch (dtypeEntry(dtype).kind) {
    case DTypeKind::Float:
        found = rule.real;
        break;
    case DTypeKind::Signed:
        found = rule.whole;
        break;
    case DTypeKind::Unsigned:
        found = rule.natural;
        break;
    case DTypeKind::Bool:
        found = rule.truth;
        break;
    }
    PALLASCOPE_CHECK(found != nullptr); // the type rule admits only dtypes with a loop
    return found;
}

// One elementwise operation, from arrays of dtype `in` to arrays of dtype `out`.
struct Sweep
{
    const RuleSetup& setup;
    std::span<RuntimeValue* const> operands;
    Loop loop;
    DType in;
    RuntimeValue& result;

    [[nodiscard]] bool direct() const
    {
        return storedAsLanes(in) && storedAsLanes(result.dtype)
               && std::none_of(operands.begin(), operands.end(),
                               [](const RuntimeValue* value) { return value->isScalar(); });
    }

    void lanesInPlace(std::int64_t begin, std::int64_t end) const
    {
        std::array<const void*, kMostOperands> from{};
        for (std::size_t k = 0; k < operands.size(); ++k) {
            from[k] = operands[k]->data.get() + begin * laneBytes(in);
        }
        loop(setup, from.data(), result.data.get() + begin * laneBytes(result.dtype), end - begin);
    }

    void lanesByChunk(std::int64_t begin, std::int64_t end) const
    {
        alignas(64) std::array<std::array<std::byte, kChunk * kMostLaneBytes>, kMostOperands + 1>
            chunks;
        std::array<const void*, kMostOperands> from{};
        for (std::size_t k = 0; k < operands.size(); ++k) {
            from[k] = chunks[k].data();
            for (std::int64_t i = 0; operands[k]->isScalar() && i < kChunk; ++i) {
                const Lane lane = scalarLane(in, operands[k]->scalar);
                std::copy_n(reinterpret_cast<const std::byte*>(&lane), laneBytes(in),
                            chunks[k].data() + i * laneBytes(in));
            }
        }
        for (std::int64_t at = begin; at < end; at += kChunk) {
            const std::int64_t count = std::min(kChunk, end - at);
            for (std::size_t k = 0; k < operands.size(); ++k) {
                if (!operands[k]->isScalar()) {
                    widen(in, operands[k]->data.get(), at, count, chunks[k].data());
                }
            }
            loop(setup, from.data(), chunks[kMostOperands].data(), count);
            narrow(result.dtype, chunks[kMostOperands].data(), result.data.get(), at, count);
        }
    }

    void run() const
    {
        const bool inPlace = direct();
        const bool slow = ir::opEntry(setup.operation.code).kind
                          == ir::OpKind::Transcendental; // these take nanoseconds for each element
        arith::parallelFor(result.elements(), slow ? kGrain / 4 : kGrain,
                           [&](std::int64_t begin, std::int64_t end) {
                               inPlace ? lanesInPlace(begin, end) : lanesByChunk(begin, end);
                           });
    }
};

double scalarResult(const RuleSetup& setup, std::span<RuntimeValue* const> operands, Loop loop,
                    DType in, DType out)
{
    std::array<Lane, kMostOperands> values{};
    std::array<const void*, kMostOperands> from{};
    for (std::size_t k = 0; k < operands.size(); ++k) {
        values[k] = scalarLane(in, operands[k]->scalar);
        from[k] = &values[k];
    }
    Lane result{};
    loop(setup, from.data(), &result, 1);
    return laneScalar(out, result);
}

// The result's storage. It takes over that of a dying operand if nobody else holds it and it fits.
SharedBytes storage(const Call& call, std::int64_t count, DType dtype)
{
    for (std::size_t k = 0; k < call.operands.size(); ++k) {
        const RuntimeValue& operand = call.operand(k);
        if (((call.dying >> k) & 1U) != 0 && operand.data.use_count() == 1
            && dtypeBytes(operand.dtype) == dtypeBytes(dtype)) {
            return operand.data;
        }
    }
    return allocateBytes(count * dtypeBytes(dtype));
}

RuntimeValue swept(const Call& call, Loop loop)
{
    const std::size_t typed =
        call.operands.size() == kMostOperands ? 1 : 0; // clamp's value follows its low bound
    const RuntimeValue& first = call.operand(typed);
    const DType in = first.dtype;
    const bool compares = ir::opEntry(call.operation.code).kind == ir::OpKind::Comparison;
    const DType out = compares ? DType::Bool : in;
    const RuleSetup setup{call.operation, in};
    if (first.isScalar()) {
        RuntimeValue result =
            RuntimeValue::scalarOf(out, scalarResult(setup, call.operands, loop, in, out));
        result.shadow = definedness(call, 1);
        return result;
    }
    const std::int64_t count = first.elements();
    RuntimeValue result{.dtype = out, .shape = first.shape};
    result.shadow = definedness(call, count);
    result.data = storage(call, count, out);
    Sweep{setup, call.operands, loop, in, result}.run();
    return result;
}

} // namespace

Shadow combined(std::span<RuntimeValue* const> operands, std::int64_t count)
{
    Shadow result;
    for (const RuntimeValue* operand : operands) {
        if (operand->shadow.all() || result.none()) {
            continue;
        }
        if (operand->shadow.none()) {
            return Shadow::noneDefined();
        }
        if (result.all()) {
            result = operand->shadow;
            continue;
        }
        SharedBytes mask = allocateBytes(count);
        auto* out = reinterpret_cast<std::uint8_t*>(mask.get());
        for (std::int64_t i = 0; i < count; ++i) {
            out[i] = result.bytes()[i] & operand->shadow.bytes()[i];
        }
        result = Shadow::fromMask(std::move(mask), count);
    }
    return result;
}

bool scalarInPlace(const ir::Operation& operation, std::span<RuntimeValue* const> operands,
                   RuntimeValue& result)
{
    const auto isPlain = [](const RuntimeValue* value) {
        return value->dtype == DType::Int32 && value->isScalar() && value->shadow.all();
    };
    const Loop loop = kRules[static_cast<std::size_t>(operation.code)].whole;
    if (loop == nullptr || operands.size() > 2 || !result.isScalar() || result.data
        || !std::all_of(operands.begin(), operands.end(), isPlain)) {
        return false;
    }
    const bool compares = ir::opEntry(operation.code).kind == ir::OpKind::Comparison;
    std::array<Lane, 2> values{};
    std::array<const void*, kMostOperands> from{};
    for (std::size_t k = 0; k < operands.size(); ++k) {
        values[k].whole = static_cast<std::int32_t>(operands[k]->scalar);
        from[k] = &values[k];
    }
    Lane lane{};
    loop({operation, DType::Int32}, from.data(), &lane, 1);
    result.dtype = compares ? DType::Bool : DType::Int32;
    result.scalar = compares ? lane.truth : lane.whole;
    result.shadow = Shadow::allDefined();
    return true;
}

RuntimeValue elementwise(const Call& call)
{
    const std::size_t typed = call.operands.size() == kMostOperands ? 1 : 0;
    return swept(call, loopFor(call.operation.code, call.operand(typed).dtype));
}

RuntimeValue power(const Call& call)
{
    RuntimeValue exponent = converted(call.operand(1), call.operand(0).dtype);
    RuntimeValue* const operands[] = {call.operands[0], &exponent};
    return swept({call.operation, operands}, &loop<rules::Pow, float, float>);
}

} // namespace pallascope::machine::ops
