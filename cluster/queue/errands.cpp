// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/errands.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <utility>

#include "base/random_id.h"
#include "cluster/migration/plan/refusals.h"

namespace flowcon::cluster::queue {
namespace {

using migration::Step;

constexpr double kAnswerTime = 10;  // seconds that a host has

Stage stage_of(const std::optional<cluster::Passage>& passage) {
  if (!passage) return Stage::none;
  switch (passage->entry.step) {
    case Step::done:
      return Stage::done;
    case Step::undone:
      return Stage::undone;
    // Nothing of it will start; that it is over is known in a moment.
    case Step::undo:
      return Stage::under_way;
    case Step::start:
    case Step::confirm:
    case Step::remove:
      return Stage::handed_over;
    default:
      return passage->is_ready ? Stage::ready : Stage::under_way;
  }
}

}  // namespace

std::string save_key(const JobEntry& entry) { return render_number(entry.since); }

Async<Errands::Heard> Errands::gather(JobPtr job) {
  const Task task = *job->entry.task;
  Heard heard;
  heard.facts.next_id = random_id();
  const auto born = co_await world_.moves.passage(task.birth);
  if (!born) {
    heard.trouble = born.error().message();
    co_return heard;
  }
  heard.facts.birth = stage_of(*born);
  if (!*born) heard.facts.was_refused = !migration::is_passing_refusal(job->start_refusal);
  if (*born) {
    const std::string host = name_of_host(world_.network, task.host);
    const std::string& reason = (*born)->entry.reason;
    // Its own words; whatever else undid it may be over the next time.
    const bool is_refusal = reason.starts_with(host + " refuses: ");
    const bool is_turned_down = is_refusal || reason.starts_with("the target turned it down") ||
                                reason.starts_with("the target gave it back");
    heard.is_avoided = is_turned_down || reason.starts_with("nothing is heard of the target");
    heard.facts.failure = is_refusal ? reason : host + ": " + reason;
    heard.facts.was_refused = is_turned_down && !migration::is_passing_refusal(reason);
  }
  if (!task.back.empty()) {
    const auto returned = co_await world_.moves.passage(task.back);
    if (returned) heard.facts.back = stage_of(*returned);
  } else {
    heard.facts.back = Stage::none;
  }
  if (heard.facts.birth != Stage::done) co_return heard;
  TaskCall look;
  look.birth = task.birth;
  const Result<TaskView> view = co_await call(task.host, std::move(look));
  if (!view) {
    heard.trouble = view.error().message();
    co_return heard;
  }
  const bool is_over =
      heard.facts.back == Stage::none && !task.back.empty() && view->undone_back == task.back;
  if (is_over) heard.facts.back = Stage::undone;
  heard.facts.copy = view->copy;
  heard.facts.life = view->life;
  heard.facts.status = view->status;
  heard.facts.was_killed_for_memory = view->was_killed_for_memory;
  heard.facts.was_stopped = view->was_stopped;
  heard.facts.was_interrupted = view->was_interrupted;
  heard.facts.memory = std::max(view->memory, job->memory());
  heard.has_saved = view->has_saved;
  if (view->save_key == save_key(job->entry)) heard.save_failure = view->save_failure;
  heard.left = view->left;
  heard.width = view->width;
  heard.done = view->done;
  co_return heard;
}

Async<Result<TaskView>> Errands::call(std::string host, TaskCall call) {
  const std::string shown = name_of_host(world_.network, host);
  const Result<Answer> answer = co_await world_.network.ask(
      std::move(host), "POST", "/v1/peer/queue/task", render(call), kAnswerTime);
  if (!answer) co_return answer.error();
  if (answer->status != 200) co_return bad_input(shown + ": " + refusal_of(*answer));
  co_return parse_task_view(answer->body);
}

Async<Result<void>> Errands::ask(std::string host, TaskCall asked) {
  const Result<TaskView> view = co_await call(std::move(host), std::move(asked));
  if (!view) co_return view.error();
  co_return Result<void>();
}

Async<Result<void>> Errands::raise_memory(JobPtr job) {
  const std::optional<double> limit = job->ticket ? job->ticket->docker_mem : std::nullopt;
  const double wanted = job->request.mem.value;
  if (!job->entry.has_doubled || !limit || *limit >= wanted) co_return Result<void>();
  co_return co_await world_.engine.set_memory(job->entry.id, wanted, job->ticket->docker_swap);
}

Async<Result<void>> Errands::bear(JobPtr job) {
  // The task is made as its ticket is.
  const Result<void> raised = co_await raise_memory(job);
  if (!raised) co_return raised;
  MoveOrder order;
  order.container = job->entry.id;
  order.target = job->entry.task->host;
  order.method = migration::Method::birth;
  order.id = job->entry.task->birth;
  order.cause = kQueue;
  order.request = job->request.amounts();
  order.is_early = job->entry.state == JobState::waiting;
  order.is_first = (job->group ? job->group : job)->entry.attempt == 0;
  const Result<std::string> begun = co_await world_.moves.begin(std::move(order));
  if (begun || begun.error().code == boost::system::errc::file_exists) co_return Result<void>();
  // What prevents it, in whole sentences.
  const bool is_prevented = begun.error().code == boost::system::errc::operation_not_permitted;
  co_return is_prevented ? bad_input(begun.error().what) : begun.error();
}

Async<Result<void>> Errands::carry_out(JobPtr job, Act act) {
  const Task task = *job->entry.task;
  std::string host = task.host;
  TaskCall asked;
  asked.birth = task.birth;
  switch (act) {
    case Act::bear:
      co_return co_await bear(std::move(job));
    case Act::claim: {
      asked.verb = TaskVerb::claim;
      asked.is_early = job->begins_early;
      const Result<void> claimed = co_await ask(std::move(host), std::move(asked));
      if (claimed) job->room_at = task.birth;
      co_return claimed;
    }
    case Act::release:
      world_.moves.release(task.birth);
      co_return Result<void>();
    case Act::withdraw:
      world_.moves.turn_back(task.birth, "the job is no longer to be started");
      co_return Result<void>();
    case Act::fetch:
      world_.moves.expect(task.back, task.birth);
      asked.verb = TaskVerb::fetch;
      asked.key = task.back;
      break;
    case Act::save:
      asked.verb = TaskVerb::save;
      asked.key = save_key(job->entry);
      break;
    case Act::stop:
      asked.verb = TaskVerb::stop;
      break;
    case Act::discard:
      asked.verb = TaskVerb::discard;
      break;
    case Act::halt: {
      co_return co_await world_.engine.stop_at_once(job->entry.id);
    }
    default:
      co_return Result<void>();
  }
  co_return co_await ask(std::move(host), std::move(asked));
}

}  // namespace flowcon::cluster::queue
