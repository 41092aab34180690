#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/dtype_fit.h"
#include "core/round.h"

namespace pc {

/// A set of class values. A row is in it if rint(value), rounded half to even, is one of them; NaN and infinities never
/// are. 64-bit integers compare exactly. Values that are not whole numbers are left out, because they cannot match.
class ClassSet {
 public:
  explicit ClassSet(std::vector<double> values) : sorted_(std::move(values)) {
    std::erase_if(sorted_, [](double v) { return !std::isfinite(v) || std::rint(v) != v; });
    std::sort(sorted_.begin(), sorted_.end());
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
    if (sorted_.empty() || sorted_.back() - sorted_.front() >= kMaxTable) return;
    base_ = sorted_.front();
    table_.resize(static_cast<std::size_t>(sorted_.back() - base_) + 1);
    for (const double value : sorted_) table_[static_cast<std::size_t>(value - base_)] = 1;
  }

  template <class T>
  bool holds(T value) const {
    double rounded = 0;
    if constexpr (std::is_floating_point_v<T>) {
      rounded = round_half_even(static_cast<double>(value));
    } else if (!exact_cast(value, rounded)) {
      return false;
    }
    if (!table_.empty()) {
      const double at = rounded - base_;
      return at >= 0 && at < static_cast<double>(table_.size()) && table_[static_cast<std::size_t>(at)] != 0;
    }
    return !std::isnan(rounded) && std::binary_search(sorted_.begin(), sorted_.end(), rounded);
  }

 private:
  static constexpr double kMaxTable = 65536;
  std::vector<double> sorted_;
  std::vector<std::uint8_t> table_;  ///< entry v - base_; empty = search sorted_
  double base_ = 0;
};

}  // namespace pc
