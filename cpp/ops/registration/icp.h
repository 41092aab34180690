#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/memory.h"
#include "core/op_context.h"
#include "core/span.h"
#include "core/vec3.h"
#include "ops/registration/global_alignment.h"
#include "ops/registration/icp_system.h"
#include "ops/registration/rigid_transform.h"
#include "ops/registration/surface_agreement.h"

namespace pc {

/// One side of a registration: every stride-th of the rows that `skip` does not mark.
struct IcpSide {
  Span<const Vec3d> positions;    ///< metres
  Span<const std::uint8_t> skip;  ///< non-zero = leave out; empty = keep all
  Vec3d shift;                    ///< added to the positions: from their frame to the common one
  std::uint64_t stride;           ///< >= 1
};

/// How a start is found when none is given.
enum class IcpInitial : std::uint8_t {
  kCentroid,  ///< centroid on centroid, or as placed if that fits better
  kAuto,      ///< global_alignment.h; where it finds nothing, as kCentroid
};

struct IcpParams {
  IcpMethod method;
  IcpInitial initial;
  std::optional<RigidTransform> start;  ///< in the common frame; nothing = found as `initial` says
  std::optional<double> max_correspondence_distance_m;  ///< nothing = 5 % of the fixed side's robust diagonal
  double rmse_threshold_m;                              ///< a level ends when a batch lowers the RMSE by less
  std::uint32_t max_iterations;                         ///< of all levels together, >= 1
};

/// Where the iterations began.
enum class IcpStart : std::uint8_t {
  kGiven,
  kCentroid,  ///< centroid on centroid, not turned
  kAsPlaced,  ///< where the sides lie, because they fit better there than centroid on centroid
  kGlobal,    ///< the pose of the global alignment
};

struct IcpProgress {
  std::uint32_t iterations;  ///< since the start
  double rmse_m;             ///< distances of the pairs of the last iteration; 0 without pairs
  double voxel_m;            ///< level of detail of the next iteration; 0 = all points
  bool finished;
};

/// The state before one iteration's step.
struct IcpIteration {
  double voxel_m;  ///< level of detail; 0 = all points
  double limit_m;  ///< pairs farther apart were not used
  double rmse_m;   ///< distances of the used pairs of the moving points; 0 without any
  std::uint64_t pair_count;
};

/// How firmly the surfaces fix the pose.
struct IcpConditioning {
  /// Smallest over largest eigenvalue of the point-to-plane normal matrix at the pose, in the units of IcpFrame: 0 for
  /// a motion that keeps every point on its plane. 0 without pairs.
  double ratio;
  Vec3d turn;   ///< of the motion that belongs to the smallest eigenvalue: axis times radius_m
  Vec3d shift;  ///< its shift; turn and shift together have length 1
};

struct IcpResult {
  RigidTransform pose;  ///< moving onto fixed, in the common frame
  IcpStart start;
  std::optional<GlobalAlignment>
      global;                ///< kAuto: what the search found; its pose is between the centroids' frames
  double robust_diagonal_m;  ///< of the fixed side
  double moving_diagonal_m;  ///< the same of the moving side
  double max_correspondence_distance_m;  ///< the limit in effect
  double fitness, rmse_m;                ///< moving points with a partner within that limit; their distances
  double final_limit_m;                  ///< the limit that the residuals narrowed it to
  double final_fitness, final_rmse_m;    ///< the same within final_limit_m
  double spacing_m;                      ///< typical distance to the sixth neighbour, of the coarser side
  bool converged;                        ///< the last step moved the points by less than 1e-4 of the spacing
  bool kept_start;  ///< the iterations ended in a place that fits worse: pose is the start
  IcpConditioning conditioning;
  SurfaceAgreement surface;  ///< at the finest level that leaves at most kJudgedPoints of the smaller side
  std::vector<IcpIteration> history;
  std::uint64_t fixed_count, moving_count;                ///< points used, before thinning
  std::uint64_t fixed_unusable, moving_unusable;          ///< not finite or beyond 1e15 m
  std::uint64_t fixed_finest_count, moving_finest_count;  ///< points at the finest level
  std::vector<std::string> warnings;                      ///< why the CPU computed what the GPU was asked for
};

enum class IcpVerdict : std::uint8_t {
  kConfirmed,     ///< a search among all poses finds this one, and no other one comes near it
  kContradicted,  ///< it finds another one, at which the sides fit better
  kUndecided,     ///< no pose stands out, or none that fits better than this one
};

/// What a search among all poses says of the pose that was reached.
struct IcpCheck {
  IcpVerdict verdict;
  GlobalAlignment found;  ///< its pose is between the centroids' frames
  /// From the reached pose to the one that was found: angle; how far it puts the middle of the moving side. 0 if the
  /// search found nothing.
  double turn_rad, shift_m;
  /// The pose that was found lies where the sides were sent, and the iterations began with the centroids on each other.
  bool is_as_placed;
};

/// Iterative closest points from coarse to fine: finds the rigid motion that puts the moving side onto the fixed one,
/// from a start near enough.
///
/// Levels   Voxel means of 2 % of the robust diagonal and each time 2.5 times finer, down to 1.5 spacings; then all
///          points, or with more than 1,000,000 on a side, voxel means that leave as many.
/// Limit    Begins at max_correspondence_distance_m. Each iteration narrows it to 4 sigma of the distances (from their
///          35 % quantile, as if Rayleigh-distributed), not below 3 spacings of the level: partial overlap does not
///          drag the pose, as what has no counterpart is soon out of reach. From a global alignment it begins at 3 of
///          its voxels, with levels that are not much coarser than those.
/// Step     icp_system.h, scale 1.4826 x median residual x 2.385 (Cauchy with 95 % efficiency: Holland & Welsch 1977).
///          Directions whose eigenvalue is below 1e-4 of the largest are left alone (Zhang, Kaess & Singh 2016).
/// Check    The pose of a global alignment, refined down to the last level but one, is the same one if the points lie
///          within half a voxel of that level at both. Else it fits better if the mean squared distance of the moving points, cut off at
///          that voxel, is less by a tenth and by the square of a twentieth of the spacing, or if the search found it and it has 1.5 times the agreement
///          of the one reached; 1.3 times suffice where the sides were sent.
/// Order    The same bits for any thread count and device; the GPU finds the pairs. All sums are in float64 about the
///          centroids, so coordinates of 1e7 m cost no precision.
/// Cost     icp_bytes(); 2 x 500,000 points: 3 s of CPU with kGicp.
/// Cancel   Within 250 ms in each call.
class IcpRegistration {
 public:
  static constexpr std::size_t kLeastPoints = 4;
  static constexpr std::size_t kMostPoints = 1'000'000;
  static constexpr std::size_t kJudgedPoints = 20'000;

  /// Thins both sides, estimates normals and chooses the start.
  ///
  /// Errors   kInvalidArgument: fewer than 4 usable points on a side, all of a side at one place, a start together with
  ///          kAuto, a start, limit or threshold that is not finite, a limit of 0 or less, lengths that do not fit, 0 iterations.
  IcpRegistration(const IcpSide& fixed, const IcpSide& moving, const IcpParams& params, OpContext& ctx);

  /// A batch: runs up to so many iterations, fewer at the end.
  IcpProgress advance(std::uint32_t iterations, OpContext& ctx);
  /// The pose reached and how well it fits.
  IcpResult result(OpContext& ctx);
  /// Searches for a pose that fits better than the one reached, which stays; after result().
  IcpCheck check(OpContext& ctx);
  /// Goes on from the pose that check() found, with as many iterations as at first. Errors: kInvalidArgument before that.
  void take_found(OpContext& ctx);

 private:
  /// Usable points of a side about their centroid.
  struct Local {
    BulkVector<Vec3d> points;
    Vec3d center;  ///< in the common frame
    std::uint64_t count, unusable;
  };
  struct Fit {
    double share, rmse_m;
  };

  static Local local_points(const IcpSide& side, const char* name, OpContext& ctx);
  void add_levels(OpContext& ctx);
  void choose_start(OpContext& ctx);
  GlobalAlignment searched(OpContext& ctx) const;
  bool align(OpContext& ctx);
  void begin_at(const GlobalAlignment& found);
  void begin_level(OpContext& ctx);
  bool step(OpContext& ctx, const IcpGpu* gpu);
  void move(const IcpSystem& system, const IcpFrame& frame);
  double least_limit() const;
  bool level_ends(bool settled) const { return settled || level_left_ == 0; }
  Fit fit(const IcpPairs& pairs, double limit_m, OpContext& ctx) const;
  bool worse_than_start(double limit_m, OpContext& ctx, const IcpGpu* gpu);
  double misfit(const IcpScale& scale, const RigidTransform& pose, double limit_m, OpContext& ctx) const;
  IcpConditioning conditioning(const IcpPairs& pairs, OpContext& ctx) const;
  const IcpScale& judged_scale() const;
  RigidTransform local(const RigidTransform& common) const;
  /// The GPU of a call, until one has failed.
  std::optional<GpuRun> gpu_of(OpContext& ctx);
  std::optional<IcpGpu> gpu_with(std::optional<GpuRun>& run);

  IcpParams params_;
  Local fixed_, moving_;
  double diagonal_, greatest_limit_;
  double moving_diagonal_;        ///< likewise
  std::vector<IcpScale> levels_;  ///< coarse to fine
  IcpDevice device_;              ///< one of them on the GPU
  RigidTransform start_, pose_;   ///< between the centroids' frames
  IcpStart start_kind_ = IcpStart::kGiven;
  std::optional<GlobalAlignment> global_;
  std::size_t level_ = 0;
  std::uint32_t iterations_ = 0, level_left_ = 0;
  double limit_ = 0, moved_ = 0;
  double batch_rmse_ = -1;  ///< at the end of the last batch of this level; negative = none
  IcpFrame frame_{};        ///< of the level's moving points, not moved
  IcpPairs pairs_;
  bool converged_ = false, finished_ = false;
  std::optional<GlobalAlignment> other_;  ///< of check()
  std::vector<IcpIteration> history_;
  std::vector<std::string> warnings_;
};

/// Peak of memory needed besides the inputs, bytes.
std::uint64_t icp_bytes(std::uint64_t fixed_points, std::uint64_t moving_points, IcpInitial initial);

}  // namespace pc
