// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/row_identity.hpp>
#include <posgeo/core/description.hpp>
#include <posgeo/core/label.hpp>
#include <posgeo/core/precision.hpp>
#include <posgeo/core/required.hpp>

#include <optional>

namespace posgeo::coordinate {

/// What a time is counted in.
enum class time_unit { nanoseconds, microseconds, milliseconds, seconds, minutes, hours, days };

/// Nanoseconds in a unit.
[[nodiscard]] constexpr index_t nanoseconds_in(time_unit unit) noexcept {
  constexpr index_t each[] = {1, 1000, 1000000, 1000000000, 60000000000, 3600000000000, 86400000000000};
  return each[static_cast<std::size_t>(unit)];
}
[[nodiscard]] constexpr std::string_view name_of(time_unit unit) noexcept {
  constexpr std::string_view names[] = {"nanoseconds", "microseconds", "milliseconds", "seconds",
                                        "minutes",     "hours",        "days"};
  return names[static_cast<std::size_t>(unit)];
}

/// The clock that stamps are read from: its name says where it starts and in which time zone ("unix utc").
/// Throws: errc::missing_value for an empty name.
class clock_name {
 public:
  explicit clock_name(std::string_view name) : name_(name) {
    require(!name.empty(), errc::missing_value, "clock", "name", "where it starts and in which zone", "none");
  }
  [[nodiscard]] std::string_view text() const noexcept { return name_.text(); }
  friend bool operator==(const clock_name&, const clock_name&) noexcept = default;

 private:
  label name_;
};

/// A time of each row, or nothing where none was recorded. Whole units of a named clock, so that a stamp is exact.
struct time_column {
  row_column<std::optional<index_t>> stamps;
  required<time_unit> unit;
  clock_name clock;
};

/// The column in another unit; every stamp stays the same moment.
/// Throws: errc::unit_mismatch for a stamp that is no whole number of the new unit; errc::position_overflow for one
///         that leaves 2^62.
[[nodiscard]] inline time_column in_unit(const time_column& column, time_unit unit) {
  const index_t from = nanoseconds_in(column.unit);
  const index_t to = nanoseconds_in(unit);
  const index_t times = from > to ? from / to : 1;
  const index_t parts = from > to ? 1 : to / from;
  auto stamps = column.stamps.values();
  for (auto& stamp : stamps) {
    if (!stamp) continue;
    require(*stamp % parts == 0, errc::unit_mismatch, "time column", "stamp", text("whole {}", name_of(unit)),
            text("{} {}", *stamp, name_of(column.unit)));
    const index_t whole = *stamp / parts;
    const index_t most = position_limit / times;
    require(whole >= -most && whole <= most, errc::position_overflow, "time column", "stamp",
            text("less than 2^62 {}", name_of(unit)), text("{} {}", *stamp, name_of(column.unit)));
    stamp = whole * times;
  }
  return {{column.stamps.rows(), std::move(stamps)}, unit, column.clock};
}

/// The column read from another clock, which shows `ahead` units more at the same moment.
/// Throws: errc::unit_mismatch for the column's own clock, unless ahead is 0; errc::position_overflow for a stamp that
///         leaves 2^62.
[[nodiscard]] inline time_column on_clock(const time_column& column, const clock_name& clock, index_t ahead) {
  require(clock != column.clock || ahead == 0, errc::unit_mismatch, "time column", "clock",
          text("another than '{}', or 0 units ahead", column.clock.text()), text("{} units ahead of itself", ahead));
  auto stamps = column.stamps.values();
  for (auto& stamp : stamps) {
    if (!stamp) continue;
    const index_t moved = saturating_add(*stamp, ahead);
    require(moved >= -position_limit && moved <= position_limit, errc::position_overflow, "time column", "stamp",
            "less than 2^62 from zero", text("{} + {}", *stamp, ahead));
    stamp = moved;
  }
  return {{column.stamps.rows(), std::move(stamps)}, column.unit, clock};
}

struct elapsed_time_settings {
  clock_name clock;
  required<time_unit> stamp_unit;  ///< what stamps and origin count
  required<index_t> origin;        ///< the stamp at which the elapsed time is 0
  required<time_unit> unit;        ///< what the elapsed time is measured in
};

/// tau = (stamp - origin) / unit. The difference is a 64-bit integer; the quotient is rounded once, to double.
/// Units:  stamps in stamp_unit, tau in unit.
/// Throws: errc::unit_mismatch for a column of another unit or clock; errc::position_precision for a stamp more than
///         2^53 / (stamp_unit / unit) from the origin or, where unit is the longer one, 2^52: up to there no two
///         neighbouring stamps have one tau; errc::position_overflow for an origin beyond 2^62.
/// Source: Kazemi et al. 2019, section 4, where tau is taken as given.
class elapsed_time {
 public:
  explicit elapsed_time(const elapsed_time_settings& settings) : settings_(settings) {
    require(settings.origin >= -position_limit && settings.origin <= position_limit, errc::position_overflow,
            "elapsed time", "origin", "less than 2^62 from zero", settings.origin);
  }

  [[nodiscard]] const elapsed_time_settings& settings() const noexcept { return settings_; }

  [[nodiscard]] description describe() const {
    return description("elapsed_time")
        .with("clock", settings_.clock.text())
        .with("stamp_unit", name_of(settings_.stamp_unit))
        .with("origin", index_t{settings_.origin})
        .with("unit", name_of(settings_.unit));
  }

  /// The elapsed time of a stamp that expect accepts.
  [[nodiscard]] double operator()(index_t stamp) const noexcept {
    const index_t from = nanoseconds_in(settings_.stamp_unit);
    const index_t to = nanoseconds_in(settings_.unit);
    const auto passed = static_cast<double>(stamp - settings_.origin);
    const index_t times = from / to;
    const index_t parts = to / from;
    return from > to ? passed * static_cast<double>(times) : passed / static_cast<double>(parts);
  }

  /// Lists a stamp whose elapsed time double might not tell from that of its neighbour.
  template <class Axis>
  void expect(index_t stamp, std::string_view object, const Axis& axis, violations& found) const {
    const index_t from = nanoseconds_in(settings_.stamp_unit);
    const index_t to = nanoseconds_in(settings_.unit);
    // A quotient is rounded: below 2^52 neighbours are further apart than the doubles around them.
    const index_t most = from < to ? angle_position_limit / 2 : angle_position_limit / (from / to);
    const index_t passed = saturating_subtract(stamp, settings_.origin);
    found.expect(passed >= -most && passed <= most, errc::position_precision, object, axis,
                 text("at most {} {} from the origin, to be told apart in double", most, name_of(settings_.stamp_unit)),
                 passed);
  }
  /// Lists what keeps a column from being read on this scale: its unit, its clock.
  void expect(const time_column& column, std::string_view object, violations& found) const {
    found.expect(column.unit == settings_.stamp_unit, errc::unit_mismatch, object, "unit of the times",
                 name_of(settings_.stamp_unit), name_of(column.unit));
    found.expect(column.clock == settings_.clock, errc::unit_mismatch, object, "clock of the times",
                 text("'{}'", settings_.clock.text()), text("'{}'", column.clock.text()));
  }

 private:
  elapsed_time_settings settings_;
};

}  // namespace posgeo::coordinate
