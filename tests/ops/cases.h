// The cases of cases.json (make_cases.py says where they come from), and how to run one.
#pragma once

#include "core/base/array.h"
#include "core/ir/program.h"
#include "core/machine/values/value.h"

#include <string>
#include <vector>

namespace pallascope::ops_test {

struct Case
{
    std::string name; // "gather #17"
    ir::OpCode code{};
    ir::Params params;
    std::vector<Array> in, out;
    int ulp = 0; // how far a result may be off `out`, in units of its last place
};

[[nodiscard]] const std::vector<Case>& cases();

// A program whose values are the operands and results of a case, with the operation on them.
struct Single
{
    ir::Program program;
    ir::Operation operation;
};

[[nodiscard]] Single single(const Case& one);

[[nodiscard]] machine::RuntimeValue valueOf(const Array& array);
[[nodiscard]] Array arrayOf(const machine::RuntimeValue& value);
[[nodiscard]] std::vector<machine::RuntimeValue> run(const Case& one,
                                                     std::vector<machine::RuntimeValue> operands);

} // namespace pallascope::ops_test
