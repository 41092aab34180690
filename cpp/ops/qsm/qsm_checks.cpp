#include "ops/qsm/qsm_checks.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"

namespace pc {

namespace {

constexpr std::size_t kPerPoll = std::size_t{1} << 16;
constexpr std::size_t kComparisonsPerPoll = std::size_t{1} << 18;
constexpr std::size_t kMostCylinders = (std::size_t{1} << 31) - 1;

/// Metres; volumes of models as large as this are finite.
constexpr double kFarthest = 1e90;

/// False for numbers that are not finite, too.
bool is_near(const Vec3d& p) {
  return std::fabs(p.x) <= kFarthest && std::fabs(p.y) <= kFarthest && std::fabs(p.z) <= kFarthest;
}

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::kInvalidArgument, what); }

/// Positions by id.
class IdIndex {
 public:
  /// `what` names the thing in messages: "cylinder".
  template <class IdOf>
  IdIndex(std::size_t count, const char* what, IdOf&& id_of, OpContext& ctx) {
    entries_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) entries_.emplace_back(id_of(i), static_cast<std::int64_t>(i));
    std::size_t compared = 0;
    std::sort(entries_.begin(), entries_.end(), [&](const auto& a, const auto& b) {
      if (++compared % kComparisonsPerPoll == 0) ctx.checkpoint();
      return a < b;
    });
    for (std::size_t i = 1; i < count; ++i)
      if (entries_[i].first == entries_[i - 1].first)
        refuse(std::string("two ") + what + "s have the id " + std::to_string(entries_[i].first));
  }
  /// kNoQsmParent if there is none.
  std::int64_t find(std::int64_t id) const {
    const auto at =
        std::lower_bound(entries_.begin(), entries_.end(), std::pair<std::int64_t, std::int64_t>{id, 0});
    return at != entries_.end() && at->first == id ? at->second : kNoQsmParent;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> entries_;
};

/// Children of each position, in list order.
void fill_children(const std::vector<std::int64_t>& parent, std::vector<std::uint32_t>& first,
                   std::vector<std::uint32_t>& child) {
  first.assign(parent.size() + 1, 0);
  for (const std::int64_t p : parent)
    if (p >= 0) ++first[static_cast<std::size_t>(p) + 1];
  for (std::size_t i = 0; i < parent.size(); ++i) first[i + 1] += first[i];
  child.resize(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::size_t i = 0; i < parent.size(); ++i)
    if (parent[i] >= 0) child[next[static_cast<std::size_t>(parent[i])]++] = static_cast<std::uint32_t>(i);
}

/// A position on a cycle of parents; kNoQsmParent if every path ends at a root.
std::int64_t on_cycle(const std::vector<std::int64_t>& parent, OpContext& ctx) {
  // 0 unknown, 1 on the path being walked, 2 ends at a root
  std::vector<std::uint8_t> state(parent.size(), 0);
  for (std::size_t i = 0; i < parent.size(); ++i) {
    if (i % kPerPoll == 0) ctx.checkpoint();
    std::int64_t at = static_cast<std::int64_t>(i);
    for (; at >= 0 && state[static_cast<std::size_t>(at)] == 0; at = parent[static_cast<std::size_t>(at)])
      state[static_cast<std::size_t>(at)] = 1;
    if (at >= 0 && state[static_cast<std::size_t>(at)] == 1) return at;
    for (at = static_cast<std::int64_t>(i); at >= 0 && state[static_cast<std::size_t>(at)] == 1;
         at = parent[static_cast<std::size_t>(at)])
      state[static_cast<std::size_t>(at)] = 2;
  }
  return kNoQsmParent;
}

std::string shoot_name(const QsmShoot& shoot) { return "shoot " + std::to_string(shoot.shoot_id); }

/// Each cylinder is listed once, by its own shoot.
void check_members(const Qsm& qsm, const IdIndex& cylinders, OpContext& ctx) {
  std::vector<std::uint8_t> listed(qsm.cylinders.size(), 0);
  std::size_t seen = 0;
  for (const QsmShoot& shoot : qsm.shoots) {
    if (shoot.cylinder_ids.empty()) refuse(shoot_name(shoot) + " has no cylinder");
    for (const std::int64_t id : shoot.cylinder_ids) {
      if (++seen % kPerPoll == 0) ctx.checkpoint();
      const std::int64_t at = cylinders.find(id);
      if (at < 0)
        refuse(shoot_name(shoot) + " lists cylinder " + std::to_string(id) + ", which does not exist");
      const QsmCylinder& cylinder = qsm.cylinders[static_cast<std::size_t>(at)];
      if (cylinder.shoot_id != shoot.shoot_id || listed[static_cast<std::size_t>(at)]++ != 0)
        refuse(shoot_name(shoot) + " lists cylinder " + std::to_string(id) +
               ", which is listed twice or belongs to shoot " + std::to_string(cylinder.shoot_id));
    }
  }
  if (seen == qsm.cylinders.size()) return;
  const auto lost = std::find(listed.begin(), listed.end(), std::uint8_t{0}) - listed.begin();
  refuse("cylinder " + std::to_string(qsm.cylinders[static_cast<std::size_t>(lost)].cyl_id) +
         " is listed by no shoot");
}

/// Parents and children of shoots agree and form no loop.
void check_shoot_links(const Qsm& qsm, const IdIndex& cylinders, const IdIndex& shoots, OpContext& ctx) {
  std::vector<std::int64_t> parent;
  parent.reserve(qsm.shoots.size());
  std::size_t child_count = 0, link_count = 0;
  for (const QsmShoot& shoot : qsm.shoots) {
    if (parent.size() % kPerPoll == 0) ctx.checkpoint();
    parent.push_back(shoot.parent_shoot_id < 0 ? kNoQsmParent : shoots.find(shoot.parent_shoot_id));
    if (shoot.parent_shoot_id >= 0 && parent.back() < 0)
      refuse(shoot_name(shoot) + " has the parent " + std::to_string(shoot.parent_shoot_id) +
             ", which does not exist");
    if (shoot.parent_cyl_id >= 0 && cylinders.find(shoot.parent_cyl_id) < 0)
      refuse(shoot_name(shoot) + " leaves from cylinder " + std::to_string(shoot.parent_cyl_id) +
             ", which does not exist");
    link_count += parent.back() >= 0 ? 1 : 0;
    child_count += shoot.child_shoot_ids.size();
    for (const std::int64_t child : shoot.child_shoot_ids) {
      const std::int64_t at = shoots.find(child);
      if (at < 0 || qsm.shoots[static_cast<std::size_t>(at)].parent_shoot_id != shoot.shoot_id)
        refuse(shoot_name(shoot) + " lists shoot " + std::to_string(child) + ", which is no child of it");
    }
  }
  if (child_count != link_count)
    refuse("child_shoot_ids of the shoots do not list every shoot with a parent once");
  const std::int64_t loop = on_cycle(parent, ctx);
  if (loop >= 0) refuse(shoot_name(qsm.shoots[static_cast<std::size_t>(loop)]) + " is its own ancestor");
}

IdIndex index_of_cylinders(const Qsm& qsm, OpContext& ctx) {
  if (qsm.cylinders.size() > kMostCylinders) refuse("a model of more than 2^31 cylinders");
  return {qsm.cylinders.size(), "cylinder", [&](std::size_t i) { return qsm.cylinders[i].cyl_id; }, ctx};
}

CylinderLinks links_of(const Qsm& qsm, const IdIndex& ids, OpContext& ctx) {
  CylinderLinks links;
  links.parent.reserve(qsm.cylinders.size());
  for (const QsmCylinder& c : qsm.cylinders) {
    if (links.parent.size() % kPerPoll == 0) ctx.checkpoint();
    const auto name = [&] { return "cylinder " + std::to_string(c.cyl_id); };
    if (!(c.radius > 0)) refuse(name() + " has a radius that is not above 0");
    if (!is_near(c.start) || !is_near(c.end) || !(c.radius <= kFarthest))
      refuse(name() + " has a position or a radius beyond 1e90 m");
    if (c.parent_id == c.cyl_id) refuse(name() + " is its own parent");
    const std::int64_t at = c.parent_id == kNoQsmParent ? kNoQsmParent : ids.find(c.parent_id);
    if (c.parent_id != kNoQsmParent && at < 0)
      refuse(name() + " has the parent " + std::to_string(c.parent_id) + ", which does not exist");
    links.parent.push_back(at);
  }
  const std::int64_t loop = on_cycle(links.parent, ctx);
  if (loop >= 0)
    refuse("cylinder " + std::to_string(qsm.cylinders[static_cast<std::size_t>(loop)].cyl_id) +
           " is its own ancestor: the parents form a cycle");
  ctx.checkpoint();
  fill_children(links.parent, links.first_child, links.child);
  return links;
}

}  // namespace

CylinderLinks cylinder_links(const Qsm& qsm, OpContext& ctx) {
  return links_of(qsm, index_of_cylinders(qsm, ctx), ctx);
}

CylinderLinks check_qsm(const Qsm& qsm, OpContext& ctx) {
  const IdIndex cylinders = index_of_cylinders(qsm, ctx);
  CylinderLinks links = links_of(qsm, cylinders, ctx);
  const IdIndex shoots(
      qsm.shoots.size(), "shoot", [&](std::size_t i) { return qsm.shoots[i].shoot_id; }, ctx);
  check_members(qsm, cylinders, ctx);
  check_shoot_links(qsm, cylinders, shoots, ctx);
  return links;
}

}  // namespace pc
