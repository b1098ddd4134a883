// SPDX-License-Identifier: MIT
#pragma once

#include <posgeo/core/error.hpp>
#include <posgeo/core/index.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace posgeo::contract {

/// Extents by tensor name.
using tensor_shapes = std::map<std::string, std::vector<index_t>>;

struct load_request {
  tensor_shapes wanted;                        ///< every positional tensor of the model
  std::set<std::string> recomputable;          ///< those that the mechanism can make again, by the model's name
  tensor_shapes checkpoint;                    ///< what the checkpoint holds
  std::map<std::string, std::string> renamed;  ///< the checkpoint's name -> the model's; no other name is guessed
};

enum class load_status { ok, refused };

/// What becomes of every tensor. Names in lists are the model's, but for `unexpected`, and in order.
struct load_report {
  std::vector<std::string> loaded;
  std::vector<std::string> recomputed;     ///< not in the checkpoint, and the mechanism makes it
  std::vector<std::string> missing;        ///< not in the checkpoint, and only training makes it
  std::vector<std::string> unexpected;     ///< in the checkpoint, and the model has no place for it
  std::vector<std::string> shape_changed;  ///< in the checkpoint with other extents
  std::vector<std::string> misdirected;    ///< renames from a tensor not there or to a place that stays taken

  [[nodiscard]] load_status status() const noexcept {
    return missing.empty() && shape_changed.empty() && misdirected.empty() ? load_status::ok : load_status::refused;
  }
};

/// Holds a checkpoint's names and shapes against a model's. Nothing is loaded; nothing is renamed unasked.
/// Units:  extents in elements.
/// Throws: errc::checkpoint_tensors for a recomputable tensor that the model does not want.
/// Source: the checkpoint contract in docs/contracts.md.
[[nodiscard]] inline load_report report_load(const load_request& request) {
  for (const std::string& name : request.recomputable) {
    require(request.wanted.contains(name), errc::checkpoint_tensors, "load request", "recomputable tensor",
            "a name that the model wants", name);
  }
  load_report report;
  std::map<std::string, std::string> source;  // the model's name -> the checkpoint's
  for (const auto& [from, to] : request.renamed) {
    const bool place_is_free = !request.checkpoint.contains(to) || request.renamed.contains(to);
    const bool lands = request.checkpoint.contains(from) && request.wanted.contains(to) && place_is_free &&
                       source.emplace(to, from).second;
    if (!lands) report.misdirected.push_back(from);
  }
  for (const auto& [name, extents] : request.checkpoint) {
    if (request.renamed.contains(name)) continue;
    if (request.wanted.contains(name)) {
      source.emplace(name, name);
    } else {
      report.unexpected.push_back(name);
    }
  }
  for (const auto& [name, extents] : request.wanted) {
    const auto from = source.find(name);
    if (from != source.end()) {
      const bool same = request.checkpoint.at(from->second) == extents;
      (same ? report.loaded : report.shape_changed).push_back(name);
    } else {
      (request.recomputable.contains(name) ? report.recomputed : report.missing).push_back(name);
    }
  }
  return report;
}

/// Refuses a checkpoint that leaves a positional tensor without its trained numbers.
/// Throws: errc::checkpoint_tensors, naming the first sixteen tensors that are missing, of another shape or misdirected
///         and counting the rest.
inline void require_loadable(const load_report& report) {
  violations found;
  const auto refuse = [&found](const std::vector<std::string>& names, std::string_view expected,
                               std::string_view actual) {
    for (const std::string& name : names) {
      found.expect(false, errc::checkpoint_tensors, "checkpoint", text("tensor {}", name), expected, actual);
    }
  };
  refuse(report.missing, "stored, since nothing recomputes it", "none");
  refuse(report.shape_changed, "the extents that the model wants", "others");
  refuse(report.misdirected, "a tensor that is there and a place of its own to go to", "a rename without one");
  found.throw_if_any();
}

}  // namespace posgeo::contract
