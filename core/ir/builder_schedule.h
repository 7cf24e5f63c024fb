// The part of the builder that deals pieces of work to the blocks of a GPU, such as the tiles of a
// result: which block does which, and in what order (nd_loop, planar_snake and
// dynamic_scheduling_loop of plgpu in JAX).
#pragma once

#include "core/ir/builder_gpu.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pallascope::pl::gpu {

// What one of `sharers` blocks does of `pieces`: number + round * sharers, while that is below
// `pieces`. `number` says which of the blocks it is.
class Share
{
public:
    Share(Extent pieces, Extent sharers, Value number);

    // How many pieces it has, an int32; known before the run if all blocks have as many.
    [[nodiscard]] Value rounds(Here here = Here::current()) const;
    [[nodiscard]] Value piece(const Value& round, Here here = Here::current()) const;
    // Calls the body for each round with its number, from 0.
    void forEachRound(const std::function<void(Value)>& body, Here here = Here::current()) const;

private:
    Extent m_pieces, m_sharers;
    Value m_number;
};

// Where piece `number` lies in a plane of pieces. The minor axis is cut into strips of `width`; one
// strip is walked along the major axis, the next one back. Pieces of close numbers then lie close
// on both axes, so that blocks that run at a time share rows and columns in L2.
[[nodiscard]] std::array<Value, 2> planarSnake(const Value& number, std::array<Extent, 2> plane,
                                               std::size_t minorAxis, Extent width,
                                               Here here = Here::current());

// A block that goes on with further pieces: the number of its block of the grid (or of its cluster,
// on all of whose `blocks` the body runs) first, then those that it claims, until none is left. All
// `threads` warpgroups of the block, which `threadAxis` tells apart, run the body for each piece
// with its number and its round, from 0. `clusterAxis` is empty if there is no cluster.
struct Claims
{
    Value first;
    std::int32_t threads = 1;
    std::string threadAxis = "thread";
    std::int32_t blocks = 1;
    std::string clusterAxis = {};
};

void forEachClaim(const Claims& claims, const std::function<void(Value, Value)>& body,
                  Here here = Here::current());

// What plgpu.emit_pipeline does for matrices that are gone through by tiles of so many rows: the
// TMA brings tiles of the inputs into slots, `stages` rounds ahead, and takes those of the output
// away while the next ones are made.
struct RowPipeline
{
    struct Stream
    {
        std::string name; // of its slots
        Ref matrix;
    };

    std::vector<Stream> in;
    Stream out;
    Extent rows = 1;
    std::int32_t stages = 2;
};

// One warpgroup goes through its share of the tiles. The body gets one tile of each input, in SMEM,
// and returns that of the output.
void emitRowPipeline(const RowPipeline& pipeline, const Share& share,
                     const std::function<Value(const std::vector<Ref>&)>& body,
                     Here here = Here::current());

} // namespace pallascope::pl::gpu
