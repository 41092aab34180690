#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "core/op_context.h"

namespace pc {

/// Cores that this process may use (respects affinity), at least 1.
int hardware_threads();

/// Runs body(worker) for worker in [0, count) concurrently, worker 0 on the calling thread. The first exception of a
/// worker is rethrown on the calling thread. The only place that starts compute threads inside an op. If the system
/// refuses threads, fewer run the workers, several one after another; take_team_shortage() tells. A body must therefore
/// not wait for another worker. count < 65536.
void run_team(int count, const std::function<void(int worker)>& body);

/// Whether the calling thread is a worker of a team: a team that it starts would run on it alone.
bool inside_team();

/// A team that the system did not start in full.
struct TeamShortage {
  int wanted, started;
};
/// The first such team of the process since the last call.
std::optional<TeamShortage> take_team_shortage();

/// Runs body(begin, end, worker) over [0, n) in blocks of `grain`; blocks are handed out in order. Counts progress. On
/// a cancel or the first exception it stops before the next block and throws on the calling thread. Choose `grain` so
/// that the slowest block takes less than 50 ms for all allowed parameters of the op. `worker` is in [0,
/// ctx.threads()): use it for per-thread scratch, never for results.
template <class Body>
void parallel_for_worker(OpContext& ctx, std::size_t n, std::size_t grain, Body&& body) {
  const std::size_t blocks = grain == 0 ? 0 : (n + grain - 1) / grain;
  const int team = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(ctx.threads()), blocks));
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  const auto work = [&](int worker) {
    for (;;) {
      if (stop.load(std::memory_order_relaxed) || ctx.canceled()) return;
      const std::size_t block = next.fetch_add(1, std::memory_order_relaxed);
      if (block >= blocks) return;
      const std::size_t begin = block * grain, end = std::min(n, begin + grain);
      try {
        body(begin, end, worker);
      } catch (...) {
        stop.store(true, std::memory_order_relaxed);
        throw;
      }
      ctx.advance(end - begin);
    }
  };
  if (team <= 1) {
    work(0);
  } else {
    run_team(team, work);
  }
  ctx.checkpoint();
}

/// Like parallel_for_worker, with body(begin, end).
template <class Body>
void parallel_for(OpContext& ctx, std::size_t n, std::size_t grain, Body&& body) {
  parallel_for_worker(ctx, n, grain, [&](std::size_t begin, std::size_t end, int) { body(begin, end); });
}

/// Runs body(y, x_begin, x_end) over the cells of a grid of ny rows of nx cells, in blocks of `cells` cells in row order: a
/// block may end inside a row, so that grids of few long rows are as responsive as others. Counts progress in cells.
template <class Body>
void parallel_row_parts(OpContext& ctx, std::size_t nx, std::size_t ny, std::size_t cells, Body&& body) {
  parallel_for(ctx, nx * ny, cells, [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t y = begin / nx, x = begin % nx;
      const std::size_t stop = std::min(nx, x + (end - begin));
      body(y, x, stop);
      begin += stop - x;
    }
  });
}

/// Sum of term(i) that does not depend on the thread count: sums of fixed blocks, added in block order.
template <class Term>
double parallel_sum(OpContext& ctx, std::size_t n, Term&& term) {
  constexpr std::size_t kBlock = 4096;
  std::vector<double> partial((n + kBlock - 1) / kBlock, 0.0);
  parallel_for(ctx, partial.size(), 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t block = first; block < last; ++block) {
      double sum = 0.0;
      for (std::size_t i = block * kBlock, end = std::min(n, i + kBlock); i < end; ++i) sum += term(i);
      partial[block] = sum;
    }
  });
  double sum = 0.0;
  for (const double p : partial) sum += p;
  return sum;
}

}  // namespace pc
