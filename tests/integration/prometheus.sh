#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Metrics: on the socket and, where asked for, on a port of this host; promtool and a real Prometheus, Debian's,
# read them. The dashboard and the alert rules are asked of it.
# usage: prometheus.sh BINDIR
# shellcheck disable=SC2317,SC2119,SC2016 # functions are called by name; scripts of containers are quoted
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin "$@"

PROMETHEUS=
end_prometheus() { [ -z "$PROMETHEUS" ] || process_end "$PROMETHEUS" 20 || :; }
at_exit end_prometheus

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
metrics() { curl -sS --fail --max-time 20 --unix-socket "$SOCKET" http://flowcon/metrics; }
metrics_have() {
  metrics >"$WORK/metrics" || return 1
  grep -qxE -- "$1" "$WORK/metrics" || { tail -n 20 "$WORK/metrics"; return 1; }
}
# ask EXPRESSION: what Prometheus says, its values in order, one a line.
ask() {
  curl -sS --fail --max-time 10 --get --data-urlencode "query=$1" "http://127.0.0.1:$WEB/api/v1/query" |
    jq -r '.data.result | sort_by(.metric | tostring) | .[].value[1]'
}
prometheus_says() { is "$(ask "$1")" "$2"; }

job flat1 flat --label flowcon.enable=true
job learn1 learn --label flowcon.enable=true
# It reads from disk, past the page cache; on v1 a newer kernel counts that only of one that is throttled.
disk=$(engine_disk)
prints nan1 'dd if=/dev/zero of=/data bs=64k count=1; sync; i=0
  while :; do i=$((i + 1)); if [ $i -gt 20 ]; then echo "loss: nan"; else echo "loss: 0.$((900 - i))"; fi
  dd if=/data of=/dev/null bs=64k iflag=direct 2>/dev/null; sleep 0.2; done' ${disk:+--device-read-bps "$disk:1gb"}
PORT=$(free_port)

# --- on the socket ----------------------------------------------------------------------------------

start_flowcond
check "there is no port unless one is asked for" not curl -sS --max-time 5 "http://127.0.0.1:$PORT/metrics"
eventually "the list of a container is a metric" metrics_have 'flowcon_container_list\{container="flat1",list="CL"\} 1'
check "and the two that it is not on" metrics_have 'flowcon_container_list\{container="flat1",list="NL"\} 0'
check "its limit, too" metrics_have 'flowcon_container_limit_ratio\{container="flat1",resource="cpu"\} 0\.[0-9]+'
check "the metric's name is a label" metrics_have 'flowcon_container_info\{container="learn1",image="'"$IMAGE"'",metric="loss",goal="min"\} 1'
eventually "a value that is no number is one of Prometheus' words" metrics_have 'flowcon_container_value\{container="nan1"\} NaN'
eventually "it is a diverging container" metrics_have 'flowcon_container_diverging\{container="nan1"\} 1'
eventually "events are counted without a hook" metrics_have 'flowcon_events_total\{event="nan"\} 1'
check "the policy is a label" metrics_have 'flowcon_policy\{policy="flowcon"\} 1'
check "three are controlled" metrics_have 'flowcon_containers\{state="controlled"\} 3'
check "the type is the format's" holds "$(curl -sS -D - -o /dev/null --unix-socket "$SOCKET" http://flowcon/metrics)" \
  "text/plain; version=0.0.4; charset=utf-8"
check "each metric is known to dashboard, rules and documentation" \
  python3 "$FLOWCON_TOP/tests/scripts/share_test.py" "$WORK/metrics"
if have promtool; then
  check "promtool check metrics has nothing to say" is "$(promtool check metrics <"$WORK/metrics" 2>&1)" ""
else
  skip "promtool check metrics" "promtool is not installed (scripts/setup test)"
fi
stop_flowcond

# --- on a port --------------------------------------------------------------------------------------

check "an address that others reach is refused" fails_with 2 "is not a loopback address" \
  "$BIN/flowcond" --metrics-listen "0.0.0.0:$PORT" --check-config
start_flowcond --metrics-listen "127.0.0.1:$PORT"
check "the port answers with the same metrics" holds "$(curl -sS --max-time 10 "http://127.0.0.1:$PORT/metrics")" flowcon_build_info
check "and with nothing else" is "$(curl -sS -o /dev/null -w '%{http_code}' "http://127.0.0.1:$PORT/v1/status")" 404
check "nobody listens on an address that others reach" \
  is "$(ss -Hltn "sport = :$PORT" | awk '{print $4}')" "127.0.0.1:$PORT"

# --- a real Prometheus --------------------------------------------------------------------------------

if have prometheus; then
  WEB=$(free_port)
  mkdir "$WORK/prometheus"
  cat >"$WORK/prometheus/prometheus.yml" <<CONF
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: [$FLOWCON_TOP/share/prometheus/flowcon.rules.yml]
scrape_configs:
  - job_name: flowcon
    static_configs: [{targets: ["127.0.0.1:$PORT"]}]
CONF
  prometheus --config.file="$WORK/prometheus/prometheus.yml" --storage.tsdb.path="$WORK/prometheus/data" \
    --web.listen-address="127.0.0.1:$WEB" >"$WORK/prometheus/log" 2>&1 </dev/null 9>&- &
  PROMETHEUS=$(process_token $!)
  eventually "Prometheus reads flowcond" prometheus_says 'up{job="flowcon"}' 1
  eventually "it has the container that has converged" prometheus_says 'flowcon_container_list{container="flat1",list="CL"}' 1
  eventually "and the one that has not" prometheus_says 'flowcon_container_list{container="learn1",list="NL"}' 1
  eventually "counters grow" prometheus_says 'sum(rate(flowcon_container_cpu_seconds_total[20s])) > bool 0' 1
  eventually "values are counted" prometheus_says 'increase(flowcon_container_values_total{container="learn1"}[20s]) > bool 5' 1
  rules_loaded() {
    local seen
    seen=$(curl -sS --fail "http://127.0.0.1:$WEB/api/v1/rules" | jq -r '[.data.groups[].rules[].health] | group_by(.) | map("\(.[0]) \(length)") | join(", ")')
    is "$seen" "ok $(grep -c -- '- alert:' "$FLOWCON_TOP/share/prometheus/flowcon.rules.yml")"
  }
  eventually "all alert rules are evaluated" rules_loaded
  pending() {
    curl -sS --fail "http://127.0.0.1:$WEB/api/v1/alerts" |
      jq -e '.data.alerts[] | select(.labels.alertname == "FlowconDiverging" and .labels.container == "nan1")' >/dev/null
  }
  eventually "the alert about the diverging one is pending" pending
  must docker create --name queued --network none --label flowcon.queue=hold "$IMAGE" true >/dev/null
  eventually "a job of the queue is counted" prometheus_says 'sum(flowcon_queue_jobs)' 1
  # Each question of the dashboard, its variables set to all.
  dashboard_answers() {
    local expression bad=0
    while read -r expression; do
      expression=$(jq -r . <<<"$expression")
      expression=${expression//\$instance/.*}
      expression=${expression//\$container/.*}
      case $expression in *flowcon_peer_up*) continue ;; *flowcon_container_io_*) [ -n "$disk" ] || continue ;; esac
      [ -n "$(ask "$expression")" ] || { printf 'nothing for: %s\n' "$expression"; bad=1; }
    done < <(jq -c '.panels[].targets[].expr' "$FLOWCON_TOP/share/grafana/flowcon.json")
    return "$bad"
  }
  eventually "every panel of the dashboard has something to show" dashboard_answers
  stop_flowcond
  eventually "an end of flowcond is seen" prometheus_says 'up{job="flowcon"}' 0
  end_prometheus
else
  skip "a real Prometheus" "prometheus is not installed (scripts/setup test)"
  stop_flowcond
fi

# A port that is taken is no reason to leave jobs alone.
python3 - "$PORT" <<'PY' &
import socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen()
time.sleep(300)
PY
TAKEN=$(process_token $!)
at_exit process_end "$TAKEN" 5
taken() { [ -n "$(ss -Hltn "sport = :$PORT")" ]; }
must wait_until 20 taken
start_flowcond --metrics-listen "127.0.0.1:$PORT"
check "a port that is taken is a warning" status_has ".warnings[] | contains(\"127.0.0.1:$PORT\")"
eventually "and jobs are controlled" container_has flat1 '.state == "controlled"'
process_end "$TAKEN" 5
stop_flowcond

finish
