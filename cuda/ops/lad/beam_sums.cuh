#pragma once
#include "core/gpu_table.h"

namespace pc::cuda {

/// GpuTable::open_beam_sums.
GpuStatus open_beam_sums(const beam_sums_kernel::HostGrid* host, const GpuControl* control, void** sums,
                         GpuError* error);
/// GpuTable::add_beams.
GpuStatus add_beams(void* sums, const beam_sums_kernel::HostBeams* beams, const GpuControl* control,
                    GpuError* error);
/// GpuTable::read_beam_sums.
GpuStatus read_beam_sums(void* sums, const beam_sums_kernel::HostCells* cells, const GpuControl* control,
                         GpuError* error);
/// GpuTable::close_beam_sums.
void close_beam_sums(void* sums);

}  // namespace pc::cuda
