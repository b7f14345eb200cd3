#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docker flowcon report in a browser (chromium without a window): real containers, then a flowcond of the
# test's own whose every text is hostile.
# usage: report.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# browse FILE OPTION...: the page opened once; its console is in FILE.console, its stdout in FILE.dom.
browse() {
  local page=$1
  shift
  (cd "$WORK" && timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$WORK/chromium" --host-resolver-rules='MAP * ~NOTFOUND' --no-first-run --hide-scrollbars \
    --enable-logging=stderr --window-size=1200,3000 "$@" "file://$page" >"$page.dom" 2>"$page.log") || return 1
  grep -o 'CONSOLE.*' "$page.log" >"$page.console" || :
}
is_silent() { is "$(cat "$1.console")" ""; }

# dom FILE QUESTION...: looks at the page as it is after its script has run.
dom() { python3 "$WORK/dom.py" "$@"; }

# narrow FILE: the page as a phone of 390 pixels shows it: what is wider than its place, letters that are too small
# to read, marks of an axis that say the same.
narrow() {
  cat >"$WORK/narrow.html" <<HTML
<iframe id="page" src="file://$1" style="width:390px;height:2000px"></iframe><pre id="found"></pre><script>
addEventListener("load", () => {
  const seen = document.getElementById("page").contentDocument, found = [];
  for (const part of seen.querySelectorAll("body, .scroll")) {
    if (part.scrollWidth > part.clientWidth + 1) found.push("cut: " + part.textContent.trim().slice(0, 40));
  }
  for (const word of seen.querySelectorAll("svg.chart text")) {
    if (word.getBoundingClientRect().height < 9) found.push("small: " + word.textContent);
  }
  for (const chart of seen.querySelectorAll("svg.chart")) {
    for (const kind of ["tick", "moment"]) {
      const words = [...chart.querySelectorAll("." + kind)].map((word) => word.textContent);
      if (new Set(words).size < words.length) found.push("twice: " + words.join(", "));
    }
  }
  document.getElementById("found").textContent = found.join("\\n") || "fits, with " + seen.querySelectorAll(".moment").length + " times";
});
</script>
HTML
  browse "$WORK/narrow.html" --allow-file-access-from-files --dump-dom || return 1
  sed -n '/<pre id="found">/,/<\/pre>/s/.*<pre id="found">\|<\/pre>.*//gp' "$WORK/narrow.html.dom"
}

# readout FILE: what the page says of the last moment of its first container.
readout() {
  cat >"$WORK/readout.html" <<HTML
<iframe id="page" src="file://$1"></iframe><pre id="found"></pre><script>
addEventListener("load", () => {
  const seen = document.getElementById("page").contentDocument;
  seen.querySelector(".charts").dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
  document.getElementById("found").textContent = seen.querySelector(".readout").textContent.split(". Last change")[0];
});
</script>
HTML
  browse "$WORK/readout.html" --allow-file-access-from-files --dump-dom || return 1
  sed -n '/<pre id="found">/,/<\/pre>/s/.*<pre id="found">\|<\/pre>.*//gp' "$WORK/readout.html.dom"
}

begin "$@"
have chromium || nothing_runs "chromium is not installed (scripts/setup)"
cat >"$WORK/dom.py" <<'PY'
"""dom.py FILE tags|runs|points|words|table: what a page holds."""
import html.parser, sys

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.runs, self.points, self.marks, self.bands, self.text = {}, [], {}, {}, {}, []
        self.inside = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        kind = (attrs.get("class") or "").split()
        if tag == "details" and "run" in kind:
            self.runs.append("")
        run = len(self.runs) - 1
        if "data-points" in attrs:
            self.points.setdefault(run, []).append(int(attrs["data-points"]))
        if tag == "circle" and ("mark" in kind or "change" in kind):
            self.marks[run] = self.marks.get(run, 0) + 1
        if tag == "rect" and kind and kind[0] in ("nl", "wl", "cl"):
            self.bands.setdefault(run, set()).add(kind[0])
        self.inside.append(tag)
        if tag in ("meta", "link", "img", "input", "br"):
            self.inside.pop()

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "script" in self.inside or "style" in self.inside:
            return
        self.text.append(data)
        if self.inside and self.inside[-1] == "h3" and self.runs:
            self.runs[-1] += data

page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
what = sys.argv[2]
if what == "runs":
    print(" ".join(page.runs))
elif what == "points":
    # Of each container: how many lines, and the points of the first, its metric.
    print(" ".join(f"{name}:{len(page.points.get(i, []))}:{page.points.get(i, [0])[0]}" for i, name in enumerate(page.runs)))
elif what == "marks":
    print(" ".join(f"{name}:{page.marks.get(i, 0)}:{'+'.join(sorted(page.bands.get(i, [])))}" for i, name in enumerate(page.runs)))
elif what == "tags":
    print(" ".join(f"{tag}:{page.tags.get(tag, 0)}" for tag in sys.argv[3:]))
elif what == "words":
    text = " ".join(page.text)
    missing = [word for word in sys.argv[3:] if word not in text]
    print("all there" if not missing else f"missing: {missing}")
PY
at_least() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a + 0 >= b + 0)}' || { printf 'seen %s, wanted at least %s\n' "$1" "$2"; return 1; }; }

# --- real containers ------------------------------------------------------------------------------------

job learn1 learn --label flowcon.enable=true
job flat1 flat --label flowcon.enable=true
start_flowcond
eventually "a job has converged" container_has flat1 '.list == "CL" and .values > 20'
job_mode learn1 flat
eventually "and then the other" container_has learn1 '.list == "CL"'
job_mode flat1 end
eventually "one has ended" is_absent flat1
flowcon() { "$BIN/docker-flowcon" flowcon --socket "$SOCKET" "$@"; }
page=$WORK/page.html
# More may come while the page is made.
values=$(records learn1 | jq '.samples | length')
check "report writes the page and says where" is "$(flowcon report --since 1h -o "$page")" "$page"
check "and nothing beside it" is "$(find "$WORK" -name 'page.html?*')" ""
check "the page is one file that names no other" not grep -oE '(src|href)="[^"]{7,}"|url\(|@import' "$page"
check "it opens in a browser" browse "$page" --dump-dom
check "without a word on the console" is_silent "$page"
printf '<script>nothing.there()</script>' >"$WORK/broken.html"
check "where an error would be seen" browse "$WORK/broken.html" --dump-dom
check "as this one is" grep -q 'Uncaught ReferenceError' "$WORK/broken.html.console"
check "each container has its charts, the one that is gone, too" is "$(dom "$page.dom" runs)" "learn1 flat1"
check "the lines have the data: metric, growth, CPU, limit, memory" holds "$(dom "$page.dom" points | sed 's/:[0-9]*\( \|$\)/ /g')" "learn1:"
points=$(dom "$page.dom" points | sed -n 's/.*learn1:[0-9]*:\([0-9]*\).*/\1/p')
check "all values of the metric are drawn" at_least "$points" "$((values < 500 ? values : 500))"
lines=$(dom "$page.dom" points | sed -n 's/.*learn1:\([0-9]*\):.*/\1/p')
check "in five lines at least" at_least "$lines" 5
check "lists are bands, decisions are marks" grep -qE 'learn1:[1-9][0-9]*:cl\+nl' <<<"$(dom "$page.dom" marks)"
check "marks have their reasons" grep -qE '<title>[^<]*NL[^<]*→ (WL|CL)[^<]*under alpha 3 %' "$page.dom"
check "the policy is named, with its numbers" is "$(dom "$page.dom" words 'policy flowcon; alpha 3 %' 'CL: converged (CC)')" "all there"
check "of a limit that was not known nothing is said" not grep -q 'no limit' "$page.dom"
check "what it was worth is told, with how it was estimated" is "$(dom "$page.dom" words 'Estimated gain' 'An estimate, not a measurement')" "all there"
check "the charts can be reached by keys, and have names" grep -qE 'class="charts" tabindex="0" role="slider" aria-label="learn1' "$page.dom"
check "on a phone nothing is cut, too small or said twice" holds "$(narrow "$page")" "fits, with "
check "there is a table for each" is "$(dom "$page.dom" words 'The data as tables')" "all there"
check "it is printed, with every container open" browse "$page" --no-pdf-header-footer "--print-to-pdf=$WORK/page.pdf"
check "on two pages or more" at_least "$(grep -a -c '/Type /Page$' "$WORK/page.pdf")" 2
check "a picture of it is taken" browse "$page" "--screenshot=$WORK/page.png"
check "one that is no empty page" at_least "$(stat -c %s "$WORK/page.png")" 30000
check "by name only those are in it" is "$(flowcon report -o - flat1 | grep -c '<th scope="row" class="text">flat1</th>')" "$(flowcon report -o - | grep -c '<th scope="row" class="text">flat1</th>')"
must docker rm -f learn1
eventually "a container that is gone leaves the status" status_has '[.containers[].name] | index("learn1") | not'
check "since then only those of that time" holds "$(flowcon report --since 0s -o -)" "No container was under control in this time."
check "a file that cannot be written is told" fails_with 1 "No such file or directory" flowcon report -o "$WORK/no/page.html"
stop_flowcond
check "flowcond had no fault of its own" flowcond_is_calm

# --- the policy milestone ---------------------------------------------------------------------------------

start_flowcond --policy milestone
since=$(date +%s)
job rank1 learn --label flowcon.enable=true
eventually "alone a job has the host" container_has rank1 '.limit == 1 and .values > 3'
job rank2 learn --label flowcon.enable=true
eventually "another one comes" status_has '[.containers[] | select(.reason | contains(" of 2, "))] | length == 2'
# changes FILTER: what jq says of the decisions about the CPU that changed something.
changes() { api GET "/v1/changes?since=$since" | jq -r "[.changes[] | select(.algorithm == \"milestone\")] | $1"; }
changes_are_two() { at_least "$(changes '[.[].container] | unique | length')" 2; }
eventually "both are told as changes" changes_are_two
check "with rank and share" is "$(changes '.[0] | [.from, .to, .from_limit, .limit, .resource] | tostring')" '["","rank 1",null,1,"cpu"]'
check "and reasons" is "$(changes 'all(.sentence | test("^rank [12] of [12]: .* CPU s left"))')" true
check "looks that change nothing are none" at_least 12 "$(changes length)"
page=$WORK/milestone.html
check "report writes a page of it" is "$(flowcon report --since "$since" -o "$page")" "$page"
check "it opens in a browser" browse "$page" --dump-dom
check "without a word on the console" is_silent "$page"
check "each has its marks" grep -qE 'rank1:[1-9][0-9]*:.* rank2:[1-9]' <<<"$(dom "$page.dom" marks)"
check "with reasons about the CPU" grep -qE '<title>[^<]* cpu: rank [12] [0-9.]+%\. rank [12] of [12]: [^<]* CPU s left' "$page.dom"
check "what the neighbour changed, too" grep -qE '<title>[^<]* cpu: rank 1 100% → rank [12] [0-9.]+%\. ' "$page.dom"
check "of a limit that was not known nothing is said" not grep -q 'no limit' "$page.dom"
check "the policy is named, and what lists mean by it" is "$(dom "$page.dom" words 'policy milestone' 'CL: probably past its usable model')" "all there"
check "not the numbers of another one" not grep -qE 'alpha [0-9]' "$page.dom"
must docker rm -f rank1 rank2
stop_flowcond
check "it had none by this policy" flowcond_is_calm
check "without flowcond it says so" fails_with 1 "Cannot connect to flowcond" flowcon report -o "$page"
check "and leaves the older page" grep -q '</html>' "$page"

# --- hostile texts, several hosts ---------------------------------------------------------------------------

cat >"$WORK/hostile.py" <<'PY'
import http.server, json, os, socketserver, sys
EVIL = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">'\"&\u202e\x1b[31m"
T = 1790000000
def run(i):
    return {"id": f"{i:064x}", "name": f"job{i} " + EVIL, "image": EVIL, "metric": EVIL, "goal": "min", "started": T + i, "finished": T + 900}
def history(i):
    return dict(run(i), samples=[[T + i + n, "nan" if n == 7 else 1 / (n + 1)] for n in range(600)],
                usage=[[T + i + 10 * n, 0.4, 1e9 + n, 1e6, None] for n in range(1, 60)],
                decisions=[[T + 20 * n + i, ["NL", "WL", "CL"][min(n // 10, 2)], 1 if n < 20 else 0.00123, 0.5 / n] for n in range(1, 40)],
                stays=[{"host": EVIL, "began": T, "ended": T + 200}] if i == 1 else [])
CHANGES = [{"time": T + 200, "algorithm": "executor", "resource": r, "container": f"{1:064x}", "from": "NL", "to": "WL",
            "from_limit": 1, "limit": 0.5, "growth": 0.1, "sentence": EVIL} for r in ("cpu", "memory", "io", EVIL)]
CHANGES += [{"time": T + 300, "algorithm": "categorise", "resource": "", "container": f"{1:064x}", "from": "PC", "to": "CC", "sentence": EVIL}]
MOVES = [{"id": EVIL, "name": "job1 " + EVIL, "source_name": EVIL, "target_name": EVIL, "method": EVIL, "cause": EVIL,
          "step": EVIL, "error": EVIL, "seconds": 5, "stopped_seconds": 2, "ended": True, "ended_age": 1}]
JOB = {"id": f"{1:064x}", "name": "job1 " + EVIL, "state": EVIL, "note": EVIL, "submitted": T, "waited": 50, "served": 70, "exit": 1,
       "steps": [{"state": s, "time": T + 60 * n, "note": EVIL, "host": EVIL} for n, s in enumerate(["waiting", "running", EVIL, "returning"])]}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.split("?")[0]
        answers = {"/v1/status": {"host": EVIL, "version": EVIL, "limit_mode": EVIL, "policy": EVIL, "alpha": 0.03, "paused": False, "containers": []},
                   "/v1/runs": {"runs": [run(1), run(2), dict(run(3), id="../" + EVIL)]},
                   "/v1/changes": {"changes": CHANGES, "next": None}, "/v1/moves": {"moves": MOVES}, "/v1/queue": {"jobs": [JOB]}, "/v1/queue/" + JOB["id"]: JOB}
        body = answers.get(path) or history(int(path.split("/")[3], 16))
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def address_string(self):
        return "unix"
    def log_message(self, *arguments):
        pass
class Server(socketserver.UnixStreamServer):
    pass
Server(sys.argv[1], Handler).serve_forever()
PY
SOCKET=$WORK/hostile.sock
python3 "$WORK/hostile.py" "$SOCKET" >"$WORK/hostile.log" 2>&1 9>&- &
hostile=$!
at_exit kill "$hostile"
hostile_answers() { curl -sS --unix-socket "$SOCKET" http://flowcon/v1/status >/dev/null; }
eventually "a flowcond with hostile texts answers" hostile_answers
page=$WORK/hostile.html
check "a report is made of it" is "$(flowcon report --since 1789990000 -o "$page")" "$page"
check "its title is in no way theirs" browse "$page" --dump-dom
check "nothing of it ran, nor was refused: it is no script" is_silent "$page"
check "it made no element" is "$(dom "$page.dom" tags img script title | cut -d ' ' -f 1,2)" "img:0 script:2"
check "and changed no title" not grep -q '<title>pwned' "$page.dom"
check "it is there as text" is "$(dom "$page.dom" words "<img src=x onerror=" "job2 </script>")" "all there"
check "a container whose id is none is left out" is "$(dom "$page.dom" tags details)" "details:4"
check "no control character is in the page" not grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\x{202e}' "$page"
check "the move and the stay are marks in the charts" at_least "$(grep -o 'class="move"' "$page.dom" | wc -l)" 3
check "a job of the queue has a line with its states" is "$(grep -oE '<title>(waiting|running|returning) on ' "$page.dom" | tr '\n' ' ')" "<title>waiting on  <title>running on  <title>returning on  "
check "a small limit has two digits" holds "$(readout "$page")" "CL, limit 0.12 %; "
check "categories are bands of their own" grep -q 'Category among hosts' "$page.dom"
check "a picture of it is taken" browse "$page" "--screenshot=$WORK/hostile.png"
if [ -n "${FLOWCON_TEST_KEEP:-}" ]; then warn "pictures: $WORK/page.png $WORK/hostile.png"; fi

finish
