// SPDX-License-Identifier: MIT
#include <posgeo/call/annotated_rows.hpp>

#include <string>

#include "support/call_rows.hpp"
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace annotated_rows_test {

using namespace posgeo;
using namespace posgeo::test;

constexpr index_t width = 3;
constexpr auto by_start = [](const media_time& time) { return time.start; };

using frames = annotated_rows<double, row_column<media_time>, row_column<image_cell>>;
using trace = annotated_rows<double, row_column<event>>;
using paired = annotated_rows<double, row_column<image_cell>, row_pairs<double>>;

/// Two entries of five rows in no particular order; the last row of entry 0 and the second of entry 1 are padding.
row_identity two_entries() {
  return {2, 5, {{0, 7}, {0, 3}, {0, 12}, {0, 4}, {0, 0, false}, {1, 2}, {0, 0, false}, {1, 9}, {1, 1}, {1, 5}}};
}
tensor<double, 3> content_for(const row_identity& rows, unsigned seed) {
  return random_tensor<double, 3>({rows.entries(), rows.rows(), width}, seed);
}

/// Each value says which row it belongs to.
media_time time_of(const row_name& name) {
  const auto at = static_cast<double>(name.position);
  return {0.25 * at * at - 3.0 * at, 0.04 + static_cast<double>(name.sequence)};
}
image_cell cell_of(const row_name& name) { return {name.sequence + 10, 3 * name.position + 1}; }

template <class Value, class Make>
row_column<Value> column_of(const row_identity& rows, const Make& make) {
  std::vector<Value> values;
  for (index_t b = 0; b < rows.entries(); ++b) {
    for (index_t row = 0; row < rows.rows(); ++row) values.push_back(make(rows.name(b, row)));
  }
  return {rows, std::move(values)};
}
frames frames_of(const row_identity& rows, unsigned seed = 321) {
  return {rows, content_for(rows, seed), column_of<media_time>(rows, time_of), column_of<image_cell>(rows, cell_of)};
}

/// Whether every active row still has the cell and the content that its name had at first.
template <class Rows>
bool belongs_together(const Rows& now, const Rows& at_first) {
  for (index_t b = 0; b < now.rows().entries(); ++b) {
    for (index_t row = 0; row < now.rows().rows(); ++row) {
      const row_name& name = now.rows().name(b, row);
      if (!name.active) continue;
      if (!(now.template column<row_column<image_cell>>().at(b, row) == cell_of(name))) return false;
      bool found = false;
      for (index_t from = 0; from < at_first.rows().rows(); ++from) {
        found = found || (at_first.rows().name(b, from) == name &&
                          largest_difference(at_first.content().row(b, from), now.content().row(b, row)) == 0.0);
      }
      if (!found) return false;
    }
  }
  return true;
}
/// The same rows in the same order, with the same content and values where they are active.
bool same(const frames& a, const frames& b) {
  if (!(a.rows() == b.rows()) || a.width() != b.width()) return false;
  for (index_t e = 0; e < a.rows().entries(); ++e) {
    for (index_t row = 0; row < a.rows().rows(); ++row) {
      if (!a.rows().name(e, row).active) continue;
      if (largest_difference(a.content().row(e, row), b.content().row(e, row)) != 0.0) return false;
      if (!(a.column<0>().at(e, row) == b.column<0>().at(e, row))) return false;
      if (!(a.column<1>().at(e, row) == b.column<1>().at(e, row))) return false;
    }
  }
  return true;
}
numbers positions_of(const row_identity& rows, index_t b) {
  numbers out;
  for (index_t row = 0; row < rows.rows(); ++row) {
    out.push_back(rows.name(b, row).active ? rows.name(b, row).position : -99);
  }
  return out;
}

TEST_CASE("annotated rows refuse columns and content of other rows", "[annotated_rows]") {
  const row_identity rows = two_entries();
  const auto content = content_for(rows, 322);
  const auto times = column_of<media_time>(rows, time_of);
  const frames whole = frames_of(rows);
  const numbers swapped{1, 0, 2, 3, 4, 0, 1, 2, 3, 4};
  const frames moved = whole.permuted(swapped);
  const error alone =
      refusal([&] { return frames(rows, content.view(), times, moved.column<row_column<image_cell>>()); });
  CHECK(alone.code() == errc::row_identity);
  CHECK(std::string(alone.what()).find("row 0 of entry 0: expected position 7 of sequence 0, got position 3") !=
        std::string::npos);
  CHECK(refusal([&] { return frames(moved.rows(), moved.content(), times, whole.column<1>()); }).code() ==
        errc::row_identity);
  const auto longer = random_tensor<double, 3>({2, 6, width}, 323);
  CHECK(refusal([&] { return frames(rows, longer.view(), times, whole.column<1>()); }).code() == errc::shape_mismatch);
}

TEST_CASE("annotated rows check the values of active rows only", "[annotated_rows]") {
  const row_identity rows(1, 3, {{0, 5}, {0, 0, false}, {0, 2}});
  const tensor<double, 3> content({1, 3, 1});
  using boxes = annotated_rows<double, row_column<document_box>>;
  const document_box turned{5, 0, 1, 1};
  CHECK_NOTHROW(boxes(rows, content.view(), {rows, {{}, turned, {}}}));
  const error refused = refusal([&] { return boxes(rows, content.view(), {rows, {{}, {}, turned}}); });
  CHECK(refused.code() == errc::grid_bounds);
  CHECK(std::string(refused.what()).find("row 2 of entry 0") != std::string::npos);
}

TEST_CASE("the call of annotated rows has each row where its name says", "[annotated_rows]") {
  const frames whole = frames_of(two_entries());
  const auto call = whole.call();
  CHECK(positions<query_index>(call, 0) == numbers{7, 3, 12, 4, 0});
  CHECK(active<key_index>(call, 1) == numbers{1, 0, 1, 1, 1});
  CHECK(row_identity::of(call.key_space()) == whole.rows());
  violations found;
  whole.expect_of(call.query_space(), "rows", found);
  CHECK(found.empty());
  whole.permuted(numbers{1, 0, 2, 3, 4, 0, 1, 2, 3, 4}).expect_of(call.query_space(), "rows", found);
  CHECK(codes(found) == std::vector{errc::row_identity});
}

TEST_CASE("permuted rows take everything with them and pairs move on both sides", "[annotated_rows]") {
  const row_identity rows = two_entries();
  const auto values = random_values<double>(50, 324);
  const paired whole(rows, content_for(rows, 325), column_of<image_cell>(rows, cell_of), {rows, values});
  const numbers order{2, 4, 0, 3, 1, 4, 3, 2, 1, 0};
  const paired moved = whole.permuted(order);
  CHECK(belongs_together(moved, whole));
  CHECK(positions_of(moved.rows(), 0) == numbers{12, -99, 7, 4, 3});
  for (index_t b = 0; b < 2; ++b) {
    for (index_t i = 0; i < 5; ++i) {
      for (index_t j = 0; j < 5; ++j) {
        const auto from = [&](index_t row) { return order[static_cast<std::size_t>(5 * b + row)]; };
        CHECK(moved.column<1>().at(b, i, j) == whole.column<1>().at(b, from(i), from(j)));
      }
    }
  }
}

TEST_CASE("rows sorted by a column and arranged as before are the rows before", "[annotated_rows]") {
  const frames whole = frames_of(two_entries());
  const frames sorted = whole.sorted_by<media_time>(by_start);
  // 0.25 p^2 - 3 p: 3 -> -6.75, 4 -> -8, 7 -> -8.75, 12 -> 0; 1 -> -2.75, 2 -> -5, 5 -> -8.75, 9 -> -6.75
  CHECK(positions_of(sorted.rows(), 0) == numbers{7, 4, 3, 12, -99});
  CHECK(positions_of(sorted.rows(), 1) == numbers{5, -99, 9, 2, 1});
  CHECK(belongs_together(sorted, whole));
  CHECK_FALSE(same(sorted, whole));
  CHECK(same(sorted.arranged_as(whole.rows()), whole));

  const auto equal = [](const media_time&) { return 0; };
  CHECK(same(whole.sorted_by<media_time>(equal), whole));  // ties stay in order
}

TEST_CASE("rows are arranged only as a permutation of themselves", "[annotated_rows]") {
  const frames whole = frames_of(two_entries());
  const row_identity other(
      2, 5, {{0, 7}, {0, 3}, {0, 12}, {0, 5}, {0, 0, false}, {1, 2}, {0, 0, false}, {1, 9}, {1, 1}, {1, 5}});
  CHECK(refusal([&] { return whole.arranged_as(other); }).code() == errc::row_identity);
  CHECK(refusal([&] { return whole.arranged_as(whole.chunk(0, 4, row_numbers::kept).rows()); }).code() ==
        errc::row_identity);
}

TEST_CASE("a permutation takes each storage row once", "[annotated_rows]") {
  const frames whole = frames_of(two_entries());
  const auto refused = [&](const numbers& order) { return refusal([&] { return whole.permuted(order); }).code(); };
  CHECK(refused({0, 1, 2, 3, 3, 0, 1, 2, 3, 4}) == errc::row_identity);
  CHECK(refused({0, 1, 2, 3, 4}) == errc::row_count);
  CHECK(refused({0, 1, 2, 3, 5, 0, 1, 2, 3, 4}) == errc::row_count);
  CHECK(refused({0, 1, 2, 3, -1, 0, 1, 2, 3, 4}) == errc::row_count);
}

TEST_CASE("filtered rows close up and keep what is theirs", "[annotated_rows]") {
  const frames whole = frames_of(two_entries());
  const std::vector<std::uint8_t> keep{0, 1, 1, 0, 0, 1, 0, 0, 0, 1};
  const frames kept = whole.filtered(keep);
  CHECK(positions_of(kept.rows(), 0) == numbers{3, 12});
  CHECK(positions_of(kept.rows(), 1) == numbers{2, 5});
  CHECK(belongs_together(kept, whole));

  const std::vector<std::uint8_t> uneven{0, 1, 1, 1, 0, 1, 0, 0, 0, 0};
  CHECK(refusal([&] { return whole.filtered(uneven); }).code() == errc::row_count);
  CHECK(refusal([&] { return whole.filtered(std::vector<std::uint8_t>(9)); }).code() == errc::row_count);
  const frames left = whole.filtered(uneven, row_padding{.side = call::padding_side::left, .position = -5});
  CHECK(positions_of(left.rows(), 0) == numbers{3, 12, 4});
  CHECK(positions_of(left.rows(), 1) == numbers{-99, -99, 2});
  CHECK(positions<key_index>(left.call(), 1) == numbers{-5, -5, 2});
  CHECK(belongs_together(left, whole));
  CHECK(all_equal(left.content().row(1, 0), 0.0));
}

TEST_CASE("chunks put together again are the whole", "[annotated_rows]") {
  const frames whole = frames_of(two_entries());
  const std::vector<frames> parts{whole.chunk(0, 2, row_numbers::kept), whole.chunk(2, 0, row_numbers::kept),
                                  whole.chunk(2, 3, row_numbers::kept)};
  CHECK(belongs_together(parts.back(), whole));
  CHECK(same(frames::concatenated(parts, row_numbers::kept), whole));
}

TEST_CASE("a chunk keeps its global positions or counts from zero", "[annotated_rows]") {
  const frames whole = frames_of({1, 6, {{4, 10}, {7, 20}, {4, 11}, {4, 0, false}, {4, 12}, {7, 21}}});
  const frames global = whole.chunk(2, 4, row_numbers::kept);
  CHECK(positions_of(global.rows(), 0) == numbers{11, -99, 12, 21});
  const frames local = whole.chunk(2, 4, row_numbers::restarted);
  CHECK(positions_of(local.rows(), 0) == numbers{0, -99, 1, 0});  // each sequence counts its own rows
  CHECK(local.column<1>().at(0, 2) == cell_of({4, 12}));          // the cells stay those of the patches
  CHECK(local.rows() == local.column<1>().rows());
  for (const auto& [begin, count] : {std::pair<index_t, index_t>{-1, 2}, {3, 4}, {7, 0}, {2, -1}}) {
    CHECK(refusal([&, from = begin, rows = count] { return whole.chunk(from, rows, row_numbers::kept); }).code() ==
          errc::row_count);
  }
}

TEST_CASE("padding and its removal are inverse", "[annotated_rows]") {
  const frames whole = frames_of(two_entries());
  for (const auto side : {call::padding_side::left, call::padding_side::right}) {
    const frames padded = whole.padded(8, {.side = side, .position = 77});
    CHECK(padded.rows().rows() == 8);
    CHECK(belongs_together(padded, whole));
    const index_t pad = side == call::padding_side::left ? 0 : 7;
    CHECK_FALSE(padded.rows().name(1, pad).active);
    CHECK(padded.call().at(batch_index{1}, key_index{pad}) == position{77});
    CHECK(same(padded.without_padding(), whole));
  }
  CHECK(refusal([&] { return whole.padded(4, {.side = call::padding_side::left, .position = 0}); }).code() ==
        errc::row_count);
}

TEST_CASE("parts are joined under names that stay apart", "[annotated_rows]") {
  const frames text = frames_of({1, 2, {{0, 0}, {0, 1}}}, 331);
  const frames image = frames_of({1, 3, {{0, 0}, {0, 1}, {0, 2}}}, 332);
  const std::vector<frames> parts{text, image};
  const error refused = refusal([&] { return frames::concatenated(parts, row_numbers::kept); });
  CHECK(refused.code() == errc::position_reused);
  CHECK(std::string(refused.what()).find("position 0 twice") != std::string::npos);
  const frames joined = frames::concatenated(parts, row_numbers::restarted);
  CHECK(positions_of(joined.rows(), 0) == numbers{0, 1, 2, 3, 4});
  for (index_t row = 0; row < 3; ++row) {
    CHECK(joined.column<0>().at(0, 2 + row) == image.column<0>().at(0, row));
    CHECK(largest_difference(joined.content().row(0, 2 + row), image.content().row(0, row)) == 0.0);
  }
}

TEST_CASE("parts of other entries, widths or frames are not joined", "[annotated_rows]") {
  const row_identity rows(1, 2, {{0, 0}, {0, 1}});
  using plain = annotated_rows<double>;
  const auto refused = [&](const plain& second) {
    const plain first(rows, tensor<double, 3>({1, 2, width}));
    const std::vector<plain> parts{first, second};
    return refusal([&] { return plain::concatenated(parts, row_numbers::restarted); }).code();
  };
  CHECK(refused(plain(rows, tensor<double, 3>({1, 2, width + 1}))) == errc::shape_mismatch);
  CHECK(refused(plain({2, 1, {{0, 2}, {1, 3}}}, tensor<double, 3>({2, 1, width}))) == errc::row_count);
  CHECK(refused(plain({1, 2, {{0, 5}, {0, 6}}, coordinate_frame("source")}, tensor<double, 3>({1, 2, width}))) ==
        errc::frame_mismatch);
  CHECK(refusal([] { return plain::concatenated({}, row_numbers::kept); }).code() == errc::row_count);
}

TEST_CASE("frames that are dropped or repeated keep the time they were taken at", "[annotated_rows]") {
  const frames whole = frames_of(two_entries());
  const numbers take{3, 0, no_row, 2, 0, 4, 4, 1, 2, 2};
  const frames sampled = whole.resampled(
      {.take = take, .rows = 5, .numbers = row_numbers::kept, .times = row_times::kept(), .padded_position = 8});
  CHECK(belongs_together(sampled, whole));
  CHECK(positions_of(sampled.rows(), 0) == numbers{4, 7, -99, 12, 7});
  CHECK(positions_of(sampled.rows(), 1) == numbers{5, 5, -99, 9, 9});
  for (index_t b = 0; b < 2; ++b) {
    for (index_t row = 0; row < 5; ++row) {
      if (!sampled.rows().name(b, row).active) continue;
      CHECK(sampled.column<0>().at(b, row) == time_of(sampled.rows().name(b, row)));
    }
  }
  CHECK(sampled.call(position_reuse::intended).at(batch_index{0}, key_index{2}) == position{8});
  CHECK(refusal([&] { return sampled.call(); }).code() == errc::position_reused);

  const frames counted =
      whole.resampled({.take = take, .rows = 5, .numbers = row_numbers::restarted, .times = row_times::kept()});
  CHECK(positions_of(counted.rows(), 1) == numbers{0, 1, -99, 2, 3});
  CHECK(counted.column<0>().at(1, 3) == time_of({1, 9}));
  CHECK_NOTHROW(counted.call());
}

TEST_CASE("a changed frame rate gives new times by the rule that is named", "[annotated_rows]") {
  const frames whole = frames_of(two_entries());
  const numbers take{0, 0, 3, 4, 4, 2};
  const frames slower = whole.resampled({.take = take,
                                         .rows = 3,
                                         .numbers = row_numbers::restarted,
                                         .times = row_times::evenly({.start = -0.5, .step = 0.125})});
  CHECK(slower.column<0>().at(0, 2) == media_time{-0.25, 0.125});
  CHECK(slower.column<0>().at(1, 0) == media_time{-0.5, 0.125});  // each entry's sequence starts anew
  CHECK(slower.column<1>().at(1, 2) == cell_of({1, 9}));
  for (const double step : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    CHECK(refusal([&] { return row_times::evenly({.start = 0.0, .step = step}); }).code() == errc::missing_value);
  }
}

TEST_CASE("a selection refuses storage rows that are not there", "[annotated_rows]") {
  const frames whole = frames_of(two_entries());
  const auto refused = [&](const numbers& take, index_t rows) {
    return refusal([&] {
             return whole.resampled(
                 {.take = take, .rows = rows, .numbers = row_numbers::kept, .times = row_times::kept()});
           })
        .code();
  };
  CHECK(refused({0, 5}, 1) == errc::row_count);
  CHECK(refused({0, -2}, 1) == errc::row_count);
  CHECK(refused({0, 1, 2}, 1) == errc::row_count);
}

TEST_CASE("numbers of rows that no memory holds are refused", "[annotated_rows]") {
  using plain = annotated_rows<double>;
  const plain four({4, 1, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}}, tensor<double, 3>({4, 1, 1}));
  constexpr index_t wrapping = index_t{1} << 62;  // four times as many are 0 in 64 bits
  CHECK(refusal([&] {
          return four.resampled(
              {.take = {}, .rows = wrapping, .numbers = row_numbers::kept, .times = row_times::kept()});
        }).code() == errc::row_count);
  CHECK(refusal([&] { return four.padded(wrapping, {.side = call::padding_side::left, .position = 0}); }).code() ==
        errc::row_count);
}

TEST_CASE("rows that were renumbered are still told apart", "[annotated_rows]") {
  const frames whole = frames_of({1, 4, {{0, 0}, {0, 1}, {0, 2}, {0, 3}}});
  const auto every = [&](const numbers& take) {
    return whole.resampled({.take = take, .rows = 2, .numbers = row_numbers::restarted, .times = row_times::kept()});
  };
  const auto mixed = [](const frames& content, const frames& columns) {
    return refusal([&] { return frames(content.rows(), content.content(), columns.column<0>(), columns.column<1>()); });
  };
  // content of frames 0 and 2, times of frames 0 and 1, which were never renumbered
  const frames dropped = every({0, 2});
  const error refused = mixed(dropped, whole.chunk(0, 2, row_numbers::kept));
  CHECK(refused.code() == errc::row_identity);
  CHECK(std::string(refused.what()).find("row 1 of entry 0, before it was renumbered: expected position 2") !=
        std::string::npos);
  // content of one chunk, columns of the other, both counted from 0
  const frames first = whole.chunk(0, 2, row_numbers::restarted);
  const frames second = whole.chunk(2, 2, row_numbers::restarted);
  CHECK(mixed(second, first).code() == errc::row_identity);
  CHECK(mixed(first, second).code() == errc::row_identity);
  // the same rows taken twice over, renumbered at every step
  CHECK(mixed(second.chunk(1, 1, row_numbers::restarted), first.chunk(1, 1, row_numbers::restarted)).code() ==
        errc::row_identity);
  const std::vector<frames> parts{second, first};
  CHECK(mixed(frames::concatenated(parts, row_numbers::restarted), whole).code() == errc::row_identity);
  CHECK(refusal([&] { return first.arranged_as(second.rows()); }).code() == errc::row_identity);

  CHECK_NOTHROW(frames(dropped.rows(), dropped.content(), every({0, 2}).column<0>(), dropped.column<1>()));
  violations found;
  second.expect_of(first.call().query_space(), "rows", found);  // a call knows names alone
  CHECK(found.empty());
}

/// Events 5 <- 8 <- 2 and, in another sequence, 8 <- 5; stored out of order.
trace events() {
  const row_identity rows(1, 5, {{0, 2}, {0, 0}, {1, 0}, {0, 1}, {1, 1}});
  return {rows,
          content_for(rows, 341),
          {rows,
           {{.order = 2, .parent = 8, .status = event_status::failed},
            {.order = 5, .timestamp = 1.5},
            {.order = 8},
            {.order = 8, .timestamp = 2.25, .parent = 5, .status = event_status::succeeded},
            {.order = 5, .parent = 8}}}};
}
const event& event_at(const trace& rows, index_t row) { return rows.column<0>().at(0, row); }

TEST_CASE("events keep their parents wherever they are stored", "[annotated_rows]") {
  const trace whole = events();
  const trace sorted = whole.sorted_by<event>([](const event& e) { return e.order; });
  CHECK(event_at(sorted, 0) == event{.order = 2, .parent = 8, .status = event_status::failed});
  CHECK(event_at(sorted, 4) == event_at(whole, 3));
  CHECK(sorted.arranged_as(whole.rows()).column<0>().values() == whole.column<0>().values());
  CHECK(event_at(whole.padded(7, {.side = call::padding_side::left, .position = 0}), 2) == event_at(whole, 0));
}

TEST_CASE("dropping a parent is refused or named", "[annotated_rows]") {
  const trace whole = events();
  const std::vector<std::uint8_t> without_8{1, 1, 1, 0, 1};  // of sequence 0; that of sequence 1 stays
  const error refused = refusal([&] { return whole.filtered(without_8, orphans::refused); });
  CHECK(refused.code() == errc::missing_value);
  CHECK(std::string(refused.what()).find("parent of event 2 of sequence 0: expected event 8") != std::string::npos);
  const trace detached = whole.filtered(without_8, orphans::detached);
  CHECK_FALSE(event_at(detached, 0).parent);
  CHECK(event_at(detached, 0).status == event_status::failed);
  CHECK(event_at(detached, 3).parent == 8);  // of the other sequence
  CHECK(event_at(whole.filtered(without_8, orphans::kept), 0).parent == 8);
  CHECK_NOTHROW(whole.filtered(std::vector<std::uint8_t>{0, 1, 1, 1, 1}, orphans::refused));  // nobody's parent

  CHECK(refusal([&] { return whole.chunk(0, 2, row_numbers::kept, orphans::refused); }).code() == errc::missing_value);
  const trace part = whole.chunk(0, 2, row_numbers::kept, orphans::kept);  // a parent is missing already
  CHECK(event_at(part.padded(3, {.side = call::padding_side::left, .position = 0}), 1).parent == 8);
  const std::vector<trace> parts{whole.chunk(0, 2, row_numbers::kept, orphans::kept),
                                 whole.chunk(2, 3, row_numbers::kept, orphans::kept)};
  CHECK(trace::concatenated(parts, row_numbers::kept).column<0>().values() == whole.column<0>().values());
}

TEST_CASE("events do not descend from themselves", "[annotated_rows]") {
  const row_identity rows(1, 4, {{0, 0}, {0, 1}, {0, 2}, {0, 3}});
  const tensor<double, 3> content({1, 4, 1});
  const auto made = [&](std::vector<event> values) { return trace(rows, content.view(), {rows, std::move(values)}); };
  const error refused = refusal([&] {
    return made({{.order = 0, .parent = 2}, {.order = 1, .parent = 0}, {.order = 2, .parent = 1}, {.order = 3}});
  });
  CHECK(refused.code() == errc::graph_structure);
  CHECK(std::string(refused.what()).find("of sequence 0: expected other events, got the event itself") !=
        std::string::npos);
  CHECK_NOTHROW(made({{.order = 0, .parent = 9}, {.order = 1, .parent = 0}, {.order = 2, .parent = 0}, {.order = 3}}));
  CHECK_NOTHROW(made({{.order = 3, .parent = 2}, {.order = 2, .parent = 1}, {.order = 1, .parent = 0}, {.order = 0}}));
}

TEST_CASE("an arrangement of other events is refused for its rows", "[annotated_rows]") {
  const trace whole = events();
  const row_identity other(1, 5, {{0, 2}, {0, 0}, {1, 0}, {0, 9}, {1, 1}});  // without the parent of the first
  const error refused = refusal([&] { return whole.arranged_as(other); });
  CHECK(refused.code() == errc::row_identity);
  CHECK(std::string(refused.what()).find("row 3 of entry 0: expected position 9") != std::string::npos);
}

TEST_CASE("two events of a sequence do not share an order", "[annotated_rows]") {
  const row_identity rows(1, 2, {{0, 4}, {0, 6}});
  const tensor<double, 3> content({1, 2, 1});
  CHECK(refusal([&] {
          return trace(rows, content.view(), {rows, {{.order = 3}, {.order = 3}}});
        }).code() == errc::row_identity);
  const row_identity apart(1, 2, {{0, 4}, {1, 4}});
  CHECK_NOTHROW(trace(apart, content.view(), {apart, {{.order = 3}, {.order = 3}}}));
}

TEST_CASE("rows keep their columns when they are given other content", "[annotated_rows]") {
  const trace whole = events();
  const auto wider = random_tensor<double, 3>({whole.rows().entries(), whole.rows().rows(), 7}, 431);
  const trace other = whole.with_content(wider.view());
  CHECK(other.width() == 7);
  CHECK(other.content().row(0, 2)[6] == wider(0, 2, 6));
  CHECK(other.rows() == whole.rows());
  CHECK(other.column<0>().values() == whole.column<0>().values());
  const tensor<double, 3> shorter({whole.rows().entries(), whole.rows().rows() - 1, 7});
  CHECK(refusal([&] { return whole.with_content(shorter.view()); }).code() == errc::shape_mismatch);
}

}  // namespace annotated_rows_test
