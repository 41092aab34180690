#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "ops/lad/beam_sums_kernel.h"
#include "ops/lad/beam_traversal.h"

namespace pc {

static_assert(kVoxelSumFields == beam_sums_kernel::kSums && kReachSumFields == beam_sums_kernel::kReachSums &&
              kChordMoments == beam_sums_kernel::kMoments);

inline void add(VoxelSums& sums, double u, double transmitted, std::uint32_t inside, double reach) {
  beam_sums_kernel::add(reinterpret_cast<double*>(&sums), u, transmitted, inside, reach);
}

#if defined(__GNUC__)
/// Numbers side by side: in a register, or in two where the processor has no AVX.
typedef double FourDoubles __attribute__((vector_size(32)));
typedef double TwoDoubles __attribute__((vector_size(16)));

template <class Numbers>
inline void add_numbers(double* to, const Numbers& numbers) {
  Numbers sum;
  std::memcpy(&sum, to, sizeof sum);
  sum += numbers;
  std::memcpy(to, &sum, sizeof sum);
}
#endif

/// The same for a whole pulse that passes the voxel.
inline void add_passed(VoxelSums& sums, double u) {
#if defined(__GNUC__)
  const double square = u * u;
  const FourDoubles low = FourDoubles{1, u, 1, u} * FourDoubles{1, 1, square, square};
  add_numbers(sums.moment.data(), low);
  add_numbers(sums.moment.data() + 4, low * (square * square));
  add_numbers(&sums.transmitted, TwoDoubles{1, 1});
#else
  add(sums, u, 1, 0, 1);
#endif
}

inline void prefetch([[maybe_unused]] const VoxelSums* sums) {
#if defined(__GNUC__)
  const char* const bytes = reinterpret_cast<const char*>(sums);
  __builtin_prefetch(bytes, 1);
  __builtin_prefetch(bytes + sizeof(VoxelSums) - 1, 1);
#endif
}

using beam_sums_kernel::BeamPart;

/// Sums up beams in voxels in the order in which they come, each a few steps later: its voxel is in the cache by then.
class LateSums {
 public:
  LateSums(VoxelSums* sums, ReachSums* reach) : sums_(sums), reach_(reach) {}
  void push(const BeamPart& part) {
    prefetch(sums_ + part.cell);
    BeamPart& place = waiting_[pushed_++ % kLate];
    if (pushed_ > kLate) add_part(place);
    place = part;
  }
  void finish() {
    for (std::size_t n = pushed_ > kLate ? pushed_ - kLate : 0; n < pushed_; ++n)
      add_part(waiting_[n % kLate]);
    pushed_ = 0;
  }

 private:
  static constexpr std::size_t kLate = 16;
  void add_part(const BeamPart& part) {
    beam_sums_kernel::add(reinterpret_cast<double*>(sums_ + part.cell),
                          reach_ == nullptr ? nullptr : reinterpret_cast<double*>(reach_ + part.cell), part);
  }

  VoxelSums* sums_;
  ReachSums* reach_;
  std::array<BeamPart, kLate> waiting_{};
  std::size_t pushed_ = 0;
};

}  // namespace pc
