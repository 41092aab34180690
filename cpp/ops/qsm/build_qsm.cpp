#include "ops/qsm/build_qsm.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <utility>

#include "core/error.h"
#include "ops/qsm/axis_termination.h"
#include "ops/qsm/fit_cylinders.h"
#include "ops/qsm/fork_bases.h"
#include "ops/qsm/plant_scale.h"
#include "ops/qsm/points_beside.h"
#include "ops/qsm/shoot_tree.h"
#include "ops/qsm/stem_stretches.h"
#include "ops/qsm/taper_correction.h"
#include "ops/qsm/taper_law.h"
#include "ops/qsm/trunk_width.h"
#include "ops/qsm/twin_axes.h"
#include "ops/qsm/uneven_spacing.h"
#include "ops/skeleton/geodesic_skeleton.h"

namespace pc {

namespace {

constexpr double kReach = 0.5, kMostRadius = 0.5, kGrowth = 0.10;  // metres (contract)
constexpr double kTaperedReach = 1.5, kTaperedMostRadius = 1.5;
constexpr double kThickReach = 1.6;         // of the width of a thick trunk: its own points, and lobes
constexpr double kTaperedSpacing = 0.0045;  // metres, least: finer ones resolve the noise of the scanner
constexpr double kTaperedPiece = 0.08;      // metres, shortest piece of an axis
constexpr double kTaperedPerWidth = 1;      // length of a piece per width: longer ones are steps along a cone
constexpr double kTaperedGrowth = 0.05;     // metres, least of an end segment: two bins of the skeleton
constexpr double kTaperedOverhang = 12;     // spacings, two bins of the skeleton: most that an end moves
constexpr double kIsotonicCommonError = 0.10;  // of ln(radius), of all radii together
constexpr double kTaperedCommonError =
    0.006;  // most likely for 48 simulated scans of small trees (docs/accuracy.md)
/// A thick stem is cut into arcs, and a stem of fewer points than its branches into winding paths: without these its radius
/// came out at a tenth to a half of the true one (ACleanStemHasItsRadius.., AStemOfFewerPoints.. of build_qsm_test).
constexpr SkeletonExtras kExtras{RingArcs::kJoined, true};
constexpr double kMostUnreached = 0.02;  // share of the points without a warning
constexpr double kUnfittedError = 0.5;   // relative
constexpr double kMostMissing = 0.05;    // of the volume, without a warning
constexpr double kMostOff = 0.1;         // volumes of the two radius models
/// Metres, mean radius of an enlarged plant: thicker ones are logs and stumps.
constexpr double kThickest = 0.15;
constexpr double kToldEnlargement = 2;

void check(const QsmBuildParams& p) {
  require(std::isfinite(p.twig_radius_m) && p.twig_radius_m > 0, "twig_radius_mm must be above 0");
  require(p.fork_symmetry >= 0 && p.fork_symmetry <= 1, "fork_symmetry must be within 0 and 1");
  for (const double w : {p.w_growthlength, p.w_area, p.w_colinear})
    require(std::isfinite(w) && w >= 0, "the weights of continuation must be 0 or more");
}

/// Standard errors for radii that were not fitted, or that the correction has moved.
void complete_errors(std::vector<QsmCylinder>& cylinders, const std::vector<double>& measured) {
  for (std::size_t i = 0; i < cylinders.size(); ++i) {
    QsmCylinder& c = cylinders[i];
    const double moved = std::fabs(c.radius - measured[i]);
    c.radius_se = std::isfinite(c.radius_se) ? std::hypot(c.radius_se, moved) : kUnfittedError * c.radius;
  }
}

/// A true volume or length as text.
std::string litres(double m3) {
  char text[32];
  std::snprintf(text, sizeof text, m3 < 0.1 ? "%.3g l" : "%.0f l", 1000 * m3);
  return text;
}
std::string millimetres(double m) {
  char text[32];
  std::snprintf(text, sizeof text, m < 0.0095 ? "%.2g mm" : "%.0f mm", 1000 * m);
  return text;
}

std::string metres(double m) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g m", m);
  return text;
}

double cube(double x) { return x * x * x; }

/// A build whose points are a plant that was enlarged by a factor (plant_scale.h): lengths are in its frame.
struct Build {
  QsmBuildParams params;
  double factor;

  std::string litres_of(double m3) const { return litres(m3 / cube(factor)); }
  std::string millimetres_of(double m) const { return millimetres(m / factor); }
};

void warn(QsmBuildResult& result) {
  const std::uint64_t lost = result.points_used - result.reached_count;
  if (static_cast<double>(lost) > kMostUnreached * static_cast<double>(result.points_used)) {
    result.warnings.push_back(std::to_string(lost) + " of " + std::to_string(result.points_used) +
                              " points are too far from the rest of the tree and were left out");
  }
}

double volume_of(const std::vector<QsmCylinder>& cylinders) {
  double sum = 0;
  for (const QsmCylinder& c : cylinders) sum += std::numbers::pi * c.radius * c.radius * c.length_m();
  return sum;
}

/// Points that scatter this far about surfaces make thin branches too thick: so much error of ln(radius), in proportion to the square.
/// In the reference forest with 1 cm of noise in all directions the volumes were 10 % too large, of ranges alone 3 %.
constexpr double kNoise = 0.01, kErrorOfNoise = 0.05;
constexpr double kMostNoise = 0.007;
constexpr double kFewTrusted = 5, kTrustedShare = 0.05;  // radii that are measured well
constexpr double kLeastSharp = 0.5;  // of the volume: noise is told from branches by what is sharp

/// Of ln(radius) by what is left of the sway of a tree: 10 % of the volume where views were moved by 50 mm. Where trees of the
/// reference forest swung while each scan was taken the errors were 3 % with 20 mm and 6 to 8 % with 33 mm (docs/accuracy.md).
constexpr double kErrorOfMoving = 1.0;  // per metre

double error_of_noise(const TaperLaws& laws) { return kErrorOfNoise * std::pow(laws.noise_m / kNoise, 2); }

/// What the taper laws say of the points.
void judge(const TaperLaws& laws, const Build& build, QsmBuildResult& result) {
  const bool leafless = build.params.leafless;
  result.cluster_share = laws.cluster_share;
  if (laws.noise_m > kMostNoise)
    result.warnings.push_back("points scatter " + build.millimetres_of(laws.noise_m) +
                              " about the surfaces of stem and branches: branches thinner than a few times "
                              "that may come out too thick");
  const auto trusted = static_cast<double>(laws.stem.trusted + laws.branches.trusted);
  const auto pieces = static_cast<double>(result.qsm.cylinders.size());
  if (trusted == 0 || trusted < std::min(kFewTrusted, kTrustedShare * pieces)) {
    result.warnings.push_back(
        trusted == 0
            ? "no radius could be measured well: all come from the twig radius and what is known of trees in "
              "general"
            : "hardly any radius could be measured well: most come from the twig radius and what is known of "
              "trees in general");
    result.radii_known = result.has_intervals = false;
  }
  if (laws.sharp_share < kLeastSharp && laws.cluster_share < kMostClusters) {
    result.warnings.push_back(
        "points scatter by a third of the radius and more about most of the wood, by volume: it is "
        "likely too thick; scan with less noise, or from nearer");
    result.has_intervals = false;
  }
  if (laws.cluster_share >= kMostClusters) {
    const std::string share = std::to_string(std::lround(100 * laws.cluster_share)) +
                              " % of the model's length runs through points that lie on no surface of wood, ";
    result.warnings.push_back(
        share + (leafless ? "as twigs that few points were measured on: its branches follow what is known of "
                            "trees in general, and the interval of the volume is wide; scan more densely"
                          : "as leaves do, and twigs that few points were measured on: its branches are a "
                            "rough guess; leave the leaves out, or scan more densely"));
    result.radii_known = false;
    if (!leafless) result.has_intervals = false;
  }
}

/// Radii of the contract's rules, which lose wood where surfaces were seen in part: compared with those of the taper law.
RadiusErrors isotonic(const TaperEvidence& evidence, const std::vector<QsmShoot>& shoots, const Build& build,
                      QsmBuildResult& result) {
  std::vector<QsmCylinder>& cylinders = result.qsm.cylinders;
  std::vector<QsmCylinder> tapered = cylinders;
  const TaperLaws laws = apply_taper_law(tapered, shoots, evidence);
  judge(laws, build, result);
  std::vector<double> measured;
  for (const QsmCylinder& c : cylinders) measured.push_back(c.radius);
  taper_correction(cylinders, shoots, evidence.twig_radius_m);
  complete_errors(cylinders, measured);
  const double own = volume_of(cylinders), other = volume_of(tapered);
  const double ratio = own > 0 && other > 0 ? own / other : 1;
  if (result.radii_known && std::fabs(ratio - 1) > kMostOff)
    result.warnings.push_back("radius_model isotonic gives " + build.litres_of(own) +
                              " of wood, a law of taper fitted to the same cylinders " +
                              build.litres_of(other) +
                              ": radius_model tapered is nearer to the truth in scans of known trees");
  return segment_errors(cylinders, std::hypot(std::hypot(kIsotonicCommonError, std::log(ratio) / 2),
                                              error_of_noise(laws), kErrorOfMoving * build.params.moved_m));
}

/// Makes measured radii those of the model; their errors.
RadiusErrors corrected(const Build& build, const FittedSurface& surface,
                       const std::vector<StretchRadius>& stretches, QsmBuildResult& result) {
  const std::vector<QsmShoot> shoots = collect_shoots(result.qsm.cylinders);
  const QsmBuildParams& params = build.params;
  const TaperEvidence evidence{surface.arc_cov,
                               surface.noise_m,
                               surface.point_count,
                               params.twig_radius_m,
                               {stretches.data(), stretches.size()}};
  if (params.radius_model == RadiusModel::kIsotonic) return isotonic(evidence, shoots, build, result);
  TaperLaws laws = apply_taper_law(result.qsm.cylinders, shoots, evidence);
  judge(laws, build, result);
  laws.errors.shared.push_back(
      {std::hypot(kTaperedCommonError, error_of_noise(laws), kErrorOfMoving * params.moved_m), {}});
  return std::move(laws.errors);
}

/// The cylinders before they were fitted, and what the fits tell.
struct FittedAxes {
  std::vector<QsmCylinder> seeds;
  FittedSurface surface;
};

FitCylindersParams reach_of(bool tapered, double trunk_m) {
  if (!tapered) return {kReach, kMostRadius, false};
  const double thick = kThickReach * trunk_m;
  return {std::max(kTaperedReach, thick), std::max(kTaperedMostRadius, thick), true};
}

/// The contract's rule takes no point farther than kReach from an axis: the trunks of old trees are none of its cylinders.
void tell_thick_trunk(double trunk_m, bool tapered, QsmBuildResult& result) {
  if (tapered || trunk_m <= kThickTrunk) return;
  result.warnings.push_back("the stem is about " + metres(2 * trunk_m) +
                            " thick, and radius_model isotonic knows no diameter above " +
                            metres(2 * kMostRadius) +
                            ": the volume is a part of the true one; take radius_model tapered");
  result.has_intervals = false;
}

/// Fits the cylinders; axes within others are taken out, and the others fitted again.
FittedAxes fitted_axes(std::vector<QsmCylinder>& cylinders, Span<const Vec3d> points, bool tapered,
                       double trunk_m, OpContext& ctx) {
  constexpr int kTimes = 4;
  const FitCylindersParams reach = reach_of(tapered, trunk_m);
  FittedAxes out{cylinders, {}};
  for (int time = 0; time < kTimes; ++time) {
    ctx.begin_phase("Fitting cylinders", cylinders.size() + points.size);
    out.surface = fit_cylinders(cylinders, points, reach, ctx);
    if (!tapered || time + 1 == kTimes) break;
    std::vector<QsmCylinder> single = without_twins(out.seeds, cylinders, ctx);
    if (single.empty()) break;
    cylinders = out.seeds = std::move(single);
  }
  return out;
}

/// Wood that points without a cylinder may be of: the volumes may be as much larger.
void add_missing(const PointsBeside& beside, const Build& build, QsmBuildResult& result) {
  result.total.high += beside.wood_m3;
  result.branches.high += beside.wood_m3;
  const double volume = volume_of(result.qsm.cylinders);
  if (!result.has_intervals || !(beside.wood_m3 > kMostMissing * volume)) return;
  result.warnings.push_back(std::to_string(beside.count) + " of " + std::to_string(result.points_used) +
                            " points lie on no part of the model: up to about " +
                            build.litres_of(beside.wood_m3) + " of the wood may be missing beside its " +
                            build.litres_of(volume) + ", and the interval of the volume reaches as far");
}

/// build_qsm of points that have the size of a tree.
QsmBuildResult build_tree(Span<const Vec3d> points, const Build& build, OpContext& ctx) {
  const QsmBuildParams& params = build.params;
  const bool tapered = params.radius_model == RadiusModel::kTapered;
  ctx.begin_phase("Extracting skeleton", 0);
  PointGraph graph = point_graph(points, tapered ? kTaperedSpacing : 0, ctx);
  if (tapered) {
    const double spacing = uneven_spacing(graph, ctx);
    if (spacing > graph.spacing_m) graph = point_graph(points, spacing, ctx);
  }
  const Vec3d origin = graph.origin;
  const double spacing_m = graph.spacing_m;
  GeodesicSkeleton skeleton = geodesic_skeleton(graph, points.size, kExtras, ctx);
  QsmBuildResult result{{}, {},  {}, {}, skeleton.finite_count, skeleton.reached_count, skeleton.nodes.size(),
                        {}, true};
  warn(result);
  BulkVector<Vec3d> local;
  std::vector<Vec3d> unreached;
  for (std::size_t i = 0; i < graph.local.size(); ++i) {
    if (std::isfinite(skeleton.distance_m[graph.order[i]]))
      local.push_back(graph.local[i]);
    else
      unreached.push_back(graph.local[i]);
  }
  graph = PointGraph();
  skeleton.node_of_point.reset();
  skeleton.distance_m.reset();
  for (SkeletonNode& node : skeleton.nodes) node.position = node.position - origin;

  ctx.begin_phase("Segmenting shoots", 0);
  std::vector<QsmCylinder>& cylinders = result.qsm.cylinders;
  cylinders = shoot_tree(
      skeleton.nodes,
      {params.w_growthlength, params.w_area, params.w_colinear, tapered ? kTaperedGrowth : kGrowth}, ctx);
  if (cylinders.empty()) return result;
  // Small plants that were enlarged have no trunk of a metre: what is as wide there are their leaves.
  const double trunk_m = build.factor > 1 ? 0 : trunk_width(cylinders, local.view(), ctx);
  tell_thick_trunk(trunk_m, tapered, result);
  if (tapered) {
    const std::vector<double> width =
        axis_widths(cylinders, local.view(), reach_of(tapered, trunk_m).reach_m, ctx);
    cylinders = join_short(cylinders, width, kTaperedPiece, kTaperedPerWidth);
  }

  const auto [seeds, surface] = fitted_axes(cylinders, local.view(), tapered, trunk_m, ctx);
  const std::vector<StretchRadius> stretches =
      tapered ? stem_stretches(seeds, cylinders, surface, local.view(), ctx) : std::vector<StretchRadius>();
  if (tapered) {
    connect_axes(cylinders);
    meet_parents(cylinders, kTaperedOverhang * spacing_m);
    reach_ends(cylinders, surface, kTaperedOverhang * spacing_m);
  } else {
    reconnect_shoots(cylinders);
  }

  ctx.begin_phase("Correcting radii", 0);
  const RadiusErrors errors = corrected(build, surface, stretches, result);

  ctx.begin_phase("Resolving shoot ranks", 0);
  if (params.axis_termination) axis_termination(cylinders, params.fork_symmetry);
  result.qsm.shoots = collect_shoots(cylinders);
  const VolumeIntervals volumes = volume_intervals(cylinders, errors, ctx);
  result.total = volumes.total;
  result.stem = volumes.stem;
  result.branches = volumes.branches;
  add_missing(points_beside(cylinders, surface, local.view(), unreached), build, result);
  for (QsmCylinder& c : cylinders) {
    c.start = c.start + origin;
    c.end = c.end + origin;
  }
  return result;
}

/// The radius of twigs that nobody measured.
bool is_usual_twig(double radius_m) { return std::fabs(radius_m / kTreeTwigRadius - 1) < 1e-9; }

/// It is in proportion to the plant.
QsmBuildParams params_of_small(QsmBuildParams params, double factor) {
  if (!is_usual_twig(params.twig_radius_m)) params.twig_radius_m *= factor;
  params.moved_m *= factor;
  return params;
}

/// The model of a plant that is smaller than a tree; empty where its organs are as thick as those of trees.
QsmBuildResult build_small(Span<const Vec3d> points, const QsmBuildParams& params, const PlantScale& scale,
                           OpContext& ctx) {
  const double factor = scale.factor;
  const BulkVector<Vec3d> large = enlarged(points, scale, ctx);
  QsmBuildResult result = build_tree(large.view(), {params_of_small(params, factor), factor}, ctx);
  std::vector<QsmCylinder>& cylinders = result.qsm.cylinders;
  if (cylinders.empty() || typical_radius(cylinders) > kThickest) return {};
  reduce(cylinders, scale);
  for (VolumeInterval* interval : {&result.total, &result.stem, &result.branches}) {
    interval->low /= cube(factor);
    interval->high /= cube(factor);
  }
  result.scale = scale;
  if (is_usual_twig(params.twig_radius_m) && factor >= kToldEnlargement)
    result.warnings.push_back(
        "the plant spans only " + metres(scale.span_m) +
        ": what is known of trees was taken in proportion, the radius of its twigs as " +
        millimetres(kTreeTwigRadius / factor) + " (twig_radius_mm, if you measured it)");
  return result;
}

}  // namespace

std::uint64_t build_qsm_cost(std::uint64_t point_count) { return 274 * point_count + (4 << 20); }

QsmBuildResult build_qsm(HitPoints points, const QsmBuildParams& params, OpContext& ctx) {
  check(params);
  const PlantScale scale = plant_scale(points.xyz(), kTreeSpan, ctx);
  if (scale.factor > 1) {
    QsmBuildResult small = build_small(points.xyz(), params, scale, ctx);
    if (!small.qsm.cylinders.empty()) return small;
  }
  return build_tree(points.xyz(), {params, 1}, ctx);
}

}  // namespace pc
