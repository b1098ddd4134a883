// SPDX-License-Identifier: MIT
#include <posgeo/audit/tally.hpp>

#include <map>

#include "support/catch.hpp"
#include "support/random_calls.hpp"
#include "support/refusal.hpp"

namespace audit_tally_test {

using namespace posgeo;
using audit::counted_line;
using audit::tally;
using test::dice;
using test::refusal;

/// The meaning of a tally: a count for each number.
using naive = std::map<index_t, index_t>;

/// A line that a tally can count, and its counts one by one.
counted_line random_line(dice& roll, naive& expected) {
  counted_line line{roll.between(-9, 9), 0, roll.between(0, 6), roll.between(-2, 3)};
  line.last = line.first + roll.between(0, 7);
  while (line.last > line.first && line(line.last) < 0) --line.last;
  for (index_t at = line.first; at <= line.last; ++at) expected[at] += line(at);
  return line;
}

void check_equal(const tally& counted, const naive& expected) {
  naive positive;
  index_t all = 0;
  for (const auto& [at, count] : expected) {
    CHECK(counted(at) == count);
    if (count > 0) positive[at] = count;
    all += count;
  }
  CHECK(counted.total() == all);
  CHECK(counted.empty() == positive.empty());
  if (positive.empty()) return;
  CHECK(counted.lowest() == positive.begin()->first);
  CHECK(counted.highest() == positive.rbegin()->first);
  naive of_lines;
  for (const counted_line& line : counted.lines()) {
    for (index_t at = line.first; at <= line.last; ++at) {
      CHECK(of_lines.find(at) == of_lines.end());
      of_lines[at] = line(at);
    }
  }
  CHECK(of_lines == positive);
  for (index_t low = -12; low < 12; low += 5) {
    index_t within = 0;
    for (const auto& [at, count] : positive) within += at >= low && at <= low + 8 ? count : 0;
    CHECK(counted.total(low, low + 8) == within);
  }
  for (index_t least = 1; least < 9; least += 3) {
    index_t numbers = 0;
    for (const auto& [at, count] : positive) numbers += count >= least ? 1 : 0;
    CHECK(counted.numbers(least) == numbers);
  }
  index_t above = 0;
  for (const auto& [at, count] : positive) above += at > 3 ? count : 0;
  CHECK(counted.above(3) == above);
}

TEST_CASE("a tally counts what a map of counts does", "[tally]") {
  dice roll(731);
  for (int round = 0; round < 300; ++round) {
    naive expected;
    tally counted;
    for (index_t n = roll.between(0, 5); n > 0; --n) {
      const counted_line line = random_line(roll, expected);
      counted.add_line(line.first, line.last, line.count, line.step);
    }
    for (index_t n = roll.between(0, 3); n > 0; --n) {
      const index_t at = roll.between(-11, 11);
      const index_t count = roll.between(0, 4);
      counted.add(at, count);
      expected[at] += count;
    }
    check_equal(counted, expected);
    CHECK(tally(counted.lines()) == counted);
  }
}

TEST_CASE("equal counts are equal tallies however they came together", "[tally]") {
  dice roll(97);
  for (int round = 0; round < 100; ++round) {
    naive all;
    tally one_by_one;
    std::vector<tally> parts;
    for (int n = 0; n < 4; ++n) {
      const counted_line line = random_line(roll, all);
      parts.emplace_back();
      parts.back().add_line(line.first, line.last, line.count, line.step);
    }
    for (const auto& [at, count] : all) one_by_one.add(at, count);
    tally forward;
    tally backward;
    for (std::size_t n = 0; n < parts.size(); ++n) {
      forward.add(parts[n]);
      backward.add(parts[parts.size() - 1 - n]);
    }
    CHECK(forward == one_by_one);
    CHECK(backward == one_by_one);
    CHECK(forward.lines() == one_by_one.lines());
    one_by_one.add(one_by_one);
    for (auto& [at, count] : all) count *= 2;
    check_equal(one_by_one, all);
  }
}

TEST_CASE("long straight counts take a few lines", "[tally]") {
  tally triangle;
  for (index_t length = 1; length <= 1000; ++length) triangle.add_line(0, length - 1, 1, 0);
  CHECK(triangle.lines() == std::vector<counted_line>{{0, 999, 1000, -1}});
  tally box;
  box.add_line(-3, 4, 5, 0);
  box.add(9, 1);
  CHECK(box.lines() == std::vector<counted_line>{{-3, 4, 5, 0}, {9, 9, 1, 0}});
  tally two;  // 5 and 4 are no line, 5 and 3 and 1 are
  two.add(2, 5);
  two.add(3, 4);
  CHECK(two.lines() == std::vector<counted_line>{{2, 2, 5, 0}, {3, 3, 4, 0}});
  tally three;
  three.add_line(2, 4, 5, -2);
  CHECK(three.lines() == std::vector<counted_line>{{2, 4, 5, -2}});
}

TEST_CASE("a tally holds the furthest numbers and the most counts", "[tally]") {
  tally far;
  far.add(tally::furthest, 3);
  far.add(-tally::furthest, 4);
  CHECK(far(tally::furthest) == 3);
  CHECK(far.above(tally::furthest - 1) == 3);
  CHECK(far.above(tally::furthest) == 0);
  CHECK(far.total() == 7);
  CHECK(far.numbers(4) == 1);
  CHECK(tally(far.lines()) == far);
  tally full;
  full.add_line(1, tally::most, 1, 0);
  CHECK(full.total() == tally::most);
  CHECK(full.lines() == std::vector<counted_line>{{1, tally::most, 1, 0}});

  tally refused = full;
  CHECK(refusal([&] { refused.add(5, 1); }).code() == errc::coverage);
  CHECK(refusal([&] { refused.add(far); }).code() == errc::coverage);
  CHECK(refusal([&] { refused.add(tally::furthest + 1, 1); }).code() == errc::coverage);
  CHECK(refusal([&] { refused.add(-tally::furthest - 1, 1); }).code() == errc::coverage);
  CHECK(refused == full);
}

TEST_CASE("a tally refuses counts below 0", "[tally]") {
  tally counted;
  CHECK(refusal([&] { counted.add(2, -1); }).code() == errc::coverage);
  CHECK(refusal([&] { counted.add_line(2, 5, 2, -1); }).code() == errc::coverage);
  CHECK(refusal([&] { counted.add_line(2, 3, -1, 1); }).code() == errc::coverage);
  CHECK(refusal([&] { counted.add_line(0, tally::furthest, 1, tally::most); }).code() == errc::coverage);
  CHECK(refusal([&] { static_cast<void>(counted.numbers(0)); }).code() == errc::coverage);
  CHECK(counted.empty());
  counted.add_line(3, 2, -7, 4);  // no number
  CHECK(counted.empty());
}

TEST_CASE("lines that are not those of a tally are refused", "[tally]") {
  using lines = std::vector<counted_line>;
  for (const lines& wrong :
       {lines{{4, 3, 1, 0}}, lines{{0, 2, 1, 0}, {2, 3, 5, 0}}, lines{{5, 5, 1, 0}, {0, 0, 1, 0}}, lines{{0, 0, 0, 0}},
        lines{{0, 3, 3, -1}}, lines{{0, 0, 1, 1}}, lines{{0, 1, 7, 0}, {2, 3, 7, 0}}, lines{{0, 3, -1, 1}}}) {
    CHECK(refusal([&] { static_cast<void>(tally(wrong)); }).code() == errc::coverage);
  }
}

}  // namespace audit_tally_test
