// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/audit/html/pairs.hpp>
#include <posgeo/call/position_call.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace posgeo::audit::html {

/// Neighbouring storage rows of one sequence, or of padding, whose positions go on by one step of 1, 0 or -1.
struct row_run {
  index_t first_row;
  index_t last_row;
  index_t first_position;
  index_t last_position;
  index_t sequence;
  bool active;
  friend bool operator==(const row_run&, const row_run&) noexcept = default;
};

/// The rows of one entry as runs, in storage order.
[[nodiscard]] inline std::vector<row_run> runs_of(const row_space& rows, index_t entry) {
  std::vector<row_run> out;
  for (index_t row = 0; row < rows.rows(); ++row) {
    const index_t at = rows.at(entry, row).value();
    const bool active = rows.active(entry, row);
    const index_t sequence = rows.sequence(entry, row);
    if (!out.empty()) {
      row_run& last = out.back();
      const index_t step = at - last.last_position;
      const bool goes_on = last.first_row == last.last_row
                               ? step >= -1 && step <= 1
                               : step * (last.last_row - last.first_row) == last.last_position - last.first_position;
      if (goes_on && active == last.active && (!active || sequence == last.sequence)) {
        last.last_row = row;
        last.last_position = at;
        continue;
      }
    }
    out.push_back({row, row, at, at, sequence, active});
  }
  return out;
}

/// What a call picture draws at most: what is beyond is said, not drawn.
struct call_part {
  index_t most_lanes = 24;
  index_t most_runs = 48;  ///< rows of the table
};

namespace detail {

struct lane {
  index_t entry;
  std::string_view side;
  index_t sequence;
  bool active;
  std::vector<row_run> runs;
};

[[nodiscard]] inline std::string span_said(index_t first, index_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
}

/// Lanes of one side: for each entry its sequences, then its padding.
inline void add_lanes(std::vector<lane>& lanes, const row_space& rows, index_t entry, std::string_view side) {
  std::vector<row_run> runs = runs_of(rows, entry);
  std::stable_sort(runs.begin(), runs.end(), [](const row_run& a, const row_run& b) {
    return std::tuple(!a.active, a.active ? a.sequence : 0) < std::tuple(!b.active, b.active ? b.sequence : 0);
  });
  for (const row_run& run : runs) {
    const bool same = !lanes.empty() && lanes.back().entry == entry && lanes.back().side == side &&
                      lanes.back().active == run.active && (!run.active || lanes.back().sequence == run.sequence);
    if (!same) lanes.push_back({entry, side, run.sequence, run.active, {}});
    lanes.back().runs.push_back(run);
  }
}

/// Lanes over one axis of positions. A run from position p to q is a bar from p - 1/2 to q + 1/2.
[[nodiscard]] inline picture draw_lanes(const std::vector<lane>& lanes, const position_call& call,
                                        std::string_view title, std::string_view frame) {
  constexpr double top = 8, width = 300, lane_height = 20;
  const auto name_of_lane = [&call](const lane& one) {
    const std::string entry = call.batch() > 1 ? fmt::format(" of {}", one.entry) : "";
    return one.active ? fmt::format("{}{}, sequence {}", one.side, entry, one.sequence)
                      : fmt::format("{}{}, padding", one.side, entry);
  };
  double left = 40.0;
  for (const lane& one : lanes) left = std::max(left, 14.0 + 6.4 * static_cast<double>(name_of_lane(one).size()));
  number_range positions{0.0, 0.0};
  index_t rows = 0;
  for (std::size_t n = 0; n < lanes.size(); ++n) {
    for (std::size_t k = 0; k < lanes[n].runs.size(); ++k) {
      const row_run& run = lanes[n].runs[k];
      const auto low = static_cast<double>(std::min(run.first_position, run.last_position)) - 0.5;
      const auto high = static_cast<double>(std::max(run.first_position, run.last_position)) + 0.5;
      positions = n + k == 0 ? number_range{low, high}
                             : number_range{std::min(positions.low, low), std::max(positions.high, high)};
      rows += run.last_row - run.first_row + 1;
    }
  }
  const double bottom = top + lane_height * static_cast<double>(lanes.size());
  picture out(left + width + 18, bottom + 40, std::string(title),
              fmt::format("{} rows in {} lanes, at positions {} to {} of the frame '{}'.", rows, lanes.size(),
                          shown(std::ceil(positions.low)), shown(std::floor(positions.high)), frame));
  const auto across = [&](double x) { return left + width * share_of(x, positions); };
  for (const double x : ticks(positions, 6)) {
    if (x != std::round(x)) continue;
    out.line(across(x), top, across(x), bottom + 4, "grid");
    out.text(across(x), bottom + 16, anchor::middle, shown(x));
  }
  out.text(left + width / 2, bottom + 32, anchor::middle, fmt::format("position in the frame '{}'", frame), "soft");
  for (std::size_t n = 0; n < lanes.size(); ++n) {
    const lane& one = lanes[n];
    const double y = top + lane_height * static_cast<double>(n);
    out.text(left - 8, y + 14, anchor::end, name_of_lane(one));
    for (const row_run& run : one.runs) {
      const auto low = static_cast<double>(std::min(run.first_position, run.last_position)) - 0.5;
      const auto high = static_cast<double>(std::max(run.first_position, run.last_position)) + 0.5;
      const std::string look =
          one.active ? fmt::format("s{}", static_cast<std::uint64_t>(one.sequence) % looks) : std::string("padding");
      out.rectangle(across(low) + 0.5, y + 4, across(high) - across(low) - 1.0, lane_height - 8, look);
    }
    if (call.has_cache() && one.active) {
      const auto first_new = static_cast<double>(call.committed_length(batch_index{one.entry})) - 0.5;
      if (first_new > positions.low && first_new < positions.high) {
        out.line(across(first_new), y, across(first_new), y + lane_height, "mark");
      }
    }
  }
  return out;
}

[[nodiscard]] inline std::string_view words_of(call_kind kind) noexcept {
  switch (kind) {
    case call_kind::padded_batch:
      return "A padded batch";
    case call_kind::packed_batch:
      return "A packed batch";
    case call_kind::decode_step:
      return "A decode step";
    case call_kind::prefill_chunk:
      return "A prefill chunk";
    case call_kind::cross_attention:
      return "Cross-attention";
    case call_kind::explicit_positions:
      break;
  }
  return "Explicit positions";
}

}  // namespace detail

/// Where the rows of a call stand: a lane for each sequence of each side of each entry, and one for its padding. Two
/// frames are two pictures, since their positions do not compare.
/// Units:  positions of the call's frames.
/// Throws: errc::report for a part that draws nothing.
[[nodiscard]] inline block call_picture(const position_call& call, const call_part& part = {}) {
  require(part.most_lanes >= 1 && part.most_runs >= 1, errc::report, "part that is drawn", "lanes and runs",
          "at least 1 of each", posgeo::text("{} and {}", part.most_lanes, part.most_runs));
  block out{.title = "The call"};
  out.words = fmt::format("{}: {} x {} query rows and {} x {} key rows.", detail::words_of(call.kind()), call.batch(),
                          call.queries(), call.batch(), call.keys());
  std::vector<std::vector<detail::lane>> panels(call.same_frame() ? 1 : 2);
  table rows{"Runs of rows", {"side", "entry", "sequence", "rows", "positions"}, {}};
  if (call.has_cache()) rows.columns.emplace_back("committed length");
  index_t runs = 0;
  for (index_t b = 0; b < call.batch(); ++b) {
    detail::add_lanes(panels.front(), call.query_space(), b, "queries");
    detail::add_lanes(panels.back(), call.key_space(), b, "keys");
    const auto add = [&](const row_space& space, std::string_view side) {
      for (const row_run& run : runs_of(space, b)) {
        if (++runs > part.most_runs) continue;
        rows.rows.push_back(
            {std::string(side), fmt::format("{}", b), run.active ? fmt::format("{}", run.sequence) : "padding",
             detail::span_said(run.first_row, run.last_row), detail::span_said(run.first_position, run.last_position)});
        if (call.has_cache()) rows.rows.back().push_back(fmt::format("{}", call.committed_length(batch_index{b})));
      }
    };
    add(call.query_space(), "queries");
    add(call.key_space(), "keys");
  }
  if (runs > part.most_runs) rows.caption += fmt::format(": the first {} of {}", part.most_runs, runs);
  for (std::size_t n = 0; n < panels.size(); ++n) {
    std::vector<detail::lane>& lanes = panels[n];
    const auto most = static_cast<std::size_t>(part.most_lanes);
    if (lanes.size() > most) {
      out.words += fmt::format(" The first {} of {} lanes are drawn.", most, lanes.size());
      lanes.resize(most);
    }
    const row_space& space = n == 0 ? call.query_space() : call.key_space();
    const std::string title = panels.size() == 1 ? "Where rows stand"
                              : n == 0           ? "Where queries stand"
                                                 : "Where keys stand";
    if (!lanes.empty()) out.pictures.push_back(detail::draw_lanes(lanes, call, title, space.frame().name()));
  }
  if (call.has_cache()) out.legend.push_back({"mark", "committed length: keys before it are of earlier calls"});
  if (call.key_space().has_padding() || call.query_space().has_padding()) {
    out.legend.push_back({"padding", "padding"});
  }
  out.tables.push_back(std::move(rows));
  return out;
}

/// Who sees whom: a square for each visible pair, a dot for each hidden one, a picture for each entry up to most_heads.
/// Throws: errc::report for a part that the call does not have.
template <class Plan>
[[nodiscard]] block visible_pairs(const Plan& plan, const shown_part& part = {}) {
  const position_call& call = plan.call();
  detail::require_entry(call, part);
  block out{.title = "Who sees whom"};
  const index_t entries = std::min(call.batch() - part.entry, part.most_heads);
  table seen{"Visible keys of each query", {"query", "entry", "visible keys", "from position", "to position"}, {}};
  for (index_t b = part.entry; b < part.entry + entries; ++b) {
    cell_map map{fmt::format("entry {}", b), "key position", "query position", {}, {}, {}};
    const index_t first_key = detail::first_shown(call.keys(), part);
    for (index_t j = first_key; j < call.keys(); ++j) {
      map.column_names.push_back(detail::row_name(call.key_space(), b, j));
    }
    for (index_t i = detail::first_shown(call.queries(), part); i < call.queries(); ++i) {
      map.row_names.push_back(detail::row_name(call.query_space(), b, i));
      index_t count = 0;
      index_t least = 0;
      index_t most = 0;
      for (index_t j = 0; j < call.keys(); ++j) {
        const bool shows = plan.visible(batch_index{b}, query_index{i}, key_index{j});
        if (j >= first_key) map.values.push_back(shows ? 1.0 : 0.0);
        if (!shows) continue;
        const index_t at = call.key_space().at(b, j).value();
        least = count == 0 ? at : std::min(least, at);
        most = count == 0 ? at : std::max(most, at);
        ++count;
      }
      seen.rows.push_back({map.row_names.back(), fmt::format("{}", b), fmt::format("{}", count),
                           count == 0 ? "none" : fmt::format("{}", least),
                           count == 0 ? "none" : fmt::format("{}", most)});
    }
    const auto [cell, left, top] = detail::place_of(map);
    const auto columns = static_cast<double>(map.column_names.size());
    const auto shown_pairs = std::count(map.values.begin(), map.values.end(), 1.0);
    picture drawn(std::max(left + cell * columns + 12.0, 210.0),
                  top + cell * static_cast<double>(map.row_names.size()) + 6.0, map.title,
                  fmt::format("{} of {} pairs are visible.", shown_pairs, map.values.size()));
    draw_frame(drawn, map);
    for (std::size_t n = 0; n < map.values.size(); ++n) {
      const double x = left + cell * static_cast<double>(n % map.column_names.size());
      const std::size_t row = n / map.column_names.size();
      const double y = top + cell * static_cast<double>(row);
      if (map.values[n] > 0.0) {
        drawn.rectangle(x, y, cell - 1.0, cell - 1.0, "seen");
      } else {
        drawn.dot(x + cell / 2.0, y + cell / 2.0, std::min(1.3, cell / 5.0), "hidden");
      }
    }
    out.pictures.push_back(std::move(drawn));
  }
  if (entries > 1) out.width = room::whole;
  out.words = "Rows are queries and columns are keys, both named by their positions.";
  if (entries < call.batch()) out.words += fmt::format(" {} of {} entries.", entries, call.batch());
  if (call.queries() > part.most_rows)
    out.words += fmt::format(" The last {} of {} queries.", part.most_rows, call.queries());
  if (call.keys() > part.most_rows)
    out.words += fmt::format(" The last {} of {} keys are drawn.", part.most_rows, call.keys());
  out.legend = {{"seen", "visible"}, {"hidden", "hidden"}};
  out.numbers.push_back(std::move(seen));
  return out;
}

}  // namespace posgeo::audit::html
