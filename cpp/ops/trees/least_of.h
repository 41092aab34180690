#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace pc {

/// The `count` least of the values that are added, by `before`. Keeps at most twice as many, so that no step takes long. count >= 1.
template <class Value, class Before>
class LeastOf {
 public:
  LeastOf(std::size_t count, Before before) : count_(count), before_(before) {}

  void add(const Value& value) {
    if (trimmed_ && !before_(value, kept_[count_ - 1])) return;
    kept_.push_back(value);
    if (kept_.size() == 2 * count_) trim();
  }
  /// Ascending.
  std::vector<Value> take() {
    if (kept_.size() > count_) trim();
    std::sort(kept_.begin(), kept_.end(), before_);
    return std::move(kept_);
  }

 private:
  /// The greatest of those that stay is at count_ - 1.
  void trim() {
    std::nth_element(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(count_ - 1), kept_.end(),
                     before_);
    kept_.resize(count_);
    trimmed_ = true;
  }

  std::size_t count_;
  Before before_;
  std::vector<Value> kept_;
  bool trimmed_ = false;
};

}  // namespace pc
