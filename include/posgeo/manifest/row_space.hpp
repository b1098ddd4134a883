// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/call/position_call.hpp>
#include <posgeo/manifest/span.hpp>

namespace posgeo {

[[nodiscard]] constexpr auto names_of(stream) noexcept {
  return std::array<std::string_view, 3>{"encoder", "decoder", "shared"};
}
[[nodiscard]] constexpr auto names_of(call_kind) noexcept {
  return std::array<std::string_view, 6>{"padded_batch",  "packed_batch",    "decode_step",
                                         "prefill_chunk", "cross_attention", "explicit_positions"};
}

namespace manifest {

enum class activity { token, padding };
[[nodiscard]] constexpr auto names_of(activity) noexcept { return std::array<std::string_view, 2>{"token", "padding"}; }

/// The storage rows of one batch entry. Each list counts every row once, in storage order.
struct row_entry {
  runs<index_t> sequence_id_per_row;
  runs<stream> stream_per_row;
  spans logical_position_per_row;
  runs<activity> active_token_per_row;
  static constexpr auto fields() {
    return std::make_tuple(field("sequence_id_per_row", &row_entry::sequence_id_per_row),
                           field("stream_per_row", &row_entry::stream_per_row),
                           field("logical_position_per_row", &row_entry::logical_position_per_row),
                           field("active_token_per_row", &row_entry::active_token_per_row));
  }
  friend bool operator==(const row_entry&, const row_entry&) noexcept = default;
};

/// The rows of one tensor of the call. Shapes: `entries` batch entries of `storage_rows` rows each.
struct row_table {
  index_t storage_rows;
  std::vector<row_entry> entries;
  static constexpr auto fields() {
    return std::make_tuple(field("storage_rows", &row_table::storage_rows),
                           field("entries", &row_table::entries, "entry"));
  }
  friend bool operator==(const row_table&, const row_table&) noexcept = default;
};

/// The kind of the call, and the rows of its query tensor and of its key tensor.
struct row_space_record {
  posgeo::call_kind call_kind;
  row_table query;
  row_table key;
  static constexpr auto fields() {
    return std::make_tuple(field("call_kind", &row_space_record::call_kind), field("query", &row_space_record::query),
                           field("key", &row_space_record::key));
  }
  friend bool operator==(const row_space_record&, const row_space_record&) noexcept = default;
};

[[nodiscard]] inline std::optional<broken_rule> broken(const row_table& table) {
  if (table.storage_rows < 0) return broken_rule{"storage_rows", "at least 0", std::to_string(table.storage_rows)};
  if (table.entries.empty()) return broken_rule{"entries", "at least 1", "0"};
  for (const row_entry& entry : table.entries) {
    for (const index_t rows : {rows_of(entry.sequence_id_per_row), rows_of(entry.stream_per_row),
                               rows_of(entry.logical_position_per_row), rows_of(entry.active_token_per_row)}) {
      if (rows != table.storage_rows) {
        return broken_rule{"entries", fmt::format("lists of {} rows, which is storage_rows", table.storage_rows),
                           fmt::format("one of {}", rows)};
      }
    }
  }
  return std::nullopt;
}

[[nodiscard]] inline std::optional<broken_rule> broken(const row_space_record& rows) {
  if (rows.query.entries.size() == rows.key.entries.size()) return std::nullopt;
  return broken_rule{"key", fmt::format("{} entries, as the query has", rows.query.entries.size()),
                     std::to_string(rows.key.entries.size())};
}

/// The rows of a space of a call; affine entries in constant time and size each.
[[nodiscard]] inline row_table rows_of_space(const posgeo::row_space& space) {
  row_table table{space.rows(), {}};
  for (index_t b = 0; b < space.entries(); ++b) {
    row_entry entry;
    span_builder positions;
    add_run(entry.stream_per_row, space.rows(), space.origin());
    if (space.affine()) {
      const affine_rows& line = space.affine_entries()[b];
      const index_t behind = space.rows() - line.active_end;
      const auto padded = space.padded_position();
      add_run(entry.sequence_id_per_row, space.rows(), line.sequence);
      add_run(entry.active_token_per_row, line.active_begin, activity::padding);
      add_run(entry.active_token_per_row, line.active_end - line.active_begin, activity::token);
      add_run(entry.active_token_per_row, behind, activity::padding);
      if (padded) {
        positions.add_line(*padded, line.active_begin, 0);
        positions.add_line(line.first + line.active_begin, line.active_end - line.active_begin, 1);
        positions.add_line(*padded, behind, 0);
      } else {
        positions.add_line(line.first, space.rows(), 1);
      }
    } else {
      for (index_t row = 0; row < space.rows(); ++row) {
        add_run(entry.sequence_id_per_row, 1, space.sequence(b, row));
        add_run(entry.active_token_per_row, 1, space.active(b, row) ? activity::token : activity::padding);
        positions.add(space.at(b, row).value());
      }
    }
    entry.logical_position_per_row = std::move(positions).finish();
    table.entries.push_back(std::move(entry));
  }
  return table;
}

}  // namespace manifest
}  // namespace posgeo
