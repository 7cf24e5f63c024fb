#include "core/ir/opcodes.h"

#include "core/base/check.h"
#include "core/ir/operand_rules.h"
#include "core/ir/type_rules.h"

#include <array>

namespace pallascope::ir {

namespace {

// The short names that the table uses stay in here: OperandRole::Value would hide ir::Value in
// files that are compiled together with this one.
namespace table {

using operand_rules::accumulated, operand_rules::copied, operand_rules::multiplied,
    operand_rules::claimed, operand_rules::none, operand_rules::pipelined, operand_rules::queued,
    operand_rules::roles, operand_rules::rolesBy, operand_rules::tensorProduct;
using enum OperandRole;

constexpr std::array kTable{
#define OPERATION(code, name, least, most, roles, types, cost, evaluation)                         \
    OpEntry{OpCode::code, name, OpKind::cost, least, most, roles, type_rules::types},
#include "core/ir/operations.inc"
};

} // namespace table

using table::kTable;

constexpr std::array kEvaluations{
#define OPERATION(code, name, least, most, roles, types, cost, evaluation)                         \
    std::string_view(#evaluation),
#include "core/ir/operations.inc"
};

} // namespace

std::span<const OpEntry> opTable()
{
    return kTable;
}

const OpEntry& opEntry(OpCode code)
{
    const auto index = static_cast<std::size_t>(code);
    PALLASCOPE_CHECK(index < kTable.size());
    return kTable[index];
}

bool isEvaluatedByEngine(OpCode code)
{
    return kEvaluations[static_cast<std::size_t>(code)] == "engine";
}

bool endsSegment(OpCode code)
{
    const OpKind kind = opEntry(code).kind;
    return kind == OpKind::Control || kind == OpKind::Sync || kind == OpKind::Request;
}

bool storesInto(OpCode code)
{
    const OpEntry& entry = opEntry(code);
    return entry.kind == OpKind::Memory && isWritten(roleAt(entry.roles, 0));
}

bool startsCopy(OpCode code)
{
    return code == OpCode::DmaStart || code == OpCode::CopyGmemToSmem
           || code == OpCode::CopySmemToGmem;
}

bool listsElements(OpCode code)
{
    return code == OpCode::LoadGather || code == OpCode::StoreScatter
           || code == OpCode::AddupdateScatter;
}

bool isAtomic(OpCode code)
{
    return code == OpCode::AtomicRmw || code == OpCode::AtomicCas;
}

bool isMasked(OpCode code)
{
    return code == OpCode::MaskedLoad || code == OpCode::MaskedSwap || code == OpCode::AtomicRmw;
}

std::string_view opName(OpCode code)
{
    return opEntry(code).name;
}

std::optional<OpCode> opFromName(std::string_view name)
{
    for (const OpEntry& entry : kTable) {
        if (entry.name == name) {
            return entry.code;
        }
    }
    return std::nullopt;
}

} // namespace pallascope::ir
