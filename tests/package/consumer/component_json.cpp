// SPDX-License-Identifier: MIT
#include <posgeo/json/manifest.hpp>

#include <cstdio>

// A text that is no manifest is refused with the path to what it lacks.
int main() {
  try {
    (void)posgeo::json::read("{}");
  } catch (const posgeo::error& e) {
    std::printf("%s\n", e.what());
    return e.code() == posgeo::errc::manifest ? 0 : 1;
  }
  return 1;
}
