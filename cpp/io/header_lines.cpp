#include "io/header_lines.h"

#include <algorithm>

#include "core/error.h"

namespace pc::io {

namespace {
constexpr std::size_t kStep = 4096;
bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' '; }
}  // namespace

bool HeaderLines::fill() {
  const std::size_t held = buffer_.size();
  if (held >= kMaxBytes) {
    throw Error(ErrorCode::kInvalidFile,
                file_.path() + ": the " + what_ + " is longer than 4 MiB, this is not such a file");
  }
  buffer_.resize(held + std::max(kStep, held));
  const std::size_t got = file_.read_at(held, buffer_.data() + held, buffer_.size() - held);
  buffer_.resize(held + got);
  return got != 0;
}

std::string HeaderLines::next() {
  const std::size_t start = static_cast<std::size_t>(offset_);
  std::size_t seen = start;
  for (;;) {
    const std::size_t mark =
        line_end_ == 0 ? buffer_.find_first_of("\r\n", seen) : buffer_.find(line_end_, seen);
    if (mark != std::string::npos && line_end_ == 0) {
      if (mark + 1 == buffer_.size() && buffer_[mark] == '\r' && fill()) continue;
      const bool lone = buffer_[mark] == '\r' && !(mark + 1 < buffer_.size() && buffer_[mark + 1] == '\n');
      line_end_ = lone ? '\r' : '\n';
      continue;
    }
    const bool at_end = mark == std::string::npos;
    seen = buffer_.size();
    if (at_end && fill()) continue;
    ++line_;
    if (at_end && start == buffer_.size()) fail(std::string("the file ends inside the ") + what_);
    std::size_t first = start, last = at_end ? buffer_.size() : mark;
    offset_ = at_end ? last : last + 1;
    while (first < last && is_blank(buffer_[first])) ++first;
    while (last > first && is_blank(buffer_[last - 1])) --last;
    return buffer_.substr(first, last - first);
  }
}

void HeaderLines::fail(const std::string& problem) const {
  throw Error(ErrorCode::kInvalidFile, file_.path() + ", line " + std::to_string(line_) + ": " + problem);
}

std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t p = 0;;) {
    while (p < line.size() && is_blank(line[p])) ++p;
    if (p == line.size()) return words;
    const std::size_t first = p;
    while (p < line.size() && !is_blank(line[p])) ++p;
    words.push_back(line.substr(first, p - first));
  }
}

std::string quoted(const std::string& text) {
  std::string out = text.substr(0, 60);
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "\"" + out + (text.size() > 60 ? "...\"" : "\"");
}

}  // namespace pc::io
