#include "ops/qsm/twin_axes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "ops/qsm/axis_point.h"

namespace pc {

namespace {

constexpr double kThick = 0.03;    // metres
constexpr double kWithin = 0.6;    // radii of the other
constexpr double kParallel = 0.8;  // cosine
constexpr double kThicker = 1.5;
constexpr std::size_t kStays = static_cast<std::size_t>(-1);

bool is_parallel(const QsmCylinder& a, const QsmCylinder& b) {
  const double lengths = a.length_m() * b.length_m();
  return lengths > 0 && std::abs(dot(a.end - a.start, b.end - b.start)) >= kParallel * lengths;
}

/// Looks for twins, those of shoots that stay before others.
class TwinSearch {
 public:
  TwinSearch(const std::vector<QsmCylinder>& seeds, const std::vector<QsmCylinder>& fitted)
      : fitted_(fitted), host_(fitted.size(), kStays) {
    std::map<std::int64_t, double> length;
    for (const QsmCylinder& c : seeds) length[c.shoot_id] += c.length_m();
    for (std::size_t i = 0; i < fitted.size(); ++i)
      if (std::isfinite(fitted[i].mad) && fitted[i].radius >= kThick) thick_.push_back(i);
    const auto key = [&](std::size_t i) {
      return std::tuple(fitted[i].rank, -length[fitted[i].shoot_id], fitted[i].shoot_id, i);
    };
    std::sort(thick_.begin(), thick_.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  }

  /// Of each cylinder, the one around its end, or kStays.
  std::vector<std::size_t> run(const OpContext& ctx) {
    for (std::size_t k = 0; k < thick_.size(); ++k) {
      if (k % 64 == 0) ctx.checkpoint();
      host_[thick_[k]] = host_of(k);
    }
    return std::move(host_);
  }

 private:
  std::size_t host_of(std::size_t k) const {
    const QsmCylinder& c = fitted_[thick_[k]];
    const Vec3d places[] = {c.start, (c.start + c.end) * 0.5, c.end};
    std::map<std::int64_t, std::pair<unsigned, std::size_t>>
        around;  // by shoot: places, and what is around the end
    for (std::size_t n = 0; n < k; ++n) {
      const std::size_t other = thick_[n];
      const QsmCylinder& o = fitted_[other];
      if (o.shoot_id == c.shoot_id || host_[other] != kStays || c.radius > kThicker * o.radius ||
          !is_parallel(c, o))
        continue;
      const double reach = kWithin * o.radius;
      for (unsigned place = 0; place < 3; ++place) {
        if (!(squared_distance(places[place], nearest_on_axis(o, places[place])) <= reach * reach)) continue;
        auto& [seen, at] = around.try_emplace(o.shoot_id, 0U, kStays).first->second;
        seen |= 1U << place;
        if (place == 2) at = other;
      }
    }
    for (const auto& [shoot, found] : around)
      if (found.first == 7) return found.second;
    return kStays;
  }

  const std::vector<QsmCylinder>& fitted_;
  std::vector<std::size_t> host_, thick_;
};

/// The cylinders that stay, in an order with parents first, the lower index before the higher one.
std::vector<std::size_t> order_of(const std::vector<std::size_t>& parent,
                                  const std::vector<std::size_t>& host) {
  std::vector<std::vector<std::size_t>> children(parent.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> next;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    if (host[i] != kStays) continue;
    if (parent[i] == kStays)
      next.push(i);
    else
      children[parent[i]].push_back(i);
  }
  std::vector<std::size_t> out;
  while (!next.empty()) {
    const std::size_t at = next.top();
    next.pop();
    out.push_back(at);
    for (const std::size_t child : children[at]) next.push(child);
  }
  return out;
}

}  // namespace

std::vector<QsmCylinder> without_twins(const std::vector<QsmCylinder>& seeds,
                                       const std::vector<QsmCylinder>& fitted, OpContext& ctx) {
  const std::vector<std::size_t> host = TwinSearch(seeds, fitted).run(ctx);
  if (std::all_of(host.begin(), host.end(), [](std::size_t h) { return h == kStays; })) return {};
  std::vector<std::size_t> parent(seeds.size(), kStays);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (seeds[i].parent_id < 0) continue;
    const auto own = static_cast<std::size_t>(seeds[i].parent_id);
    parent[i] = host[own] == kStays ? own : host[own];
  }
  std::vector<QsmCylinder> out;
  std::vector<std::size_t> place(seeds.size(), kStays);
  std::int64_t shoots = 0;
  for (const std::size_t i : order_of(parent, host)) {
    place[i] = out.size();
    QsmCylinder c = seeds[i];
    c.cyl_id = static_cast<std::int64_t>(out.size());
    if (parent[i] == kStays) {
      c.parent_id = kNoQsmParent;
      c.shoot_id = shoots++;
    } else {
      const QsmCylinder& below = out[place[parent[i]]];
      const bool continues = seeds[i].parent_id == static_cast<std::int64_t>(parent[i]) &&
                             seeds[parent[i]].shoot_id == seeds[i].shoot_id;
      c.parent_id = below.cyl_id;
      c.shoot_id = continues ? below.shoot_id : shoots++;
      c.rank = below.rank + (continues ? 0 : 1);
    }
    out.push_back(c);
  }
  return out;
}

}  // namespace pc
