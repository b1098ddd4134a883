// SPDX-License-Identifier: MIT
#include <posgeo/encode/interpolated_grid.hpp>

#include <cmath>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace interpolated_grid_test {

using namespace posgeo;
using namespace posgeo::test;
using encode::grid_extent;
using encode::grid_kernel;
using encode::interpolated_grid;
using encode::size_rule;

constexpr grid_kernel every_kernel[] = {grid_kernel::bilinear, grid_kernel::bicubic};
constexpr size_rule every_rule[] = {size_rule::exact_size, size_rule::plus_a_tenth};

table<double> random_grid(index_t rows, index_t columns, index_t class_rows = 0, index_t width = 2) {
  const index_t count = class_rows + rows * columns;
  return random_table(count, width, 351);
}

table<double> resized(const table<double>& old, const grid_extent& from, const grid_extent& to, grid_kernel kernel,
                      size_rule rule, index_t class_rows = 0) {
  return interpolated_grid(old, {.from = from, .to = to, .class_rows = class_rows, .kernel = kernel, .rule = rule});
}

/// The kernel as a function of the distance between the new place and an old cell (Keys 1981 with a = -0.75).
double weight(grid_kernel kernel, double distance) {
  const double x = std::abs(distance);
  if (kernel == grid_kernel::bilinear) return std::max(0.0, 1.0 - x);
  if (x <= 1.0) return 1.25 * x * x * x - 2.25 * x * x + 1.0;
  if (x < 2.0) return -0.75 * x * x * x + 3.75 * x * x - 6.0 * x + 3.0;
  return 0.0;
}

/// The sum over every cell of the plane around the old grid, whose borders repeat without end.
double by_kernel(const table<double>& old, const grid_extent& from, double y, double x, index_t d, grid_kernel kernel) {
  const auto nearest = [](index_t n, index_t extent) { return std::min(std::max(n, index_t{0}), extent - 1); };
  double sum = 0.0;
  for (index_t r = -4; r < from.rows + 4; ++r) {
    for (index_t c = -4; c < from.columns + 4; ++c) {
      sum += weight(kernel, y - static_cast<double>(r)) * weight(kernel, x - static_cast<double>(c)) *
             old(nearest(r, from.rows) * from.columns + nearest(c, from.columns), d);
    }
  }
  return sum;
}

TEST_CASE("a resized grid is the kernel sum around each new cell", "[interpolated_grid]") {
  const grid_extent from{.rows = 3, .columns = 5};
  const auto old = random_grid(3, 5);
  for (const grid_kernel kernel : every_kernel) {
    for (const size_rule rule : every_rule) {
      for (const grid_extent& to : {grid_extent{.rows = 7, .columns = 4}, grid_extent{.rows = 2, .columns = 11}}) {
        const auto grid = resized(old, from, to, kernel, rule);
        const double tenth = rule == size_rule::plus_a_tenth ? 0.1 : 0.0;
        double largest = 0.0;
        for (index_t r = 0; r < to.rows; ++r) {
          for (index_t c = 0; c < to.columns; ++c) {
            const double y = (static_cast<double>(r) + 0.5) * 3.0 / (static_cast<double>(to.rows) + tenth) - 0.5;
            const double x = (static_cast<double>(c) + 0.5) * 5.0 / (static_cast<double>(to.columns) + tenth) - 0.5;
            for (index_t d = 0; d < 2; ++d) {
              largest =
                  std::max(largest, difference(grid(r * to.columns + c, d), by_kernel(old, from, y, x, d, kernel)));
            }
          }
        }
        CHECK(largest < 1e-13);
      }
    }
  }
}

TEST_CASE("a grid resized to its own size stays as it is only under the exact rule", "[interpolated_grid]") {
  const grid_extent same{.rows = 4, .columns = 3};
  const auto old = random_grid(4, 3);
  for (const grid_kernel kernel : every_kernel) {
    CHECK(largest_difference(resized(old, same, same, kernel, size_rule::exact_size).values(), old.values()) == 0.0);
    CHECK(largest_difference(resized(old, same, same, kernel, size_rule::plus_a_tenth).values(), old.values()) > 0.01);
  }
}

TEST_CASE("constants are reproduced everywhere and slopes inside", "[interpolated_grid]") {
  const grid_extent from{.rows = 6, .columns = 4};
  const grid_extent to{.rows = 9, .columns = 10};
  std::vector<double> numbers;
  for (index_t r = 0; r < 6; ++r) {
    for (index_t c = 0; c < 4; ++c) {
      numbers.push_back(-1.75);
      numbers.push_back(3.0 + 2.0 * static_cast<double>(r) - 0.5 * static_cast<double>(c));
    }
  }
  const table<double> old(numbers, 24, 2);
  for (const size_rule rule : every_rule) {
    for (const grid_kernel kernel : every_kernel) {
      const auto grid = resized(old, from, to, kernel, rule);
      for (index_t n = 0; n < grid.rows(); ++n) CHECK(difference(grid(n, 0), -1.75) < 1e-14);
    }
    const auto grid = resized(old, from, to, grid_kernel::bilinear, rule);
    const double tenth = rule == size_rule::plus_a_tenth ? 0.1 : 0.0;
    for (index_t r = 1; r + 1 < 9; ++r) {
      for (index_t c = 1; c + 2 < 10; ++c) {
        const double y = (static_cast<double>(r) + 0.5) * 6.0 / (9.0 + tenth) - 0.5;
        const double x = (static_cast<double>(c) + 0.5) * 4.0 / (10.0 + tenth) - 0.5;
        if (x < 0.0 || x > 3.0 || y < 0.0 || y > 5.0) continue;
        CHECK(difference(grid(r * 10 + c, 1), 3.0 + 2.0 * y - 0.5 * x) < 1e-13);
      }
    }
  }
}

TEST_CASE("rows and columns cannot be exchanged unseen", "[interpolated_grid]") {
  const grid_extent from{.rows = 2, .columns = 5};
  const grid_extent to{.rows = 7, .columns = 3};
  const auto old = random_grid(2, 5, 0, 1);
  std::vector<double> turned;
  for (index_t c = 0; c < 5; ++c) {
    for (index_t r = 0; r < 2; ++r) turned.push_back(old(r * 5 + c, 0));
  }
  for (const size_rule rule : every_rule) {
    const auto grid = resized(old, from, to, grid_kernel::bicubic, rule);
    // transposing the source and the target transposes the result
    const auto transposed = resized(table<double>(turned, 10, 1), {.rows = 5, .columns = 2}, {.rows = 3, .columns = 7},
                                    grid_kernel::bicubic, rule);
    double largest = 0.0;
    for (index_t r = 0; r < 7; ++r) {
      for (index_t c = 0; c < 3; ++c) {
        largest = std::max(largest, difference(grid(r * 3 + c, 0), transposed(c * 7 + r, 0)));
      }
    }
    CHECK(largest < 1e-14);
    // one exchange or two give a table of the same shape and other numbers
    for (const auto& [read_as, made] :
         std::vector<std::pair<grid_extent, grid_extent>>{{from, {.rows = 3, .columns = 7}},
                                                          {{.rows = 5, .columns = 2}, to},
                                                          {{.rows = 5, .columns = 2}, {.rows = 3, .columns = 7}}}) {
      CHECK(largest_difference(resized(old, read_as, made, grid_kernel::bicubic, rule).values(), grid.values()) > 0.1);
    }
  }
}

TEST_CASE("class rows stay as they are and keep out of the patches", "[interpolated_grid]") {
  const auto with_class = random_grid(2, 3, 2);
  const table<double> patches(with_class.values().subspan(4), 6, 2);
  const grid_extent from{.rows = 2, .columns = 3};
  const grid_extent to{.rows = 4, .columns = 5};
  const auto whole = resized(with_class, from, to, grid_kernel::bicubic, size_rule::exact_size, 2);
  CHECK(whole.rows() == 22);
  CHECK(largest_difference(whole.values().first(4), with_class.values().first(4)) == 0.0);
  const auto alone = resized(patches, from, to, grid_kernel::bicubic, size_rule::exact_size);
  CHECK(largest_difference(whole.values().subspan(4), alone.values()) == 0.0);
}

TEST_CASE("a size is a count and its product with a ratio is not", "[interpolated_grid]") {
  CHECK(std::floor(37.0 * (39.0 / 37.0)) == 38.0);  // what a scale factor would give
  const auto grid = resized(random_grid(37, 1), {.rows = 37, .columns = 1}, {.rows = 39, .columns = 1},
                            grid_kernel::bicubic, size_rule::plus_a_tenth);
  CHECK(grid.rows() == 39);
}

TEST_CASE("float tables are blended in double and rounded once", "[interpolated_grid]") {
  const auto values = random_values<float>(12, 352);
  const table<float> narrow(values, 12, 1);
  const std::vector<double> widened(values.begin(), values.end());
  const grid_extent from{.rows = 3, .columns = 4};
  const grid_extent to{.rows = 5, .columns = 3};
  const auto wide = resized(table<double>(widened, 12, 1), from, to, grid_kernel::bicubic, size_rule::exact_size);
  const auto grid = interpolated_grid(
      narrow, {.from = from, .to = to, .class_rows = 0, .kernel = grid_kernel::bicubic, .rule = size_rule::exact_size});
  for (index_t n = 0; n < 15; ++n) CHECK(grid(n, 0) == static_cast<float>(wide(n, 0)));
}

TEST_CASE("an interpolated grid refuses sizes without cells and tables of another grid", "[interpolated_grid]") {
  const auto refused = [](const grid_extent& from, const grid_extent& to, index_t class_rows) {
    return refusal([&] {
             return resized(random_grid(2, 3, 1), from, to, grid_kernel::bicubic, size_rule::exact_size, class_rows);
           })
        .code();
  };
  const grid_extent right{.rows = 2, .columns = 3};
  CHECK(refused(right, {.rows = 0, .columns = 4}, 1) == errc::grid_bounds);
  CHECK(refused(right, {.rows = 4, .columns = -1}, 1) == errc::grid_bounds);
  CHECK(refused({.rows = 0, .columns = 3}, right, 1) == errc::grid_bounds);
  CHECK(refused(right, right, -1) == errc::grid_bounds);
  CHECK(refused(right, {.rows = 65537, .columns = 1}, 1) == errc::grid_bounds);
  CHECK(refused(right, right, 0) == errc::table_rows);
  CHECK(refused({.rows = 2, .columns = 2}, right, 1) == errc::table_rows);
}

}  // namespace interpolated_grid_test
