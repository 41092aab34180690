#pragma once
#include <cstddef>

#include "core/op_context.h"

namespace pc {

/// Sees a cancel within a few milliseconds where the steps of a loop differ in work: about once in 2^16 units of it.
class WorkPoll {
 public:
  explicit WorkPoll(const OpContext& ctx) : ctx_(ctx) {}

  void add(std::size_t units) {
    done_ += units;
    if (done_ < kUnits) return;
    done_ = 0;
    ctx_.checkpoint();
  }

 private:
  static constexpr std::size_t kUnits = std::size_t{1} << 16;
  const OpContext& ctx_;
  std::size_t done_ = 0;
};

}  // namespace pc
