#include "ops/ground/cloth_bands.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "core/parallel.h"
#include "ops/ground/four_floats.h"

namespace pc {

namespace {

using namespace cloth_kernel;

constexpr std::size_t kLanes = 16, kHalo = kReach;
constexpr std::size_t kPitch = kLanes + 2 * kHalo;  // rows of a band with the copies around it
constexpr std::size_t kShift = kRowDelay;
/// Columns of a band that hold no particle of a given row.
constexpr std::size_t kSlack = 2 * kReach + kShift * (kPitch - 1);
constexpr std::uint32_t kBandsApart = 3;  // a step uses a band, the one before it and the one after it
constexpr std::uint32_t kFewestBands = 8, kMostSteps = 16;

constexpr std::size_t kQuads = kLanes / FourFloats::kSize;
using Lanes = std::array<FourFloats, kQuads>;

Lanes load(const float* from) {
  Lanes lanes;
  for (std::size_t q = 0; q < kQuads; ++q) lanes[q] = FourFloats::load(from + q * FourFloats::kSize);
  return lanes;
}

void store(const Lanes& lanes, float* to) {
  for (std::size_t q = 0; q < kQuads; ++q) lanes[q].store(to + q * FourFloats::kSize);
}

/// Distance in memory to a tied particle.
constexpr std::ptrdiff_t offset_of(Tie tie) {
  return (tie.dx + std::ptrdiff_t{kRowDelay} * tie.dy) * static_cast<std::ptrdiff_t>(kPitch) + tie.dy;
}

void wait_for(const std::atomic<std::uint32_t>& done, std::uint32_t wanted) {
  for (std::uint32_t seen = done.load(); seen < wanted; seen = done.load()) done.wait(seen);
}

void advance_to(std::atomic<std::uint32_t>& done, std::uint32_t bands) {
  done.store(bands);
  done.notify_all();
}

std::uint32_t bands_of(std::uint32_t ny) { return static_cast<std::uint32_t>((ny + kLanes - 1) / kLanes); }

}  // namespace

std::size_t ClothBands::band_size() const { return (nx_ + kSlack) * kPitch; }

/// Of the first particle of a row of a band, counted from the first copied row.
std::size_t ClothBands::row_offset(std::size_t lane) const {
  return (kReach + kShift * lane) * kPitch + lane;
}

std::uint64_t ClothBands::bytes(std::uint32_t nx, std::uint32_t ny) {
  constexpr std::uint64_t kArrays = 7;  // the state twice, and the ground
  return kArrays * sizeof(float) * bands_of(ny) * kPitch * (nx + kSlack);
}

ClothBands::ClothBands(const TerrainWindow& terrain, const ClothDropParams& params, OpContext& ctx)
    : nx_(terrain.nx),
      ny_(terrain.ny),
      bands_(bands_of(terrain.ny)),
      stiffness_(stiffness_of(params.rigidness)),
      ctx_(ctx) {
  for (auto* values : {&now_.height, &now_.previous, &now_.grip, &ground_})
    values->resize(band_size() * bands_);
  parallel_for(ctx_, ny_, kLanes, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
      std::size_t at = y / kLanes * band_size() + row_offset(y % kLanes + kHalo);
      const float* const ground = terrain.height + y * terrain.stride;
      for (std::size_t x = 0; x < nx_; ++x, at += kPitch) {
        now_.height[at] = now_.previous[at] = params.start;
        now_.grip[at] = stiffness_.both;
        ground_[at] = ground[x];
      }
    }
  });
}

std::uint32_t ClothBands::steps_at_a_time() const {
  const auto threads = static_cast<std::uint32_t>(ctx_.threads());
  return threads == 1 || bands_ < kFewestBands ? 1 : std::min(kMostSteps, 4 * threads);
}

/// Steps run at once, each in the bands that the step before has left: it stays kBandsApart bands behind. Every step is
/// taken by one worker, in order, so the first of those that run never waits. A canceled step counts as done.
void ClothBands::steps(std::uint32_t count, float* furthest) {
  std::array<std::atomic<std::uint32_t>, kMostSteps> done{};
  parallel_for(ctx_, count, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) {
      furthest[s] = 0;
      for (std::uint32_t band = 0; band < bands_ && !ctx_.canceled(); ++band) {
        if (s > 0) wait_for(done[s - 1], std::min(bands_, band + kBandsApart));
        furthest[s] = std::max(furthest[s], step_band(band));
        advance_to(done[s], band + 1);
      }
      advance_to(done[s], bands_);
    }
  });
}

/// The part of a step that ends the band before, which then has its final heights.
float ClothBands::step_band(std::uint32_t band) {
  if (band == 0) fall_band(0);
  if (band + 1 < bands_) fall_band(band + 1);
  exchange(band, true);
  pull_band(band);
  exchange(band, false);
  float furthest = band > 0 ? land_band(band - 1) : 0.0F;
  if (band + 1 == bands_) furthest = std::max(furthest, land_band(band));
  return furthest;
}

// The same operations in the same order as fall, pull and land of cloth_simulation_kernel.h, four particles at a time.

void ClothBands::fall_band(std::uint32_t band) {
  const auto kept = FourFloats::all(1.0F - kDamping), drop = FourFloats::all(kFall),
             none = FourFloats::all(0);
  const std::size_t from = band * band_size() + kHalo;
  for (std::size_t column = 0; column < nx_ + kSlack; ++column) {
    const std::size_t at = from + column * kPitch;
    Lanes height = load(&now_.height[at]), previous = load(&now_.previous[at]);
    const Lanes grip = load(&now_.grip[at]);
    for (std::size_t q = 0; q < kQuads; ++q) {
      const auto free = less(none, grip[q]);
      const FourFloats fallen = height[q] + (height[q] - previous[q]) * kept - drop;
      previous[q] = chosen(free, height[q], previous[q]);
      height[q] = chosen(free, fallen, height[q]);
    }
    store(height, &now_.height[at]);
    store(previous, &now_.previous[at]);
  }
}

void ClothBands::pull_band(std::uint32_t band) {
  // The first and last columns hold no particle of the band's own rows, and their ties would be outside.
  constexpr std::size_t kMargin = kReach + kShift * kHalo;
  const auto none = FourFloats::all(0);
  const std::size_t from = band * band_size() + kHalo;
  for (std::size_t column = kMargin; column < nx_ + kSlack - kMargin; ++column) {
    float* const heights = &now_.height[from + column * kPitch];
    const float* const grips = &now_.grip[from + column * kPitch];
    Lanes height = load(heights);
    const Lanes grip = load(grips);
#pragma GCC unroll 16
    for (int i = 0; i < kTies; ++i) {
      const std::ptrdiff_t offset = offset_of(tie(i));
      Lanes other = load(heights + offset);
      const Lanes other_grip = load(grips + offset);
      for (std::size_t q = 0; q < kQuads; ++q) {
        const FourFloats apart = other[q] - height[q];
        height[q] = height[q] + where(less(none, grip[q]), apart * magnitude(other_grip[q]));
        other[q] = other[q] - where(less(none, other_grip[q]), apart * magnitude(grip[q]));
      }
      store(other, heights + offset);
    }
    store(height, heights);
  }
}

float ClothBands::land_band(std::uint32_t band) {
  const auto none = FourFloats::all(0), landed = FourFloats::all(-stiffness_.one);
  const std::size_t from = band * band_size() + kHalo;
  FourFloats furthest = none;
  for (std::size_t column = 0; column < nx_ + kSlack; ++column) {
    const std::size_t at = from + column * kPitch;
    Lanes height = load(&now_.height[at]), grip = load(&now_.grip[at]);
    const Lanes previous = load(&now_.previous[at]), ground = load(&ground_[at]);
    for (std::size_t q = 0; q < kQuads; ++q) {
      const auto free = less(none, grip[q]), below = free & less(height[q], ground[q]);
      furthest = larger(furthest, where(free, magnitude(height[q] - previous[q])));
      height[q] = chosen(below, ground[q], height[q]);
      grip[q] = chosen(below, landed, grip[q]);
    }
    store(height, &now_.height[at]);
    store(grip, &now_.grip[at]);
  }
  return furthest.largest();
}

/// Copies the rows around a band into it, or back to the bands that own them.
void ClothBands::exchange(std::uint32_t band, bool in) {
  const auto rows = [&](std::uint32_t owner, std::size_t owned, std::size_t copy) {
    for (std::size_t k = 0; k < kHalo; ++k) {
      std::size_t a = owner * band_size() + row_offset(owned + k),
                  b = band * band_size() + row_offset(copy + k);
      for (std::size_t x = 0; x < nx_; ++x, a += kPitch, b += kPitch) {
        if (in) {
          now_.height[b] = now_.height[a];
          now_.grip[b] = now_.grip[a];
        } else {
          now_.height[a] = now_.height[b];
        }
      }
    }
  };
  if (band > 0) rows(band - 1, kLanes, 0);
  if (band + 1 < bands_) rows(band + 1, kHalo, kLanes + kHalo);
}

void ClothBands::copy_state(const State& from, State& to) {
  parallel_for(ctx_, bands_, 4, [&](std::size_t begin, std::size_t end) {
    const std::size_t first = begin * band_size(), last = end * band_size();
    std::copy(from.height.data() + first, from.height.data() + last, to.height.data() + first);
    std::copy(from.previous.data() + first, from.previous.data() + last, to.previous.data() + first);
    std::copy(from.grip.data() + first, from.grip.data() + last, to.grip.data() + first);
  });
}

void ClothBands::keep() {
  for (auto* values : {&kept_.height, &kept_.previous, &kept_.grip}) values->resize(band_size() * bands_);
  copy_state(now_, kept_);
}

void ClothBands::undo() { copy_state(kept_, now_); }

BulkVector<float> ClothBands::heights() const {
  BulkVector<float> heights(std::size_t{nx_} * ny_);
  parallel_for(ctx_, ny_, kLanes, [&](std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
      std::size_t at = y / kLanes * band_size() + row_offset(y % kLanes + kHalo);
      for (std::size_t x = 0; x < nx_; ++x, at += kPitch) heights[y * nx_ + x] = now_.height[at];
    }
  });
  return heights;
}

}  // namespace pc
