#pragma once
#include <cstddef>

#include "core/op_context.h"
#include "core/span.h"
#include "spatial/bvh.h"
#include "spatial/bvh_boxes.h"

namespace pc::bvh {

/// Consecutive items that a node or a child of a node holds.
struct Range {
  std::size_t begin, end;
  Box4 box;      ///< of the items
  Box4 middles;  ///< of twice the middles of their boxes
  int depth;     ///< halvings above it
  bool unique;   ///< equal triangles were removed

  std::size_t count() const { return end - begin; }
};

/// Divides ranges of items by the surface area heuristic, in place. `scratch` has the size of `items`, or is empty for
/// ranges that one thread divides.
class Splitter {
 public:
  Splitter(Span<Item> items, Span<Item> scratch, const TriangleMesh& mesh)
      : items_(items), scratch_(scratch), mesh_(mesh) {}

  /// The range [begin, end) with its boxes.
  Range measured(std::size_t begin, std::size_t end, int depth, OpContext& ctx) const;
  /// Sorts a range of more than kWidth items whose middles all coincide, and drops its equal triangles.
  void remove_copies(Range& range, OpContext& ctx) const;
  /// Divides a range of at least two items into two that are not empty.
  void split(const Range& range, Range& left, Range& right, OpContext& ctx) const;

 private:
  struct Cut;
  struct Bins;
  bool best_cut(const Range& range, Cut& cut, OpContext& ctx) const;
  void fill(const Range& range, Bins& bins, OpContext& ctx) const;
  std::size_t divide(const Range& range, const Cut& cut, Range& left, Range& right, OpContext& ctx) const;
  std::size_t divide_in_place(const Range& range, const Cut& cut, Range& left, Range& right,
                              OpContext& ctx) const;
  std::size_t divide_by_blocks(const Range& range, const Cut& cut, Range& left, Range& right,
                               OpContext& ctx) const;

  Span<Item> items_, scratch_;
  const TriangleMesh& mesh_;
};

}  // namespace pc::bvh
