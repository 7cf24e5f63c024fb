// The operations that stand between the segments of an agent: what it says to copies, semaphores,
// barriers and the matrix unit. Each goes to the part that knows it.
#pragma once

#include "core/machine/parts/accesses.h"
#include "core/machine/parts/agents.h"
#include "core/machine/parts/barriers.h"
#include "core/machine/parts/context.h"
#include "core/machine/parts/copies.h"
#include "core/machine/parts/core_maps.h"
#include "core/machine/parts/findings.h"
#include "core/machine/parts/manual_copies.h"
#include "core/machine/parts/matrix_unit.h"
#include "core/machine/parts/products.h"
#include "core/machine/parts/semaphores.h"
#include "core/machine/parts/store_groups.h"
#include "core/machine/parts/tensor_memory.h"

namespace pallascope::machine {

class SyncOperations : private Part
{
public:
    SyncOperations(const Context& context, Agents& agents, Copies& copies, Semaphores& semaphores,
                   Barriers& barriers, Accesses& accesses, CoreMaps& coreMaps, Findings& findings);

    // Runs an operation whose kind is not Control for the current agent, which may wait afterwards.
    void run(const PlanItem& item);

private:
    [[nodiscard]] bool runOfGpu(const PlanItem& item);
    [[nodiscard]] bool runOfTensorMemory(const PlanItem& item);
    void delay(const ir::Operation& operation);

    Semaphores& m_semaphores;
    Barriers& m_barriers;
    CoreMaps& m_coreMaps;
    StoreGroups m_groups;
    MatrixUnit m_matrixUnit;
    Products m_products;
    ManualCopies m_manualCopies;
    TensorMemory m_tensorMemory;
};

} // namespace pallascope::machine
