// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace posgeo {

/// What went wrong. Stable: codes are added, never renumbered. docs/errors.md has cause, example and cure of each.
enum class errc {
  shape_mismatch = 1,
  head_count = 2,
  empty_batch = 3,
  row_count = 4,
  negative_offset = 5,
  position_overflow = 6,
  position_precision = 7,
  position_reused = 8,
  committed_length = 9,
  frame_mismatch = 10,
  segment_isolation = 11,
  padding_visible = 12,
  future_visible = 13,
  window_bounds = 14,
  odd_width = 15,
  frequency_settings = 16,
  bucket_settings = 17,
  table_rows = 18,
  position_out_of_table = 19,
  slope_count = 20,
  non_finite = 21,
  scale_settings = 22,
  position_family = 23,
  label_length = 24,
  memory_overlap = 25,
  row_identity = 26,
  layer_mismatch = 27,
  memory_mismatch = 28,
  unit_mismatch = 29,
  missing_value = 30,
  grid_bounds = 31,
  graph_structure = 32,
  term_set = 33,
  sequence_length = 34,
  special_row = 35,
  checkpoint_tensors = 36,
  cache_identity = 37,
  offset_out_of_table = 38,
  position_rule = 39,
  merge_frames = 40,
  executor_refusal = 41,
  cancelled = 42,
  workspace_size = 43,
  description = 44,
  manifest = 45,
  cache_operation = 46,
  geometry_cache = 47,
  checkpoint_contract = 48,
  conversion = 49,
  head_partition = 50,
  admission = 51,
  table_migration = 52,
  release_step = 53,
  coverage = 54,
  report = 55,
  card = 56,
};

/// One broken rule: its code and a sentence that names the object, the axis, the expected and the actual value.
struct violation {
  errc code;
  std::string message;
};

/// The one exception posgeo throws. Thrown while building or on entry, before any output is written.
class error : public std::runtime_error {
 public:
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] errc code() const noexcept { return code_; }

 private:
  errc code_;
};

/// A part of a sentence about a broken rule. It is formatted only if the rule is broken.
template <class... Args>
[[nodiscard]] auto text(fmt::format_string<const Args&...> format, const Args&... args) {
  return [format, args...] { return fmt::format(format, args...); };
}

/// Collects broken rules; does not allocate while there are none. Keeps the first sixteen different
/// sentences and counts the rest.
class violations {
 public:
  static constexpr std::size_t most_kept = 16;

  /// Records "object, axis: expected ..., got ..." unless ok. Each of the last three is a value or a text(...).
  template <class Axis, class Expected, class Actual>
  void expect(bool ok, errc code, std::string_view object, const Axis& axis, const Expected& expected,
              const Actual& actual) {
    if (ok) return;
    if (found_.size() == most_kept) {
      ++not_kept_;
      return;
    }
    std::string sentence = fmt::format("{}, {}: expected {}, got {}", object, said(axis), said(expected), said(actual));
    for (const violation& known : found_) {
      if (known.code == code && known.message == sentence) return;  // the other side of the call broke it the same way
    }
    found_.push_back({code, std::move(sentence)});
  }

  [[nodiscard]] bool empty() const noexcept { return found_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return found_.size() + not_kept_; }
  [[nodiscard]] auto begin() const noexcept { return found_.begin(); }
  [[nodiscard]] auto end() const noexcept { return found_.end(); }
  [[nodiscard]] const violation& front() const { return found_.front(); }

  /// Throws posgeo::error with the first code and every sentence, if there is any.
  void throw_if_any() const {
    if (found_.empty()) return;
    std::string all = found_.front().message;
    for (std::size_t n = 1; n < found_.size(); ++n) all += "; " + found_[n].message;
    if (not_kept_ > 0) all += fmt::format("; and {} more", not_kept_);
    throw error(found_.front().code, all);
  }

 private:
  template <class Part>
  static decltype(auto) said(const Part& part) {
    if constexpr (std::is_invocable_v<const Part&>) {
      return part();
    } else {
      return (part);
    }
  }
  std::vector<violation> found_;
  std::size_t not_kept_ = 0;
};

/// Throws posgeo::error "object, axis: expected ..., got ..." unless ok.
template <class Axis, class Expected, class Actual>
void require(bool ok, errc code, std::string_view object, const Axis& axis, const Expected& expected,
             const Actual& actual) {
  if (ok) return;
  violations found;
  found.expect(false, code, object, axis, expected, actual);
  found.throw_if_any();
}

}  // namespace posgeo
