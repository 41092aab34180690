#include "ops/trees/expected_drop.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace pc {

double expected_drop(Span<const Vec3d> points) {
  constexpr std::size_t kTop = 48;  // the others weigh less than 1e-14
  std::vector<double> top;
  for (const Vec3d& p : points) {
    if (top.size() == kTop && !(p.z > top.front())) continue;
    if (top.size() == kTop) {
      std::pop_heap(top.begin(), top.end(), std::greater<>());
      top.pop_back();
    }
    top.push_back(p.z);
    std::push_heap(top.begin(), top.end(), std::greater<>());
  }
  std::sort(top.begin(), top.end(), std::greater<>());
  double drop = 0, odds = 1;
  for (const double z : top) {
    odds /= 2;
    drop += odds * (top.front() - z);
  }
  return drop;
}

}  // namespace pc
