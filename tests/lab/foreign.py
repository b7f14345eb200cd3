# SPDX-License-Identifier: Apache-2.0
"""foreign.py ARCHITECTURE NAME: docker save's archive of an image on stdin, on stdout for docker load the same image for
that architecture, and so named. Nothing else of it changes: what is in it runs here."""
import hashlib
import io
import json
import sys
import tarfile


def main():
    architecture, name = sys.argv[1:]
    files = {}
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
        for entry in archive:
            if entry.isfile():
                files[entry.name] = archive.extractfile(entry).read()
    manifest = json.loads(files["manifest.json"])[0]
    config = json.loads(files[manifest["Config"]])
    config["architecture"] = architecture
    text = json.dumps(config).encode()
    new = hashlib.sha256(text).hexdigest() + ".json"
    all_of_it = {layer: files[layer] for layer in manifest["Layers"]}
    all_of_it[new] = text
    manifest = {"Config": new, "RepoTags": [name], "Layers": manifest["Layers"]}
    all_of_it["manifest.json"] = json.dumps([manifest]).encode()
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
        for path, content in all_of_it.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


main()
