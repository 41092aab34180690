#pragma once
#include <cstddef>
#include <vector>

#include "core/span.h"

namespace pc {

/// The linear problem of one step: min |R s + c|^2 + damping^2 |s|^2, low <= s <= high, low <= 0 <= high.
struct StepProblem {
  Span<const double> triangle;    ///< R (n x n) column by column
  Span<const double> right_side;  ///< c (n)
  Span<const double> low, high;   ///< (n) may be infinite
  double damping;                 ///< 0 = none; columns that depend on others then keep 0
};

struct BoundedStep {
  std::vector<double> s;          ///< (n)
  std::vector<signed char> held;  ///< (n) -1 = at its lower bound, 1 = at its upper one
  double decrease;                ///< |c|^2 - |R s + c|^2
};

/// Cost     O(n^3) for each set of held variables, of which there are few.
/// Source   Stark & Parker 1995, Computational Statistics 10: 129, started from s = 0.
BoundedStep bounded_step(const StepProblem& problem);

}  // namespace pc
