// SPDX-License-Identifier: MIT
#include <posgeo/audit/html/buckets.hpp>
#include <posgeo/audit/html/cell_map.hpp>
#include <posgeo/audit/html/curves.hpp>
#include <posgeo/audit/html/phases.hpp>
#include <posgeo/coordinate/log_bucket.hpp>
#include <posgeo/frequency/geometric.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/markup.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace audit_html_pictures_test {

using namespace posgeo;
using namespace posgeo::audit::html;
using audit::html::table;
using test::elements_of;
using test::named;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::vector<std::pair<double, double>> points_of(const test::element& line) {
  std::vector<std::pair<double, double>> out;
  std::string rest = line["points"];
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::size_t space = rest.find(' ');
    out.emplace_back(std::stod(rest.substr(0, comma)), std::stod(rest.substr(comma + 1, space - comma - 1)));
    rest = space == std::string::npos ? "" : rest.substr(space + 1);
  }
  return out;
}

TEST_CASE("ticks are round numbers within the range", "[html]") {
  CHECK(ticks({-7.0, 8.0}, 6) == std::vector<double>{-5.0, 0.0, 5.0});
  CHECK(ticks({0.0, 1000.0}, 5) == std::vector<double>{0.0, 200.0, 400.0, 600.0, 800.0, 1000.0});
  CHECK(ticks({3.0, 3.0}, 5) == std::vector<double>{3.0});
  for (const double t : ticks({-0.031, 0.0021}, 4)) CHECK((t >= -0.031 && t <= 0.0021));
}

TEST_CASE("colours of cells grow lighter and carry readable texts", "[html]") {
  double before = -1.0;
  for (int n = 0; n <= 48; ++n) {
    const rgb colour = colour_at(n / 48.0);
    const double light = luminance(colour);
    CHECK(light > before);
    before = light;
    const double words = text_on(colour) == "on-light" ? luminance({0, 0, 0}) : luminance({255, 255, 255});
    CHECK((std::max(light, words) + 0.05) / (std::min(light, words) + 0.05) >= 4.5);
  }
}

TEST_CASE("the themes of a page have the contrast that it says", "[html]") {
  const auto colour = [](std::string_view part, const std::string& name) {
    const std::size_t at = part.find("--" + name + ": #") + name.size() + 5;
    const auto two = [&](std::size_t n) { return std::stoi(std::string(part.substr(at + n, 2)), nullptr, 16); };
    return rgb{two(0), two(2), two(4)};
  };
  const std::size_t dark = style.find("prefers-color-scheme: dark");
  for (const std::string_view part : {style.substr(0, dark), style.substr(dark)}) {
    for (const std::string ground : {"ground", "panel"}) {
      const double back = luminance(colour(part, ground));
      const auto contrast = [&](const std::string& name) {
        const double front = luminance(colour(part, name));
        return (std::max(front, back) + 0.05) / (std::min(front, back) + 0.05);
      };
      for (const std::string words : {"ink", "soft", "link"}) CHECK(contrast(words) >= 4.5);
      for (int n = 0; n < looks; ++n) CHECK(contrast("s" + std::to_string(n)) >= 3.0);
    }
  }
}

TEST_CASE("a map draws one cell for each number and a dot for each hidden pair", "[html]") {
  const auto numbers = test::random_values<double>(21, 4100);
  cell_map map{"m", "key", "query", {"a", "b", "c"}, {"0", "1", "2", "3", "4", "5", "6"}, numbers};
  map.values[4] = nothing;
  map.values[17] = -std::numeric_limits<double>::infinity();
  const number_range scale{-2.0, 2.0};
  const auto all = elements_of(draw(map, scale).draw("x"));
  const auto cells = named(all, "rect");
  REQUIRE(cells.size() == 19);
  CHECK(named(all, "circle", "hidden").size() == 2);
  std::size_t n = 0;
  for (const auto& cell : cells) {
    while (!std::isfinite(map.values[n])) ++n;
    CHECK(cell["fill"] == written(colour_at((map.values[n] + 2.0) / 4.0)));
    CHECK(cell.number("x") == Approx(cells[0].number("x") + 26.0 * static_cast<double>(n % 3)));
    CHECK(cell.number("y") == Approx(cells[0].number("y") + 26.0 * static_cast<double>(n / 3)));
    ++n;
  }
  const table said = numbers_of(map);
  REQUIRE(said.rows.size() == 7);
  CHECK(said.rows[1][2] == "hidden");
  CHECK(said.rows[5][3] == "hidden");
  CHECK(said.rows[6][3] == shown(numbers[20]));
  const block whole = draw("t", "w", "u", {map});
  CHECK(whole.tables[0].rows[0][5] == "2");
}

TEST_CASE("a map refuses numbers that are not its rows and columns", "[html]") {
  CHECK(test::refusal([] {
          (void)draw(cell_map{"m", "", "", {"a"}, {"b", "c"}, {1.0}}, {0.0, 1.0});
        }).code() == errc::report);
}

TEST_CASE("points of a curve stand where its axes say", "[html]") {
  const curves plot{"t", "x", "y", {-3.0, 0.0, 1.0, 9.0, 11.0}, {{"a", {4.0, -1.0, nothing, 2.0, 0.5}}}};
  const auto all = elements_of(draw(plot).draw("x"));
  const auto lines = named(all, "polyline", "line0");
  REQUIRE(lines.size() == 2);  // cut where a number is missing
  const auto first = points_of(lines[0]);
  const auto second = points_of(lines[1]);
  REQUIRE(first.size() == 2);
  REQUIRE(second.size() == 2);
  CHECK(first[0].first == Approx(diagram::left));
  CHECK(second[1].first == Approx(diagram::left + diagram::width));
  CHECK(first[1].first == Approx(diagram::left + diagram::width * 3.0 / 14.0).margin(0.06));
  // 4 and -1 lie a twenty-second of the height from the ends, 2 in proportion.
  const double unit = diagram::height / 1.1 / 5.0;
  CHECK(first[1].second - first[0].second == Approx(5.0 * unit).margin(0.11));
  CHECK(second[0].second - first[0].second == Approx(2.0 * unit).margin(0.11));
}

TEST_CASE("curves refuse lines of other lengths and more lines than looks", "[html]") {
  curves plot{"t", "x", "y", {0.0, 1.0}, {{"a", {1.0}}}};
  CHECK(test::refusal([&] { (void)draw(plot); }).code() == errc::report);
  plot.lines.assign(looks + 1, {"a", {1.0, 2.0}});
  CHECK(test::refusal([&] { (void)draw(plot); }).code() == errc::report);
}

TEST_CASE("steps of a bucket picture stand at the edges of the rule", "[html]") {
  const coordinate::log_bucket rule(
      {.num_buckets = 12, .max_position = 60, .beyond = coordinate::beyond_max_position::clamped});
  const index_t far = 75;
  const auto runs = bucket_runs(rule, relative_offset{-far}, relative_offset{far});
  // Query minus key: the buckets of keys behind are positive. edges() holds the last distance of each bucket beyond
  // mid.
  std::vector<index_t> ends;
  for (const bucket_run& run : runs) {
    if (run.first < 0 && run.last < -rule.num_buckets() / 2) ends.push_back(-run.first);
  }
  std::vector<index_t> expected(rule.edges().rbegin(), rule.edges().rend());
  expected.insert(expected.begin(), far);
  CHECK(ends == expected);

  const block drawn = bucket_edges("b", rule, relative_offset{-far}, relative_offset{far});
  const auto points = points_of(named(elements_of(drawn.pictures.at(0).draw("x")), "polyline").at(0));
  REQUIRE(points.size() == 2 * runs.size());  // a step has two points; the last ends the axis
  for (std::size_t n = 1; n < runs.size(); ++n) {
    const double at =
        diagram::left + diagram::width * (static_cast<double>(runs[n].first + far)) / static_cast<double>(2 * far + 1);
    CHECK(points[2 * n].first == Approx(at).margin(0.06));
    CHECK(points[2 * n - 1].first == points[2 * n].first);
  }
  index_t covered = 0;  // the table says every offset once
  for (const auto& row : drawn.numbers.at(0).rows) {
    const std::size_t to = row[0].find(" to ");
    const index_t from = std::stol(row[0]);
    covered += (to == std::string::npos ? from : std::stol(row[0].substr(to + 4))) - from + 1;
  }
  CHECK(covered == 2 * far + 1);
}

TEST_CASE("a bucket picture refuses no offset", "[html]") {
  const auto rule = [](relative_offset offset) { return offset.value(); };
  CHECK(test::refusal([&] { (void)bucket_edges("b", rule, relative_offset{2}, relative_offset{1}); }).code() ==
        errc::report);
}

TEST_CASE("phases are the cosines of the angles and count whole turns", "[html]") {
  const frequency::geometric speeds({.base = 50.0, .rotary_dim = 6});
  const block drawn = phases(speeds, 9);
  const table& map = drawn.numbers.back();
  REQUIRE(map.rows.size() == 3);
  for (index_t pair = 0; pair < 3; ++pair) {
    for (index_t p = 0; p < 9; ++p) {
      CHECK(map.rows[static_cast<std::size_t>(pair)][static_cast<std::size_t>(p + 1)] ==
            shown(std::cos(speeds.at(pair) * static_cast<double>(p))));
    }
  }
  CHECK(drawn.words.rfind("1 of 3 pairs turn at least once within 9 positions.", 0) == 0);  // 8 radians, 2.2 and 0.6
  CHECK(test::refusal([&] { (void)phases(speeds, 1); }).code() == errc::report);
}

TEST_CASE("encoded rows are drawn by their positions", "[html]") {
  const auto states = test::random_tensor<double, 3>({1, 3, 2}, 4101);
  const block drawn = encoded_rows({7, -2, 40}, states.view());
  const table& said = drawn.numbers.at(0);
  REQUIRE(said.rows.size() == 3);
  CHECK(said.rows[1] == std::vector<std::string>{"-2", shown(states(0, 1, 0)), shown(states(0, 1, 1))});
  CHECK(test::refusal([&] { (void)encoded_rows({7, -2}, states.view()); }).code() == errc::report);
}

}  // namespace audit_html_pictures_test
