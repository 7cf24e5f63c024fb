// Which operations have which parameters in a file.
#pragma once

#include "core/ir/params.h"
#include "core/ir/pipeline_params.h"

#include <array>
#include <string_view>

namespace pallascope::kernel_file {

template<class Params>
inline constexpr std::array<std::string_view, 0> kOperationsWith{};

template<>
inline constexpr std::array<std::string_view, 3> kOperationsWith<ir::IndexerParams>{"get", "swap",
                                                                                    "ref_at"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::DotParams>{"dot_general"};
template<>
inline constexpr std::array<std::string_view, 8> kOperationsWith<ir::AxesParams>{
    "reduce_sum", "reduce_max",  "reduce_min", "reduce_and",
    "reduce_or",  "reduce_prod", "squeeze",    "rev"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::BroadcastParams>{
    "broadcast_in_dim"};
template<>
inline constexpr std::array<std::string_view, 4> kOperationsWith<ir::ShapeParams>{
    "reshape", "iota_2x32_shape", "prng_random_bits", "ref_reshape"};
template<>
inline constexpr std::array<std::string_view, 2> kOperationsWith<ir::PermutationParams>{
    "transpose", "ref_transpose"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::IotaParams>{"iota"};
template<>
inline constexpr std::array<std::string_view, 6> kOperationsWith<ir::DTypeParams>{
    "convert_element_type", "bitcast_convert_type", "bitcast",
    "stochastic_round",     "pack_elementwise",     "ref_bitcast"};
template<>
inline constexpr std::array<std::string_view, 5> kOperationsWith<ir::AxisParams>{
    "program_id", "num_programs", "concatenate", "stack", "unstack"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::RoundParams>{"round"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::IntegerPowParams>{
    "integer_pow"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::ReciprocalParams>{
    "reciprocal"};
template<>
inline constexpr std::array<std::string_view, 2> kOperationsWith<ir::ArgParams>{"argmax", "argmin"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SplitParams>{"split"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SliceParams>{"slice"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::PadParams>{"pad"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::TileParams>{"tile"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::RollParams>{"roll"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::GatherParams>{"gather"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::ScatterParams>{"scatter"};
template<>
inline constexpr std::array<std::string_view, 4> kOperationsWith<ir::CumulativeParams>{
    "cumsum", "cumprod", "cummax", "cummin"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SizesParams>{"dynamic_slice"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SortParams>{"sort"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::UnpackParams>{
    "unpack_elementwise"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::MultipleOfParams>{
    "multiple_of"};
template<>
inline constexpr std::array<std::string_view, 3> kOperationsWith<ir::TextParams>{
    "debug_print", "debug_check", "axis_index"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::KernelParams>{"kernel"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::FusionParams>{"fusion"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::DmaParams>{"dma_start"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SignalParams>{
    "semaphore_signal"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::SemaphoreWaitParams>{
    "semaphore_wait"};
template<>
inline constexpr std::array<std::string_view, 2> kOperationsWith<ir::MatrixUnitParams>{
    "matmul_acc_lhs", "matmul_lhs_fifo"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::BarrierParams>{
    "get_barrier_semaphore"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::CoreMapParams>{"core_map"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::ScopedParams>{"run_scoped"};
template<>
inline constexpr std::array<std::string_view, 2> kOperationsWith<ir::PredicateParams>{
    "barrier_arrive", "tcgen05_commit_arrive"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::LoadCopyParams>{
    "copy_gmem_to_smem"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::StoreCopyParams>{
    "copy_smem_to_gmem"};
template<>
inline constexpr std::array<std::string_view, 2> kOperationsWith<ir::GroupWaitParams>{
    "wait_smem_to_gmem", "wait_gmem_to_smem"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::WgmmaParams>{"wgmma"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::ProductWaitParams>{
    "wgmma_wait"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::RegistersParams>{
    "set_max_registers"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::AtomicParams>{"atomic_rmw"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::WarpMapParams>{"warp_map"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::ScanParams>{"scan"};
template<>
inline constexpr std::array<std::string_view, 1> kOperationsWith<ir::PipelineParams>{"pipeline"};

} // namespace pallascope::kernel_file
