"""A walk through a deployed Switchyard: SWITCHYARD_URL and SWITCHYARD_ADMIN_KEY say where and who.

Prints each step; ends with an error after the first that did not go as it should.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ["SWITCHYARD_URL"]
ADMIN = os.environ["SWITCHYARD_ADMIN_KEY"]


def main() -> None:
    user = f"smoke-{uuid.uuid4().hex[:8]}"
    account = f"/api/v1/accounts/{user}"

    health = call("GET", "/health", expect=200)
    insist("the service says it is up", health["status"] == "ok")
    document = call("GET", "/openapi.json", expect=200)
    insist("its document names the routes", "/api/v1/ids" in document.get("paths", {}))
    call("GET", "/docs", expect=200)
    call("GET", "/api/v1/nowhere", expect=404)
    call("PUT", "/api/v1/ids", key=ADMIN, expect=405)

    call("POST", "/api/v1/ids?count=3", expect=401)
    call("POST", "/api/v1/ids?count=3", key="root.wrong", expect=401)
    ids = call("POST", "/api/v1/ids?count=3", key=ADMIN, expect=200)["ids"]
    insist("three ids came in order", len(set(ids)) == 3 and ids == sorted(ids, key=int))
    parts = call("GET", f"/api/v1/ids/{ids[0]}", key=ADMIN, expect=200)
    insist("an id was made just now", abs(parts["unixMs"] / 1000 - time.time()) < 60)

    body = {"userId": user, "name": "Smoke", "roles": ["member"]}
    once = {"idempotency-key": uuid.uuid4().hex}
    call("POST", "/api/v1/accounts", body, key=ADMIN, headers=once, expect=201)
    call("POST", "/api/v1/accounts", body, key=ADMIN, headers=once, expect=201)
    call("POST", "/api/v1/accounts", body, key=ADMIN, expect=409)
    key = call("POST", f"{account}/keys", {"name": "smoke"}, key=ADMIN, expect=201)["key"]
    me = call("GET", "/api/v1/me", key=key, expect=200)
    insist("the key knows whose it is", me["userId"] == user)
    call("GET", "/api/v1/accounts", key=key, expect=403)
    call("GET", "/api/v1/me", key=f"{key}x", expect=401)

    def keys() -> list[dict]:
        return call("GET", f"{account}/keys", key=ADMIN, expect=200, quiet=True)["items"]

    within(20, "the use of the key was noted (queue)", lambda: "lastUsedAt" in keys()[0])
    call("DELETE", account, key=ADMIN, expect=204)
    within(20, "the keys are marked revoked (topic, queue)", lambda: "revokedAt" in keys()[0])
    trail = call("GET", f"{account}/audit", key=ADMIN, expect=200)["items"]
    insist("the trail has every change", len(trail) >= 3)


def call(method, path, body=None, key=None, headers=None, expect=200, quiet=False):
    request = urllib.request.Request(URL + path, method=method, headers=headers or {})
    if key:
        request.add_header("authorization", f"Bearer {key}")
    if body is not None:
        request.add_header("content-type", "application/json")
        request.data = json.dumps(body).encode()
    started = time.monotonic()
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            status, text = response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    elapsed = (time.monotonic() - started) * 1000
    if not quiet:
        print(f"   {method:6} {path} → {status} in {elapsed:.0f} ms")
    if status != expect:
        sys.exit(f"{method} {path} was answered {status} instead of {expect}: {text}")
    return json.loads(text) if text.startswith("{") else text


def insist(what: str, holds: bool) -> None:
    print(f"   {'yes' if holds else 'NO'}: {what}")
    if not holds:
        sys.exit(f"it does not hold that {what}")


def within(seconds: float, what: str, holds) -> None:
    started = time.monotonic()
    while not holds():
        if time.monotonic() - started > seconds:
            insist(f"{what} within {seconds} s", False)
        time.sleep(0.25)
    insist(f"{what}, after {time.monotonic() - started:.1f} s", True)


main()
