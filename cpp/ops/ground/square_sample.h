#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/random.h"
#include "core/span.h"
#include "core/vec3.h"

namespace pc {

/// Side of a square, metres.
constexpr double kSquareSide = 10;

/// A square by its south-west corner, in sides.
using Square = std::pair<std::int64_t, std::int64_t>;

struct SquareHash {
  std::size_t operator()(const Square& s) const {
    return random_u64(random_u64(0, static_cast<std::uint64_t>(s.first)),
                      static_cast<std::uint64_t>(s.second));
  }
};

/// By chance, 0 to below 1, as the place says.
double chance_of(const Vec3d& p);

/// Numbers of points by squares: of all, or, where they are more than `most`, of those whose chance is below a power of a half. The same
/// for any order in which points are counted, and for counts that are added.
class SquareCounts {
 public:
  using ByPlace = std::unordered_map<Square, std::size_t, SquareHash>;

  explicit SquareCounts(std::size_t most) : most_(most) {}

  /// The count of a square until the next call; null if it is left out.
  std::size_t* find(const Square& square);
  void add(const SquareCounts& other);
  const ByPlace& counts() const { return counts_; }

 private:
  bool is_left_out(const Square& square) const {
    return halvings_ > 0 && SquareHash{}(square) >> (64 - halvings_) != 0;
  }
  void halve();

  std::size_t most_;
  ByPlace counts_;
  int halvings_ = 0;
};

/// Points of the chosen squares, one square after another.
struct SquareSample {
  std::vector<Square> squares;
  std::vector<std::size_t> first{0};  ///< (squares + 1)
  BulkVector<Vec3d> points;           ///< within a square in any order
  BulkVector<std::size_t> rows;

  Span<const Vec3d> of(std::size_t k) const { return {points.data() + first[k], first[k + 1] - first[k]}; }
  /// The south-west corner; z = 0.
  Vec3d corner(std::size_t k) const {
    return {kSquareSide * static_cast<double>(squares[k].first),
            kSquareSide * static_cast<double>(squares[k].second), 0};
  }
};

/// Points of squares of 10 m, as their places choose them: of squares with at least 50 points, until they have 2.5 million, of which
/// at most 200,000 are of one square. The same points for any thread count and order of the rows.
///
/// positions  (n) metres; rows with a coordinate that is not finite or beyond 1e11, and rows that `skip` marks (non-zero; or empty), are left out
/// Cost       Two passes over the points.
/// Cancel     Within 100 ms.
SquareSample square_sample(Span<const Vec3d> positions, Span<const std::uint8_t> skip, OpContext& ctx);

}  // namespace pc
