#pragma once

namespace pc {

/// Probability that Student's t with `degrees` of freedom (above 0) is at most t.
/// Source   DLMF 8.17.22 (continued fraction of the incomplete beta function), evaluated by Lentz's method.
double student_t_probability(double t, double degrees);

/// The value that Student's t with `degrees` of freedom is at most with `probability`, 0 < probability < 1.
/// Order    Relative error below 1e-10.
double student_t_quantile(double probability, double degrees);

}  // namespace pc
