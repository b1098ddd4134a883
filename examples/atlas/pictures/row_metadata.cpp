// SPDX-License-Identifier: MIT
#include <posgeo/call/annotated_rows.hpp>

#include <limits>

#include "pictures.hpp"

namespace posgeo::pictures {

/// The start times that the storage rows carry after each operation; empty cells are padding or not there.
std::string row_metadata() {
  using audio = annotated_rows<float, row_column<media_time>>;
  constexpr index_t count = 8;
  const std::vector<double> starts{0.4, 0.1, 0.7, 0.0, 0.6, 0.2, 0.5, 0.3};
  std::vector<row_name> names;
  std::vector<media_time> times;
  for (index_t row = 0; row < count; ++row) {
    names.push_back({0, row});
    times.push_back({starts[static_cast<std::size_t>(row)], 0.1});
  }
  const row_identity rows(1, count, std::move(names));
  const audio stored(rows, tensor<float, 3>({1, count, 1}), {rows, std::move(times)});
  const audio sorted = stored.sorted_by<media_time>([](const media_time& t) { return t.start; });
  const std::vector<index_t> even{0, 2, 4, 6};
  const auto resampled = [&](const row_times& rule) {
    return sorted.resampled({.take = even, .rows = 4, .numbers = row_numbers::restarted, .times = rule});
  };
  const audio padded =
      sorted.chunk(2, 4, row_numbers::kept).padded(count, {.side = call::padding_side::left, .position = 0});

  heatmap map{.title = "Start times of audio frames after each operation, in seconds",
              .across = "storage row",
              .down = "rows",
              .column_names = {},
              .row_names = {"stored", "sorted", "chunk, padded", "every second", "new rate", "as stored"},
              .values = {},
              .numbers = true};
  for (index_t row = 0; row < count; ++row) map.column_names.push_back(fmt::format("{}", row));
  for (const audio& now :
       {stored, sorted, padded, resampled(row_times::kept()), resampled(row_times::evenly({.start = 0.0, .step = 0.1})),
        sorted.arranged_as(stored.rows())}) {
    for (index_t row = 0; row < count; ++row) {
      const bool there = row < now.rows().rows() && now.rows().name(0, row).active;
      map.values.push_back(there ? now.column<0>().at(0, row).start : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return draw(map);
}

}  // namespace posgeo::pictures
