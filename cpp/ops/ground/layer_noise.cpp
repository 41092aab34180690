#include "ops/ground/layer_noise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/atomic.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/random.h"

namespace pc {

namespace {

constexpr std::size_t kPointGrain = std::size_t{1} << 15, kCellGrain = std::size_t{1} << 14;
constexpr double kReturns = 64, kFewestReturns = 22;  // of a window: wanted, needed
constexpr double kWidest = 2;                         // metres: of a window
constexpr double kMostWindows = 4096;
constexpr double kBin = 0.002, kLowest = -0.6;  // metres
constexpr int kBins = 900;
constexpr int kRounds = 8;
constexpr double kCore = 1.5, kFewestBelow = 4;
constexpr double kSame = 1.35;
constexpr double kMostOver = 1.0 / 3;  // returns above the layer, of those in its middle
constexpr double kMostCounted = 4095;  // returns per cell: the lowest of more is hardly lower

constexpr double middle_of(int bin) { return kLowest + kBin * (bin + 0.5); }

/// The heights of one window, counted.
class Heights {
 public:
  explicit Heights(const std::uint32_t* counts) : counts_(counts), sums_(kBins + 1) {
    for (int i = 0; i < kBins; ++i) sums_[i + 1] = sums_[i] + counts[i];
  }

  double all() const { return sums_[kBins]; }

  double between(double low, double high) const { return below(high) - below(low); }

  /// Middle of the shortest interval with this share of the heights, the lowest of equally short ones.
  double shortest(double share) const {
    const double wanted = share * all();
    int best = kBins, at = 0;
    for (int low = 0, high = 0; low < kBins; ++low) {
      while (high < kBins && sums_[high] - sums_[low] < wanted) ++high;
      if (sums_[high] - sums_[low] < wanted) break;
      if (high - low < best) best = high - low, at = low;
    }
    return kLowest + kBin * (at + 0.5 * best);
  }

  /// Root mean square distance of the heights below `middle` from it; 0 if there are few.
  double deviation_below(double middle) const {
    double count = 0, squares = 0;
    for (int i = 0; i < kBins && middle_of(i) <= middle; ++i) {
      count += counts_[i];
      squares += counts_[i] * (middle - middle_of(i)) * (middle - middle_of(i));
    }
    return count < kFewestBelow ? 0 : std::sqrt(squares / count);
  }

  double mean(double low, double high) const {
    double count = 0, sum = 0;
    for (int i = 0; i < kBins; ++i) {
      if (middle_of(i) < low || middle_of(i) > high) continue;
      count += counts_[i];
      sum += counts_[i] * middle_of(i);
    }
    return count > 0 ? sum / count : 0.5 * (low + high);
  }

 private:
  double below(double z) const {
    const double bin = std::clamp((z - kLowest) / kBin, 0.0, kBins - 1e-6);
    const auto whole = static_cast<std::size_t>(bin);
    return sums_[whole] + (bin - static_cast<double>(whole)) * (sums_[whole + 1] - sums_[whole]);
  }

  const std::uint32_t* counts_;
  std::vector<double> sums_;  ///< (kBins + 1) heights below each bin
};

struct Layer {
  double middle, deviation;  ///< metres; 0 = too few returns
};

Layer layer_of(const Heights& heights) {
  if (heights.all() < kFewestReturns) return {0, 0};
  Layer layer{heights.shortest(0.25), 0};
  for (int round = 0; round < kRounds; ++round) {
    layer.deviation = heights.deviation_below(layer.middle);
    if (layer.deviation == 0) return {0, 0};
    const double reach = kCore * layer.deviation + kBin;
    layer.middle = heights.mean(layer.middle - reach, layer.middle + reach);
  }
  return layer;
}

/// `cells` is the number of cells of the window.
bool is_ground_layer(const Heights& heights, const Layer& layer, double cells, double max_m) {
  const double s = layer.deviation, middle = layer.middle;
  if (s == 0 || s > max_m) return false;
  const double under = heights.between(middle - kCore * s, middle);
  const double over = heights.between(middle, middle + kCore * s);
  if (std::abs(over - under) > 3 * std::sqrt(over + under)) return false;
  const double core = heights.between(middle - 0.5 * s, middle + 0.5 * s);
  if (heights.between(middle + 2.5 * s, middle + 3.5 * s) > kMostOver * core) return false;
  const double per_cell = 2 * heights.between(kLowest, middle) / cells;
  return std::abs(middle - expected_depth(per_cell) * s) <= s;
}

double median(std::vector<double>& values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Windows of `step` x `step` cells, one out of each block of `block` x `block`, at a place that differs between blocks.
struct Windows {
  std::size_t step, block, across, count;

  Windows(const Lattice& lattice, double width) {
    step = std::max<std::size_t>(2, static_cast<std::size_t>(std::ceil(width / lattice.size)));
    const double nx = lattice.nx / step + 1.0, ny = lattice.ny / step + 1.0;
    block = static_cast<std::size_t>(std::ceil(std::sqrt(nx * ny / kMostWindows)));
    across = static_cast<std::size_t>(nx) / block + 1;
    count = across * (static_cast<std::size_t>(ny) / block + 1);
  }

  /// The window that a cell lies in; `count` if it is not examined.
  std::size_t of(std::size_t x, std::size_t y) const {
    const std::size_t i = x / step, j = y / step, index = j / block * across + i / block;
    const auto chosen = static_cast<std::size_t>(random_unit(1, index) * static_cast<double>(block * block));
    return j % block * block + i % block == chosen ? index : count;
  }
};

BulkVector<std::uint32_t> count_heights(HitPoints points, const Lattice& lattice,
                                        const BulkVector<CellPlane>& planes, const Windows& windows,
                                        OpContext& ctx) {
  BulkVector<std::uint32_t> counts(windows.count * kBins);
  parallel_for(ctx, points.size(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = points.xyz()[i];
      if (!is_finite(p)) continue;
      const std::size_t cell = lattice.cell_of(p), window = windows.of(cell % lattice.nx, cell / lattice.nx);
      if (window == windows.count) continue;
      const double bin = (lattice.height_of(p) - blended_height(planes, lattice, p) - kLowest) / kBin;
      if (bin >= 0 && bin < kBins)
        atomic_increment(counts.data() + window * kBins + static_cast<std::size_t>(bin));
    }
  });
  return counts;
}

}  // namespace

double expected_depth(double n) {
  if (n <= 1) return 0;
  const double below = (n - 0.375) / (n + 0.25);
  double low = 0, high = 8;
  for (int i = 0; i < 40; ++i) {  // bisection of the normal distribution
    const double z = 0.5 * (low + high);
    (0.5 * std::erfc(-z / std::sqrt(2.0)) < below ? low : high) = z;
  }
  return low;
}

LayerNoise layer_noise(HitPoints points, const Lattice& lattice, const BulkVector<CellPlane>& planes,
                       double point_spacing_m, const GroundConstants& constants, OpContext& ctx) {
  const double width = std::sqrt(kReturns) * point_spacing_m;
  if (width > kWidest) return {0, 0};
  const Windows windows(lattice, width);
  const BulkVector<std::uint32_t> counts = count_heights(points, lattice, planes, windows, ctx);
  std::vector<Layer> layers(windows.count);
  std::vector<std::uint8_t> is_ground(windows.count);
  parallel_for(ctx, windows.count, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t window = begin; window < end; ++window) {
      const Heights heights(counts.data() + window * kBins);
      layers[window] = layer_of(heights);
      is_ground[window] = is_ground_layer(
          heights, layers[window], static_cast<double>(windows.step * windows.step), constants.noise_max_m);
    }
  });
  double seen = 0;
  std::vector<double> deviations, middles;
  for (std::size_t window = 0; window < windows.count; ++window) {
    seen += layers[window].deviation > 0;
    if (is_ground[window] == 0) continue;
    deviations.push_back(layers[window].deviation);
    middles.push_back(layers[window].middle);
  }
  if (deviations.empty()) return {0, 0};
  const double typical = median(deviations);
  const auto same = std::count_if(deviations.begin(), deviations.end(), [&](double one) {
    return one >= typical / kSame && one <= typical * kSame;
  });
  if (static_cast<double>(same) < constants.noise_share * seen) return {0, 0};
  return {typical, median(middles)};
}

BulkVector<float> layer_middles(HitPoints points, const Lattice& lattice, const BulkVector<CellPlane>& planes,
                                const LayerNoise& noise, OpContext& ctx) {
  BulkVector<std::uint32_t> counts(lattice.cells());
  const double low = noise.middle_m - 4 * noise.deviation_m, high = noise.middle_m + 2 * noise.deviation_m;
  parallel_for(ctx, points.size(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d& p = points.xyz()[i];
      if (!is_finite(p)) continue;
      const double above = lattice.height_of(p) - blended_height(planes, lattice, p);
      if (above >= low && above <= high) atomic_increment(counts.data() + lattice.cell_of(p));
    }
  });
  std::vector<float> depths;
  for (int n = 0; n <= kMostCounted; ++n)
    depths.push_back(static_cast<float>(noise.deviation_m * expected_depth(n)));
  BulkVector<float> middles(lattice.cells());
  const std::size_t nx = lattice.nx, ny = lattice.ny;
  const auto middle_around = [&](std::size_t x, std::size_t y) {
    float sum = 0, cells = 0;
    for (std::size_t v = y == 0 ? 0 : y - 1; v < std::min(ny, y + 2); ++v) {
      for (std::size_t u = x == 0 ? 0 : x - 1; u < std::min(nx, x + 2); ++u) {
        const std::size_t n = counts[v * nx + u];
        if (n == 0) continue;
        sum += depths[std::min(n, depths.size() - 1)];
        cells += 1;
      }
    }
    return cells > 0 ? sum / cells : 0;
  };
  parallel_row_parts(ctx, nx, ny, kCellGrain, [&](std::size_t y, std::size_t x_begin, std::size_t x_end) {
    for (std::size_t x = x_begin; x < x_end; ++x) middles[y * nx + x] = middle_around(x, y);
  });
  return middles;
}

}  // namespace pc
