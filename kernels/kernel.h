// A built-in kernel: its parameters, the program that it is traced into, and the check of its
// result. Each kernel is one file in this folder and one line of the list in CMakeLists.txt.
#pragma once

#include "core/base/array.h"
#include "core/base/result.h"
#include "core/ir/program.h"

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pallascope::kernels {

struct Parameter
{
    enum class Type
    {
        Integer,
        Choice,
        Shape
    };

    std::string name;
    Type type = Type::Integer;
    std::string defaultValue;
    std::int64_t minimum = 1, maximum = 1; // the range of an integer, or of each extent of a shape
    std::vector<std::string> choices;
    std::string help; // one line
};

[[nodiscard]] Parameter integer(std::string name, std::int64_t defaultValue, std::int64_t minimum,
                                std::int64_t maximum, std::string help);
[[nodiscard]] Parameter choice(std::string name, std::vector<std::string> choices,
                               std::string help); // the first choice is the default

// Checked values of a kernel's parameters.
class Arguments
{
public:
    [[nodiscard]] std::int64_t integer(std::string_view name) const;
    [[nodiscard]] const std::string& text(std::string_view name) const;
    [[nodiscard]] DType dtype(std::string_view name) const;
    [[nodiscard]] Shape shape(std::string_view name) const;

    [[nodiscard]] const std::map<std::string, std::string, std::less<>>& all() const
    {
        return m_values;
    }

private:
    friend Result<Arguments> arguments(const struct Kernel& kernel,
                                       const std::map<std::string, std::string>& given);
    // The values of all parameters, defaults included.
    std::map<std::string, std::string, std::less<>> m_values;
};

// The comparison of a result with the kernel's reference result, which is computed in f64.
struct Comparison
{
    bool passed = false;
    double maxAbsError = 0;
    double maxRelError = 0; // largest difference / largest reference value
    std::string method;
};

// The larger of two errors. NaN counts as larger than everything.
[[nodiscard]] inline double worseError(double error, double other)
{
    return error >= other || std::isnan(error) ? error : other;
}

struct Kernel
{
    std::string name;
    std::string help; // one line
    std::vector<Parameter> parameters;
    std::function<Result<ir::Program>(const Arguments&)> build;
    std::function<Comparison(const Arguments&, const std::vector<Array>& inputs,
                             const std::vector<Array>& outputs)>
        check;
    // The integer parameters that are block sizes; "other blocks" varies these. Empty: none.
    std::vector<std::string> blockParameters;
    // For each of these the parameter that says what it cuts: an integer, or the first extent of a
    // shape. Empty if blocks have to divide what they cut.
    std::vector<std::string> blockedExtents;
    std::string chip; // the chip for which it is written; empty: any TPU
};

// Makes a kernel one for this chip, on which it runs if none is asked for.
[[nodiscard]] Kernel forChip(std::string chip, Kernel kernel);

// The defaults, replaced by `given` where it has a value. Errors name the parameter, the value and
// what was expected.
[[nodiscard]] Result<Arguments> arguments(const Kernel& kernel,
                                          const std::map<std::string, std::string>& given);

// The kernels of the files that CMakeLists.txt lists, in that order.
[[nodiscard]] const std::vector<Kernel>& all();
[[nodiscard]] const Kernel* find(std::string_view name);

// The embedded text of kernels/<file>.
[[nodiscard]] std::string_view sourceText(std::string_view file);
// Adds the embedded text of every kernel source that a program's locations name.
void attachSources(ir::Program& program);

} // namespace pallascope::kernels
