#include "core/machine/prepare/joined_products.h"

#include <algorithm>
#include <map>

namespace pallascope::machine {

void joinProducts(const ir::Program& program, const std::vector<std::int32_t>& uses,
                  std::vector<Evaluation>& evaluations)
{
    const auto isSum = [&](ir::ValueId id) {
        const ir::Type& type = program.type(id);
        return (type.dtype == DType::F32 || type.dtype == DType::Int32) && type.shape.rank() > 0;
    };
    std::map<ir::ValueId, const ir::Operation*> products;
    std::vector<const ir::Operation*> joined;
    for (Evaluation& evaluation : evaluations) {
        const ir::Operation& operation = *evaluation.operation;
        if (operation.code == ir::OpCode::DotGeneral && isSum(operation.results[0])
            && uses[static_cast<std::size_t>(operation.results[0].index)] == 1) {
            products[operation.results[0]] = &operation;
        }
        for (std::size_t i = 0; operation.code == ir::OpCode::Add && i < 2; ++i) {
            const auto product = products.find(operation.operands[i]);
            if (product != products.end() && evaluation.product == nullptr) {
                evaluation.product = product->second;
                joined.push_back(product->second);
            }
        }
    }
    std::erase_if(evaluations, [&](const Evaluation& evaluation) {
        return std::count(joined.begin(), joined.end(), evaluation.operation) > 0;
    });
}

} // namespace pallascope::machine
