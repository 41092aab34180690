#include "ops/fit/bounded_step.h"

#include <algorithm>
#include <cmath>

#include "ops/fit/householder.h"

namespace pc {

namespace {

constexpr double kDependent = 1e-13;  // columns closer than this to others carry rounding errors alone

using Held = std::vector<signed char>;

/// R s + c
std::vector<double> residual(const StepProblem& problem, const std::vector<double>& s) {
  const std::size_t n = s.size();
  std::vector<double> out(problem.right_side.begin(), problem.right_side.end());
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i <= j; ++i) out[i] += problem.triangle[j * n + i] * s[j];
  return out;
}

/// Half the gradient of the damped problem.
std::vector<double> gradient(const StepProblem& problem, const std::vector<double>& s) {
  const std::size_t n = s.size();
  const std::vector<double> rest = residual(problem, s);
  std::vector<double> out(n);
  for (std::size_t j = 0; j < n; ++j) {
    out[j] = problem.damping * problem.damping * s[j];
    for (std::size_t i = 0; i <= j; ++i) out[j] += problem.triangle[j * n + i] * rest[i];
  }
  return out;
}

/// The best change of the variables that are not held.
std::vector<double> free_change(const StepProblem& problem, const std::vector<double>& s, const Held& held) {
  const std::size_t n = s.size();
  std::vector<std::size_t> free;
  for (std::size_t j = 0; j < n; ++j)
    if (held[j] == 0) free.push_back(j);
  const std::size_t count = free.size();
  const std::size_t rows = n + (problem.damping > 0 ? count : 0);
  std::vector<double> matrix(rows * (count + 1), 0.0);
  for (std::size_t k = 0; k < count; ++k) {
    std::copy_n(problem.triangle.begin() + free[k] * n, free[k] + 1, matrix.begin() + k * rows);
    if (problem.damping > 0) {
      matrix[k * rows + n + k] = problem.damping;
      matrix[count * rows + n + k] = problem.damping * s[free[k]];
    }
  }
  const std::vector<double> rest = residual(problem, s);
  std::copy(rest.begin(), rest.end(), matrix.begin() + count * rows);
  const PivotedSolution solved = solve_pivoted(matrix, rows, count, problem.damping > 0 ? 0 : kDependent);
  std::vector<double> change(n, 0.0);
  for (std::size_t k = 0; k < count; ++k) change[free[k]] = solved.x[k];
  return change;
}

/// Moves along `change` up to the first bound, which is then held. Returns false if a bound stopped the move.
bool move(const StepProblem& problem, const std::vector<double>& change, std::vector<double>& s, Held& held) {
  double length = 1;
  std::size_t stop = s.size();
  for (std::size_t j = 0; j < s.size(); ++j) {
    const double bound = change[j] < 0 ? problem.low[j] : problem.high[j];
    if (held[j] != 0 || change[j] == 0 || std::abs(bound) == HUGE_VAL) continue;
    const double reach = (bound - s[j]) / change[j];
    if (reach < length) {
      length = std::max(reach, 0.0);
      stop = j;
    }
  }
  for (std::size_t j = 0; j < s.size(); ++j)
    if (held[j] == 0) s[j] = std::clamp(s[j] + length * change[j], problem.low[j], problem.high[j]);
  if (stop == s.size()) return true;
  held[stop] = change[stop] < 0 ? -1 : 1;
  s[stop] = change[stop] < 0 ? problem.low[stop] : problem.high[stop];
  return false;
}

/// Frees the held variable that pulls hardest inwards. Returns false if there is none.
bool release(const StepProblem& problem, const std::vector<double>& s, Held& held, double least) {
  const std::vector<double> slope = gradient(problem, s);
  std::size_t best = s.size();
  double pull = least;
  for (std::size_t j = 0; j < s.size(); ++j) {
    if (held[j] == 0 || problem.low[j] == problem.high[j]) continue;
    const double inward = held[j] < 0 ? -slope[j] : slope[j];
    if (inward > pull) {
      pull = inward;
      best = j;
    }
  }
  if (best == s.size()) return false;
  held[best] = 0;
  return true;
}

double squared(const std::vector<double>& v) {
  double sum = 0;
  for (const double value : v) sum += value * value;
  return sum;
}

}  // namespace

BoundedStep bounded_step(const StepProblem& problem) {
  constexpr double kRounding = 1e-14;
  const std::size_t n = problem.right_side.size;
  BoundedStep out{std::vector<double>(n, 0.0), Held(n, 0), 0};
  const std::vector<double> slope = gradient(problem, out.s);
  double steepest = 0;
  for (std::size_t j = 0; j < n; ++j) {
    steepest = std::max(steepest, std::abs(slope[j]));
    if (problem.low[j] == 0 && (slope[j] > 0 || problem.high[j] == 0)) out.held[j] = -1;
    if (problem.high[j] == 0 && slope[j] < 0) out.held[j] = 1;
  }
  const std::size_t most =
      10 * n + 10;  // each set of held variables lowers the sum; this only bounds rounding
  for (std::size_t round = 0; round < most; ++round) {
    if (!move(problem, free_change(problem, out.s, out.held), out.s, out.held)) continue;
    if (!release(problem, out.s, out.held, kRounding * steepest)) break;
  }
  const std::vector<double> start(problem.right_side.begin(), problem.right_side.end());
  out.decrease = squared(start) - squared(residual(problem, out.s));
  return out;
}

}  // namespace pc
