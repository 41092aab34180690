#pragma once
#include <algorithm>
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

/// `name`, or name_2, name_3 ... if it is taken.
inline std::string unique_name(const std::string& name, const std::vector<std::string>& taken) {
  std::string candidate = name;
  for (int n = 2; std::find(taken.begin(), taken.end(), candidate) != taken.end(); ++n) {
    candidate = name + "_" + std::to_string(n);
  }
  return candidate;
}

/// Takes a name for a column. If it differs from the slug it is reported, because readers find the column by that name.
inline std::string take_name(const std::string& slug, const std::string& wanted,
                             std::vector<std::string>& taken, std::vector<std::string>& warnings) {
  taken.push_back(unique_name(wanted, taken));
  if (taken.back() != slug)
    warnings.push_back("the column '" + slug + "' is named '" + taken.back() + "' in the file");
  return taken.back();
}

}  // namespace pc::io
