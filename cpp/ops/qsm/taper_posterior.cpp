#include "ops/qsm/taper_posterior.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pc {

namespace {

constexpr double kAxisReach = 3.0;   // metres along which ln(radius / law) stays alike
constexpr double kForkKeep = 0.8;    // of it that a branch inherits
constexpr double kForkGrowth = 0.5;  // power of the share of the growth that the branch has
constexpr double kJumpError = 0.3;   // of what the law changes by from piece to piece of an axis
constexpr double kStudent = 4;       // degrees of freedom
constexpr int kRounds = 3;

Belief combine(const Belief& a, const Belief& b) {
  if (!std::isfinite(b.variance)) return a;
  if (!std::isfinite(a.variance)) return b;
  const double variance = 1 / (1 / a.variance + 1 / b.variance);
  return {variance * (a.mean / a.variance + b.mean / b.variance), variance};
}

/// How the deviation of a cylinder follows from that of its parent: keep * parent + noise.
struct Step {
  double keep = 0, variance = 0;
  bool tells = false;  ///< the parent learns from it
};

std::vector<Step> steps_of(const std::vector<QsmCylinder>& cylinders, const TaperPrior& prior) {
  std::vector<Step> steps(cylinders.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const QsmCylinder& c = cylinders[i];
    const auto parent = static_cast<std::size_t>(c.parent_id);
    Step& step = steps[i];
    if (c.parent_id >= 0 && prior.law_of[i] == prior.law_of[parent]) {
      step.tells = cylinders[parent].shoot_id == c.shoot_id;
      step.keep = std::exp(-c.length_m() / kAxisReach);
      const double share =
          prior.growth_m[parent] > 0 ? std::min(1.0, prior.growth_m[i] / prior.growth_m[parent]) : 1;
      if (!step.tells) step.keep *= kForkKeep * std::pow(share, kForkGrowth);
    }
    step.variance = prior.spread[i] * prior.spread[i] * (1 - step.keep * step.keep) + 1e-8;
    if (step.tells) {
      const double jump = kJumpError * (prior.log_radius[i] - prior.log_radius[parent]);
      step.variance += jump * jump;
    }
  }
  return steps;
}

/// Estimates, and what each cylinder and everything it carries say about it.
struct Smoothed {
  std::vector<Belief> out, up;
};

Smoothed smoothed(const std::vector<QsmCylinder>& cylinders, const std::vector<Belief>& seen,
                  const std::vector<Step>& steps, const std::vector<double>& spread) {
  const std::size_t count = cylinders.size();
  std::vector<Belief> up(count), message(count), above(count), out(count);
  // Up: without the prior.
  for (std::size_t i = count; i-- > 0;) {
    up[i] = combine(seen[i], above[i]);
    const Step& step = steps[i];
    if (!step.tells || !(step.keep > 0) || !std::isfinite(up[i].variance)) continue;
    message[i] = {up[i].mean / step.keep, (up[i].variance + step.variance) / (step.keep * step.keep)};
    Belief& into = above[static_cast<std::size_t>(cylinders[i].parent_id)];
    into = combine(into, message[i]);
  }
  // Down: what the rest of the tree says.
  for (std::size_t i = 0; i < count; ++i) {
    Belief outside{0, spread[i] * spread[i]};
    if (cylinders[i].parent_id >= 0) {
      Belief rest = out[static_cast<std::size_t>(cylinders[i].parent_id)];
      if (std::isfinite(message[i].variance)) {  // without what this cylinder told it
        const double precision = std::max(1 / rest.variance - 1 / message[i].variance, 1e-12);
        rest = {(rest.mean / rest.variance - message[i].mean / message[i].variance) / precision,
                1 / precision};
      }
      const double keep = steps[i].keep;
      outside = {keep * rest.mean, keep * keep * rest.variance + steps[i].variance};
    }
    out[i] = combine(outside, up[i]);
  }
  return {std::move(out), std::move(up)};
}

/// Given the parent's deviation, what is known of a cylinder's is keep * that with the step's variance, and `up`.
void describe_errors(TaperPosterior& out, const std::vector<Belief>& up, const std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double told =
        std::isfinite(up[i].variance) ? up[i].variance / (up[i].variance + steps[i].variance) : 1;
    out.follows.push_back(told * steps[i].keep);
    out.fresh.push_back(told * steps[i].variance);
  }
}

/// What an error of a law does: all deviations from it err by its opposite.
void describe_levels(TaperPosterior& out, const std::vector<QsmCylinder>& cylinders, std::vector<Belief> seen,
                     const std::vector<Step>& steps, const TaperPrior& prior) {
  for (Belief& belief : seen) belief.mean = -1;
  const std::vector<Belief> moved = smoothed(cylinders, seen, steps, prior.spread).out;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    out.law_share.push_back(1 + moved[i].mean);
    if (prior.law_of[i] >= out.level_information.size()) out.level_information.resize(prior.law_of[i] + 1, 0);
    if (std::isfinite(seen[i].variance))
      out.level_information[prior.law_of[i]] += std::max(0.0, out.law_share[i]) / seen[i].variance;
  }
}

}  // namespace

TaperPosterior taper_posterior(const std::vector<QsmCylinder>& cylinders, const std::vector<Belief>& measured,
                               const TaperPrior& prior) {
  const std::vector<Step> steps = steps_of(cylinders, prior);
  std::vector<Belief> seen(cylinders.size());
  Smoothed found;
  std::vector<double> weight(cylinders.size(), 1);
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < seen.size(); ++i)
      seen[i] = {measured[i].mean - prior.log_radius[i], measured[i].variance / weight[i]};
    found = smoothed(cylinders, seen, steps, prior.spread);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (!std::isfinite(measured[i].variance)) continue;
      const double off = seen[i].mean - found.out[i].mean;
      weight[i] = (kStudent + 1) / (kStudent + off * off / measured[i].variance);
    }
  }
  TaperPosterior out{std::move(found.out), {}, {}, {}, {}};
  describe_errors(out, found.up, steps);
  describe_levels(out, cylinders, std::move(seen), steps, prior);
  return out;
}

}  // namespace pc
