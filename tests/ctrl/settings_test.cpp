// SPDX-License-Identifier: Apache-2.0
#include "ctrl/settings.h"

#include <csignal>

#include "tests/support/catch.h"

using namespace flowcon::ctrl;

TEST_CASE("a container without flowcon labels is not under control") {
  CHECK_FALSE(parse_labels({{"com.docker.compose.project", "x"}}).enabled);
}

TEST_CASE("any flowcon label asks for control, unless enable says no") {
  CHECK(parse_labels({{"flowcon.enable", "true"}}).enabled);
  CHECK(parse_labels({{"flowcon.metric", "loss"}}).enabled);
  CHECK_FALSE(parse_labels({{"flowcon.metric", "loss"}, {"flowcon.enable", "false"}}).enabled);
}

TEST_CASE("a label is true or false in each of the words that people write") {
  for (const char* word : {"true", "True", "TRUE", "yes", "Yes", "on", "1"}) {
    const Settings s = parse_labels({{"flowcon.enable", word}, {"flowcon.only-grow", word}});
    CHECK((s.enabled && s.only_grow));
    CHECK(s.warnings.empty());
  }
  for (const char* word : {"false", "False", "no", "NO", "off", "0"}) {
    const Settings s = parse_labels({{"flowcon.only-grow", word}, {"flowcon.enable", word}});
    CHECK_FALSE((s.enabled || s.only_grow));
    CHECK(s.warnings.empty());
  }
  CHECK(parse_labels({{"flowcon.only-grow", "maybe"}}).warnings.size() == 1);
}

TEST_CASE("an enable that is neither true nor false is a mistake that shows") {
  const Settings s = parse_labels({{"flowcon.enable", "maybe"}});
  CHECK_FALSE(s.enabled);
  CHECK(s.is_mistaken);
  REQUIRE(s.warnings.size() == 1);
  CHECK(s.warnings[0].find("flowcon.enable") != std::string::npos);
}

TEST_CASE("labels become settings") {
  const Settings s = parse_labels({{"flowcon.metric", "val loss"},
                                   {"flowcon.goal", "max"},
                                   {"flowcon.pattern", "loss=(?P<value>[0-9.]+)"},
                                   {"flowcon.weight", "2.5"},
                                   {"flowcon.floor", "0.1"}});
  CHECK(s.warnings.empty());
  CHECK(s.spec.metric == "val loss");
  CHECK(*s.spec.goal == Goal::max);
  CHECK(s.weight == 2.5);
  CHECK(*s.floor == 0.1);
}

TEST_CASE("a log is a file inside the container, or TensorBoard's event files there") {
  const Settings text = parse_labels({{"flowcon.log", "/out//train.log"}});
  CHECK(text.log == "/out/train.log");
  CHECK_FALSE(text.log_is_events);
  const Settings events = parse_labels({{"flowcon.log", "tfevents:/out/run"}});
  CHECK(events.log == "/out/run");
  CHECK(events.log_is_events);
  for (const char* wrong : {"", "train.log", "/a/../../etc/passwd", "tfevents:", "tfevents:x"}) {
    const Settings s = parse_labels({{"flowcon.log", wrong}});
    INFO(wrong);
    CHECK(s.warnings.size() == 1);
    CHECK(s.log.empty());
    CHECK_FALSE(s.spec_is_usable);
  }
}

TEST_CASE("a broken pattern is a warning and takes the metric away, not the control") {
  const Settings s = parse_labels({{"flowcon.pattern", "loss=(("}});
  CHECK(s.enabled);
  CHECK_FALSE(s.spec_is_usable);
  REQUIRE(s.warnings.size() == 1);
  CHECK(s.warnings[0].find("flowcon.pattern") != std::string::npos);
}

TEST_CASE("wrong numbers are refused and the standard stays") {
  for (const char* bad : {"0", "-1", "nan", "1e999", "1x", "", "10.5", "1000"}) {
    const Settings s = parse_labels({{"flowcon.weight", bad}});
    CHECK(s.weight == 1);
    CHECK(s.warnings.size() == 1);
  }
  CHECK_FALSE(parse_labels({{"flowcon.floor", "1.5"}}).floor.has_value());
}

TEST_CASE("an unknown label is a warning that says what was meant") {
  const Settings s = parse_labels({{"flowcon.metrik", "loss"}});
  REQUIRE(s.warnings.size() == 1);
  CHECK(s.warnings[0].find("did you mean flowcon.metric") != std::string::npos);
}

TEST_CASE("of unknown labels the first are told, and how many more, and a known one counts") {
  Labels labels{{"flowcon.weight", "2"}, {"flowcon.floor", "7"}};
  for (int i = 0; i < 1000; ++i) labels["flowcon.a" + std::to_string(1000 + i)] = "1";
  const Settings s = parse_labels(labels);
  CHECK(s.enabled);
  CHECK(s.weight == 2);
  REQUIRE(s.warnings.size() == kMostLabelWarnings + 2);
  CHECK(s.warnings[19] == "label flowcon.a1019: unknown label");
  CHECK(s.warnings[20].find("label flowcon.floor") == 0);
  CHECK(s.warnings[21] == "and 980 more labels that are unknown");
}

TEST_CASE("labels say how a job is saved before it is moved") {
  const Settings s = parse_labels({{"flowcon.migrate", "app"},
                                   {"flowcon.mounts", "shared"},
                                   {"flowcon.checkpoint.path", "/ckpt/"},
                                   {"flowcon.checkpoint.signal", "USR1"},
                                   {"flowcon.checkpoint.command", R"(["python3","save.py"])"},
                                   {"flowcon.checkpoint.timeout", "90s"},
                                   {"flowcon.checkpoint.confirm", "5"}});
  CHECK(s.warnings.empty());
  CHECK(s.migrate == Migrate::app);
  CHECK(s.checkpoint.path == "/ckpt");
  CHECK(s.checkpoint.signal == SIGUSR1);
  CHECK(s.checkpoint.command == std::vector<std::string>{"python3", "save.py"});
  CHECK(s.checkpoint.timeout == 90);
  CHECK(s.checkpoint.confirm == 5);
  const Settings line = parse_labels({{"flowcon.checkpoint.command", "sync; save"}});
  CHECK(line.checkpoint.command == std::vector<std::string>{"/bin/sh", "-c", "sync; save"});
}

TEST_CASE("a label of moving that cannot be used is a warning and counts for nothing") {
  for (const auto& [label, value] :
       std::map<std::string, std::string>{{"flowcon.migrate", "yes"},
                                          {"flowcon.mounts", "mine"},
                                          {"flowcon.checkpoint.path", "../x"},
                                          {"flowcon.checkpoint.command", "[1]"},
                                          {"flowcon.checkpoint.timeout", "soon"},
                                          {"flowcon.checkpoint.confirm", "3601"}}) {
    CAPTURE(label);
    const Settings s = parse_labels({{label, value}});
    CHECK(s.warnings.size() == 1);
    CHECK(s.migrate == Migrate::unsaid);
    CHECK((s.checkpoint.path.empty() && s.checkpoint.command.empty()));
    CHECK(s.checkpoint.timeout == 60);
    CHECK(s.checkpoint.confirm == 30);
  }
}

TEST_CASE("signals are known by name and by number") {
  CHECK(*parse_signal("SIGUSR1") == SIGUSR1);
  CHECK(*parse_signal("TERM") == SIGTERM);
  CHECK(*parse_signal("10") == 10);
  CHECK(signal_name(SIGUSR1) == "SIGUSR1");
  for (const char* bad :
       {"", "SIG", "usr1", "KILL", "SIGSTOP", "9", "0", "-1", "65", "1e1", "USR3"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_signal(bad).has_value());
  }
}

TEST_CASE("what adopt is given is strict") {
  CHECK(parse_choice("")->enabled);
  CHECK(parse_choice("{}")->enabled);
  CHECK(parse_choice(R"({"metric":"acc","weight":"2"})")->weight == 2);
  for (const char* bad : {"[]", "{\"weight\":2}", R"({"goal":"up"})", R"({"enable":"true"})",
                          R"({"nothing":"1"})", "{"}) {
    CHECK_FALSE(parse_choice(bad).has_value());
  }
}

TEST_CASE("a path inside a container is absolute and has no way up") {
  CHECK(*clean_path("/out//train.log") == "/out/train.log");
  CHECK(*clean_path("/./a/./b/") == "/a/b");
  CHECK(*clean_path("/a..b/...") == "/a..b/...");
  for (const char* wrong : {"", "out/log", "/", "//.", "/a/../b", "/..", "/a\nb", "relative"}) {
    INFO(wrong);
    CHECK_FALSE(clean_path(wrong).has_value());
  }
  CHECK_FALSE(clean_path("/" + std::string(1000, 'a')).has_value());
}

TEST_CASE("a weight is ten at most, so that no job is left nothing beside it") {
  CHECK(parse_labels({{"flowcon.weight", "10"}}).weight == kMostWeight);
  const Settings s = parse_labels({{"flowcon.weight", "1000"}});
  CHECK(s.weight == 1);
  REQUIRE(s.warnings.size() == 1);
  CHECK(s.warnings[0].find("at most 10") != std::string::npos);
  CHECK(parse_labels({{"flowcon.weight", "0.001"}}).weight == kLeastWeight);
  CHECK(parse_labels({{"flowcon.weight", "1e-310"}}).weight == 1);
}

TEST_CASE("a pattern that would take too long on each line is refused") {
  std::string large;
  for (int i = 0; i < 40; ++i) large += "(?:x?){1000}";
  const Settings s = parse_labels({{"flowcon.pattern", large + "(?P<value>[0-9])"}});
  REQUIRE(s.warnings.size() == 1);
  CHECK(s.warnings[0].find("too large once its repetitions are written out") != std::string::npos);
  CHECK(parse_labels({{"flowcon.pattern", R"(^epoch (\d{1,4})/\d{1,4} .*loss=(?P<value>\S+))"}})
            .warnings.empty());
}

TEST_CASE("labels that came with the image are not the container's own") {
  const Labels image{{"flowcon.weight", "9"}, {"flowcon.migrate", "app"}, {"maintainer", "m"}};
  const Labels labels{{"flowcon.weight", "9"},
                      {"flowcon.migrate", "no"},
                      {"flowcon.floor", "0.2"},
                      {"maintainer", "m"}};
  CHECK(own_labels(labels, image) ==
        Labels{{"flowcon.migrate", "no"}, {"flowcon.floor", "0.2"}, {"maintainer", "m"}});
  CHECK(own_labels(labels, {}) == labels);
  CHECK(has_settings(labels));
  CHECK_FALSE(has_settings({{"maintainer", "m"}, {"org.flowcon.own", "x"}}));
}

TEST_CASE("labels that are named as the container's own are, whatever the image has") {
  const Labels image{{"flowcon.weight", "9"}, {"flowcon.floor", "1"}, {"flowcon.enable", "true"}};
  Labels labels = image;
  labels[kOwnLabel] = own_label("5f", {"enable", "weight"});
  const Labels own{
      {"flowcon.enable", "true"}, {"flowcon.weight", "9"}, {kOwnLabel, "5f enable weight"}};
  CHECK(own_labels(labels, image) == own);
}

TEST_CASE("an image that names labels as own names none") {
  const Labels image{{"flowcon.weight", "9"}, {kOwnLabel, "5f weight enable"}};
  CHECK(own_labels(image, image) == Labels{{kOwnLabel, "5f weight enable"}});
  // Committed from a container of docker flowcon run, and run by it again.
  Labels again = image;
  again[kOwnLabel] = "6f weight";
  CHECK(own_labels(again, image) == again);
}

TEST_CASE("labels of the queue are known, and a wrong one is a warning") {
  const Labels job{{"flowcon.queue", "true"},
                   {"flowcon.request", "cpu=2,mem=3G"},
                   {"flowcon.priority", "2"},
                   {"flowcon.retries", "3"}};
  CHECK(parse_labels(job).enabled);
  CHECK(parse_labels(job).warnings.empty());
  for (const auto& [label, value] : job) {
    Labels wrong = job;
    wrong[label] = "x";
    const Settings settings = parse_labels(wrong);
    REQUIRE(settings.warnings.size() == 1);
    CHECK(settings.warnings.front().find("label " + label + ": \"x\" is n") == 0);
    CHECK_FALSE(settings.is_mistaken);
  }
}

TEST_CASE("what only a job of the queue has is a warning without one") {
  const Settings settings = parse_labels({{"flowcon.priority", "2"}, {"flowcon.metric", "loss"}});
  REQUIRE(settings.warnings.size() == 1);
  CHECK(settings.warnings.front().find(
            "label flowcon.priority has no effect without flowcon.queue=true") == 0);
}

TEST_CASE("adopt makes nothing a job of the queue") {
  for (const char* key : {"enable", "queue", "request", "priority", "retries"}) {
    const auto made = parse_choice("{\"" + std::string(key) + "\":\"true\"}");
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().message() == "adopt does not take " + std::string(key));
  }
}
