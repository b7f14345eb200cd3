// SPDX-License-Identifier: Apache-2.0
#include "cluster/codec/horizon_lp.h"

#include "base/json.h"
#include "cluster/policy/horizon_model.h"

namespace flowcon::cluster::policy {
namespace {

using horizon::Job;
using horizon::Model;

std::string variable(const char* kind, std::size_t job, int step) {
  return std::string(" ") + kind + '_' + std::to_string(job) + '_' + std::to_string(step);
}

std::string variable(const char* kind, std::size_t job, int step, std::size_t k) {
  return variable(kind, job, step) + '_' + std::to_string(k);
}

// Goes on as before: at most what it has now, and what it had. Where nothing is known of before,
// any number does.
void write_going_on(std::string& text, const Job& job, std::size_t i, int t) {
  for (std::size_t k = 0; k < job.numbers.size(); ++k) {
    const std::string u = variable("u", i, t, k);
    text += u + " -" + variable("y", i, t, k) + " <= 0\n";
    if (t > 0) {
      text += u + " -" + variable("y", i, t - 1, k) + " <= 0\n";
    } else if (job.now != Job::kUnknown && job.now != static_cast<int>(k)) {
      text += u + " <= 0\n";
    }
  }
}

void write_step(std::string& text, const Model& model, std::size_t i, int t) {
  const Job& job = model.jobs[i];
  std::string served = variable("s", i, t);
  if (t > 0) served += " -" + variable("s", i, t - 1);
  std::string choice;
  for (std::size_t k = 0; k < job.numbers.size(); ++k) {
    const double sure = model.has_pause ? job.resumed[k] : job.gain[k];
    served += " - " + render_number(sure) + variable("y", i, t, k);
    if (model.has_pause) {
      served += " - " + render_number(job.gain[k] - job.resumed[k]) + variable("u", i, t, k);
    }
    choice += " +" + variable("y", i, t, k);
  }
  text += served + " <= 0\n" + choice + " = 1\n";
  if (model.has_pause) write_going_on(text, job, i, t);
}

void write_nodes(std::string& text, const Model& model, int t) {
  for (std::size_t i = 0; i < model.jobs.size(); ++i) {
    for (std::size_t k = 0; k < model.jobs[i].numbers.size(); ++k) {
      const int nodes = model.jobs[i].numbers[k];
      if (nodes > 0) text += " + " + std::to_string(nodes) + variable("y", i, t, k);
    }
    text += '\n';  // the format bounds the length of a line
  }
  text += " <= " + std::to_string(model.nodes) + '\n';
}

}  // namespace

std::string horizon_lp(const HorizonState& state) {
  const Model model = horizon::make_model(state);
  std::string objective = "Maximize\n value:\n";
  std::string rules = "Subject To\n";
  std::string bounds = "Bounds\n";
  std::string binaries = "Binaries\n";
  for (std::size_t i = 0; i < model.jobs.size(); ++i) {
    for (int t = 0; t < model.steps; ++t) {
      objective += " +" + variable("s", i, t) + '\n';
      bounds += variable("s", i, t) + " <= 1\n";
      write_step(rules, model, i, t);
      for (std::size_t k = 0; k < model.jobs[i].numbers.size(); ++k) {
        binaries += variable("y", i, t, k) + '\n';
      }
    }
  }
  for (int t = 0; t < model.steps; ++t) write_nodes(rules, model, t);
  return objective + rules + bounds + binaries + "End\n";
}

}  // namespace flowcon::cluster::policy
