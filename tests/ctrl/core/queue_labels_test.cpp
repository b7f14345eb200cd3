// SPDX-License-Identifier: Apache-2.0
#include "ctrl/queue_labels.h"

#include "base/text.h"
#include "tests/support/catch.h"

using namespace flowcon::ctrl;

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

std::string error_of(const std::string& text) {
  const auto request = parse_request(text);
  return request ? "" : request.error().message();
}

QueueLabels with(const std::string& key, const std::string& value) {
  return parse_queue_labels({{"flowcon.queue", "true"}, {"flowcon." + key, value}});
}

}  // namespace

TEST_CASE("a request has cores, memory or both, in docker's units") {
  CHECK(*parse_request("cpu=2,mem=3G") == Request{2, 3 * kGiB});
  CHECK(*parse_request(" mem=1.5gb  cpu=0.5 ") == Request{0.5, 1.5 * kGiB});
  CHECK(*parse_request("cpu=0.01") == Request{0.01, {}});
  struct Row {
    const char* text;
    double bytes;
  };
  for (const Row& row : {Row{"7000000", 7e6}, Row{"7000000b", 7e6}, Row{"6144k", 6 * 1048576.0},
                         Row{"6M", 6 * 1048576.0}, Row{"6MiB", 6 * 1048576.0}, Row{"2GB", 2 * kGiB},
                         Row{"1024t", 1024 * 1024 * kGiB}}) {
    INFO(row.text);
    CHECK(*parse_request(std::string("mem=") + row.text) == Request{{}, row.bytes});
  }
}

TEST_CASE("a request for GPUs is a share of one, or a number of them") {
  CHECK(parse_request("gpu=0.5")->gpu == 0.5);
  CHECK(parse_request("cpu=2,mem=3G,gpu=2")->gpu == 2);
  CHECK(parse_request("gpu=0")->gpu == 0);
  CHECK_FALSE(parse_request("cpu=2")->gpu);
  CHECK(render_request({2, {}, 0.5}) == "cpu=2 gpu=0.5");
  CHECK(render_request(*parse_request("gpu=all")) == "gpu=all");
  CHECK(with("request", "gpu=0.5").gpu == 0.5);
  CHECK(with("ps-request", "gpu=1").ps_gpu == 1);
  const QueueLabels all = with("request", "gpu=all");
  CHECK((all.warnings.size() == 1 && !all.gpu));
}

TEST_CASE("a wrong request says what is wrong and what to write") {
  CHECK(error_of("") == "it names nothing; write for example cpu=2,mem=3G");
  CHECK(error_of(" , ") == "it names nothing; write for example cpu=2,mem=3G");
  CHECK(error_of("tpu=1") ==
        "\"tpu=1\" is not one of cpu=CORES, mem=BYTES and gpu=GPUS, such as cpu=2,mem=3G");
  for (const char* wrong : {"gpu", "gpu=", "gpu=1.5", "gpu=0.009", "gpu=-1", "gpu=1025", "gpu=inf",
                            "gpu=nan", "gpu=2x"}) {
    INFO(wrong);
    CHECK(error_of(wrong).find("is no share of a GPU, such as gpu=0.5, nor a whole number") !=
          std::string::npos);
  }
  CHECK(error_of("cpu=1,cpu=2") == "cpu is there twice");
  for (const char* wrong : {"cpu", "cpu=", "cpu=0", "cpu=0.009", "cpu=100001", "cpu=-1", "cpu=nan",
                            "cpu=inf", "cpu=2x", "cpu=0x2"}) {
    INFO(wrong);
    CHECK(error_of(wrong).find("is not a number of cores from 0.01 to 100000") !=
          std::string::npos);
  }
  for (const char* wrong : {"mem", "mem=", "mem=3", "mem=5M", "mem=1025T", "mem=3X", "mem=3Gx",
                            "mem=G", "mem=-3G", "mem=1.2.3G", "mem=1e30", "mem=3GG", "mem=nan"}) {
    INFO(wrong);
    CHECK(error_of(wrong).find("is not an amount of memory from 6M to 1024T, such as mem=3G") !=
          std::string::npos);
  }
}

TEST_CASE("a request that is shown is read back as the same") {
  CHECK(render_request({}).empty());
  CHECK(render_request({6, 20 * kGiB}) == "cpu=6 mem=20G");
  CHECK(render_request({{}, 1.5 * kGiB}) == "mem=1536M");
  for (const Request& request : {Request{0.25, {}}, Request{{}, 7000001}, Request{1.0 / 3, 1e15}}) {
    CHECK(*parse_request(render_request(request)) == request);
  }
}

TEST_CASE("labels make a container a job of the queue") {
  const QueueLabels labels = parse_queue_labels({{"flowcon.queue", "hold"},
                                                 {"flowcon.request", "cpu=2,mem=3G"},
                                                 {"flowcon.priority", "2.5"},
                                                 {"flowcon.retries", "3"},
                                                 {"flowcon.metric", "loss"},
                                                 {"other", "x"}});
  CHECK(labels.warnings.empty());
  CHECK((labels.is_job && labels.is_held));
  CHECK((labels.cpu == 2 && labels.mem == 3 * kGiB));
  CHECK((labels.priority == 2.5 && labels.retries == 3));
  const QueueLabels bare = parse_queue_labels({{"flowcon.queue", "true"}});
  CHECK((bare.is_job && !bare.is_held && !bare.cpu && !bare.mem));
  CHECK((bare.priority == 1 && bare.retries == 0));
}

TEST_CASE("an elastic job starts again three times unless it says otherwise") {
  CHECK(with("elastic", "join").retries == 3);
  CHECK(with("elastic", "no").retries == 0);
  for (const auto& [said, retries] : {std::pair("0", 0), {"5", 5}, {"many", 3}}) {
    const QueueLabels labels =
        parse_queue_labels({{"flowcon.elastic", "restart"}, {"flowcon.retries", said}});
    CHECK(labels.retries == retries);
  }
}

TEST_CASE("a container without flowcon.queue, or with a wrong one, is no job") {
  CHECK_FALSE(parse_queue_labels({{"flowcon.request", "cpu=2"}, {"queue", "true"}}).is_job);
  for (const char* wrong : {"", "2", "maybe", "true "}) {
    INFO(wrong);
    const QueueLabels labels = parse_queue_labels({{"flowcon.queue", wrong}});
    CHECK_FALSE(labels.is_job);
    CHECK_FALSE(labels.wrong_queue.empty());
    REQUIRE(labels.warnings.size() == 1);
    CHECK(labels.warnings.front().find("label flowcon.queue: \"") == 0);
  }
}

TEST_CASE("flowcon.queue is true, false or hold in each of the words that people write") {
  for (const char* word : {"true", "True", "yes", "on", "1", "hold", "Hold", "false", "No", "0"}) {
    INFO(word);
    const QueueLabels labels = parse_queue_labels({{"flowcon.queue", word}});
    const bool is_held = word == std::string("hold") || word == std::string("Hold");
    CHECK(labels.is_job == (is_held || flowcon::truth_of(word).value()));
    CHECK(labels.is_held == is_held);
    CHECK((labels.wrong_queue.empty() && labels.warnings.empty()));
  }
}

TEST_CASE("what a wrong label of a job says is left out, with a warning") {
  for (const char* wrong : {"0.09", "10.1", "", "nan", "1x"}) {
    const QueueLabels labels = with("priority", wrong);
    CHECK((labels.is_job && labels.priority == 1 && labels.warnings.size() == 1));
  }
  for (const char* wrong : {"-1", "101", "", "1.5", "99999999999999999999"}) {
    const QueueLabels labels = with("retries", wrong);
    CHECK((labels.is_job && labels.retries == 0 && labels.warnings.size() == 1));
  }
  const QueueLabels labels = with("request", "cpu=2,mem=3");
  CHECK((labels.is_job && !labels.cpu && !labels.mem));
  REQUIRE(labels.warnings.size() == 1);
  CHECK(labels.warnings.front() ==
        "label flowcon.request: \"mem=3\" is not an amount of memory from 6M to 1024T, such as "
        "mem=3G");
  CHECK(with("request", std::string(1025, ' ')).warnings.size() == 1);
  CHECK(with("priority", "0.1").priority == 0.1);
  CHECK(with("retries", "100").retries == 100);
}
