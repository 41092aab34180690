#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/xml_reader.h"

namespace pc::io {

/// kInvalidFile: "structure document, line 12, element internode_length: <problem>".
[[noreturn]] void refuse_element(const XmlDocument& document, const XmlElement& element,
                                 const std::string& problem);

/// Where the number in a child element goes, and its range. Whole numbers and flags must be whole.
struct DocumentField {
  std::string_view name;
  std::variant<double*, std::uint32_t*, std::int32_t*, bool*> target;
  double least, most;
  bool required = true;
};

/// Reads the children of `parent`: those in `fields` into their targets, each at most once; `other` gets the rest.
void read_fields(const XmlDocument& document, const XmlElement& parent,
                 std::initializer_list<DocumentField> fields,
                 const std::function<void(const XmlElement&)>& other);

/// One number, surrounded by blanks or not.
double read_number(const XmlDocument& document, const XmlElement& element, double least, double most);
/// Numbers separated by `separator` or, if it is ' ', by blanks; none for an empty text. More than `most_count` are refused.
std::vector<double> read_numbers(const XmlDocument& document, const XmlElement& element, char separator,
                                 double largest, std::size_t most_count);
/// Digits alone, up to 2^64 - 1.
std::uint64_t read_whole(const XmlDocument& document, const XmlElement& element);
/// Without surrounding blanks.
std::string read_text(const XmlElement& element);

}  // namespace pc::io
