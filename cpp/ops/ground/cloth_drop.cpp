#include "ops/ground/cloth_drop.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/parallel.h"
#include "ops/ground/cloth_simulation_kernel.h"

namespace pc {

namespace {

using namespace cloth_kernel;

constexpr std::uint32_t kReach = 2;                    // cells that a relaxation reads in each direction
constexpr std::uint32_t kBlockX = 512, kBlockY = 128;  // core of a block; its scratch fits in the L2 cache

struct Range {
  std::uint32_t begin, end;
  std::uint32_t size() const { return end - begin; }
};

Range widened(Range core, std::uint32_t by, std::uint32_t limit) {
  return {core.begin > by ? core.begin - by : 0, std::min(limit, core.end + by)};
}

/// Scratch of one worker: a block, the surrounding cells that its relaxations read, and two more columns on each side
/// that repeat the edge of the cloth.
class Block {
 public:
  Block(const TerrainWindow& terrain, std::uint32_t sweeps) : terrain_(terrain), sweeps_(sweeps) {
    const std::size_t width = kBlockX + 2 * kReach * sweeps + 2 * kReach;
    const std::size_t height = kBlockY + 2 * kReach * sweeps;
    pitch_ = width;
    for (auto* cells : {&a_, &b_, &free_}) cells->resize(width * height);
  }

  /// One time step of the particles of x by y; returns the largest movement of a particle that is still free.
  float step(Range x, Range y, const float* previous, const float* current, float* next) {
    outer_x_ = widened(x, kReach * sweeps_, terrain_.nx);
    outer_y_ = widened(y, kReach * sweeps_, terrain_.ny);
    fall_all(previous, current);
    for (std::uint32_t sweep = 1; sweep <= sweeps_; ++sweep) {
      const std::uint32_t around = kReach * (sweeps_ - sweep);
      relax_all(widened(x, around, terrain_.nx), widened(y, around, terrain_.ny));
      std::swap(a_, b_);
    }
    return collide(x, y, current, next);
  }

 private:
  float* row(BulkVector<float>& cells, std::uint32_t y) {
    return cells.data() + (y - outer_y_.begin) * pitch_ + kReach;
  }

  void repeat_edges(float* cells, Range x) const {
    const std::ptrdiff_t first = x.begin - outer_x_.begin, last = x.end - outer_x_.begin - 1;
    if (x.begin == 0) cells[first - 1] = cells[first - 2] = cells[first];
    if (x.end == terrain_.nx) cells[last + 1] = cells[last + 2] = cells[last];
  }

  void fall_all(const float* previous, const float* current) {
    for (std::uint32_t y = outer_y_.begin; y < outer_y_.end; ++y) {
      const std::size_t from = y * std::size_t{terrain_.nx} + outer_x_.begin;
      const float* const before = previous + from;
      const float* const now = current + from;
      const float* const ground = terrain_.height + y * terrain_.stride + outer_x_.begin;
      float* const out = row(a_, y);
      float* const free = row(free_, y);
      for (std::size_t x = 0, n = outer_x_.size(); x < n; ++x) {
        free[x] = is_free(now[x], ground[x]) ? 1.0F : 0.0F;
        out[x] = fall(now[x], before[x], ground[x]);
      }
      repeat_edges(out, outer_x_);
    }
  }

  void relax_all(Range x, Range y) {
    for (std::uint32_t at = y.begin; at < y.end; ++at) {
      std::array<const float*, 5> rows{};
      for (std::int64_t k = 0; k < 5; ++k) {
        const std::int64_t other = std::clamp<std::int64_t>(at + k - 2, 0, terrain_.ny - 1);
        rows[static_cast<std::size_t>(k)] = row(a_, static_cast<std::uint32_t>(other));
      }
      const float* const free = row(free_, at);
      float* const out = row(b_, at);
      const auto begin = static_cast<std::ptrdiff_t>(x.begin - outer_x_.begin);
      const auto end = static_cast<std::ptrdiff_t>(x.end - outer_x_.begin);
      for (std::ptrdiff_t i = begin; i < end; ++i) out[i] = relax(rows.data(), i, free[i]);
      repeat_edges(out, x);
    }
  }

  float collide(Range x, Range y, const float* current, float* next) {
    float furthest = 0;
    for (std::uint32_t at = y.begin; at < y.end; ++at) {
      const std::size_t from = at * std::size_t{terrain_.nx} + x.begin;
      const float* const ground = terrain_.height + at * terrain_.stride + x.begin;
      const float* const fallen = row(a_, at) + (x.begin - outer_x_.begin);
      for (std::size_t i = 0, n = x.size(); i < n; ++i) {
        const Landing end = land(fallen[i], current[from + i], ground[i]);
        next[from + i] = end.height;
        furthest = end.moved > furthest ? end.moved : furthest;
      }
    }
    return furthest;
  }

  TerrainWindow terrain_;
  std::uint32_t sweeps_;
  std::size_t pitch_ = 0;
  Range outer_x_{}, outer_y_{};
  BulkVector<float> a_, b_, free_;
};

}  // namespace

std::uint32_t cloth_sweeps(std::uint32_t rigidness) {
  constexpr std::array<std::uint32_t, 3> kSweeps{7, 8, 9};
  return kSweeps[std::clamp<std::uint32_t>(rigidness, 1, 3) - 1];
}

namespace {

/// Drops the cloth on the GPU; false if that is not possible.
bool drop_on_gpu(const TerrainWindow& terrain, const ClothDropParams& params, GpuRun& gpu,
                 DroppedCloth& cloth) {
  if (!gpu.usable()) return false;
  cloth.height.resize(static_cast<std::size_t>(terrain.nx) * terrain.ny);
  HostDrop host{terrain.height,    terrain.stride, terrain.nx,          terrain.ny, params.sweeps,
                params.iterations, params.start,   cloth.height.data(), 0,          false};
  const bool done = gpu.run([&](const auto& table, const auto& control, auto& error) {
    return table.cloth_drop(&host, &control, &error);
  });
  if (!done) return false;
  cloth.iterations = host.iterations_run;
  cloth.settled = host.settled;
  return true;
}

}  // namespace

DroppedCloth drop_cloth(const TerrainWindow& terrain, const ClothDropParams& params, GpuRun& gpu,
                        OpContext& ctx) {
  DroppedCloth on_gpu{{}, 0, false};
  if (drop_on_gpu(terrain, params, gpu, on_gpu)) return on_gpu;
  const std::size_t cells = static_cast<std::size_t>(terrain.nx) * terrain.ny;
  BulkVector<float> previous(cells), current(cells), next(cells);
  parallel_for(ctx, terrain.ny, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * terrain.nx; i < end * terrain.nx; ++i)
      previous[i] = current[i] = params.start;
  });
  const std::uint32_t across = (terrain.nx + kBlockX - 1) / kBlockX,
                      down = (terrain.ny + kBlockY - 1) / kBlockY;
  const std::size_t block_count = static_cast<std::size_t>(across) * down;
  std::vector<Block> scratch;
  for (int worker = 0; worker < ctx.threads(); ++worker) scratch.emplace_back(terrain, params.sweeps);
  std::vector<float> furthest(block_count);
  const Drop drop = drop_until_settled(params.iterations, [&] {
    parallel_for_worker(ctx, block_count, 1, [&](std::size_t begin, std::size_t end, int worker) {
      for (std::size_t block = begin; block < end; ++block) {
        const auto i = static_cast<std::uint32_t>(block % across),
                   j = static_cast<std::uint32_t>(block / across);
        const Range x{i * kBlockX, std::min(terrain.nx, (i + 1) * kBlockX)};
        const Range y{j * kBlockY, std::min(terrain.ny, (j + 1) * kBlockY)};
        furthest[block] = scratch[static_cast<std::size_t>(worker)].step(x, y, previous.data(),
                                                                         current.data(), next.data());
      }
    });
    std::swap(previous, current);
    std::swap(current, next);
    return *std::max_element(furthest.begin(), furthest.end());
  });
  return {std::move(current), drop.steps, drop.settled};
}

}  // namespace pc
