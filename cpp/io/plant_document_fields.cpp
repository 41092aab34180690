#include "io/plant_document_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/parse_double.h"

namespace pc::io {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kShownChars = 40;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string plain(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

double number_in(const XmlDocument& document, const XmlElement& element, std::string_view text, double least,
                 double most) {
  text = trimmed(text);
  const ParsedDouble parsed = parse_double(text.data(), text.data() + text.size());
  if (text.empty() || parsed.end != text.data() + text.size())
    refuse_element(document, element, "'" + std::string(text.substr(0, kShownChars)) + "' is not a number");
  if (!(parsed.value >= least && parsed.value <= most))
    refuse_element(document, element,
                   "'" + std::string(text.substr(0, kShownChars)) + "' must be between " + plain(least) +
                       " and " + plain(most));
  return parsed.value;
}

void store(const XmlDocument& document, const XmlElement& element, const DocumentField& field) {
  const double value = read_number(document, element, field.least, field.most);
  if (auto* const* number = std::get_if<double*>(&field.target)) {
    **number = value;
    return;
  }
  if (value != std::trunc(value)) refuse_element(document, element, "must be a whole number");
  if (auto* const* whole = std::get_if<std::uint32_t*>(&field.target)) {
    **whole = static_cast<std::uint32_t>(value);
  } else if (auto* const* index = std::get_if<std::int32_t*>(&field.target)) {
    **index = static_cast<std::int32_t>(value);
  } else {
    *std::get<bool*>(field.target) = value != 0;
  }
}

}  // namespace

void refuse_element(const XmlDocument& document, const XmlElement& element, const std::string& problem) {
  throw Error(ErrorCode::kInvalidFile,
              "structure document, line " + std::to_string(document.line_of(element.offset())) +
                  ", element " + std::string(element.name().substr(0, kShownChars)) + ": " + problem);
}

void read_fields(const XmlDocument& document, const XmlElement& parent,
                 std::initializer_list<DocumentField> fields,
                 const std::function<void(const XmlElement&)>& other) {
  std::uint32_t seen = 0;
  std::size_t expected = 0;  // documents have their elements in the same order
  for (auto child = parent.first_child(); child; child = child->next_sibling()) {
    const std::string_view name = child->name();
    std::size_t at = expected;
    if (at >= fields.size() || fields.begin()[at].name != name) {
      const auto found =
          std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.name == name; });
      at = static_cast<std::size_t>(found - fields.begin());
    }
    if (at == fields.size()) {
      other(*child);
      continue;
    }
    if (seen >> at & 1) refuse_element(document, *child, "is given twice");
    seen |= 1U << at;
    expected = at + 1;
    store(document, *child, fields.begin()[at]);
  }
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields.begin()[i].required && !(seen >> i & 1))
      refuse_element(document, parent, "its " + std::string(fields.begin()[i].name) + " is missing");
}

double read_number(const XmlDocument& document, const XmlElement& element, double least, double most) {
  const std::string text = element.text();
  return number_in(document, element, text, least, most);
}

std::vector<double> read_numbers(const XmlDocument& document, const XmlElement& element, char separator,
                                 double largest, std::size_t most_count) {
  const std::string whole = element.text();
  std::vector<double> numbers;
  std::string_view rest = trimmed(whole);
  while (!rest.empty()) {
    if (numbers.size() == most_count)
      refuse_element(document, element, "has more than " + std::to_string(most_count) + " numbers");
    const std::size_t end =
        std::min(separator == ' ' ? rest.find_first_of(kBlanks) : rest.find(separator), rest.size());
    numbers.push_back(number_in(document, element, rest.substr(0, end), -largest, largest));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (separator == ' ') rest = trimmed(rest);
  }
  return numbers;
}

std::uint64_t read_whole(const XmlDocument& document, const XmlElement& element) {
  const std::string text = read_text(element);
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || result.ec != std::errc() || result.ptr != text.data() + text.size())
    refuse_element(document, element,
                   "'" + text.substr(0, kShownChars) + "' is not a whole number from 0 to 2^64 - 1");
  return value;
}

std::string read_text(const XmlElement& element) { return std::string(trimmed(element.text())); }

}  // namespace pc::io
