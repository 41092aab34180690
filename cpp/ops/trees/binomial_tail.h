#pragma once

namespace pc {

/// Decimal logarithm of the probability that of n trials, each of probability p, k or more succeed. 0 where k is at most n p, where
/// it is about one half or more. Whole n >= k >= 0.
/// Source   The sum of the terms, relative to the first, which is the largest.
double log_binomial_tail(double n, double k, double p);

/// Decimal logarithm of the number of ways to choose k of n.
double log_choose(double n, double k);

}  // namespace pc
