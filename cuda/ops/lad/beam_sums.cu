// Span<const T> cannot be converted to itself, which its operator excludes by a requirement that nvcc does not look at.
#if defined(__NVCC__)
#pragma nv_diag_suppress 554
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <memory>
#include <vector>

#include "core/device_buffer.cuh"
#include "core/launch.cuh"
#include "ops/lad/beam_sums.cuh"
#include "ops/lad/beam_sums_kernel.h"

namespace pc::cuda {

namespace {

using beam_sums_kernel::BeamList;
using beam_sums_kernel::BeamPart;
using beam_sums_kernel::Grid;
using beam_sums_kernel::HostBeams;
using beam_sums_kernel::HostCells;
using beam_sums_kernel::HostGrid;
using beam_sums_kernel::kReachSums;
using beam_sums_kernel::kSums;

/// Parts of beams that are sorted at once, and voxels that are read at once: a few milliseconds each.
constexpr std::uint64_t kParts = 16 * kSearches, kCells = 8 * kSearches;
constexpr std::size_t kAhead = 4;

/// Beams in device memory.
class DeviceBeams {
 public:
  DeviceBeams(const HostBeams& host, bool with_angles, const GpuControl& control)
      : rules_(host.list.rules),
        rays_(host.list.rays, host.count, control),
        misses_(host.list.misses, host.count, control),
        zenith_(host.list.zenith, with_angles ? host.count : 0, control),
        first_hit_(host.list.first_hit, host.count + 1, control),
        ranges_(host.list.ranges, host.hit_count, control),
        shares_(host.list.shares, rules_.by_shares ? host.hit_count : 0, control) {}

  static std::uint64_t bytes(const HostBeams& host) {
    return (host.count + 1) * (sizeof(LatticeRay) + 3 * sizeof(std::uint32_t)) +
           host.hit_count * 2 * sizeof(double);
  }
  BeamList view() const {
    return {rules_,
            rays_.data(),
            misses_.data(),
            zenith_.data(),
            first_hit_.data(),
            ranges_.data(),
            rules_.by_shares ? shares_.data() : nullptr};
  }

 private:
  beam_sums_kernel::Rules rules_;
  DeviceBuffer<LatticeRay> rays_;
  DeviceBuffer<std::uint32_t> misses_, zenith_, first_hit_;
  DeviceBuffer<double> ranges_, shares_;
};

/// The number of parts of each beam.
std::vector<std::uint32_t> part_counts(const Grid& grid, const BeamList& beams, std::uint64_t count,
                                       const GpuControl& control) {
  const DeviceBuffer<std::uint32_t> counts(count);
  std::uint32_t* const to = counts.data();
  for_each_index(count, [grid, beams, to] __device__(std::size_t i) {
    std::uint32_t parts = 0;
    beam_sums_kernel::for_each_part(grid, beams, i, [&](const BeamPart&) { ++parts; });
    to[i] = parts;
  });
  std::vector<std::uint32_t> out(count);
  counts.download(out.data(), count, control);
  return out;
}

/// Writes the parts of beam first + i from offsets[i] on, with their voxels and places.
void write_parts(const Grid& grid, const BeamList& beams, std::uint64_t first, std::uint64_t count,
                 const std::uint32_t* offsets, BeamPart* parts, std::uint32_t* cells, std::uint32_t* places) {
  for_each_index(count, [=] __device__(std::size_t i) {
    std::uint32_t at = offsets[i];
    beam_sums_kernel::for_each_part(grid, beams, first + i, [&](const BeamPart& part) {
      parts[at] = part;
      cells[at] = static_cast<std::uint32_t>(part.cell);
      places[at] = at;
      ++at;
    });
  });
}

void in_order(const BeamPart* parts, const std::uint32_t* places, std::uint64_t count, BeamPart* sorted) {
  for_each_index(count, [=] __device__(std::size_t i) { sorted[i] = parts[places[i]]; });
}

/// Adds the parts of each voxel, which follow one another, in their order.
void add_parts(const BeamPart* sorted, std::uint64_t count, double* sums, double* reach) {
  for_each_index(count, [=] __device__(std::size_t i) {
    const std::size_t cell = sorted[i].cell;
    if (i > 0 && sorted[i - 1].cell == cell) return;
    double own[kSums], own_reach[kReachSums] = {0, 0};
    for (std::size_t field = 0; field < kSums; ++field) own[field] = sums[cell * kSums + field];
    if (reach != nullptr)
      for (std::size_t field = 0; field < kReachSums; ++field)
        own_reach[field] = reach[cell * kReachSums + field];
    // Some parts are loaded before the first of them is added: a voxel that all beams pass is a long chain of sums.
    BeamPart ahead[kAhead];
    bool more = true;
    for (std::size_t at = i; more && at < count; at += kAhead) {
      for (std::size_t k = 0; k < kAhead; ++k) ahead[k] = sorted[at + k < count ? at + k : count - 1];
      for (std::size_t k = 0; k < kAhead; ++k) {
        more = more && at + k < count && ahead[k].cell == cell;
        if (more) beam_sums_kernel::add(own, own_reach, ahead[k]);
      }
    }
    for (std::size_t field = 0; field < kSums; ++field) sums[cell * kSums + field] = own[field];
    if (reach != nullptr)
      for (std::size_t field = 0; field < kReachSums; ++field)
        reach[cell * kReachSums + field] = own_reach[field];
  });
}

void pick(const double* from, std::size_t fields, const std::uint32_t* cells, std::uint64_t count,
          double* to) {
  for_each_index(count * fields,
                 [=] __device__(std::size_t i) { to[i] = from[cells[i / fields] * fields + i % fields]; });
}

int bits_of(std::uint64_t cells) {
  int bits = 1;
  while (bits < 32 && (cells >> bits) != 0) ++bits;
  return bits;
}

std::size_t sort_bytes() {
  std::size_t bytes = 0;
  const auto* const keys = static_cast<const std::uint32_t*>(nullptr);
  auto* const sorted = static_cast<std::uint32_t*>(nullptr);
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted, keys, sorted,
                                        static_cast<std::int64_t>(kParts)),
        "plan a sort");
  return bytes;
}

/// Sums over the voxels of a grid in device memory, with room for the parts of a sort.
class DeviceSums {
 public:
  DeviceSums(const HostGrid& host, const GpuControl& control)
      : cell_count_(cells_of(host)),
        offsets_(host.grid.lattice.offsets.data, host.grid.lattice.offsets.size, control),
        kept_(host.grid.lattice.kept.data, host.grid.lattice.kept.size, control),
        factors_(host.grid.factors, host.factor_count, control),
        sums_(cell_count_ * kSums),
        reach_(host.with_reach ? cell_count_ * kReachSums : 0),
        parts_(kParts),
        sorted_(kParts),
        cells_(kParts),
        sorted_cells_(kParts),
        places_(kParts),
        sorted_places_(kParts),
        scratch_(sort_bytes()),
        grid_(host.grid) {
    grid_.lattice.offsets = {offsets_.data(), offsets_.size()};
    grid_.lattice.kept = {kept_.data(), kept_.size()};
    grid_.factors = factors_.data();
    check(cudaMemset(sums_.data(), 0, sums_.size() * sizeof(double)), "clear memory");
    if (reach_.size() > 0)
      check(cudaMemset(reach_.data(), 0, reach_.size() * sizeof(double)), "clear memory");
  }

  static std::uint64_t bytes(const HostGrid& host) {
    return cells_of(host) * (kSums + (host.with_reach ? kReachSums : 0)) * sizeof(double) +
           host.grid.lattice.layer() * (sizeof(double) + 1) + host.factor_count * sizeof(double) +
           kParts * (2 * sizeof(BeamPart) + 4 * sizeof(std::uint32_t)) + sort_bytes();
  }

  void add(const HostBeams& host, const GpuControl& control) {
    const DeviceBeams beams(host, factors_.size() > 0, control);
    const std::vector<std::uint32_t> counts = part_counts(grid_, beams.view(), host.count, control);
    std::vector<std::uint32_t> offsets;
    for (std::uint64_t first = 0; first < host.count;) {
      poll(control);
      std::uint64_t parts = 0, end = first;
      offsets.clear();
      for (; end < host.count && parts + counts[end] <= kParts; ++end) {
        offsets.push_back(static_cast<std::uint32_t>(parts));
        parts += counts[end];
      }
      if (end == first)
        throw DeviceError(cudaErrorInvalidValue, "a beam crosses " + std::to_string(counts[first]) +
                                                     " voxels, more than the GPU sorts at once");
      if (parts > 0) add_some(beams.view(), first, offsets, parts, control);
      first = end;
    }
  }

  void read(const HostCells& host, const GpuControl& control) const {
    if (host.cells == nullptr) {
      sums_.download(host.sums, host.count * kSums, control);
      if (host.reach != nullptr) reach_.download(host.reach, host.count * kReachSums, control);
      return;
    }
    for (std::uint64_t begin = 0; begin < host.count; begin += kCells) {
      const std::uint64_t count = std::min(kCells, host.count - begin);
      const DeviceBuffer<std::uint32_t> cells(host.cells + begin, count, control);
      read_some(sums_, kSums, cells, host.sums + begin * kSums, control);
      if (host.reach != nullptr)
        read_some(reach_, kReachSums, cells, host.reach + begin * kReachSums, control);
    }
  }

 private:
  static std::uint64_t cells_of(const HostGrid& host) {
    return host.grid.lattice.layer() * host.grid.lattice.nz;
  }
  static void read_some(const DeviceBuffer<double>& from, std::size_t fields,
                        const DeviceBuffer<std::uint32_t>& cells, double* to, const GpuControl& control) {
    const DeviceBuffer<double> picked(cells.size() * fields);
    pick(from.data(), fields, cells.data(), cells.size(), picked.data());
    picked.download(to, picked.size(), control);
  }
  void add_some(const BeamList& beams, std::uint64_t first, const std::vector<std::uint32_t>& offsets,
                std::uint64_t parts, const GpuControl& control) {
    const DeviceBuffer<std::uint32_t> begins(offsets.data(), offsets.size(), control);
    write_parts(grid_, beams, first, offsets.size(), begins.data(), parts_.data(), cells_.data(),
                places_.data());
    // Stable: the parts of a voxel stay in the order of the beams.
    std::size_t bytes = scratch_.size();
    check(cub::DeviceRadixSort::SortPairs(scratch_.data(), bytes, cells_.data(), sorted_cells_.data(),
                                          places_.data(), sorted_places_.data(),
                                          static_cast<std::int64_t>(parts), 0, bits_of(cell_count_)),
          "sort");
    in_order(parts_.data(), sorted_places_.data(), parts, sorted_.data());
    add_parts(sorted_.data(), parts, sums_.data(), reach_.size() > 0 ? reach_.data() : nullptr);
  }

  std::uint64_t cell_count_;
  DeviceBuffer<double> offsets_;
  DeviceBuffer<std::uint8_t> kept_;
  DeviceBuffer<double> factors_, sums_, reach_;
  DeviceBuffer<BeamPart> parts_, sorted_;
  DeviceBuffer<std::uint32_t> cells_, sorted_cells_, places_, sorted_places_;
  DeviceBuffer<std::uint8_t> scratch_;
  Grid grid_;
};

}  // namespace

GpuStatus open_beam_sums(const HostGrid* host, const GpuControl* control, void** sums, GpuError* error) {
  return guarded(error, [&] {
    reserve_check(DeviceSums::bytes(*host));
    *sums = std::make_unique<DeviceSums>(*host, *control).release();
  });
}

GpuStatus add_beams(void* sums, const HostBeams* beams, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] {
    reserve_check(DeviceBeams::bytes(*beams));
    static_cast<DeviceSums*>(sums)->add(*beams, *control);
  });
}

GpuStatus read_beam_sums(void* sums, const HostCells* cells, const GpuControl* control, GpuError* error) {
  return guarded(error, [&] { static_cast<DeviceSums*>(sums)->read(*cells, *control); });
}

void close_beam_sums(void* sums) { delete static_cast<DeviceSums*>(sums); }

}  // namespace pc::cuda
