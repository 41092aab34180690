#include "ops/plant/shape_checks.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/error.h"

namespace pc {
namespace {

/// Of one prototype at detail 1.
constexpr double kMostTriangles = 1 << 18;

/// Refuses values of one shape.
class Checks {
 public:
  explicit Checks(std::string shape) : shape_(std::move(shape)) {}
  void range(const char* field, double value, double least, double most) const {
    if (value >= least && value <= most) return;  // false for NaN
    std::ostringstream text;
    text.precision(8);
    text << field << " must be from " << least << " to " << most << ", not " << value;
    refuse(text.str());
  }
  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(ErrorCode::kInvalidArgument, "shape " + shape_ + ": " + problem);
  }

 private:
  std::string shape_;
};

void check_outline(const Checks& checks, const std::vector<PolarPoint>& outline) {
  checks.range("outline: number of points", static_cast<double>(outline.size()), 3, 64);
  for (std::size_t i = 0; i < outline.size(); ++i) {
    checks.range("outline: radius", outline[i].radius, 0.01, 10);
    checks.range("outline: angle", outline[i].angle_deg, i == 0 ? 0 : outline[i - 1].angle_deg + 0.1,
                 i == 0 ? 0 : 179);
  }
}

void check_blade(const Checks& checks, const BladeShape& blade) {
  checks.range("width_ratio", blade.width_ratio, 1e-4, 4);
  if (blade.form == BladeForm::kPolar) check_outline(checks, blade.outline);
  checks.range("base_exponent", blade.base_exponent, 0.05, 5);
  checks.range("tip_exponent", blade.tip_exponent, 0.05, 5);
  checks.range("fold", blade.fold_deg, -85, 85);
  checks.range("bend", blade.bend_deg, -360, 360);
  checks.range("bend_exponent", blade.bend_exponent, 0.5, 10);
  checks.range("cup", blade.cup_deg, -170, 170);
  checks.range("twist", blade.twist_deg, -1080, 1080);
  checks.range("wave_amplitude", blade.wave_amplitude, 0, 0.2);
  checks.range("wave_count", blade.wave_count, 0, 50);
  checks.range("buckle_position", blade.buckle_position[0], 0, 1);
  checks.range("buckle_position", blade.buckle_position[1], blade.buckle_position[0], 1);
  checks.range("buckle", blade.buckle_deg[0], 0, 150);
  checks.range("buckle", blade.buckle_deg[1], blade.buckle_deg[0], 150);
  checks.range("length_divisions", blade.length_divisions, 1, 256);
  checks.range("width_divisions", blade.width_divisions, 1, 64);
}

void check_body(const Checks& checks, const BodyShape& body) {
  checks.range("profile: number of points", static_cast<double>(body.profile.size()), 2, 64);
  for (const auto& [x, radius] : body.profile) {
    checks.range("profile: x", x, -10, 10);
    checks.range("profile: radius", radius, 0, 10);
  }
  checks.range("rings", body.rings, 2, 128);
  checks.range("sides", body.sides, 3, 128);
  checks.range("ribs", body.ribs, 0, 32);
  checks.range("rib_depth", body.rib_depth, 0, 0.9);
  checks.range("flatness", body.flatness, 0.01, 10);
  checks.range("bend", body.bend_deg, -360, 360);
  checks.range("copies", body.copies, 1, 5000);
  for (int k = 0; k < 2; ++k) {
    checks.range("copy_position", body.copy_position[k], -10, 10);
    checks.range("copy_distance", body.copy_distance[k], 0, 10);
    checks.range("copy_tilt", body.copy_tilt_deg[k], -180, 180);
    checks.range("copy_scale", body.copy_scale[k], 0.01, 10);
  }
  checks.range("divergence", body.divergence_deg, -360, 360);
  checks.range("jitter", body.jitter_deg, 0, 90);
}

void check_whorl(const Checks& checks, const WhorlShape& whorl) {
  check_blade(checks, whorl.blade);
  checks.range("count", whorl.count, 1, 500);
  checks.range("length", whorl.length, 0.001, 10);
  checks.range("position", whorl.position, -10, 10);
  checks.range("distance", whorl.distance, 0, 10);
  checks.range("opening", whorl.opening_deg, -180, 180);
  checks.range("closed", whorl.closed_deg, -180, 180);
  checks.range("closed_scale", whorl.closed_scale, 0.01, 10);
  checks.range("azimuth", whorl.azimuth_deg, -360, 360);
  checks.range("spread", whorl.spread_deg, 0, 360);
}

}  // namespace

void check_leaf_shape(const LeafShape& leaf) {
  const Checks checks(leaf.name);
  check_blade(checks, leaf.blade);
  checks.range("variants", leaf.variants, 1, 64);
  checks.range("coverage", leaf.coverage, leaf.texture.empty() ? 1 : 0.01, 1);
  checks.range("leaflet_angle", leaf.leaflet_angle_deg, 0, 180);
  checks.range("petiolule_length", leaf.petiolule_length, 0, 2);
  checks.range("petiolule_radius", leaf.petiolule_radius, 0, 0.5);
}

void check_organ_shape(const NamedOrgan& organ) {
  const Checks checks(organ.name);
  if (organ.shape.whorls.empty() && organ.shape.bodies.empty())
    checks.refuse("it has no whorls and no bodies");
  double triangles = 0;
  for (const WhorlShape& whorl : organ.shape.whorls) {
    check_whorl(checks, whorl);
    triangles += 4.0 * whorl.count * whorl.blade.length_divisions * whorl.blade.width_divisions;
  }
  for (const BodyShape& body : organ.shape.bodies) {
    check_body(checks, body);
    triangles += 2.0 * body.copies * body.rings * std::max(body.sides, 2 * body.ribs);
  }
  checks.range("number of triangles", triangles, 0, kMostTriangles);
}

namespace {

constexpr double kMostAreaError = 0.01;

void check_leaf(const std::string& type, const LeafParams& leaf, const PlantPrototypes& prototypes) {
  const std::string where = "shoot_types." + type + ".leaf.";
  const auto& leaves = prototypes.leaves;
  const auto shape = std::find_if(leaves.begin(), leaves.end(),
                                  [&](const auto& one) { return one.name == leaf.leaf_shape; });
  if (shape == leaves.end())
    throw Error(ErrorCode::kInvalidArgument, where + "leaf_shape: there is no leaf shape " + leaf.leaf_shape);
  if (std::abs(leaf.area_coefficient - shape->area) <= kMostAreaError * shape->area) return;
  std::ostringstream text;
  text.precision(4);
  text << where << "area_coefficient is " << leaf.area_coefficient << ", but the area of its shape "
       << leaf.leaf_shape << " is " << shape->area << " times the square of its length";
  throw Error(ErrorCode::kInvalidArgument, text.str());
}

void check_organ_name(const std::string& where, const std::string& name,
                      const std::vector<PlantPrototypes::Organ>& organs) {
  const bool is_known =
      std::any_of(organs.begin(), organs.end(), [&](const auto& one) { return one.name == name; });
  if (!name.empty() && !is_known)
    throw Error(ErrorCode::kInvalidArgument, where + ": there is no such shape: " + name);
}

}  // namespace

void check_named_shapes(const PlantSpecies& species, const PlantPrototypes& prototypes) {
  for (const ShootType& type : species.shoot_types) {
    if (type.leaf) check_leaf(type.label, *type.leaf, prototypes);
    if (type.first_nodes) check_leaf(type.label, type.first_nodes->leaf, prototypes);
    for (const auto* buds : {&type.axillary, &type.terminal}) {
      if (!*buds) continue;
      const std::string where = "shoot_types." + type.label;
      check_organ_name(where + ".flower_shape", (*buds)->flower_shape, prototypes.flowers);
      check_organ_name(where + ".fruit_shape", (*buds)->fruit_shape, prototypes.fruits);
    }
  }
}

}  // namespace pc
