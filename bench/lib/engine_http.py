# SPDX-License-Identifier: Apache-2.0
"""The engine's HTTP API on its unix socket, as much of it as the benches need."""
import json
import urllib.parse

from daemon_api import UnixConnection

PATIENCE = 60  # seconds; an engine on a busy host can take more than ten to start a container


class Engine:
    def __init__(self, path):
        self.path = path

    def send(self, method, resource, body=None):
        """Sends a request and does not wait: finish() takes the answer."""
        connection = UnixConnection(self.path, PATIENCE)
        data = None if body is None else json.dumps(body)
        connection.request(method, resource, data, {"Content-Type": "application/json"})
        return connection

    @staticmethod
    def finish(connection):
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status >= 400:
            raise SystemExit(f"the engine refused: {answer.status} {text.decode(errors='replace')}")
        return json.loads(text) if text else None

    def call(self, method, resource, body=None):
        return self.finish(self.send(method, resource, body))

    def create(self, name, image, command, labels=None):
        """A container without network: the private engine has no bridge. Returns its id."""
        body = {"Image": image, "Cmd": command, "Labels": labels or {},
                "HostConfig": {"NetworkMode": "none"}}
        return self.call("POST", f"/containers/create?name={name}", body)["Id"]

    def start(self, container):
        self.call("POST", f"/containers/{container}/start")

    def inspect(self, container):
        return self.call("GET", f"/containers/{container}/json")

    def log(self, container):
        """What it has printed, each line behind its time."""
        return self.send("GET", f"/containers/{container}/logs?stdout=1&timestamps=1").getresponse().read().decode(errors="replace")


class Events:
    """The engine's event stream of one container, in order."""

    def __init__(self, engine, container, actions):
        filters = json.dumps({"type": ["container"], "container": [container], "event": actions})
        self.connection = engine.send("GET", "/events?" + urllib.parse.urlencode({"filters": filters}))
        self.stream = self.connection.getresponse()

    def next_time(self, action):
        """The engine's own time of the next event, in nanoseconds since the epoch."""
        event = json.loads(self.stream.readline())
        if event["Action"] != action:
            raise SystemExit(f"the engine tells of {event['Action']} where {action} was next")
        return event["timeNano"]

    def fileno(self):
        return self.connection.sock.fileno()

    def close(self):
        self.connection.close()
