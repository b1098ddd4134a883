// SPDX-License-Identifier: MIT
#include <posgeo/contract/table_migration.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace table_migration_test {
namespace {

using namespace posgeo;
using namespace posgeo::contract;
using posgeo::test::random_values;
using posgeo::test::refusal;

constexpr index_t width = 5;

table<float> floats(index_t rows, index_t columns, unsigned seed) {
  return {random_values<float>(static_cast<std::size_t>(rows * columns), seed), rows, columns};
}
table<Eigen::bfloat16> narrow(const table<float>& of) {
  std::vector<Eigen::bfloat16> values;
  for (const float x : of.values()) values.push_back(static_cast<Eigen::bfloat16>(x));
  return {values, of.rows(), of.columns()};
}
template <class T>
std::vector<T> all(const table<T>& of) {
  return {of.values().begin(), of.values().end()};
}

/// Seven positions behind two rows of their own, in training.
position_table<float> trained() {
  return {.weights = floats(9, width, 1),
          .optimizer = optimizer_rows<float>{floats(9, width, 2), floats(9, width, 3), floats(9, width, 4)},
          .max_position_embeddings = 7,
          .row_offset = 2,
          .ids = {.end = 7}};
}
using settings = migration_settings<float>;
settings grow(index_t positions, row_policy<float> rows) {
  return {.max_position_embeddings = positions,
          .rows = std::move(rows),
          .moments = new_moments::zeros{},
          .fewer = shrinking::refused};
}
const new_rows::normal drawn{.standard_deviation = 0.02, .seed = 71};

void refused(const position_table<float>& old, const settings& s, const std::string& part) {
  const error thrown = refusal([&] { (void)migrate(old, s); });
  CHECK(thrown.code() == errc::table_migration);
  CAPTURE(thrown.what());
  CHECK(std::string(thrown.what()).find(part) != std::string::npos);
}

TEST_CASE("a longer table keeps its rows, and every companion has the new rows", "[table_migration]") {
  const auto old = trained();
  const auto moved = migrate(old, grow(11, drawn));
  const position_table<float>& now = moved.after;
  CHECK(check(now).empty());
  CHECK(now.weights.rows() == 13);
  CHECK(now.max_position_embeddings == 11);
  CHECK(now.ids.end == 11);
  CHECK(now.row_offset == 2);
  const auto& optimizer = *now.optimizer.value();
  const auto& before = *old.optimizer.value();
  for (index_t r = 0; r < 13; ++r) {
    for (index_t c = 0; c < width; ++c) {
      if (r < 9) {
        CHECK(now.weights(r, c) == old.weights(r, c));
        CHECK((*optimizer.first_moment.value())(r, c) == (*before.first_moment.value())(r, c));
        CHECK((*optimizer.second_moment.value())(r, c) == (*before.second_moment.value())(r, c));
        CHECK((*optimizer.master_weights.value())(r, c) == (*before.master_weights.value())(r, c));
      } else {
        CHECK(now.weights(r, c) != 0.0F);
        CHECK((*optimizer.first_moment.value())(r, c) == 0.0F);
        CHECK((*optimizer.second_moment.value())(r, c) == 0.0F);
        CHECK((*optimizer.master_weights.value())(r, c) == now.weights(r, c));
      }
    }
    CHECK(moved.origin[static_cast<std::size_t>(r)] == (r < 9 ? row_origin::carried_over : row_origin::initialised));
  }
  CHECK(moved.origin.size() == 13);
  CHECK(all(moved.before.weights) == all(old.weights));
  CHECK(moved.before.max_position_embeddings == 7);
}

TEST_CASE("without an optimizer there is none afterwards, and a tensor it does not keep stays away",
          "[table_migration]") {
  auto old = trained();
  old.optimizer = none;
  CHECK(!migrate(old, grow(8, drawn)).after.optimizer.value());
  old.optimizer = optimizer_rows<float>{floats(9, width, 2), none, none};
  const auto after = migrate(old, grow(8, drawn)).after.optimizer;
  CHECK(after.value()->first_moment.value());
  CHECK(!after.value()->second_moment.value());
  CHECK(!after.value()->master_weights.value());
}

TEST_CASE("normal rows have the mean and deviation they are asked for, and the seed decides them",
          "[table_migration]") {
  auto old = trained();
  const auto rows = [&old](std::uint64_t seed) {
    const auto now = migrate(old, grow(4007, new_rows::normal{.standard_deviation = 0.02, .seed = seed})).after;
    const auto values = all(now.weights);
    return std::vector<float>(values.begin() + 9 * width, values.end());
  };
  const auto numbers = rows(5);
  double sum = 0;
  double squares = 0;
  for (const float x : numbers) {
    sum += static_cast<double>(x);
    squares += static_cast<double>(x) * static_cast<double>(x);
  }
  const auto count = static_cast<double>(numbers.size());
  const double error_of_mean = 0.02 / std::sqrt(count);
  CHECK(std::abs(sum / count) < 5 * error_of_mean);
  CHECK(std::abs(std::sqrt(squares / count) - 0.02) < 5 * error_of_mean);
  CHECK(numbers == rows(5));
  CHECK(numbers != rows(6));
}

TEST_CASE("new rows can be zeros, copies or the caller's", "[table_migration]") {
  const auto old = trained();
  const auto zeros = migrate(old, grow(9, new_rows::zeros{})).after;
  CHECK(std::count(zeros.weights.values().begin() + 9 * width, zeros.weights.values().end(), 0.0F) == 2 * width);
  const auto copied = migrate(old, grow(10, new_rows::copy_of{.first = 3})).after;
  for (index_t r = 0; r < 3; ++r) {
    for (index_t c = 0; c < width; ++c) {
      CHECK(copied.weights(9 + r, c) == old.weights(3 + r, c));
      const auto& master = *copied.optimizer.value()->master_weights.value();
      CHECK(master(9 + r, c) == (*old.optimizer.value()->master_weights.value())(3 + r, c));
    }
  }
  const auto mine = floats(4, width, 44);
  const auto given = migrate(old, grow(11, new_rows::given<float>{mine})).after;
  for (index_t r = 0; r < 4; ++r) {
    for (index_t c = 0; c < width; ++c) CHECK(given.weights(9 + r, c) == mine(r, c));
  }
}

TEST_CASE("master weights and narrow weights receive the same new numbers, each rounded once", "[table_migration]") {
  const auto wide = floats(7, width, 4);
  const position_table<Eigen::bfloat16> old{.weights = narrow(wide),
                                            .optimizer = optimizer_rows<float>{none, none, wide},
                                            .max_position_embeddings = 7,
                                            .row_offset = 0,
                                            .ids = {.end = 7}};
  const auto now = migrate(old, migration_settings<Eigen::bfloat16>{.max_position_embeddings = 12,
                                                                    .rows = drawn,
                                                                    .moments = new_moments::zeros{},
                                                                    .fewer = shrinking::refused})
                       .after;
  const auto& master = *now.optimizer.value()->master_weights.value();
  bool rounded = false;
  for (index_t r = 7; r < 12; ++r) {
    for (index_t c = 0; c < width; ++c) {
      const auto weight = static_cast<double>(static_cast<float>(now.weights(r, c)));
      CHECK(std::abs(weight - static_cast<double>(master(r, c))) <=
            0.004 * std::abs(static_cast<double>(master(r, c))));
      rounded = rounded || weight != static_cast<double>(master(r, c));
    }
  }
  CHECK(rounded);
}

TEST_CASE("moments of new rows can be the caller's, and can all start again", "[table_migration]") {
  const auto old = trained();
  auto s = grow(9, drawn);
  const auto first = floats(2, width, 51);
  const auto second = floats(2, width, 52);
  s.moments = new_moments::given<float>{first, second};
  const auto optimizer = *migrate(old, s).after.optimizer.value();
  for (index_t c = 0; c < width; ++c) {
    CHECK((*optimizer.first_moment.value())(10, c) == first(1, c));
    CHECK((*optimizer.second_moment.value())(9, c) == second(0, c));
    CHECK((*optimizer.second_moment.value())(8, c) == (*old.optimizer.value()->second_moment.value())(8, c));
  }
  s.moments = new_moments::all_zeros{};
  const auto fresh = *migrate(old, s).after.optimizer.value();
  for (const float x : fresh.first_moment.value()->values()) CHECK(x == 0.0F);
  CHECK(fresh.first_moment.value()->rows() == 11);
  CHECK(all(*fresh.master_weights.value()) ==
        all(*migrate(old, grow(9, drawn)).after.optimizer.value()->master_weights.value()));

  s.moments = new_moments::given<float>{first, none};
  refused(old, s, "second moment of the new rows: expected 2 x 5, got none");
  s.moments = new_moments::given<float>{floats(3, width, 1), second};
  refused(old, s, "first moment of the new rows: expected 2 x 5, got 3 x 5");
  auto without = old;
  without.optimizer = none;
  s.moments = new_moments::given<float>{first, none};
  refused(without, s, "first moment of the new rows: expected none, got 2 x 5");
}

TEST_CASE("an interpolated table resamples positions, keeps the rows before them and no moment", "[table_migration]") {
  const auto old = trained();
  auto s = grow(10, new_rows::interpolated{.sampling = encode::resize_sampling::aligned_corners});
  refused(old, s, "moments of a resampled table");
  s.moments = new_moments::all_zeros{};
  const auto moved = migrate(old, s);
  for (index_t c = 0; c < width; ++c) {
    CHECK(moved.after.weights(0, c) == old.weights(0, c));
    CHECK(moved.after.weights(1, c) == old.weights(1, c));
    CHECK(moved.after.weights(2, c) == old.weights(2, c));   // first on first
    CHECK(moved.after.weights(11, c) == old.weights(8, c));  // last on last
    const auto between = static_cast<double>(old.weights(2, c)) +
                         (static_cast<double>(old.weights(3, c)) - static_cast<double>(old.weights(2, c))) * 6.0 / 9.0;
    CHECK(std::abs(static_cast<double>(moved.after.weights(3, c)) - between) < 1e-6);
  }
  CHECK(check(moved.after).empty());
  CHECK(moved.origin[1] == row_origin::carried_over);
  CHECK(moved.origin[2] == row_origin::initialised);
  auto free = old;
  free.optimizer = optimizer_rows<float>{none, none, floats(9, width, 4)};
  s.moments = new_moments::zeros{};
  const auto master = *migrate(free, s).after.optimizer.value()->master_weights.value();
  CHECK(master(2, 1) == (*free.optimizer.value()->master_weights.value())(2, 1));
}

TEST_CASE("a grid is resampled with its class row in front", "[table_migration]") {
  const position_table<float> old{.weights = floats(1 + 2 * 3, width, 1),
                                  .optimizer = none,
                                  .max_position_embeddings = 7,
                                  .row_offset = 0,
                                  .ids = {.end = 7}};
  const encode::interpolated_grid_settings grid{.from = {.rows = 2, .columns = 3},
                                                .to = {.rows = 4, .columns = 3},
                                                .class_rows = 1,
                                                .kernel = encode::grid_kernel::bilinear,
                                                .rule = encode::size_rule::exact_size};
  const auto moved = migrate(old, grow(13, new_rows::interpolated_grid{grid}));
  CHECK(all(moved.after.weights) == all(encode::interpolated_grid(old.weights, grid)));
  CHECK(moved.origin[0] == row_origin::carried_over);
  CHECK(moved.origin[1] == row_origin::initialised);
  refused(old, grow(12, new_rows::interpolated_grid{grid}), "rows of the new grid");
  auto other = grid;
  other.from = {.rows = 3, .columns = 3};
  refused(old, grow(13, new_rows::interpolated_grid{other}), "rows of the old grid");
  other.from = {.rows = 0, .columns = 3};
  refused(old, grow(13, new_rows::interpolated_grid{other}), "extents of the grids");
  auto shifted = old;
  shifted.row_offset = 1;
  shifted.max_position_embeddings = 6;
  shifted.ids = {.end = 6};
  refused(shifted, grow(12, new_rows::interpolated_grid{grid}), "row_offset of a grid");
}

TEST_CASE("fewer rows are refused unless they are intended", "[table_migration]") {
  const auto old = trained();
  auto s = grow(4, new_rows::nothing{});
  refused(old, s, "at least 7 (or shrinking::intended)");
  s.fewer = shrinking::intended;
  const auto moved = migrate(old, s);
  CHECK(moved.after.weights.rows() == 6);
  CHECK(check(moved.after).empty());
  CHECK(moved.after.weights(5, 2) == old.weights(5, 2));
  CHECK(moved.before.weights.rows() == 9);
  s.rows = drawn;
  refused(old, s, "policy for new rows");
}

TEST_CASE("a migration that changes nothing, makes nothing or cannot be made is refused", "[table_migration]") {
  const auto old = trained();
  refused(old, grow(7, drawn), "another than before");
  refused(old, grow(0, drawn), "from 1 to 2^31");
  refused(old, grow((index_t{1} << 31) + 1, drawn), "from 1 to 2^31");
  refused(old, grow(9, new_rows::nothing{}), "policy for new rows");
  refused(old, grow(9, new_rows::normal{.standard_deviation = 0.0, .seed = 1}), "standard deviation");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused(old, grow(9, new_rows::normal{.standard_deviation = nan, .seed = 1}), "standard deviation");
  refused(old, grow(9, new_rows::copy_of{.first = 8}), "copied rows");
  refused(old, grow(9, new_rows::copy_of{.first = -1}), "copied rows");
  refused(old, grow(9, new_rows::given<float>{floats(3, width, 1)}), "given rows: expected 2 x 5, got 3 x 5");
  refused(old, grow(9, new_rows::given<float>{floats(2, width + 1, 1)}), "given rows: expected 2 x 5, got 2 x 6");
}

TEST_CASE("an enlarged table under the old config is refused", "[table_migration]") {
  auto state = migrate(trained(), grow(11, drawn)).after;
  state.max_position_embeddings = 7;
  state.ids = {.end = 7};
  CHECK(refusal([&] { require_consistent(state); }).code() == errc::table_migration);
  refused(state, grow(20, drawn), "max_position_embeddings: expected 11 (13 rows, row_offset 2), got 7");
}

TEST_CASE("an enlarged config over the old table is refused", "[table_migration]") {
  auto state = trained();
  state.max_position_embeddings = 11;
  state.ids = {.end = 11};
  refused(state, grow(20, drawn), "max_position_embeddings: expected 7 (9 rows, row_offset 2), got 11");
}

TEST_CASE("ids that end elsewhere than the config are refused", "[table_migration]") {
  auto state = trained();
  state.ids = {.end = 6};
  refused(state, grow(20, drawn), "end of the generated ids: expected 7, got 6");
  state = trained();
  state.row_offset = -1;
  refused(state, grow(20, drawn), "row_offset");
}

TEST_CASE("optimizer rows of another row space are refused, one by one", "[table_migration]") {
  const auto now = migrate(trained(), grow(11, drawn)).after;
  const auto stale = floats(9, width, 2);
  const auto& rows = *now.optimizer.value();
  auto state = now;
  state.optimizer = optimizer_rows<float>{stale, rows.second_moment, rows.master_weights};
  refused(state, grow(20, drawn), "first moment: expected 13 x 5, got 9 x 5");
  state.optimizer = optimizer_rows<float>{rows.first_moment, stale, rows.master_weights};
  refused(state, grow(20, drawn), "second moment: expected 13 x 5, got 9 x 5");
  state.optimizer = optimizer_rows<float>{rows.first_moment, rows.second_moment, stale};
  refused(state, grow(20, drawn), "master weights: expected 13 x 5, got 9 x 5");
  state.optimizer = optimizer_rows<float>{floats(13, width + 1, 2), none, none};
  refused(state, grow(20, drawn), "first moment: expected 13 x 5, got 13 x 6");
}

}  // namespace
}  // namespace table_migration_test
