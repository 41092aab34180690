#pragma once
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

/// Column names that writers use in files.
namespace pc::io {

/// The name without characters that would break the line that contains it.
inline std::string one_word(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) c = '_';
  }
  return name.empty() ? "field" : name;
}

/// The names of a file's columns, each once. Cost: O(log names) per name, also if all columns want the same one.
class ColumnNames {
 public:
  ColumnNames() = default;
  ColumnNames(std::initializer_list<std::string> reserved) : taken_(reserved) {}

  void reserve(const std::string& name) { taken_.insert(name); }
  /// `wanted`, or wanted_2, wanted_3 ... if it is taken. If the name differs from the slug it is reported, because
  /// readers find the column by that name.
  std::string take(const std::string& slug, const std::string& wanted, std::vector<std::string>& warnings) {
    const std::string name = free_name(wanted);
    if (name != slug) warnings.push_back("the column '" + slug + "' is named '" + name + "' in the file");
    return name;
  }

 private:
  std::string free_name(const std::string& wanted) {
    if (taken_.insert(wanted).second) return wanted;
    int& next = next_.try_emplace(wanted, 2).first->second;  // no lower number has become free
    while (true) {
      const std::string candidate = wanted + "_" + std::to_string(next++);
      if (taken_.insert(candidate).second) return candidate;
    }
  }

  std::set<std::string> taken_;
  std::map<std::string, int> next_;
};

}  // namespace pc::io
