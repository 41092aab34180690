#include "io/json_text.h"

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <string_view>

#include "core/error.h"

namespace pc::io {

namespace {

/// Characters of a number with its comma and its share of the brackets: the longest float has 15, the longest double 24.
constexpr std::size_t kNumberBytes = 28;

/// Writes into a block that is large enough.
class Writer {
 public:
  explicit Writer(Column<std::uint8_t>& out) : begin_(reinterpret_cast<char*>(out.view().data)), p_(begin_) {}
  void put(char c) { *p_++ = c; }
  void put(std::string_view text) {
    std::memcpy(p_, text.data(), text.size());
    p_ += text.size();
  }
  template <std::integral T>
  void number(T value) {
    p_ = std::to_chars(p_, p_ + kNumberBytes, value).ptr;
  }
  template <std::floating_point T>
  void number(T value) {
    if (!std::isfinite(value)) return put("null");
    p_ = std::to_chars(p_, p_ + kNumberBytes, value).ptr;
  }
  std::size_t size() const { return static_cast<std::size_t>(p_ - begin_); }

 private:
  char* begin_;
  char* p_;
};

std::uint64_t width_of(JsonForm form) {
  switch (form) {
    case JsonForm::kPairs:
      return 2;
    case JsonForm::kTriples:
    case JsonForm::kCounts:
      return 3;
    case JsonForm::kNumbers:
    case JsonForm::kText:
    case JsonForm::kJson:
      break;
  }
  return 1;
}

template <class ValueAt>
void rows(Writer& out, const JsonPart& part, ValueAt&& value_at) {
  const std::uint64_t width = width_of(part.form);
  for (std::uint64_t i = 0; i < part.count; ++i) {
    if (i > 0 && i % width == 0) out.put(',');
    if (width > 1 && i % width == 0) out.put('[');
    if (i % width != 0) out.put(',');
    out.number(value_at(part.first + i));
    if (width > 1 && i % width == width - 1) out.put(']');
  }
}

void text(Writer& out, Span<const std::uint8_t> bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const std::uint8_t byte : bytes) {
    const char c = static_cast<char>(byte);
    if (c == '"' || c == '\\') {
      out.put('\\');
      out.put(c);
    } else if (c == '\n') {
      out.put("\\n");
    } else if (byte < 0x20) {
      out.put("\\u00");
      out.put(kHex[byte >> 4]);
      out.put(kHex[byte & 15]);
    } else {
      out.put(c);
    }
  }
}

/// Coordinates far from 0 have no use for digits below 0.1 micrometres.
double shifted(double origin, double value) {
  constexpr double kSteps = 1e7;
  return std::round((origin + value) * kSteps) / kSteps;
}

void values(Writer& out, const AnyColumn& column, const JsonPart& part) {
  const auto of = [&](auto view) {
    rows(out, part, [view](std::uint64_t i) { return view[static_cast<std::size_t>(i)]; });
  };
  const double origin[3] = {part.origin.x, part.origin.y, part.origin.z};
  const auto moved = [&](auto view) {
    rows(out, part,
         [&](std::uint64_t i) { return shifted(origin[i % 3], view[static_cast<std::size_t>(i)]); });
  };
  if (part.form == JsonForm::kTriples && column.dtype() == DType::kF64) return moved(column.as<double>());
  if (part.form == JsonForm::kTriples && part.origin != Vec3d{0, 0, 0}) return moved(column.as<float>());
  switch (column.dtype()) {
    case DType::kF32:
      return of(column.as<float>());
    case DType::kU32:
      return of(column.as<std::uint32_t>());
    case DType::kU8: {
      const auto view = column.as<std::uint8_t>();
      return rows(out, part,
                  [view](std::uint64_t i) -> std::uint32_t { return view[static_cast<std::size_t>(i)]; });
    }
    default:
      throw Error(ErrorCode::kInvalidArgument,
                  std::string("a column of ") + dtype_name(column.dtype()) + " has no JSON text");
  }
}

}  // namespace

Column<std::uint8_t> json_text(const AnyColumn& column, const JsonPart& part, OpContext& ctx) {
  const std::uint64_t width = width_of(part.form);
  require(part.first <= column.size() && part.count <= column.size() - part.first,
          "the part ends behind the column");
  require(part.count <= kMaxJsonPart, "the part is too large");
  require(part.first % width == 0 && part.count % width == 0, "the part does not have whole rows");
  ctx.begin_phase("Writing JSON", 0);
  const std::size_t room =
      static_cast<std::size_t>(part.count) * (part.form == JsonForm::kText ? 6 : kNumberBytes);
  Column<std::uint8_t> block(room);
  Writer out(block);
  if (part.form == JsonForm::kCounts) {
    rows(out, part, [](std::uint64_t i) { return i; });
  } else if (part.form == JsonForm::kJson) {
    const auto bytes = column.as<std::uint8_t>().subspan(static_cast<std::size_t>(part.first),
                                                         static_cast<std::size_t>(part.count));
    out.put(std::string_view(reinterpret_cast<const char*>(bytes.data), bytes.size));
  } else if (part.form == JsonForm::kText) {
    text(out, column.as<std::uint8_t>().subspan(static_cast<std::size_t>(part.first),
                                                static_cast<std::size_t>(part.count)));
  } else {
    values(out, column, part);
  }
  block.shrink(out.size());
  return block;
}

}  // namespace pc::io
