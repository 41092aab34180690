#include "ops/qsm/longest_arc.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace pc {

double longest_arc(const Sectors& sectors, std::uint32_t point_count) {
  const std::size_t all = sectors.size();
  const double count = std::max(2.0, static_cast<double>(point_count));
  const auto gap = static_cast<std::size_t>(std::ceil(static_cast<double>(all) * std::log(count) / count));
  std::size_t longest = 0, run = 0, empty = all;
  for (std::size_t i = 0; i < 2 * all; ++i) {  // twice around: a run may pass the first sector
    if (!sectors[i % all]) {
      ++empty;
      continue;
    }
    run = empty > gap ? 1 : run + empty + 1;
    empty = 0;
    longest = std::max(longest, run);
  }
  return static_cast<double>(std::min(all, longest)) / static_cast<double>(all);
}

}  // namespace pc
