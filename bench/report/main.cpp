// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/page.hpp"

namespace {

using posgeo::report::row;

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string kept_part(const std::string& page) {
  const std::string marker = posgeo::report::marker;
  const auto at = page.find(marker);
  return at == std::string::npos ? std::string{} : page.substr(std::min(page.size(), at + marker.size() + 1));
}

}  // namespace

int main(int argc, char** argv) {
#if !defined(NDEBUG) || !defined(__OPTIMIZE__)
  std::fputs("posgeo_report: built without optimisation or with assertions, so its figures would mean nothing\n",
             stderr);
  return 2;
#endif
  namespace report = posgeo::report;
  CLI::App app{"Measures what posgeo attains beside what it is held to, and writes benchmarks.md"};
  std::string only;
  std::string directory;
  std::string rows_file;
  std::vector<std::string> others;
  int repetitions = 7;
  bool quick = false;
  app.add_option("--only", only, "only rows whose group/name this regular expression finds");
  app.add_option("--repetitions", repetitions, "rounds")->check(CLI::Range(7, 1000));
  app.add_option("--out", directory, "directory for benchmarks.md and benchmarks.svg");
  app.add_option("--rows", rows_file, "file for the rows as lines of JSON; with it, a page is made only for --out");
  app.add_option("--with", others, "rows of other builds to join")->check(CLI::ExistingFile);
  app.add_flag("--quick", quick, "tiny cases, once: shows that the report works, and nothing else");
  CLI11_PARSE(app, argc, argv);
  if (quick && !directory.empty()) {
    std::fputs("posgeo_report: --quick measures nothing that should be kept; leave out --out\n", stderr);
    return 2;
  }

  try {
    const int rounds = quick ? 1 : repetitions;
    const std::string build = POSGEO_REPORT_BUILD;
    std::vector<row> rows = report::measure(
        report::rows_of(build, quick ? report::effort::quick : report::effort::full), build, only, rounds);
    if (!rows_file.empty()) {
      std::string lines;
      for (const row& r : rows) lines += report::to_json(r) + "\n";
      write(rows_file, lines);
      if (directory.empty()) return 0;
    }
    for (const std::string& path : others) {
      std::ifstream file(path);
      for (std::string line; std::getline(file, line);) rows.push_back(report::from_json(line));
    }
    for (row& r : report::kept_by("pic", rows)) rows.push_back(std::move(r));

    const std::filesystem::path page = std::filesystem::path(directory) / "benchmarks.md";
    const std::string text = report::page(report::this_machine(), rows, rounds,
                                          directory.empty() ? std::string{} : kept_part(contents_of(page)));
    std::fputs(text.c_str(), stdout);
    if (directory.empty()) return 0;
    std::filesystem::create_directories(directory);
    write(page, text);
    write(page.parent_path() / "benchmarks.svg", report::picture(rows));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "posgeo_report: %s\n", e.what());
    return 1;
  }
}
