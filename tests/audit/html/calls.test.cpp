// SPDX-License-Identifier: MIT
#include "support/calls.hpp"

#include <posgeo/attend/eager.hpp>
#include <posgeo/audit/html/call_picture.hpp>
#include <posgeo/audit/html/coverage.hpp>
#include <posgeo/audit/html/findings.hpp>
#include <posgeo/bias/alibi.hpp>
#include <posgeo/call/cross_attention.hpp>
#include <posgeo/call/padded_batch.hpp>
#include <posgeo/call/prefill_chunk.hpp>
#include <posgeo/model/attention.hpp>
#include <posgeo/scale/none.hpp>
#include <posgeo/visible/active.hpp>
#include <posgeo/visible/causal.hpp>

#include <array>

#include "support/catch.hpp"
#include "support/markup.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace audit_html_calls_test {

using namespace posgeo;
using namespace posgeo::audit::html;
namespace html = posgeo::audit::html;
using audit::html::table;
using test::elements_of;
using test::named;

const attention method{heads{.query = 3, .key_value = 3, .dim = 2}, scale::none{}, visible::causal{}, visible::active{},
                       bias::alibi(bias::alibi_slopes::reference(3), bias::alibi_direction::causal)};

position_call two_entries() {
  const std::array<index_t, 2> lengths{5, 2};
  return call::padded_batch({.lengths = lengths,
                             .rows = 6,
                             .side = call::padding_side::left,
                             .positions = call::padded_positions::fixed(3, 1)});
}

TEST_CASE("runs of rows are split where the step the sequence or the activity changes", "[html]") {
  const std::vector<index_t> positions{4, 5, 6, 9, 8, 7, 7, 2, 3, 3};
  const std::vector<index_t> sequences{0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
  const std::vector<std::uint8_t> active{1, 1, 1, 1, 1, 1, 1, 1, 1, 0};
  const position_call call =
      call::explicit_positions({.query = {.positions = positions, .sequences = sequences, .active = active, .rows = 10},
                                .key = {.positions = positions, .sequences = sequences, .active = active, .rows = 10}});
  CHECK(runs_of(call.query_space(), 0) == std::vector<row_run>{{0, 2, 4, 6, 0, true},
                                                               {3, 5, 9, 7, 0, true},
                                                               {6, 6, 7, 7, 1, true},
                                                               {7, 8, 2, 3, 1, true},
                                                               {9, 9, 3, 3, 1, false}});
}

TEST_CASE("bars of a call picture stand at the positions of their rows", "[html]") {
  const position_call call = two_entries();
  const block drawn = call_picture(call);
  REQUIRE(drawn.pictures.size() == 1);
  const auto all = elements_of(drawn.pictures[0].draw("x"));
  // Entry 0: rows 1..5 at 4..8. Entry 1: rows 4, 5 at 7, 8. Padding at 1. The axis goes from 0.5 to 8.5.
  const auto first = named(all, "rect", "s0");
  const auto second = named(all, "rect", "s1");
  const auto padding = named(all, "rect", "padding");
  REQUIRE(first.size() == 2);
  REQUIRE(second.size() == 2);
  REQUIRE(padding.size() == 4);
  const double each = (first[0].number("width") + 1.0) / 5.0;
  CHECK((second[0].number("width") + 1.0) / each == Approx(2.0).margin(0.01));
  CHECK((padding[0].number("width") + 1.0) / each == Approx(1.0).margin(0.01));
  CHECK((first[0].number("x") - padding[0].number("x")) / each == Approx(3.0).margin(0.01));
  CHECK((second[0].number("x") - padding[0].number("x")) / each == Approx(6.0).margin(0.01));
  CHECK(first[0].number("y") != first[1].number("y"));
  REQUIRE(drawn.tables.at(0).rows.size() == 8);
  CHECK(drawn.tables[0].rows[1] == std::vector<std::string>{"queries", "0", "0", "1 to 5", "4 to 8"});
}

TEST_CASE("a call picture marks the committed length", "[html]") {
  const auto all = elements_of(call_picture(call::prefill_chunk(6, 3)).pictures.at(0).draw("x"));
  const auto bars = named(all, "rect", "s0");
  const auto marks = named(all, "line", "mark");
  REQUIRE(bars.size() == 2);
  REQUIRE(marks.size() == 2);
  // Keys 0..8, queries 6..8: the mark of the keys stands where the bar of the queries begins.
  CHECK(marks[1].number("x1") == Approx(bars[0].number("x") - 0.5).margin(0.11));
}

TEST_CASE("two frames are two pictures", "[html]") {
  const std::array<index_t, 1> target{3};
  const std::array<index_t, 1> source{5};
  const auto call = call::cross_attention({.target_lengths = target,
                                           .source_lengths = source,
                                           .target_rows = 3,
                                           .source_rows = 5,
                                           .first_target_position = 40});
  const block drawn = call_picture(call);
  REQUIRE(drawn.pictures.size() == 2);
  CHECK(drawn.pictures[0].says().find("40 to 42") != std::string::npos);
  CHECK(drawn.pictures[1].says().find("0 to 4") != std::string::npos);
  const attention open{heads{}, scale::none{}, visible::active{}};
  const auto plan = open.compile<double>(call);
  CHECK(test::refusal([&] { (void)pairs_by_distance(plan, "x", "x", {}, [](auto...) { return 0.0; }); }).code() ==
        errc::frame_mismatch);
}

TEST_CASE("what a call picture leaves out is said", "[html]") {
  const block drawn = call_picture(two_entries(), {.most_lanes = 3, .most_runs = 5});
  CHECK(drawn.words.find("The first 3 of 8 lanes are drawn.") != std::string::npos);
  CHECK(drawn.tables.at(0).caption == "Runs of rows: the first 5 of 8");
  CHECK(drawn.tables[0].rows.size() == 5);
  CHECK(test::refusal([] { (void)call_picture(two_entries(), {.most_lanes = 0}); }).code() == errc::report);
}

TEST_CASE("squares of who sees whom are the visible pairs of the plan", "[html]") {
  const auto plan = method.compile<double>(two_entries());
  const block drawn = visible_pairs(plan);
  REQUIRE(drawn.pictures.size() == 2);
  std::size_t row = 0;
  for (index_t b = 0; b < 2; ++b) {
    const auto all = elements_of(drawn.pictures[static_cast<std::size_t>(b)].draw("x"));
    const auto squares = named(all, "rect", "seen");
    const auto dots = named(all, "circle", "hidden");
    CHECK(squares.size() + dots.size() == 36);
    std::size_t seen = 0;
    for (index_t i = 0; i < 6; ++i) {
      index_t of_query = 0;
      for (index_t j = 0; j < 6; ++j) {
        if (!plan.visible(batch_index{b}, query_index{i}, key_index{j})) continue;
        REQUIRE(seen < squares.size());
        CHECK(squares[seen].number("x") - squares[0].number("x") ==
              Approx(26.0 * static_cast<double>(j - 1 - 3 * b)).margin(0.01));
        ++seen;
        ++of_query;
      }
      CHECK(drawn.numbers.at(0).rows.at(row++)[2] == std::to_string(of_query));
    }
    CHECK(seen == squares.size());
  }
}

TEST_CASE("maps and curves of a plan hold its biases", "[html]") {
  const auto plan = method.compile<double>(two_entries());
  const block maps = bias_maps(plan, {.entry = 1});
  REQUIRE(maps.numbers.size() == 3);
  const block curve = bias_by_distance(plan, {.entry = 0});
  for (index_t h = 0; h < 3; ++h) {
    const table& said = maps.numbers[static_cast<std::size_t>(h)];
    for (index_t i = 0; i < 6; ++i) {
      for (index_t j = 0; j < 6; ++j) {
        const batch_index b{1};
        const bool seen = plan.visible(b, query_index{i}, key_index{j});
        CHECK(said.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j + 1)] ==
              (seen ? shown(plan.bias(b, head_index{h}, query_index{i}, key_index{j})) : "hidden"));
      }
    }
    // Padding queries at 1 see nothing; tokens stand at 4..8, so offsets are -4..0.
    REQUIRE(curve.numbers.at(0).rows.size() == 5);
    CHECK(curve.numbers[0].rows[0][static_cast<std::size_t>(h + 1)] ==
          shown(plan.bias(batch_index{0}, head_index{h}, query_index{5}, key_index{1})));
  }
  CHECK(maps.words.find("Entry 1 of 2.") != std::string::npos);
  CHECK(curve.words.find("A function of the offset alone.") == 0);
}

TEST_CASE("maps of a part say what is left out and refuse what is not there", "[html]") {
  const auto plan = method.compile<double>(two_entries());
  const block maps = bias_maps(plan, {.entry = 0, .most_heads = 2, .most_rows = 4});
  CHECK(maps.numbers.size() == 2);
  CHECK(maps.numbers[1].caption == "head 2");
  CHECK(maps.numbers[0].rows.size() == 4);
  CHECK(maps.words.find("The last 4 of 6 queries. The last 4 of 6 keys. 2 of 3 heads.") != std::string::npos);
  CHECK(test::refusal([&] { (void)bias_maps(plan, {.entry = 2}); }).code() == errc::report);
  CHECK(test::refusal([&] { (void)bias_maps(plan, {.most_rows = 0}); }).code() == errc::report);
}

TEST_CASE("scores of one offset that differ are said to differ", "[html]") {
  const auto plan = method.compile<double>(test::call_at({3, 5, 4}));
  const auto query = test::random_tensor<double, 4>({1, 3, 3, 2}, 4110);
  const auto run = attend(eager{}, plan, {query.view(), query.view(), query.view()}, also::everything);
  const block curve = score_by_distance(plan, run.scores.view());
  CHECK(curve.words.find("Not a function of the offset alone") == 0);
  const double mean = (run.scores(0, 0, 1, 2) + run.scores(0, 0, 2, 0)) / 2.0;  // 5 sees 4, 4 sees 3
  REQUIRE(curve.numbers.at(0).rows.size() == 3);
  CHECK(curve.numbers[0].rows[1] ==
        std::vector<std::string>{"-1", shown(mean), curve.numbers[0].rows[1][2], curve.numbers[0].rows[1][3]});
  const block weights = weight_maps(plan, run.probabilities.view());
  CHECK(weights.numbers.at(0).rows[1][3] == shown(run.probabilities(0, 0, 1, 2)));
  const tensor<double, 4> other({1, 3, 3, 2});
  CHECK(test::refusal([&] { (void)score_maps(plan, other.view()); }).code() == errc::shape_mismatch);
}

audit::report a_report() {
  using audit::intervention;
  using audit::verdict;
  audit::report out{.name = "mine", .method = method.describe()};
  out.findings = {{.kind = intervention::shift_all,
                   .what = "all positions + 17",
                   .expected = verdict::invariant,
                   .reference = verdict::invariant,
                   .found = verdict::changes,
                   .measured = {std::nullopt, 0.25, std::nullopt, 0.5},
                   .tolerance = 1e-6},
                  {.kind = intervention::reverse,
                   .expected = verdict::changes,
                   .reference = verdict::changes,
                   .found = verdict::changes,
                   .measured = {std::nullopt, std::nullopt, std::nullopt, 2.0},
                   .tolerance = 1e-6},
                  {.kind = intervention::swap_frames,
                   .expected = verdict::refused,
                   .reference = verdict::refused,
                   .found = verdict::refused,
                   .message = "two <frames>"}};
  out.debts = {{audit::debt::distance, "offsets beyond 4"}};
  return out;
}

TEST_CASE("the intervention table has a row for each finding and says which is a fault", "[html]") {
  const auto blocks = findings(a_report());
  REQUIRE(blocks.size() == 2);
  const table& verdicts = blocks[0].tables.at(0);
  REQUIRE(verdicts.rows.size() == 3);
  CHECK(verdicts.rows[0][0] == "shift all");
  CHECK(verdicts.rows[0][4] == "changes");
  CHECK(verdicts.rows[0][5].find("other numbers than the reference") != std::string::npos);
  CHECK(verdicts.rows[1][5].find("as declared") != std::string::npos);
  CHECK(verdicts.rows[2][5].find("two <frames>") != std::string::npos);
  const table& numbers = blocks[0].numbers.at(0);
  CHECK(numbers.rows[0] ==
        std::vector<std::string>{"shift all", "not given", "0.25", "not given", "0.5", "0", "1e-06"});
  CHECK(numbers.rows[2][4] == "not run");
  CHECK(blocks[0].words.find("3 interventions, 2 as declared, 1 with other numbers than the reference") == 0);
  CHECK(blocks[1].tables.at(0).rows.at(0) == std::vector<std::string>{"distance", "offsets beyond 4"});
}

TEST_CASE("the method is said field by field", "[html]") {
  const description inner = description("clip").with("ends", std::vector<index_t>{-3, 4});
  const std::vector<double> numbers(6, 0.5);
  const block drawn = html::method({description("bias")
                                        .with("sign", "key_minus_query")
                                        .with("rule", inner)
                                        .with("none_here", std::optional<index_t>{})
                                        .with("table", described_table(posgeo::table<double>(numbers, 2, 3)))});
  const auto& rows = drawn.numbers.at(0).rows;
  REQUIRE(rows.size() == 5);
  CHECK(rows[0] == std::vector<std::string>{"bias", "sign", "key_minus_query"});
  CHECK(rows[2] == std::vector<std::string>{"bias", "rule.ends", "-3, 4"});
  CHECK(rows[3] == std::vector<std::string>{"bias", "none here", "none"});
  CHECK(rows[4] == std::vector<std::string>{"bias", "table", "2 x 3 numbers"});
}

TEST_CASE("bins of a coverage hold every count once", "[html]") {
  audit::tally counts;
  counts.add_line(-7, 12, 3, 1);
  counts.add(40, 5);
  const auto bins = bins_of(counts, -7, 40, 7);
  CHECK(bins.size() == 7);
  CHECK(bins.front().first == -7);
  CHECK(bins.back().last == 40);
  index_t total = 0;
  for (std::size_t n = 0; n < bins.size(); ++n) {
    total += bins[n].count;
    if (n > 0) CHECK(bins[n].first == bins[n - 1].last + 1);
  }
  CHECK(total == counts.total());
  CHECK(test::refusal([&] { (void)bins_of(counts, 3, 2, 7); }).code() == errc::report);
}

TEST_CASE("bars of a coverage are as high as their counts", "[html]") {
  audit::coverage seen;
  seen.observe(method.compile<double>(two_entries()));
  const block drawn = coverage_picture(seen, 2);
  const auto& of_rows = seen.counts().rows.queries;  // 4, 5, 6: one each; 7, 8: two
  const auto bars = named(elements_of(drawn.pictures.at(0).draw("x")), "rect", "bar");
  REQUIRE(bars.size() == 5);
  for (index_t p = 4; p <= 8; ++p) {
    CHECK(bars[static_cast<std::size_t>(p - 4)].number("height") / bars[0].number("height") ==
          Approx(static_cast<double>(of_rows(p))).margin(0.01));
  }
  CHECK(drawn.numbers.at(0).rows.at(3) == std::vector<std::string>{"7", "2"});
  CHECK(test::refusal([] { (void)coverage_picture(audit::coverage{}, 2); }).code() == errc::coverage);
}

}  // namespace audit_html_calls_test
