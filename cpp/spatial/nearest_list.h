#pragma once
#include <cstdint>
#include <limits>

#include "core/host_device.h"

namespace pc::kd_tree {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Row of no point: passed as `skip` when no point is left out of a search.
constexpr std::uint64_t kNoRow = ~std::uint64_t{0};

/// The k least squared distances offered so far, ascending, in memory of the caller; kInfinity where fewer were offered.
/// Two elements lie `stride` apart, so that the lists of threads side by side can be interleaved.
class NearestDistances {
 public:
  PC_HD NearestDistances(double* squared, std::uint32_t k, std::uint64_t stride)
      : squared_(squared), k_(k), stride_(stride) {
    for (std::uint32_t i = 0; i < k; ++i) squared_[i * stride_] = kInfinity;
  }

  PC_HD bool wants(double squared, std::uint64_t) const { return squared < squared_[(k_ - 1) * stride_]; }
  /// Takes a point that it wants.
  PC_HD void take(double squared, std::uint64_t, std::uint64_t) {
    std::uint32_t at = k_ - 1;
    for (; at > 0 && squared_[(at - 1) * stride_] > squared; --at)
      squared_[at * stride_] = squared_[(at - 1) * stride_];
    squared_[at * stride_] = squared;
  }

 private:
  double* squared_;
  std::uint32_t k_;
  std::uint64_t stride_;
};

/// The k nearest points offered so far in arrays of k of the caller: nearest first, of equally near ones the lower row
/// first. Points at an infinite squared distance (the distance overflows above 1e154 m) are not wanted.
class NearestPoints {
 public:
  /// Of the points within `squared_limit`, its surface included.
  PC_HD NearestPoints(double* squared, std::uint64_t* row, std::uint64_t* slot, std::uint32_t k,
                      double squared_limit = kInfinity)
      : squared_(squared), row_(row), slot_(slot), k_(k) {
    worst_squared_ = squared_limit;
    worst_row_ = squared_limit < kInfinity ? kNoRow : 0;
  }

  PC_HD std::uint32_t count() const { return count_; }
  PC_HD bool wants(double squared, std::uint64_t row) const {
    return squared < worst_squared_ || (squared == worst_squared_ && row < worst_row_);
  }
  /// Takes a point that it wants.
  PC_HD void take(double squared, std::uint64_t row, std::uint64_t slot) {
    std::uint32_t at = count_ < k_ ? count_++ : k_ - 1;
    for (; at > 0; --at) {
      const double before = squared_[at - 1];
      if (before < squared || (before == squared && row_[at - 1] < row)) break;
      squared_[at] = before;
      row_[at] = row_[at - 1];
      slot_[at] = slot_[at - 1];
    }
    squared_[at] = squared;
    row_[at] = row;
    slot_[at] = slot;
    if (count_ < k_) return;
    worst_squared_ = squared_[k_ - 1];
    worst_row_ = row_[k_ - 1];
  }

 private:
  double* squared_;
  std::uint64_t* row_;
  std::uint64_t* slot_;
  std::uint32_t k_, count_ = 0;
  double worst_squared_;     ///< what a point must beat to be wanted, and
  std::uint64_t worst_row_;  ///< the row that one as far must lie before
};

}  // namespace pc::kd_tree
