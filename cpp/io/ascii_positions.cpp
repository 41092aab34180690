#include "io/ascii_positions.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/parallel.h"

namespace pc::io {

namespace {

void copy_rows(const BulkVector<Vec3d>& from, std::size_t rows, Column<Vec3d>& to, std::size_t first) {
  if (rows != 0) std::memcpy(to.view().data + first, from.data(), rows * sizeof(Vec3d));
}

}  // namespace

BulkVector<Vec3d> PositionJoin::buffer() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (free_.empty()) return {};
  BulkVector<Vec3d> buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

void PositionJoin::finish(std::size_t chunk, std::size_t rows, BulkVector<Vec3d>&& positions) {
  std::vector<std::size_t> ready;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Chunk& own = chunks_[chunk];
    own.positions = std::move(positions);
    own.rows = rows;
    own.finished = true;
    for (; next_ < chunks_.size() && chunks_[next_].finished; ++next_) {
      chunks_[next_].first = rows_;
      rows_ += chunks_[next_].rows;
      if (rows_ > column_.size()) continue;
      joined_ = rows_;
      ready.push_back(next_);
    }
  }
  for (const std::size_t i : ready) {
    Chunk& done = chunks_[i];
    copy_rows(done.positions, done.rows, column_, done.first);
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(done.positions));
  }
}

Column<Vec3d> PositionJoin::take(std::size_t rows, OpContext& ctx) {
  free_.clear();
  const bool fits = rows_ == joined_;
  const bool roomy = column_.size() - std::min(column_.size(), rows) > rows / 8 + 4096;
  if (fits && !roomy) {
    column_.shrink(rows);
    return std::move(column_);
  }
  Column<Vec3d> exact(rows);
  ctx.begin_phase("Joining positions", chunks_.size());
  parallel_for(ctx, chunks_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Chunk& chunk = chunks_[i];
      if (chunk.first + chunk.rows > joined_) {
        copy_rows(chunk.positions, chunk.rows, exact, chunk.first);
        chunk.positions.reset();
      } else if (chunk.rows != 0) {
        std::memcpy(exact.view().data + chunk.first, column_.view().data + chunk.first,
                    chunk.rows * sizeof(Vec3d));
      }
    }
  });
  return exact;
}

}  // namespace pc::io
