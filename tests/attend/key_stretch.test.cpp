// SPDX-License-Identifier: MIT
#include <posgeo/attend/key_stretch.hpp>
#include <posgeo/call/explicit_positions.hpp>

#include <cstddef>
#include <cstdlib>
#include <random>
#include <vector>

#include "support/catch.hpp"

namespace {

TEST_CASE("the nearest key of positions that never fall is the first of the nearest that the rule shows") {
  using namespace posgeo;
  std::mt19937_64 engine(5);
  for (const index_t rows : {1, 2, 33, 130}) {
    std::vector<index_t> positions;
    for (index_t at = 1000; static_cast<index_t>(positions.size()) < rows; at += static_cast<index_t>(engine() % 4)) {
      positions.push_back(at);
    }
    const index_t last = positions.back();
    const auto call = call::explicit_positions({.query = {.positions = positions, .rows = rows},
                                                .key = {.positions = positions, .rows = rows},
                                                .reuse = position_reuse::intended});
    for (const index_t ahead : {index_t{0}, index_t{7}, position_limit}) {
      const visibility_rule rule{.behind = 20, .ahead = ahead};
      detail::memory_parts size;
      (void)kernel::key_positions<float>(size, rows);
      std::vector<std::byte> memory(size.bytes() + detail::memory_parts::alignment);
      detail::memory_parts parts(detail::memory_parts::aligned(memory.data()));
      kernel::key_positions<float> keys(parts, rows);
      keys.bind(call, rule, batch_index{0}, 0, {0, rows});
      for (index_t query = 990; query < last + 30; ++query) {
        index_t expected = -1;
        for (index_t n = 0; n < rows; ++n) {
          const index_t offset = positions[static_cast<std::size_t>(n)] - query;
          if (offset < -rule.behind || offset > rule.ahead) continue;
          const bool nearer =
              expected < 0 || std::abs(offset) < std::abs(positions[static_cast<std::size_t>(expected)] - query);
          if (nearer) expected = n;
        }
        CAPTURE(rows, ahead, query);
        CHECK(keys.nearest(rule, query, keys.reach(rule, query)) == expected);
      }
    }
  }
}

}  // namespace
