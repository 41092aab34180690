#pragma once
#include <algorithm>
#include <string>
#include <vector>

/// Names under which writers put columns into files.
namespace pc::io {

/// A name that cannot break the line it stands in.
inline std::string one_word(std::string name) {
  for (char& c : name) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) c = '_';
  }
  return name.empty() ? "field" : name;
}

/// `name`, or name_2, name_3 ... when it is taken.
inline std::string unique_name(const std::string& name, const std::vector<std::string>& taken) {
  std::string candidate = name;
  for (int n = 2; std::find(taken.begin(), taken.end(), candidate) != taken.end(); ++n) {
    candidate = name + "_" + std::to_string(n);
  }
  return candidate;
}

/// Takes a name for a column; one that is not its own is reported, for a reader will find it under that.
inline std::string take_name(const std::string& slug, const std::string& wanted,
                             std::vector<std::string>& taken, std::vector<std::string>& warnings) {
  taken.push_back(unique_name(wanted, taken));
  if (taken.back() != slug)
    warnings.push_back("the column '" + slug + "' is named '" + taken.back() + "' in the file");
  return taken.back();
}

}  // namespace pc::io
