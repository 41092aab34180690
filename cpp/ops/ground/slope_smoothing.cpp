#include "ops/ground/slope_smoothing.h"

#include <cmath>

namespace pc {

namespace {

constexpr float kStep = 0.3F;  // metres
constexpr std::size_t kSmallestPiece = 51;
constexpr std::size_t kPoll = std::size_t{1} << 16;

class SlopeFit {
 public:
  SlopeFit(const Lattice& lattice, Span<const float> terrain, Span<float> cloth, OpContext& ctx)
      : nx_(lattice.nx),
        ny_(lattice.ny),
        terrain_(terrain),
        cloth_(cloth),
        seen_(lattice.cells()),
        ctx_(ctx) {}

  std::uint64_t run() {
    for (std::size_t cell = 0; cell < cloth_.size; ++cell) {
      if (cell % kPoll == 0) ctx_.checkpoint();
      if (seen_[cell] == 0 && is_free(cell)) treat_piece(cell);
    }
    return let_down_;
  }

 private:
  bool is_free(std::size_t cell) const { return cloth_[cell] > terrain_[cell]; }
  bool may_follow(std::size_t down, std::size_t free) const {
    return std::abs(terrain_[free] - terrain_[down]) < kStep;
  }
  void let_down(std::size_t cell) {
    cloth_[cell] = terrain_[cell];
    let_down_ += 1;
  }

  template <class Visit>
  void for_each_neighbor(std::size_t cell, const Visit& visit) const {
    const std::size_t x = cell % nx_, y = cell / nx_;
    if (x > 0) visit(cell - 1);
    if (x + 1 < nx_) visit(cell + 1);
    if (y > 0) visit(cell - nx_);
    if (y + 1 < ny_) visit(cell + nx_);
  }

  void treat_piece(std::size_t start) {
    piece_.clear();
    piece_.push_back(static_cast<std::uint32_t>(start));
    seen_[start] = 1;
    for (std::size_t at = 0; at < piece_.size(); ++at) {
      if (at % kPoll == 0) ctx_.checkpoint();
      for_each_neighbor(piece_[at], [&](std::size_t other) {
        if (seen_[other] != 0 || !is_free(other)) return;
        seen_[other] = 1;
        piece_.push_back(static_cast<std::uint32_t>(other));
      });
    }
    if (piece_.size() < kSmallestPiece) return;
    queue_.clear();
    for (const std::uint32_t cell : piece_) {
      bool follows = false;
      for_each_neighbor(cell,
                        [&](std::size_t other) { follows |= !is_free(other) && may_follow(other, cell); });
      if (follows) queue_.push_back(cell);
    }
    for (const std::uint32_t cell : queue_) let_down(cell);
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      if (at % kPoll == 0) ctx_.checkpoint();
      const std::size_t down = queue_[at];
      for_each_neighbor(down, [&](std::size_t other) {
        if (!is_free(other) || !may_follow(down, other)) return;
        let_down(other);
        queue_.push_back(static_cast<std::uint32_t>(other));
      });
    }
  }

  std::size_t nx_, ny_;
  Span<const float> terrain_;
  Span<float> cloth_;
  BulkVector<std::uint8_t> seen_;
  BulkVector<std::uint32_t> piece_, queue_;
  OpContext& ctx_;
  std::uint64_t let_down_ = 0;
};

}  // namespace

std::uint64_t fit_steep_slopes(const Lattice& lattice, Span<const float> terrain, Span<float> cloth,
                               OpContext& ctx) {
  return SlopeFit(lattice, terrain, cloth, ctx).run();
}

}  // namespace pc
