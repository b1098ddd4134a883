// SPDX-License-Identifier: MIT
// Writes positional cards into a folder, one file each.
#include <posgeo/json/card.hpp>

#include <cstdio>
#include <fstream>

#include "support/cards.hpp"

int main(int argc, char** argv) {
  using namespace posgeo::test;
  if (argc != 2) return 2;
  int number = 0;
  for (const auto& card : {t5_card(), alibi_card(), yarn_card(), learned_absolute_card(), shaw_card()}) {
    std::ofstream file(fmt::format("{}/{}.json", argv[1], number++));
    file << posgeo::json::write_card(card);
  }
  std::printf("%d cards\n", number);
}
