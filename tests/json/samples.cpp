// SPDX-License-Identifier: MIT
// Writes manifests of every policy and every kind of call into a folder, one file each.
#include <posgeo/json/manifest.hpp>

#include <cstdio>
#include <fstream>

#include "json/every_policy.hpp"
#include "support/manifests.hpp"
#include "support/random_calls.hpp"

int main(int argc, char** argv) {
  using namespace posgeo;
  using namespace posgeo::test;
  if (argc != 2) return 2;
  dice roll(8931);
  int number = 0;
  const auto write = [&](const position_call& call, const std::vector<description>& method) {
    std::ofstream file(fmt::format("{}/{:03}.json", argv[1], number++));
    file << json::write(manifest::of(call, {.query = 6, .key_value = 2, .dim = 4}, method,
                                     manifest::element_type::float32, stated_for(call), json::xxh3{}));
  };
  for (const description& policy : every_policy()) write(random_decode(roll), {policy});
  for (const auto make :
       {random_padded, random_masked, random_packed, random_decode, random_prefill, random_explicit, random_cross}) {
    write(make(roll), every_policy());
  }
  std::printf("%d manifests\n", number);
}
