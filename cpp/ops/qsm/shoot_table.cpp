#include "ops/qsm/shoot_table.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "ops/qsm/qsm_checks.h"

namespace pc {

namespace {

constexpr std::size_t kPerPoll = std::size_t{1} << 16;

/// Positions of the cylinders, parents first, else in list order.
std::vector<std::uint32_t> parents_first(const CylinderLinks& links, OpContext& ctx) {
  const std::size_t n = links.parent.size();
  std::vector<std::uint32_t> order, path;
  std::vector<std::uint8_t> placed(n, 0);
  order.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (i % kPerPoll == 0) ctx.checkpoint();
    for (auto at = static_cast<std::int64_t>(i); at >= 0 && placed[static_cast<std::size_t>(at)] == 0;
         at = links.parent[static_cast<std::size_t>(at)])
      path.push_back(static_cast<std::uint32_t>(at));
    for (; !path.empty(); path.pop_back()) {
      placed[path.back()] = 1;
      order.push_back(path.back());
    }
  }
  return order;
}

/// Shoots by branching: one id per cylinder.
std::vector<std::int64_t> derived_shoots(const std::vector<QsmCylinder>& cylinders,
                                         const CylinderLinks& links, OpContext& ctx) {
  std::vector<std::int64_t> shoot(cylinders.size(), 0);
  std::vector<std::uint8_t> continued(cylinders.size(), 0);
  std::int64_t next = 0;
  for (const std::uint32_t i : parents_first(links, ctx)) {
    const std::int64_t parent = links.parent[i];
    const auto p = static_cast<std::size_t>(parent);
    const bool continues = parent >= 0 && continued[p] == 0 && cylinders[p].rank == cylinders[i].rank;
    if (continues) continued[p] = 1;
    shoot[i] = continues ? shoot[p] : next++;
  }
  return shoot;
}

/// Gives every cylinder a shoot_id.
void complete_ids(std::vector<QsmCylinder>& cylinders, const CylinderLinks& links, OpContext& ctx) {
  const auto stated = [](const QsmCylinder& c) { return c.shoot_id >= 0; };
  if (std::all_of(cylinders.begin(), cylinders.end(), stated)) return;
  std::unordered_set<std::int64_t> given;
  for (const QsmCylinder& c : cylinders)
    if (stated(c)) given.insert(c.shoot_id);
  const std::vector<std::int64_t> derived = derived_shoots(cylinders, links, ctx);
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    if (stated(cylinders[i])) continue;
    if (given.count(derived[i]) != 0)
      throw Error(ErrorCode::kInvalidArgument, "cylinder " + std::to_string(cylinders[i].cyl_id) +
                                                   " states no shoot, and shoot " +
                                                   std::to_string(derived[i]) +
                                                   ", which its branching gives it, is stated by other rows; "
                                                   "fill the column for all rows or none");
    cylinders[i].shoot_id = derived[i];
  }
}

/// Positions of shoots by id, in order of their first row, and that row.
struct ShootRows {
  std::unordered_map<std::int64_t, std::size_t> at;
  std::vector<std::size_t> first_row;
};

ShootRows collect(Qsm& qsm, OpContext& ctx) {
  ShootRows found;
  for (std::size_t i = 0; i < qsm.cylinders.size(); ++i) {
    if (i % kPerPoll == 0) ctx.checkpoint();
    const QsmCylinder& c = qsm.cylinders[i];
    const auto [entry, is_new] = found.at.try_emplace(c.shoot_id, qsm.shoots.size());
    if (is_new) {
      qsm.shoots.push_back(
          {.shoot_id = c.shoot_id, .rank = c.rank, .cylinder_ids = {}, .child_shoot_ids = {}});
      found.first_row.push_back(i);
    }
    qsm.shoots[entry->second].cylinder_ids.push_back(c.cyl_id);
  }
  return found;
}

void link_shoot(Qsm& qsm, std::size_t s, std::int64_t parent_row, std::int64_t stated,
                const ShootRows& found) {
  QsmShoot& shoot = qsm.shoots[s];
  if (parent_row >= 0) {
    const QsmCylinder& parent = qsm.cylinders[static_cast<std::size_t>(parent_row)];
    shoot.parent_cyl_id = parent.cyl_id;
    shoot.parent_shoot_id = parent.shoot_id;
  }
  if (stated != QsmRows::kNotStated) shoot.parent_shoot_id = stated;
  if (shoot.parent_shoot_id == shoot.shoot_id) shoot.parent_shoot_id = shoot.parent_cyl_id = kNoQsmParent;
  if (shoot.parent_shoot_id == kNoQsmParent) return;
  const auto parent = found.at.find(shoot.parent_shoot_id);
  if (parent == found.at.end())
    throw Error(ErrorCode::kInvalidArgument,
                "shoot " + std::to_string(shoot.shoot_id) + " has the parent shoot " +
                    std::to_string(shoot.parent_shoot_id) + ", which does not exist");
  qsm.shoots[parent->second].child_shoot_ids.push_back(shoot.shoot_id);
}

}  // namespace

Qsm with_shoots(QsmRows&& rows, OpContext& ctx) {
  ctx.begin_phase("Rebuilding shoots", 0);
  require(rows.parent_shoot.size() == rows.cylinders.size(), "parent_shoot needs a value per cylinder");
  Qsm qsm{std::move(rows.cylinders), {}};
  const CylinderLinks links = cylinder_links(qsm, ctx);
  complete_ids(qsm.cylinders, links, ctx);
  const ShootRows found = collect(qsm, ctx);
  for (std::size_t s = 0; s < qsm.shoots.size(); ++s) {
    if (s % kPerPoll == 0) ctx.checkpoint();
    const std::size_t row = found.first_row[s];
    link_shoot(qsm, s, links.parent[row], rows.parent_shoot[row], found);
  }
  check_qsm(qsm, ctx);  // loops of shoots
  return qsm;
}

}  // namespace pc
