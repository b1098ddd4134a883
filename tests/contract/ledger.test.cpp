// SPDX-License-Identifier: MIT
#include <posgeo/contract/ledger.hpp>

#include <limits>

#include "support/catch.hpp"
#include "support/refusal.hpp"

namespace ledger_test {
namespace {

using namespace posgeo;
using namespace posgeo::contract;
using posgeo::test::refusal;

constexpr double mib = 1024.0 * 1024.0;

table_ledger_settings table_of(index_t rows, index_t width, precision format) {
  return {.rows = rows,
          .width = width,
          .ownership = table_ownership::parameters,
          .format = format,
          .training = none,
          .copies = 1};
}

TEST_CASE("a table of 512 x 768 owns 393216 parameters", "[ledger]") {
  const table_ledger in_float(table_of(512, 768, precision::binary32));
  CHECK(in_float.elements() == 393216);
  CHECK(in_float.parameters() == 393216);
  CHECK(static_cast<double>(in_float.weight_bytes()) / mib == 1.5);
  for (const auto half : {precision::bfloat16, precision::binary16}) {
    CHECK(static_cast<double>(table_ledger(table_of(512, 768, half)).weight_bytes()) / mib == 0.75);
  }
  CHECK(table_ledger(table_of(512, 768, precision::binary64)).weight_bytes() == 2 * in_float.weight_bytes());
  CHECK(in_float.training_bytes() == 0);
}

TEST_CASE("gradients, master weights and moments are ledgers of their own", "[ledger]") {
  auto settings = table_of(512, 768, precision::bfloat16);
  settings.training = training_formats{.gradients = precision::bfloat16,
                                       .master_weights = precision::binary32,
                                       .first_moment = precision::binary32,
                                       .second_moment = precision::binary64};
  const table_ledger trained(settings);
  CHECK(trained.weight_bytes() == 393216 * 2);
  CHECK(trained.gradient_bytes() == 393216 * 2);
  CHECK(trained.master_weight_bytes() == 393216 * 4);
  CHECK(trained.first_moment_bytes() == 393216 * 4);
  CHECK(trained.second_moment_bytes() == 393216 * 8);
  CHECK(trained.training_bytes() == 393216 * (2 + 4 + 4 + 8));
  CHECK(trained.total_bytes() == trained.training_bytes() + trained.weight_bytes());
  settings.training = training_formats{
      .gradients = none, .master_weights = none, .first_moment = precision::binary32, .second_moment = none};
  CHECK(table_ledger(settings).training_bytes() == 393216 * 4);
}

TEST_CASE("a table of 8192 x 4096 has 33554432 elements and 64 MiB in sixteen bits, learned or not", "[ledger]") {
  auto settings = table_of(8192, 4096, precision::bfloat16);
  const table_ledger learned(settings);
  CHECK(learned.parameters() == 33554432);
  CHECK(static_cast<double>(learned.weight_bytes()) / mib == 64.0);
  settings.ownership = table_ownership::buffer;
  settings.format = precision::binary16;
  const table_ledger made(settings);
  CHECK(made.parameters() == 0);
  CHECK(made.elements() == learned.elements());
  CHECK(static_cast<double>(made.weight_bytes()) / mib == 64.0);
  settings.copies = 2;  // a source and a target module
  CHECK(static_cast<double>(table_ledger(settings).weight_bytes()) / mib == 128.0);
}

TEST_CASE("adding positions to 8 x 4096 x 4096 states takes 134217728 additions", "[ledger]") {
  CHECK(additions_of({.batch = 8, .rows = 4096, .width = 4096}) == 134217728);
  CHECK(additions_of({.batch = 3, .rows = 0, .width = 7}) == 0);
}

TEST_CASE("impossible counts and a trained buffer are refused", "[ledger]") {
  const auto code = [](const table_ledger_settings& s) { return refusal([&] { (void)table_ledger(s); }).code(); };
  CHECK(code(table_of(-1, 4, precision::binary32)) == errc::shape_mismatch);
  CHECK(code(table_of(index_t{1} << 40, index_t{1} << 40, precision::binary32)) == errc::shape_mismatch);
  CHECK(code(table_of(index_t{1} << 30, index_t{1} << 30, precision::binary64)) == errc::shape_mismatch);  // bytes
  auto copies = table_of(3, 4, precision::binary32);
  copies.copies = -2;
  CHECK(code(copies) == errc::shape_mismatch);
  auto buffer = table_of(3, 4, precision::binary32);
  buffer.ownership = table_ownership::buffer;
  buffer.training = training_formats{none, none, none, none};
  CHECK(code(buffer) == errc::table_rows);
  constexpr index_t most = std::numeric_limits<index_t>::max();
  CHECK(refusal([&] { (void)additions_of({.batch = most, .rows = 2, .width = 1}); }).code() == errc::shape_mismatch);
}

}  // namespace
}  // namespace ledger_test
