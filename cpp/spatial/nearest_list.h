#pragma once
#include <cstdint>
#include <limits>

#include "core/host_device.h"

namespace pc::kd_tree {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Not a row: passed as `skip` if a search leaves no point out.
constexpr std::uint64_t kNoRow = ~std::uint64_t{0};

/// The k smallest squared distances offered so far, ascending, in memory of the caller; kInfinity where fewer were
/// offered. Elements are `stride` apart, so that the lists of adjacent threads can be interleaved.
class NearestDistances {
 public:
  PC_HD NearestDistances(double* squared, std::uint32_t k, std::uint64_t stride)
      : squared_(squared), k_(k), stride_(stride) {
    for (std::uint32_t i = 0; i < k; ++i) squared_[i * stride_] = kInfinity;
  }

  PC_HD bool wants(double squared, std::uint64_t) const { return squared < squared_[(k_ - 1) * stride_]; }
  /// Takes a point for which wants() is true.
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

/// The k <= kMost smallest squared distances offered so far, in registers of a GPU: no index depends on the data.
template <std::uint32_t kMost>
class NearestFew {
 public:
  PC_HD explicit NearestFew(std::uint32_t k) {
    for (std::uint32_t i = 0; i < kMost; ++i) squared_[i] = i < kMost - k ? -kInfinity : kInfinity;
  }

  PC_HD bool wants(double squared, std::uint64_t) const { return squared < squared_[kMost - 1]; }
  /// Takes a point for which wants() is true.
  PC_HD void take(double squared, std::uint64_t, std::uint64_t) {
    for (std::uint32_t i = kMost - 1; i > 0; --i) {
      const double before = squared_[i - 1];
      const double moved = before > squared ? before : squared;
      squared_[i] = squared_[i] > squared ? moved : squared_[i];
    }
    squared_[0] = squared_[0] > squared ? squared : squared_[0];
  }
  /// Calls visit(squared) for each of the k, ascending.
  template <class Visit>
  PC_HD void for_each(const Visit& visit) const {
    for (std::uint32_t i = 0; i < kMost; ++i)
      if (squared_[i] >= 0) visit(squared_[i]);
  }

 private:
  double squared_[kMost];  ///< ascending; the first kMost - k are below any distance
};

/// The k smallest squared distances offered so far as a heap in memory of the caller, `stride` apart: few of its elements move
/// when one is taken.
class NearestHeap {
 public:
  PC_HD NearestHeap(double* squared, std::uint32_t k, std::uint64_t stride)
      : squared_(squared), k_(k), stride_(stride) {
    for (std::uint32_t i = 0; i < k; ++i) at(i) = kInfinity;
  }

  PC_HD bool wants(double squared, std::uint64_t) const { return squared < squared_[0]; }
  /// Takes a point for which wants() is true.
  PC_HD void take(double squared, std::uint64_t, std::uint64_t) { sink(squared, k_); }
  /// Brings the elements into ascending order; nothing can be taken from then on.
  PC_HD void sort() {
    for (std::uint32_t n = k_; n > 1; --n) {
      const double last = at(n - 1);
      at(n - 1) = at(0);
      sink(last, n - 1);
    }
  }

 private:
  PC_HD double& at(std::uint32_t i) const { return squared_[i * stride_]; }
  /// Replaces the root of the first n elements, the greatest.
  PC_HD void sink(double squared, std::uint32_t n) {
    std::uint32_t i = 0;
    for (std::uint32_t child = 1; child < n; child = 2 * i + 1) {
      if (child + 1 < n && at(child + 1) > at(child)) ++child;
      if (!(at(child) > squared)) break;
      at(i) = at(child);
      i = child;
    }
    at(i) = squared;
  }

  double* squared_;
  std::uint32_t k_;
  std::uint64_t stride_;
};

/// The k nearest points offered so far, in arrays of length k of the caller: nearest first, equally near points by
/// ascending row. Points at an infinite squared distance (it overflows above 1e154 m) are not wanted.
class NearestPoints {
 public:
  /// Keeps only points within `squared_limit`, inclusive.
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
  /// Takes a point for which wants() is true.
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
  double worst_squared_;     ///< a point is wanted if it is nearer than this,
  std::uint64_t worst_row_;  ///< or equally near with a row below this
};

}  // namespace pc::kd_tree
