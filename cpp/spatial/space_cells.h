#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "core/random.h"

namespace pc {

/// Numbers by the cells of a space that they lie in, of any sides along each axis. Far out, from 1e15 cells on, all lie in one.
template <std::size_t kAxes>
class Cells {
 public:
  using At = std::array<double, kAxes>;

  explicit Cells(const At& sides) : sides_(sides) {}

  void add(const At& at, std::size_t value) { cells_[cell_of(at)].push_back(value); }
  /// Of the cell of a place and those about it; until a visit returns false, if it returns anything.
  template <class Visit>
  void near(const At& at, Visit&& visit) const {
    Cell cell = cell_of(at);
    for (std::int64_t& one : cell) --one;
    const Cell first = cell;
    for (bool is_done = false; !is_done;) {
      if (const auto held = cells_.find(cell); held != cells_.end())
        for (const std::size_t value : held->second) {
          if constexpr (std::is_void_v<decltype(visit(value))>) {
            visit(value);
          } else if (!visit(value)) {
            return;
          }
        }
      is_done = true;
      for (std::size_t axis = 0; axis < kAxes && is_done; ++axis) {
        is_done = ++cell[axis] > first[axis] + 2;
        if (is_done) cell[axis] = first[axis];
      }
    }
  }

 private:
  using Cell = std::array<std::int64_t, kAxes>;
  struct Hash {
    std::size_t operator()(const Cell& cell) const {
      std::uint64_t all = 0;
      for (const std::int64_t one : cell) all = random_u64(all ^ static_cast<std::uint64_t>(one), 0);
      return all;
    }
  };

  Cell cell_of(const At& at) const {
    Cell out;
    for (std::size_t axis = 0; axis < kAxes; ++axis)
      out[axis] = static_cast<std::int64_t>(std::floor(std::clamp(at[axis] / sides_[axis], -1e15, 1e15)));
    return out;
  }

  At sides_;
  std::unordered_map<Cell, std::vector<std::size_t>, Hash> cells_;
};

}  // namespace pc
