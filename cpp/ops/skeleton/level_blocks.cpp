#include "ops/skeleton/level_blocks.h"

#include <algorithm>
#include <cmath>

namespace pc {

namespace {

/// Points between two looks at a cancel.
constexpr std::size_t kPoll = 4096;
constexpr std::size_t kComparisonsPerPoll = std::size_t{1} << 18;

/// Gives every reached point the number of its piece, by the first point of each.
std::vector<std::uint32_t> number_pieces(const HopGraph& graph, const BulkVector<std::uint32_t>& level,
                                         BulkVector<std::uint32_t>& piece, OpContext& ctx) {
  std::vector<std::uint32_t> levels;
  BulkVector<std::uint32_t> open;
  for (std::size_t start = 0; start < graph.size(); ++start) {
    if (start % kPoll == 0) ctx.checkpoint();
    if (level[start] == kNoBlock || piece[start] != kNoBlock) continue;
    const auto number = static_cast<std::uint32_t>(levels.size());
    const std::uint32_t own = level[start];
    levels.push_back(own);
    piece[start] = number;
    open.push_back(static_cast<std::uint32_t>(start));
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.resize(open.size() - 1);
      if (node % kPoll == 0) ctx.checkpoint();
      graph.for_each_neighbor(node, [&](std::uint32_t other) {
        if (level[other] != own || piece[other] != kNoBlock) return;
        piece[other] = number;
        open.push_back(other);
      });
    }
  }
  return levels;
}

/// Renumbers pieces by level.
void order_by_level(const std::vector<std::uint32_t>& levels, LevelBlocks& found, OpContext& ctx) {
  std::vector<std::uint32_t> order(levels.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::size_t compared = 0;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (++compared % kComparisonsPerPoll == 0) ctx.checkpoint();
    return levels[a] < levels[b];
  });
  std::vector<std::uint32_t> place(levels.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    place[order[i]] = static_cast<std::uint32_t>(i);
    found.blocks.push_back({{0, 0, 0}, levels[order[i]], 0, kNoBlock, {}});
  }
  for (std::uint32_t& block : found.block_of) {
    if (block != kNoBlock) block = place[block];
  }
}

void gather_members(const HopGraph& graph, const Hops& hops, LevelBlocks& found, OpContext& ctx) {
  std::vector<SkeletonBlock>& blocks = found.blocks;
  found.last_label.assign(blocks.size(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    const std::uint32_t b = found.block_of[i];
    if (b == kNoBlock) continue;
    ++blocks[b].num_points;
    blocks[b].center = blocks[b].center + graph.point[i];
    found.last_label[b] = std::max(found.last_label[b], hops.label[i]);
  }
  found.first.assign(blocks.size() + 1, 0);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (b % kPoll == 0) ctx.checkpoint();
    blocks[b].center = blocks[b].center * (1.0 / static_cast<double>(blocks[b].num_points));
    found.first[b + 1] = found.first[b] + blocks[b].num_points;
  }
  found.member.resize(hops.reached);
  std::vector<std::uint64_t> next(found.first.begin(), found.first.end() - 1);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    if (found.block_of[i] != kNoBlock)
      found.member[next[found.block_of[i]]++] = static_cast<std::uint32_t>(i);
  }
}

void find_parents(const HopGraph& graph, LevelBlocks& found, OpContext& ctx) {
  std::vector<SkeletonBlock>& blocks = found.blocks;
  const auto offer = [&](std::uint32_t child, std::uint32_t parent) {
    if (blocks[parent].level >= blocks[child].level) return;
    const std::uint32_t known = blocks[child].parent;
    if (known == kNoBlock || blocks[parent].level < blocks[known].level ||
        (blocks[parent].level == blocks[known].level &&
         (blocks[parent].num_points > blocks[known].num_points ||
          (blocks[parent].num_points == blocks[known].num_points && parent < known))))
      blocks[child].parent = parent;
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    const std::uint32_t own = found.block_of[i];
    if (own == kNoBlock) continue;
    for (const std::uint32_t other : graph.asked_by(static_cast<std::uint32_t>(i))) {
      const std::uint32_t touched = found.block_of[other];
      if (touched == own) continue;
      offer(own, touched);
      offer(touched, own);
    }
  }
}

}  // namespace

Hops count_hops(const HopGraph& graph, double root_threshold_m, OpContext& ctx) {
  ctx.begin_phase("Measuring paths", graph.size());
  Hops hops;
  hops.label.resize(graph.size());
  double lowest = HUGE_VAL;
  for (const Vec3d& p : graph.point) lowest = std::min(lowest, p.z);
  BulkVector<std::uint32_t> front;
  front.reserve(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!(graph.point[i].z - lowest < root_threshold_m)) continue;
    hops.label[i] = 1;
    front.push_back(static_cast<std::uint32_t>(i));
  }
  for (std::size_t at = 0; at < front.size(); ++at) {
    if (at % kPoll == 0) {
      ctx.checkpoint();
      ctx.advance(kPoll);
    }
    const std::uint32_t node = front[at], label = hops.label[node];
    hops.most = label;
    graph.for_each_neighbor(node, [&](std::uint32_t other) {
      if (hops.label[other] != 0) return;
      hops.label[other] = label + 1;
      front.push_back(other);
    });
  }
  hops.reached = front.size();
  return hops;
}

std::uint32_t level_of(std::uint32_t label, std::uint32_t most, const SkeletonParams& params) {
  const double share = static_cast<double>(label) / static_cast<double>(most);
  const double part = params.use_nonlinear_quantization ? std::sqrt(share) : share;
  const double level = std::floor(part * static_cast<double>(params.quantization_levels));
  return static_cast<std::uint32_t>(std::min(level, static_cast<double>(params.quantization_levels) - 1));
}

LevelBlocks level_blocks(const HopGraph& graph, const Hops& hops, const SkeletonParams& params,
                         OpContext& ctx) {
  ctx.begin_phase("Cutting level sets", 0);
  LevelBlocks found;
  found.block_of.resize(graph.size());
  BulkVector<std::uint32_t> level(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (i % kPoll == 0) ctx.checkpoint();
    level[i] = hops.label[i] == 0 ? kNoBlock : level_of(hops.label[i], hops.most, params);
    found.block_of[i] = kNoBlock;
  }
  const std::vector<std::uint32_t> levels = number_pieces(graph, level, found.block_of, ctx);
  level.reset();
  order_by_level(levels, found, ctx);
  gather_members(graph, hops, found, ctx);
  find_parents(graph, found, ctx);
  return found;
}

std::vector<bool> kept_blocks(const std::vector<SkeletonBlock>& blocks, const SkeletonParams& params) {
  std::vector<bool> kept(blocks.size());
  for (std::size_t b = blocks.size();
       b-- > 0;) {  // a parent has a lower level, so it comes before its children
    const SkeletonBlock& block = blocks[b];
    const auto size = static_cast<double>(block.num_points);
    const bool large =
        block.num_points >= params.threshold_filter &&
        (!params.use_proportion_filter || block.parent == kNoBlock ||
         size >= params.proportion_threshold * static_cast<double>(blocks[block.parent].num_points));
    if (large) kept[b] = true;
    if (kept[b] && block.parent != kNoBlock) kept[block.parent] = true;
  }
  return kept;
}

}  // namespace pc
