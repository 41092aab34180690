#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.h"
#include "fuzz/fuzz_target.h"
#include "ops/qsm/leaf_angle_assignment.h"
#include "ops/qsm/leaf_mesh.h"
#include "ops/qsm/leaf_placement.h"
#include "ops/qsm/phyllotaxis.h"
#include "ops/qsm/qsm_checks.h"
#include "ops/qsm/qsm_metrics.h"

namespace pc::fuzz {

namespace {

/// Bytes of the file: 8 of parameters, the number of shoots, then records of shoots and of cylinders.
///
/// | record | offset | type | meaning |
/// |---|---|---|---|
/// | shoot | 0, 1, 2, 3 | u8 | shoot_id, rank, parent_shoot_id, parent_cyl_id; 255 = none |
/// | | 4 | u8 | bits 0 to 3: leaves out a cylinder, repeats one, leaves out a child, repeats one |
/// | cylinder | 0, 1, 2, 3 | u8 | cyl_id, parent_id (255 = none), shoot_id, rank |
/// | | 4 | f64[7] | start, end, radius |
constexpr std::size_t kHead = 9, kShootBytes = 5, kCylinderBytes = 4 + 7 * sizeof(double);
constexpr std::size_t kMostCylinders = 255;
constexpr std::uint8_t kNone = 255;

struct Record {
  std::uint8_t id, parent, shoot, rank;
  double values[7];
};

std::vector<std::uint8_t> file_of(std::uint8_t parameters,
                                  const std::vector<std::vector<std::uint8_t>>& shoots,
                                  const std::vector<Record>& cylinders) {
  std::vector<std::uint8_t> out(kHead, parameters);
  out[kHead - 1] = static_cast<std::uint8_t>(shoots.size());
  for (const auto& shoot : shoots) out.insert(out.end(), shoot.begin(), shoot.end());
  for (const Record& c : cylinders) {
    out.insert(out.end(), {c.id, c.parent, c.shoot, c.rank});
    const std::size_t at = out.size();
    out.resize(at + sizeof(c.values));
    std::memcpy(out.data() + at, c.values, sizeof(c.values));
  }
  return out;
}

std::vector<std::vector<std::uint8_t>> qsm_model_seeds() {
  const std::vector<Record> stem{{0, kNone, 0, 0, {1, 2, 0, 1, 2, 1, 0.1}},
                                 {1, 0, 0, 0, {1, 2, 1, 1, 2, 2, 0.05}}};
  const std::vector<std::uint8_t> first{0, 0, kNone, kNone, 0}, second{1, 1, 0, 1, 0}, third{2, 1, 0, 0, 0};
  std::vector<Record> tree = stem;
  tree.push_back({2, 1, 1, 1, {1, 2, 2, 1.5, 2, 2.4, 0.02}});
  tree.push_back({3, 0, 2, 1, {1, 2, 1, 1, 2.6, 1.3, 0.02}});
  tree.push_back({4, 3, 2, 1, {1, 2.6, 1.3, 1, 2.6, 1.3, 0.01}});  // of no length
  std::vector<Record> chain;
  for (std::uint8_t i = 0; i < 60; ++i)
    chain.push_back({i,
                     i == 0 ? kNone : static_cast<std::uint8_t>(i - 1),
                     0,
                     0,
                     {0, 0, 0.1 * i, 0, 0, 0.1 * (i + 1), 0.01}});
  std::vector<std::vector<std::uint8_t>> out;
  for (const std::uint8_t parameters : {0, 3, 77, 200}) {
    out.push_back(file_of(parameters, {first}, stem));
    out.push_back(file_of(parameters, {first, second, third}, tree));
    out.push_back(file_of(parameters, {first}, chain));
  }
  return out;
}

std::int64_t id_of(std::uint8_t byte) { return byte == kNone ? kNoQsmParent : byte; }

Qsm qsm_of(const std::vector<std::uint8_t>& bytes) {
  const std::uint8_t* data = bytes.data();
  Qsm qsm;
  const std::size_t shoots = std::min<std::size_t>(data[kHead - 1], (bytes.size() - kHead) / kShootBytes);
  const std::uint8_t* shoot = data + kHead;
  const std::uint8_t* row = shoot + shoots * kShootBytes;
  const std::size_t left = bytes.size() - kHead - shoots * kShootBytes;
  for (std::size_t i = 0; i < std::min(kMostCylinders, left / kCylinderBytes); ++i, row += kCylinderBytes) {
    double v[7];
    std::memcpy(v, row + 4, sizeof(v));
    for (const double value : v)  // refused where a request is read
      if (!std::isfinite(value)) throw Error(ErrorCode::kInvalidArgument, "not a finite number");
    qsm.cylinders.push_back(
        {row[0], {v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6], id_of(row[1]), row[2], row[3]});
  }
  for (std::size_t i = 0; i < shoots; ++i, shoot += kShootBytes) {
    QsmShoot own{shoot[0], shoot[1], {}, id_of(shoot[2]), id_of(shoot[3]), {}};
    for (const QsmCylinder& c : qsm.cylinders)
      if (c.shoot_id == own.shoot_id) own.cylinder_ids.push_back(c.cyl_id);
    for (std::size_t j = 0; j < shoots; ++j) {
      const std::uint8_t* other = data + kHead + j * kShootBytes;
      if (id_of(other[2]) == own.shoot_id) own.child_shoot_ids.push_back(other[0]);
    }
    const auto spoil = [](std::vector<std::int64_t>& list, bool drop, bool repeat) {
      if (repeat && !list.empty()) list.push_back(list.front());
      if (drop && !list.empty()) list.erase(list.begin());
    };
    spoil(own.cylinder_ids, (shoot[4] & 1U) != 0, (shoot[4] & 2U) != 0);
    spoil(own.child_shoot_ids, (shoot[4] & 4U) != 0, (shoot[4] & 8U) != 0);
    qsm.shoots.push_back(std::move(own));
  }
  return qsm;
}

void check(bool ok, const char* what) {
  if (!ok) throw std::logic_error(what);
}

bool is_unit(const Vec3d& v) { return std::fabs(dot(v, v) - 1) < 1e-9; }

void check_leaves(const std::vector<Leaf>& leaves) {
  for (const Leaf& leaf : leaves) {
    check(is_finite(leaf.base), "the base of a leaf is not finite");
    check(is_unit(leaf.tip) && is_unit(leaf.width) && is_unit(leaf.normal),
          "a direction of a leaf is no unit");
    check(std::fabs(dot(leaf.tip, leaf.normal)) < 1e-9 && std::fabs(dot(leaf.tip, leaf.width)) < 1e-9,
          "the directions of a leaf are not orthogonal");
  }
}

/// A model from a request: refused, or everything that is made from it is sound.
void use_model(const std::string& path, OpContext& ctx) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file),
                                        std::istreambuf_iterator<char>()};
  if (bytes.size() < kHead) return;
  const Qsm qsm = qsm_of(bytes);
  check_qsm(qsm, ctx);
  const QsmMetrics metrics = qsm_metrics(qsm, ctx);
  for (const double value : {metrics.total_woody_volume_m3, metrics.total_length_m, metrics.canopy_width_m,
                             metrics.tree_height_m, metrics.tcsa_m2})
    check(value >= 0, "a metric is no size");
  const PhyllotaxisResult found = phyllotaxis(qsm, ctx);
  check(found.confidence >= 0 && found.confidence <= 1, "a confidence is no share");
  const auto at = [&](std::size_t i) { return static_cast<double>(bytes[i]); };
  const LeafPlacementParams params{std::ldexp(0.001, bytes[0] % 16),
                                   0.03 * at(1),
                                   0.01 + 0.01 * at(2),
                                   3 * at(3) - 180,
                                   1U + bytes[4] % 7U,
                                   1 + 4U * bytes[5]};
  LeafPlacementResult placed = leaf_placement(qsm, params, ctx);
  check(placed.leaves.size() <= params.max_leaves, "more leaves than allowed");
  check_leaves(placed.leaves);
  const std::uint32_t cells = 1 + bytes[6] % 4U;
  const VoxelBox grid{{1, 2, 1}, {4, 4, 4}, cells, 1, 2, at(7), {}, {}};
  std::vector<LeafAngleTarget> targets;
  for (std::uint32_t cell = 0; cell < cells; ++cell)
    targets.push_back({cell, 0.01 + 0.05 * at(6), 0.01 + 0.05 * at(7), at(3) / 256, at(2), 0});
  leaf_angle_assignment(placed.leaves, targets, grid, {bytes[0], bytes[1]}, ctx);
  check_leaves(placed.leaves);
  const LeafMesh mesh = leaf_mesh(placed.leaves, params.leaf_size_m, quad_leaf(0.5), ctx);
  check(mesh.vertices.size() == 18 * placed.leaves.size(),
        "a mesh does not have two triangles for each leaf");
}

}  // namespace

FuzzTarget qsm_model_target() { return {"qsm_model", qsm_model_seeds, use_model}; }

}  // namespace pc::fuzz
