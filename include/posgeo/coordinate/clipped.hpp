// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/coordinate/offset_bounds.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/positional_range.hpp>
#include <posgeo/core/reads.hpp>
#include <posgeo/core/required.hpp>

#include <algorithm>

namespace posgeo::coordinate {

/// What becomes of an offset beyond the last class of its side.
enum class beyond_ends {
  clipped,  ///< it shares the last class
  refused,  ///< a call with such an offset is refused
};

[[nodiscard]] constexpr std::string_view name_of(beyond_ends beyond) noexcept {
  return beyond == beyond_ends::clipped ? "clipped" : "refused";
}

struct clipped_settings {
  required<index_t> behind;  ///< the largest distance before the query that has a class of its own
  required<index_t> ahead;   ///< the largest distance after it
  required<offset_sign> sign;
  required<beyond_ends> beyond;
};

/// The class of an offset, which is a table row: clamp(key - query, -behind, ahead) + behind, or, counted the other
/// way, clamp(query - key, -ahead, behind) + ahead.
///
/// Shapes: behind + ahead + 1 classes.
/// Units:  tokens.
/// Throws: errc::bucket_settings, when built, for a reach that is negative or 2^31 or more.
/// Source: Shaw, Uszkoreit and Vaswani 2018, section 3.2, where behind = ahead = k.
class clipped {
 public:
  explicit clipped(const clipped_settings& settings) : settings_(settings) { check(settings).throw_if_any(); }

  /// The paper's 2k + 1 classes.
  [[nodiscard]] static clipped symmetric(index_t max_distance) {
    require(max_distance >= 0 && max_distance < index_t{1} << 31, errc::bucket_settings, "clipped offset",
            "max_distance", "from 0 to 2^31 - 1", max_distance);
    return clipped({.behind = max_distance,
                    .ahead = max_distance,
                    .sign = offset_sign::key_minus_query,
                    .beyond = beyond_ends::clipped});
  }

  [[nodiscard]] static violations check(const clipped_settings& s) {
    violations found;
    const auto expect = [&](index_t reach, std::string_view axis) {
      found.expect(reach >= 0 && reach < index_t{1} << 31, errc::bucket_settings, "clipped offset", axis,
                   "from 0 to 2^31 - 1", reach);
    };
    expect(s.behind, "behind");
    expect(s.ahead, "ahead");
    return found;
  }

  [[nodiscard]] const clipped_settings& settings() const noexcept { return settings_; }
  [[nodiscard]] description describe() const {
    return description("clipped")
        .with("behind", index_t{settings_.behind})
        .with("ahead", index_t{settings_.ahead})
        .with("sign", name_of(settings_.sign))
        .with("beyond", name_of(settings_.beyond));
  }
  [[nodiscard]] index_t classes() const noexcept { return settings_.behind + settings_.ahead + 1; }

  /// Whether there is a past and no class for a key after the query.
  [[nodiscard]] bool looks_back_only() const noexcept { return settings_.ahead == 0 && settings_.behind > 0; }

  [[nodiscard]] index_t operator()(relative_offset key_minus_query) const noexcept {
    const index_t offset = std::clamp<index_t>(key_minus_query.value(), -settings_.behind, settings_.ahead);
    return settings_.sign == offset_sign::key_minus_query ? offset + settings_.behind : settings_.ahead - offset;
  }

  [[nodiscard]] reads positional_reads() const noexcept { return classes() == 1 ? reads::frame : reads::offset; }
  /// Offsets that are not refused. Keys after the query are the attention's matter where the classes look back only.
  [[nodiscard]] positional_range range() const noexcept {
    if (settings_.beyond == beyond_ends::clipped) return {};
    positional_range taken{.lowest_offset = -settings_.behind};
    if (!looks_back_only()) taken.highest_offset = settings_.ahead;
    return taken;
  }

  /// The offsets at and beyond which the class stays the same.
  [[nodiscard]] offset_bounds constant_beyond() const noexcept {
    return {relative_offset{-settings_.behind}, relative_offset{settings_.ahead}};
  }

  /// Lists what keeps a call from being classified: two frames, or an offset that would have to be clipped. Where the
  /// classes look back only, keys after the query are the attention's to refuse, or to hide.
  void check(const position_call& call, std::string_view object, violations& found) const {
    expect_same_frame(call, object, found);
    if (!call.same_frame() || settings_.beyond == beyond_ends::clipped) return;
    const auto bounds = bounds_of_offsets(call);
    if (!bounds) return;
    const auto expect = [&](bool within, relative_offset end) {
      found.expect(within, errc::offset_out_of_table, object, "key - query",
                   text("from {} to {}", -settings_.behind, index_t{settings_.ahead}), end.value());
    };
    expect(bounds->lowest.value() >= -settings_.behind, bounds->lowest);
    expect(looks_back_only() || bounds->highest.value() <= settings_.ahead, bounds->highest);
  }

 private:
  clipped_settings settings_;
};

}  // namespace posgeo::coordinate
