// The class behind verify(). Only the .cpp files of the verifier include this header.
#pragma once

#include "core/base/result.h"
#include "core/ir/program.h"

#include <set>
#include <string>
#include <vector>

namespace pallascope::ir {

// Checks the mesh, and that the arguments can be cut into the parts that they ask for.
[[nodiscard]] Status checkArguments(const Program& program);

// Checks one index map. An index map is bookkeeping of the scalar core: it has only scalars, and
// loads of scalars from SMEM. That of an Indirect block makes an array of indices, which may lie in
// VMEM.
[[nodiscard]] Status checkIndexMap(const Program& program, const Operation& pipeline,
                                   std::size_t operand);

class Verifier
{
public:
    explicit Verifier(const Program& program)
        : m_program(program)
    {}

    [[nodiscard]] Status run()
    {
        const Status arguments = checkArguments(m_program);
        return arguments ? region(m_program.body, 0) : arguments;
    }

private:
    [[nodiscard]] Status region(const Region& region, std::size_t gridRank);
    [[nodiscard]] Status operation(const Operation& operation, std::size_t gridRank);
    [[nodiscard]] Status control(const Operation& operation, std::size_t gridRank);
    [[nodiscard]] Status warpMap(const Operation& operation) const;
    [[nodiscard]] Status pipeline(const Operation& operation);
    [[nodiscard]] Status coreMap(const Operation& operation);
    [[nodiscard]] Status whole(const Operation& operation);
    [[nodiscard]] Status near(const Operation& operation) const;
    [[nodiscard]] Status branches(const Operation& operation) const;
    [[nodiscard]] Status scan(const Operation& operation) const;
    [[nodiscard]] Status whileLoop(const Operation& operation) const;
    [[nodiscard]] Status runScoped(const Operation& operation) const;
    [[nodiscard]] Status unions(const Operation& operation, const ScopedParams& params) const;
    [[nodiscard]] Status place(const Operation& operation, std::size_t gridRank);
    [[nodiscard]] Status ragged(const Operation& operation);
    [[nodiscard]] Status sameTypes(const Operation& operation, const std::vector<ValueId>& a,
                                   const std::vector<ValueId>& b, const std::string& what) const;

    [[nodiscard]] Error error(const Operation& operation, const std::string& sentence) const
    {
        return userError(m_program.where(operation.location) + ": " + sentence);
    }

    const Program& m_program;
    std::set<ValueId> m_defined;
    std::set<ValueId> m_ragged;         // refs with dynamic extents
    std::string m_coreAxis;             // of the enclosing core_map
    std::vector<MeshAxis> m_blockAxes;  // of the enclosing core_map
    bool m_directAccess = false;        // of the enclosing core_map
    int m_pipelines = 0;                // number of enclosing pipelines
    OpCode m_whole = OpCode::RunScoped; // Kernel or Fusion if inside of one
};

} // namespace pallascope::ir
