#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/random.h"
#include "support/plants.h"

/// What plants draw follows the distributions of their species: samples of 20 plants, pooled, against the distribution
/// function (Kolmogorov-Smirnov, asymptotic p-value of Stephens 1970: Numerical Recipes 14.3.3).
namespace {

using namespace pc;

double ks_distance(std::vector<double> sample, const std::function<double(double)>& cdf) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double worst = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double f = cdf(sample[i]);
    worst = std::max({worst, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  return worst;
}

double ks_probability(double distance, std::size_t n) {
  const double root = std::sqrt(static_cast<double>(n)), t = (root + 0.12 + 0.11 / root) * distance;
  double sum = 0;
  for (int k = 1; k <= 100; ++k) sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * t * t);
  return t < 0.2 ? 1 : std::clamp(sum, 0.0, 1.0);
}

/// Distribution functions, written independently of the generator. The normal one is cut at kNormalTail.
double cdf(const Distribution& d, double x) {
  switch (d.kind) {
    case Distribution::Kind::kUniform:
      return std::clamp((x - d.a) / (d.b - d.a), 0.0, 1.0);
    case Distribution::Kind::kNormal: {
      const double tail = 0.5 * std::erfc(kNormalTail / std::sqrt(2.0));
      const double f = 0.5 * std::erfc(-(x - d.a) / (d.b * std::sqrt(2.0)));
      return std::clamp((f - tail) / (1 - 2 * tail), 0.0, 1.0);
    }
    case Distribution::Kind::kWeibull:
      return x <= 0 ? 0 : 1 - std::exp(-std::pow(x / d.b, d.a));
    case Distribution::Kind::kConstant:
      break;
  }
  return x < d.a ? 0 : 1;
}

Distribution weibull(double shape, double scale) { return {Distribution::Kind::kWeibull, shape, scale}; }

constexpr std::uint64_t kSeeds = 20;
/// About 25 tests with a fixed seed each: one that is below this by chance has odds of 1 in 40.
constexpr double kLeast = 0.001;

/// A stem of 60 nodes with compound leaves, one lateral per node, every parameter drawn.
PlantSpecies varied() {
  PlantSpecies species = test::stem_species();
  ShootType& stem = species.shoot_types[0];
  stem.max_nodes = test::constant(60);
  stem.phyllotactic_angle = test::uniform(120, 160);
  stem.internode_pitch = test::normal(8, 2);
  LeafParams& leaf = *stem.leaf;
  leaf.leaflets = 3;
  leaf.leaf_scale = weibull(3, 0.1);
  leaf.leaf_pitch = test::normal(20, 6), leaf.leaf_yaw = test::uniform(-30, 10),
  leaf.leaf_roll = weibull(1.5, 8);
  leaf.leaflet_scale = test::uniform(0.7, 0.9), leaf.leaflet_offset = test::uniform(0.1, 0.3);
  leaf.petiole_length = test::normal(0.05, 0.01), leaf.petiole_radius = test::uniform(0.0005, 0.001);
  leaf.petiole_pitch = test::uniform(20, 50), leaf.petiole_curvature = test::normal(-100, 40);
  leaf.petiole_taper = test::uniform(0, 0.5);
  InflorescenceParams flower;
  species.phenology.flower_opening_days = 1;  // and no end of flowers
  flower.buds = test::constant(1), flower.flower_bud_break_probability = 1,
  flower.flowers = test::constant(3);
  flower.flower_pitch = test::uniform(10, 80), flower.flower_yaw = test::normal(0, 20);
  flower.flower_roll = test::uniform(0, 360), flower.flower_base_scale = test::normal(0.02, 0.002);
  flower.fruit_scale = weibull(4, 0.05), flower.flower_offset = test::uniform(0.1, 0.3);
  flower.peduncle_length = test::uniform(0.01, 0.05), flower.peduncle_radius = test::normal(0.001, 0.0001);
  flower.peduncle_pitch = test::uniform(30, 60), flower.peduncle_roll = test::uniform(0, 90);
  stem.axillary = flower;
  stem.bears_vegetative_buds = true, stem.vegetative_bud_break_probability_min = 1;
  stem.laterals = {{"lateral", 1}};
  ShootType lateral = test::stem_type();
  lateral.label = "lateral", lateral.max_nodes = test::constant(1);
  lateral.internode_length_max = test::normal(0.03, 0.004),
  lateral.internode_radius_initial = weibull(5, 0.002);
  lateral.insertion_angle_tip = test::uniform(40, 60), lateral.base_yaw = test::normal(0, 15);
  lateral.base_roll = test::uniform(0, 360);
  species.shoot_types.push_back(lateral);
  return species;
}

using Sample = std::vector<double>;

struct Pooled {
  Sample azimuth, pitch, leaf_scale, leaf_pitch, leaf_yaw, leaf_roll, leaflet_scale, leaflet_offset, length,
      radius, petiole_pitch, curvature, taper, flower_pitch, flower_yaw, flower_roll, flower_scale,
      fruit_scale, offset, peduncle_length, peduncle_radius, peduncle_pitch, peduncle_roll, lateral_length,
      lateral_radius, insertion, yaw, roll;
};

void add_bud(const FloralBud& bud, Pooled& out) {
  out.peduncle_length.push_back(bud.peduncle.length), out.peduncle_radius.push_back(bud.peduncle.radius);
  out.peduncle_pitch.push_back(bud.peduncle.pitch), out.peduncle_roll.push_back(bud.peduncle.roll);
  out.offset.push_back(bud.flower_offset);
  for (const PlantFlower& flower : bud.flowers) {
    out.flower_pitch.push_back(flower.flower_pitch), out.flower_yaw.push_back(flower.flower_yaw);
    out.flower_roll.push_back(flower.flower_roll), out.flower_scale.push_back(flower.flower_base_scale);
    out.fruit_scale.push_back(flower.fruit_scale);
  }
}

void add_petiole(const PlantPetiole& petiole, Pooled& out) {
  out.length.push_back(petiole.petiole_length), out.radius.push_back(petiole.petiole_radius);
  out.petiole_pitch.push_back(petiole.petiole_pitch), out.curvature.push_back(petiole.petiole_curvature);
  out.taper.push_back(petiole.petiole_taper);
  out.leaflet_scale.push_back(petiole.leaflet_scale), out.leaflet_offset.push_back(petiole.leaflet_offset);
  out.leaf_scale.push_back(petiole.leaves.at(0).leaf_scale);  // that of all leaflets
  for (const PlantLeaf& leaf : petiole.leaves) {
    out.leaf_pitch.push_back(leaf.leaf_pitch), out.leaf_yaw.push_back(leaf.leaf_yaw);
    out.leaf_roll.push_back(leaf.leaf_roll);
  }
  for (const FloralBud& bud : petiole.floral_buds)
    if (!bud.flowers.empty()) add_bud(bud, out);
}

Pooled pooled(const PlantSpecies& species) {
  Pooled out;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const PlantStructure plant = test::grown(species, 200, seed);
    for (const PlantShoot& shoot : plant.shoots) {
      const bool is_lateral = shoot.parent_shoot_id >= 0;
      if (is_lateral) {
        const PlantInternode& first = shoot.phytomers.at(0).internode;
        out.lateral_length.push_back(first.internode_length_max),
            out.lateral_radius.push_back(first.radius_initial);
        out.insertion.push_back(first.internode_pitch);
        out.yaw.push_back(shoot.base_rotation.yaw), out.roll.push_back(shoot.base_rotation.roll);
        continue;
      }
      for (std::size_t k = 0; k < shoot.phytomers.size(); ++k) {
        const Phytomer& phytomer = shoot.phytomers[k];
        out.azimuth.push_back(phytomer.internode.internode_phyllotactic_angle);
        if (k > 0) out.pitch.push_back(phytomer.internode.internode_pitch);
        for (const PlantPetiole& petiole : phytomer.petioles) add_petiole(petiole, out);
      }
    }
  }
  return out;
}

TEST(PlantDraws, FollowTheDistributionsOfTheSpecies) {
  const PlantSpecies species = varied();
  const ShootType &stem = species.shoot_types[0], &lateral = species.shoot_types[1];
  const LeafParams& leaf = *stem.leaf;
  const InflorescenceParams& flower = *stem.axillary;
  const Pooled of = pooled(species);
  const auto check = [](const char* name, const Sample& sample, const Distribution& law) {
    ASSERT_GE(sample.size(), 1000U) << name;
    const double distance = ks_distance(sample, [&](double x) { return cdf(law, x); });
    EXPECT_GT(ks_probability(distance, sample.size()), kLeast) << name << ", D = " << distance;
  };
  check("phyllotactic_angle", of.azimuth, stem.phyllotactic_angle);
  check("internode_pitch", of.pitch, stem.internode_pitch);
  check("leaf_scale", of.leaf_scale, leaf.leaf_scale);
  check("leaf_pitch", of.leaf_pitch, leaf.leaf_pitch);
  check("leaf_yaw", of.leaf_yaw, leaf.leaf_yaw);
  check("leaf_roll", of.leaf_roll, leaf.leaf_roll);
  check("leaflet_scale", of.leaflet_scale, leaf.leaflet_scale);
  check("leaflet_offset", of.leaflet_offset, leaf.leaflet_offset);
  check("petiole_length", of.length, leaf.petiole_length);
  check("petiole_radius", of.radius, leaf.petiole_radius);
  check("petiole_pitch", of.petiole_pitch, leaf.petiole_pitch);
  check("petiole_curvature", of.curvature, leaf.petiole_curvature);
  check("petiole_taper", of.taper, leaf.petiole_taper);
  check("flower_pitch", of.flower_pitch, flower.flower_pitch);
  check("flower_yaw", of.flower_yaw, flower.flower_yaw);
  check("flower_roll", of.flower_roll, flower.flower_roll);
  check("flower_base_scale", of.flower_scale, flower.flower_base_scale);
  check("fruit_scale", of.fruit_scale, flower.fruit_scale);
  check("flower_offset", of.offset, flower.flower_offset);
  check("peduncle_length", of.peduncle_length, flower.peduncle_length);
  check("peduncle_radius", of.peduncle_radius, flower.peduncle_radius);
  check("peduncle_pitch", of.peduncle_pitch, flower.peduncle_pitch);
  check("peduncle_roll", of.peduncle_roll, flower.peduncle_roll);
  check("internode_length_max", of.lateral_length, lateral.internode_length_max);
  check("internode_radius_initial", of.lateral_radius, lateral.internode_radius_initial);
  check("insertion_angle_tip", of.insertion, lateral.insertion_angle_tip);
  check("base_yaw", of.yaw, lateral.base_yaw);
  check("base_roll", of.roll, lateral.base_roll);
}

/// The measure itself: uniform numbers pass, slightly bent ones do not.
TEST(PlantDraws, AWrongLawIsSeen) {
  Sample even, bent;
  for (std::uint64_t i = 0; i < 1200; ++i) {
    const double u = random_unit(3, i);
    even.push_back(u), bent.push_back(std::pow(u, 1.25));
  }
  const auto p = [](const Sample& s) {
    return ks_probability(ks_distance(s, [](double x) { return cdf(test::uniform(0, 1), x); }), s.size());
  };
  EXPECT_GT(p(even), 0.01);
  EXPECT_LT(p(bent), kLeast);
  EXPECT_NEAR(ks_probability(0.1, 100), 0.2565, 0.01);  // scipy.stats.kstwo.sf(0.1, 100)
}

}  // namespace
