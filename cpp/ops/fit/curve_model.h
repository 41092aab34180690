#pragma once
#include <cstddef>
#include <vector>

#include "core/op_context.h"
#include "core/span.h"
#include "ops/fit/expression.h"

namespace pc {

/// A curve to fit. Symbols of the program: the parameters, then the output if the curve is implicit, then the inputs.
struct CurveModel {
  ExpressionProgram program;
  std::size_t parameter_count;
  bool implicit;  ///< the program is 0 where the output lies on the curve; else it is the output
};

struct CurveData {
  std::vector<std::vector<double>> inputs;  ///< each (rows)
  std::vector<double> measured;             ///< (rows) the output
};

/// Values of a curve at the rows of the data, with exact derivatives.
///
/// An implicit curve f(x, y, p) = 0 has for each row the root y that Newton's method (with halved steps) reaches from the
/// measured output, or else the nearest change of sign; its derivatives are -f_p / f_y.
class CurvePrediction {
 public:
  /// Errors   kInvalidArgument: as Expression; columns of different length, values that are not finite, no row.
  CurvePrediction(const CurveModel& model, const CurveData& data);

  std::size_t row_count() const { return data_.measured.size(); }

  /// x          (parameter_count)
  /// fitted     (row_count)
  /// jacobian   (parameter_count * row_count) parameter by parameter, or empty
  /// Returns false if a row has no finite value, or no root.
  /// Cost       O(rows operations parameters), for an implicit curve about 6 times.
  /// Cancel     Every 64 rows.
  bool evaluate(Span<const double> x, Span<double> fitted, Span<double> jacobian, const OpContext& ctx);

 private:
  bool explicit_rows(std::size_t first, std::size_t count, Span<double> fitted, Span<double> jacobian);
  bool implicit_rows(std::size_t first, std::size_t count, Span<double> fitted, Span<double> jacobian);
  bool newton(std::size_t first, std::size_t count);
  bool bracketed_root(std::size_t row);
  bool bisect(std::size_t row, double low, double high);
  double function(std::size_t row, double y);
  Span<const SymbolValues> symbols() const { return {symbols_.data(), symbols_.size()}; }

  const CurveData& data_;
  const OpContext* ctx_ = nullptr;  ///< of the evaluation under way
  std::size_t parameters_;
  bool implicit_;
  Expression expression_;
  std::vector<double> roots_;  ///< (row_count) of an implicit curve
  std::vector<SymbolValues> symbols_;
  std::vector<double> workspace_, derivatives_;
};

}  // namespace pc
