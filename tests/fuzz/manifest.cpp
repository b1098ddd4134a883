// SPDX-License-Identifier: MIT
// Whatever the bytes are, they are a record that is written and read back equal, or errc::manifest.
#include <posgeo/json/manifest.hpp>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    const auto record = posgeo::json::read(text);
    if (!(posgeo::json::read(posgeo::json::write(record)) == record)) std::abort();
  } catch (const posgeo::error& e) {
    if (e.code() != posgeo::errc::manifest) std::abort();
  }
  return 0;
}
