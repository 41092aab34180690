#include "io/record_row.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "io/header_lines.h"
#include "io/record_value.h"

namespace pc::io {

namespace {

using record_value::parse_double;
using record_value::parse_integer;
using record_value::skip_blanks;
using record_value::token_end;

template <class T>
bool store_integer(const char* first, const char* last, std::byte* to) {
  T value;
  if (!parse_integer(first, last, value)) return false;
  std::memcpy(to, &value, sizeof value);
  return true;
}

bool store_packed(const char* first, const char* last, bool from_float, std::byte* to) {
  std::uint32_t bits = 0;
  if (!record_value::parse_packed_color(first, last, from_float, bits)) return false;
  std::memcpy(to, &bits, sizeof bits);
  return true;
}

/// Skips a list: its count, then that many values. False if the line is too short for it.
bool skip_list(const char*& p, const char* end, const char* first, const char* last) {
  std::uint64_t count;
  if (!parse_integer(first, last, count)) return false;
  for (; count != 0; --count) {
    p = skip_blanks(p, end);
    if (p == end) return false;
    p = token_end(p, end);
  }
  return true;
}

}  // namespace

RecordRowParser::RecordRowParser(std::vector<TextToken> tokens, const std::vector<TableField>& fields)
    : tokens_(std::move(tokens)), fields_(fields) {
  for (const TableField& field : fields_) {
    offsets_.push_back(record_bytes_);
    if (field.use == FieldUse::kX) x_offset_ = record_bytes_;
    record_bytes_ += 8;
  }
  for (const TextToken& token : tokens_) {
    const bool from_float = token.type == DType::kF32 || token.type == DType::kF64;
    const DType type = token.is_list ? DType::kU8 : fields_[token.field].type;
    steps_.push_back(
        {type, token.is_list, token.packed_color, from_float, token.is_list ? 0 : offsets_[token.field]});
  }
}

bool RecordRowParser::store(const Step& step, const char* first, const char* last, std::byte* to) {
  if (step.packed_color) return store_packed(first, last, step.from_float, to);
  double value;
  switch (step.type) {
    case DType::kF64:
      if (!parse_double(first, last, value)) return false;
      std::memcpy(to, &value, sizeof value);
      return true;
    case DType::kF32: {
      if (!parse_double(first, last, value)) return false;
      const auto narrow = static_cast<float>(value);
      std::memcpy(to, &narrow, sizeof narrow);
      return true;
    }
    case DType::kU8:
      return store_integer<std::uint8_t>(first, last, to);
    case DType::kI8:
      return store_integer<std::int8_t>(first, last, to);
    case DType::kU16:
      return store_integer<std::uint16_t>(first, last, to);
    case DType::kI16:
      return store_integer<std::int16_t>(first, last, to);
    case DType::kU32:
      return store_integer<std::uint32_t>(first, last, to);
    case DType::kI32:
      return store_integer<std::int32_t>(first, last, to);
    case DType::kU64:
      return store_integer<std::uint64_t>(first, last, to);
    case DType::kI64:
      return store_integer<std::int64_t>(first, last, to);
    case DType::kVec3d:
    case DType::kRgb16:
      break;
  }
  return false;
}

RowOutcome RecordRowParser::parse(const char* p, const char* end, std::byte* record) const {
  RowOutcome out;
  for (std::size_t t = 0; t < steps_.size(); ++t) {
    const Step& step = steps_[t];
    const char* const first = p = skip_blanks(p, end);
    out.token = t;
    if (p == end) {
      out.missing_list = step.is_list && t + 1 == steps_.size();
      if (!out.missing_list) out.fault = RowFault::kTooFew;
      return out;
    }
    const char* const last = p = token_end(p, end);
    const bool ok =
        step.is_list ? skip_list(p, end, first, last) : store(step, first, last, record + step.offset);
    if (!ok) {
      out.fault = step.is_list ? RowFault::kBadList : RowFault::kBadValue;
      out.first = first;
      out.last = last;
      return out;
    }
  }
  out.surplus = skip_blanks(p, end) != end;
  return out;
}

void RecordRowParser::blank_out(std::byte* record) const {
  std::memset(record, 0, record_bytes_);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::memcpy(record + x_offset_, &nan, sizeof nan);
}

std::string RecordRowParser::describe(const RowOutcome& outcome, std::uint64_t line) const {
  const std::string where = "line " + std::to_string(line) + ": ";
  if (outcome.fault == RowFault::kTooFew) {
    return where + std::to_string(outcome.token) + " value(s) found, " + std::to_string(steps_.size()) +
           " expected";
  }
  const std::string value = quoted(std::string(outcome.first, outcome.last));
  if (outcome.fault == RowFault::kBadList)
    return where + "the list that starts with " + value + " is not complete";
  const TableField& field = fields_[tokens_[outcome.token].field];
  const DType type = tokens_[outcome.token].type;
  std::string what = where + value + " is not a value of \"" + field.name + "\" (" + dtype_name(type) + ")";
  if (std::find(outcome.first, outcome.last, ',') != outcome.last) {
    what += "; values must be separated by blanks, not commas";
  }
  return what;
}

}  // namespace pc::io
