#include "ops/ground/file_ground.h"

#include <atomic>
#include <cmath>
#include <mutex>

#include "core/parallel.h"
#include "ops/ground/ground_class.h"

namespace pc {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 18;
constexpr auto kGround = static_cast<std::uint8_t>(GroundClass::kGround);
constexpr auto kPlant = static_cast<std::uint8_t>(GroundClass::kPlant);

/// The class of a value, or -1 for one that is none.
template <class T>
int class_of(T value) {
  const double rounded = std::rint(static_cast<double>(value));
  return rounded >= 0 && rounded <= 255 ? static_cast<int>(rounded) : -1;
}

}  // namespace

FileGround ground_of_file(Span<const Vec3d> positions, Span<const std::uint8_t> skip,
                          const AnyColumn& classes, Span<const std::uint8_t> ground, OpContext& ctx) {
  const std::size_t n = positions.size;
  require(classes.size() == n, "classes need one value per point");
  require(skip.empty() || skip.size == n, "skip needs one value per point");
  std::array<bool, 256> is_ground{};
  for (std::size_t i = 0; i < ground.size; ++i) is_ground[ground[i]] = true;
  FileGround out{Column<std::uint8_t>(n), 0, 0, 0};
  std::atomic<std::uint64_t> ground_count{0}, plant_count{0};
  ctx.begin_phase("Reading classes", n);
  visit_scalar(classes, [&](auto values) {
    parallel_for(ctx, n, kGrain, [&](std::size_t begin, std::size_t end) {
      std::uint64_t grounds = 0, plants = 0;
      for (std::size_t i = begin; i < end; ++i) {
        if (!skip.empty() && skip[i] != 0) {
          out.ground_class[i] = 0;
          continue;
        }
        const int value = class_of(values[i]);
        const bool found =
            value >= 0 && is_ground[static_cast<std::size_t>(value)] && is_finite(positions[i]);
        out.ground_class[i] = found ? kGround : kPlant;
        ++(found ? grounds : plants);
      }
      ground_count.fetch_add(grounds, std::memory_order_relaxed);
      plant_count.fetch_add(plants, std::memory_order_relaxed);
    });
  });
  out.ground_count = ground_count;
  out.plant_count = plant_count;
  return out;
}

std::array<ClassLabels, 256> labels_by_class(Span<const std::uint8_t> labels, const AnyColumn& classes,
                                             OpContext& ctx) {
  require(classes.size() == labels.size, "classes need one value per label");
  std::array<ClassLabels, 256> all{};
  std::mutex guard;
  visit_scalar(classes, [&](auto values) {
    parallel_for(ctx, labels.size, kGrain, [&](std::size_t begin, std::size_t end) {
      std::array<ClassLabels, 256> own{};
      for (std::size_t i = begin; i < end; ++i) {
        const int value = class_of(values[i]);
        if (value < 0) continue;
        ClassLabels& at = own[static_cast<std::size_t>(value)];
        at.ground += labels[i] == kGround ? 1 : 0;
        at.plant += labels[i] == kPlant ? 1 : 0;
      }
      const std::lock_guard lock(guard);
      for (std::size_t k = 0; k < all.size(); ++k) {
        all[k].ground += own[k].ground;
        all[k].plant += own[k].plant;
      }
    });
  });
  return all;
}

}  // namespace pc
