#pragma once

namespace pc::test {

/// Seconds from a cancel to the end of a run: what is promised. Sanitizers cost up to ten times as much.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kCancelSeconds = 2.5;
#else
constexpr double kCancelSeconds = 0.25;
#endif

}  // namespace pc::test
