#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/span.h"

namespace pc {

/// Operations of a program. Each takes its operands from the top of a stack and leaves its value there.
enum class ExpressionOp : std::uint8_t {
  kConstant,  ///< argument: index of a constant
  kSymbol,    ///< argument: index of a symbol
  kNegative,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kMin,  ///< of two; the first of equal ones
  kMax,
  kSqrt,
  kExp,
  kLog,
  kLog10,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAbs,
};
inline constexpr std::uint32_t kExpressionOpCount = 24;

/// A program in postfix order. code: operation + 256 * argument.
struct ExpressionProgram {
  std::vector<std::uint32_t> code;
  std::vector<double> constants;
  std::size_t symbol_count;
};

/// The values of a symbol: one for every row, or one for all.
struct SymbolValues {
  const double* values;
  bool per_row;
};

/// Evaluates a program with exact first derivatives by its first symbols (forward mode: each operation carries the
/// derivatives that its operands depend on).
///
/// Derivatives where a function has none: 0 for abs at 0 and for x**y by y at x = 0; of min and max, those of the value
/// taken. A factor that does not depend on a symbol adds 0 even where the other one has an infinite derivative.
class Expression {
 public:
  static constexpr std::size_t kBlock = 64;           ///< rows evaluated together
  static constexpr std::size_t kMaxDirections = 64;   ///< symbols with derivatives
  static constexpr std::size_t kMaxLength = 100'000;  ///< operations
  static constexpr std::size_t kMaxDepth = 1000;      ///< values on the stack

  /// direction_count   derivatives are taken by the symbols 0 .. direction_count - 1
  /// Errors   kInvalidArgument: an unknown operation, an index out of range, a stack that runs empty or beyond kMaxDepth,
  ///          more or less than one value at the end, sizes above the limits.
  Expression(ExpressionProgram program, std::size_t direction_count);

  /// Numbers that evaluate() works in.
  std::size_t workspace_size() const { return depth_ * slot_size(); }
  std::size_t direction_count() const { return directions_; }
  /// Whether the value depends on symbol j < direction_count.
  bool depends_on(std::size_t j) const {
    return ((masks_.back().first | masks_.back().second) >> j & 1) != 0;
  }

  /// Values and derivatives of rows first .. first + count - 1.
  ///
  /// symbols      (symbol_count) per-row values are read at the row
  /// count        at most kBlock
  /// values       (count)
  /// derivatives  that of row i by symbol j goes to j * stride + i; nullptr = not wanted
  /// workspace    (workspace_size())
  /// Cost         O(operations directions count).
  void evaluate(Span<const SymbolValues> symbols, std::size_t first, std::size_t count, double* values,
                double* derivatives, std::size_t stride, double* workspace) const;

 private:
  struct Operands {
    std::uint64_t first, second;
  };

  std::size_t slot_size() const { return kBlock * (1 + directions_); }
  void append_masks(std::uint32_t code, std::vector<std::uint64_t>& stack);

  ExpressionProgram program_;
  std::size_t directions_;
  std::size_t depth_ = 0;
  /// Per operation: the symbols that each operand depends on; for a symbol, itself.
  std::vector<Operands> masks_;
};

}  // namespace pc
