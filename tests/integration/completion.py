#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion as people have it: a key pressed in bash, zsh and fish, with every docker command of the PATH
and both of docker's own scripts for bash, the plugin, and a flowcond that is made up here.

usage: completion.py FOLDER-OF-PROGRAMS

What is typed is completed by TAB; then the line becomes the argument of an echo, whose output is compared.
Prints "ok"/"not ok" lines and as the last one the counts.
"""

import http.server
import json
import os
import pty
import re
import select
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(sys.argv[1])
PATIENCE = float(os.environ.get("FLOWCON_TEST_PATIENCE", "45"))
COUNTS = {"passed": 0, "failed": 0, "skipped": 0}

STATUS = {"containers": [{"name": "vae-digits", "metric": "val_loss"}, {"name": "gru", "metric": "loss"}]}
PEERS = {"here": {"name": "gpu1"}, "peers": [{"name": "gpu2", "source": "command"},
                                            {"name": "rack3", "source": "config"}]}

# What is typed, and what the line is after TAB.
DOCKER_LINES = [
    ("docker flowcon stat", "docker flowcon status"),
    ("docker flowcon explain v", "docker flowcon explain vae-digits"),
    ("docker flowcon migrate gru r", "docker flowcon migrate gru rack3"),
    ("docker flowcon peer dr", "docker flowcon peer drain"),
    ("docker flowcon peer rm g", "docker flowcon peer rm gpu2"),
    ("docker flowcon adopt --metric v", "docker flowcon adopt --metric val_loss"),
    ("docker flowcon plot --what=li", "docker flowcon plot --what=limit"),
    ("docker flowcon status --no", "docker flowcon status --no-trunc"),
]
OWN_LINES = [
    ("flowcond --interval-m", "flowcond --interval-max"),
    ("flowcond --limit-mode q", "flowcond --limit-mode quota"),
    ("flowcond --limit-mode=q", "flowcond --limit-mode=quota"),
    ("flowcon-sim bou", "flowcon-sim bound"),
    ("flowcon-sim decide cat", "flowcon-sim decide categorise"),
    ("flowcon-sim run random15 --his", "flowcon-sim run random15 --history"),
    ("flowcon-sim run specon-8", "flowcon-sim run specon-8x50"),
    ("flowcon-sim run random10 --policy spe", "flowcon-sim run random10 --policy specon"),
    ("flowcon-sim run random10 --start ra", "flowcon-sim run random10 --start random"),
]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(STATUS if self.path == "/v1/status" else PEERS).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

    def address_string(self):
        return "unix"


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def result(label, passed, detail=""):
    COUNTS["passed" if passed else "failed"] += 1
    print(f"{'ok' if passed else 'not ok'} - {label}")
    for line in detail.splitlines()[-20:] if not passed else []:
        print("    # " + line)


def skip(label, reason):
    COUNTS["skipped"] += 1
    print(f"skipped: {label}: {reason}")


class Shell:
    """An interactive shell on a terminal of its own."""

    def __init__(self, words, environment):
        self.said = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], words, environment)
        self.run("stty cols 300 rows 50 2>/dev/null; echo READY''NOW")
        self.wait(r"READYNOW\r?\n")

    def run(self, text):
        os.write(self.terminal, text.encode() + b"\r")

    def wait(self, pattern):
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            found = re.search(pattern, self.said)
            if found:
                self.said = self.said[found.end():]
                return found
            ready, _, _ = select.select([self.terminal], [], [], 0.2)
            if ready:
                try:
                    self.said += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    break
        return None

    def complete(self, typed):
        """The line after TAB, or None."""
        # Its value is an argument then; ^A goes to the beginning of the line, ^E to its end.
        os.write(self.terminal, typed.encode() + b"\t" + b"\x01echo COM''PLETED: \x05 :END\r")
        found = self.wait(r"COMPLETED: (.*?) +:END\r?\n")
        return found.group(1).strip() if found else None

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def check_lines(label, words, environment, setup, lines):
    shell = Shell(words, environment)
    try:
        for line in setup:
            shell.run(line)
        for typed, wanted in lines:
            got = shell.complete(typed)
            result(f"{label}: {typed}<TAB>", got == wanted, f"got {got!r}\n{shell.said}")
    finally:
        shell.end()


def check_fish(label, environment, setup, lines):
    for typed, wanted in lines:
        script = "\n".join(setup + [f"complete -C '{typed}'"])
        done = subprocess.run(["fish", "--no-config", "-c", script], env=environment, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        offered = [line.split("\t")[0] for line in done.stdout.splitlines()]
        result(f"{label}: {typed}<TAB>", offered == [wanted.split(" ")[-1]],
               f"got {offered}\n{done.stderr}")


def dockers():
    """Each docker command on the PATH once: its label, its folder."""
    seen = {}
    for folder in os.environ["PATH"].split(":"):
        path = os.path.join(folder, "docker")
        if os.access(path, os.X_OK) and os.path.realpath(path) not in seen:
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
            seen[os.path.realpath(path)] = "docker " + re.sub(r"^Docker version ([\d.]*).*", r"\1",
                                                               version.strip())
    return [(label, path) for path, label in seen.items()]


def can_complete(docker, environment):
    """Does it ask its plugins itself? Then `docker completion` is of use (Docker 23 and later)."""
    done = subprocess.run([docker, "__complete", "flowcon", "stat"], env=environment, capture_output=True,
                          check=False)
    return done.returncode == 0 and b"status" in done.stdout


def check_docker(label, docker, home, base):
    folder = os.path.join(home, label.replace(" ", "-"))
    os.makedirs(folder)
    os.symlink(docker, os.path.join(folder, "docker"))
    environment = dict(base, PATH=folder + ":" + base["PATH"])
    bash = ["bash", "--norc", "--noprofile", "-i"]
    zsh = ["zsh", "-f", "-i"]
    common = "/usr/share/bash-completion/bash_completion"
    packaged = "/usr/share/bash-completion/completions/docker"
    if not os.path.exists(common):
        skip(f"{label}, bash", "bash-completion is not installed (scripts/setup test)")
    else:
        setup = [f". {common}"]
        if can_complete(docker, environment):
            check_lines(f"{label}, bash, docker completion", bash, environment,
                        setup + ["source <(docker completion bash)"], DOCKER_LINES)
        # Distributions install the script that calls plugins without their name.
        if os.path.exists(packaged) and b"__completeNoDesc" in open(packaged, "rb").read():
            check_lines(f"{label}, bash, packaged script", bash, environment,
                        setup + [f". {packaged}"], DOCKER_LINES)
    if not shutil.which("zsh"):
        skip(f"{label}, zsh", "zsh is not installed (scripts/setup test)")
    else:
        start = ["unsetopt beep prompt_sp; PS1='> '", f"fpath=({TOP}/completions $fpath)",
                 "autoload -U compinit; compinit -D -u"]
        check_lines(f"{label}, zsh, ours", zsh, environment, start, DOCKER_LINES)
        if can_complete(docker, environment):
            check_lines(f"{label}, zsh, ours beside docker completion", zsh, environment,
                        start + ["source <(docker completion zsh)"], DOCKER_LINES)
            check_lines(f"{label}, zsh, docker completion alone", zsh, environment,
                        start[:1] + ["autoload -U compinit; compinit -D -u", "source <(docker completion zsh)"],
                        DOCKER_LINES)
    if not shutil.which("fish"):
        skip(f"{label}, fish", "fish is not installed (scripts/setup test)")
    else:
        ours = [f"source {TOP}/completions/docker-flowcon.fish"]
        check_fish(f"{label}, fish, ours", environment, ours, DOCKER_LINES)
        if can_complete(docker, environment):
            check_fish(f"{label}, fish, ours beside docker completion", environment,
                       ours + ["docker completion fish | source"], DOCKER_LINES)


def check_own(base):
    environment = dict(base, PATH=BIN + ":" + base["PATH"])
    check_lines("bash", ["bash", "--norc", "--noprofile", "-i"], environment,
                [f". {TOP}/completions/flowcond.bash"], OWN_LINES)
    if shutil.which("zsh"):
        check_lines("zsh", ["zsh", "-f", "-i"], environment,
                    ["unsetopt beep prompt_sp; PS1='> '", f"fpath=({TOP}/completions $fpath)",
                     "autoload -U compinit; compinit -D -u"], OWN_LINES)
    if shutil.which("fish"):
        check_fish("fish", environment, [f"source {TOP}/completions/docker-flowcon.fish"], OWN_LINES)


def main():
    home = tempfile.mkdtemp(prefix="flowcon-completion.")
    try:
        socket = os.path.join(home, "flowcond.sock")
        server = Server(socket, Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        config = os.path.join(home, "config")
        os.makedirs(os.path.join(config, "cli-plugins"))
        os.symlink(os.path.join(BIN, "docker-flowcon"), os.path.join(config, "cli-plugins", "docker-flowcon"))
        base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "TERM": "xterm", "LC_ALL": "C.UTF-8",
                "DOCKER_CONFIG": config, "FLOWCON_SOCKET": socket, "PS1": "> ", "INPUTRC": "/dev/null",
                "DOCKER_HOST": f"unix://{home}/no-engine.sock"}
        for label, docker in dockers():
            check_docker(label, docker, home, base)
        check_own(base)
        server.shutdown()
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print(f"{COUNTS['passed']} passed, {COUNTS['failed']} failed, {COUNTS['skipped']} skipped")
    return 1 if COUNTS["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
