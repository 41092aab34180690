#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/column.h"
#include "core/op_context.h"

namespace pc::io {

/// A field of the objects of a list, and the rule of its values.
struct RecordField {
  enum class Kind : std::uint8_t {
    kNumber,   ///< one number
    kPoint,    ///< [x, y, z]
    kNumbers,  ///< list of numbers, each by the rule
  };
  std::string name;
  Kind kind = Kind::kNumber;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;          ///< `min` itself is not allowed
  bool whole = false;              ///< whole numbers only
  bool nullable = false;           ///< null is NaN
  std::optional<double> fallback;  ///< value of a field that is absent, NaN for null; empty list for kNumbers
};

/// What a request expects at one place of its JSON document.
struct JsonShape {
  enum class Kind : std::uint8_t {
    kValue,    ///< any value; it stays in the document
    kObject,   ///< an object with `fields`
    kArray,    ///< a list of values, each of the shape in `fields`
    kRecord,   ///< an object with any keys, each value of the shape in `fields`
    kPoints,   ///< list of [x, y, z] with finite numbers: a vec3d column
    kNumbers,  ///< list of finite numbers: an f64 column
    kHeights,  ///< list of finite numbers and nulls, or a list of such lists: an f64 column, null is NaN
    kFlags,    ///< list of true and false: a u8 column, 1 and 0
    kText,     ///< string: a u8 column of its UTF-8 bytes
    kRecords,  ///< list of objects with the fields of `columns`: an f64 table, and an f64 column of their lists
  };
  Kind kind = Kind::kValue;
  std::vector<std::pair<std::string, JsonShape>>
      fields;                             ///< of arrays and records: one, the shape of their values
  std::vector<RecordField> columns = {};  ///< of kRecords
};

/// A list, or a text, that was taken out of the document.
struct JsonList {
  std::uint64_t length = 0;  ///< elements as written; points and rows count as one; bytes of a text
  bool valid = false;        ///< every element is what the shape expects
  AnyColumn column;          ///< all values in order; empty if not valid

  // Of kRecords.
  AnyColumn items = {};           ///< values of their lists, record by record in the order of the fields
  std::uint64_t wrong_index = 0;  ///< not valid: the first record against a rule,
  std::string wrong_text = {};    ///< and its JSON; empty if it is long
  std::vector<std::string> unknown =
      {};  ///< keys that no field has, where first met, at most 16: "[3].colour"
};

struct JsonDocument {
  /// The document without its lists: the i-th list is the string "<token>i". Values of keys that an object's shape does
  /// not have are null. The text is valid JSON; bytes above 0x7f are copied, also if they are not UTF-8.
  std::string rest;
  std::vector<JsonList> lists;
  bool blank = false;      ///< the text has only white space: there is no document
  bool too_large = false;  ///< `rest` would exceed its limit; nothing else is set
};

struct JsonLimits {
  std::size_t rest_bytes;
  std::uint32_t depth;  ///< deepest nesting of lists and objects
};

/// Reads a JSON text (RFC 8259): lists of numbers that `shape` expects become columns, the rest stays text.
///
/// text     UTF-8, with kDecimalPadding readable bytes after its end that are no digits; a byte order mark is skipped.
/// token    Marks the lists in `rest`; the caller chooses one that the text cannot contain.
/// Values   The doubles of JSON.parse: correctly rounded; a number beyond the range of double is infinite, so not valid.
/// Keys     As with JSON.parse, later members replace earlier ones of the same name; here both stay in `rest`. The keys
///          "__proto__", and "prototype" in a member "constructor", are refused.
/// Cost     O(text) time, and some microseconds per list for its pages; memory for the columns, exactly.
/// Cancel   Within 250 ms.
/// Errors   kInvalidArgument with the byte offset: not JSON, nested deeper than the limit, a refused key.
JsonDocument read_json_lists(std::string_view text, const JsonShape& shape, const std::string& token,
                             const JsonLimits& limits, OpContext& ctx);

}  // namespace pc::io
