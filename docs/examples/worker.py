"""A worker in plain HTTP: SWITCHYARD_URL=http://localhost:8080 SWITCHYARD_KEY=... worker.py <job type>

It takes one job at a time. A 409 or 404 is the fence: another worker has the job, and nothing more is
reported about it. SIGTERM and Ctrl-C stop it: the running job is stopped, and failed as retryable."""
import json, os, random, signal, socket, sys, threading, time, urllib.error, urllib.request

URL, KEY = os.environ["SWITCHYARD_URL"].rstrip("/"), os.environ["SWITCHYARD_KEY"]
WORKER = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
stopping = threading.Event()

class Fenced(Exception): """The job is not this worker's any more, or its heartbeats have failed for too long."""
class Permanent(Exception): """Another run would fail too."""

def post(path, body, until):
    """Sends a request, again while the server is busy or unreachable, but not past `until`."""
    head = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    body = json.dumps({"workerId": WORKER, **body}).encode()
    wait = 0.5
    while True:
        try:
            request = urllib.request.Request(f"{URL}/api/v1/{path}", body, head)
            return json.load(urllib.request.urlopen(request, timeout=10))
        except urllib.error.HTTPError as error:
            if error.code in (404, 409) and path.startswith("jobs/"): raise Fenced
            if error.code < 500 and error.code != 429: raise
            wait = max(wait, int(error.headers.get("Retry-After") or 0))
        except OSError: pass  # Unreachable, or no response in time.
        if time.monotonic() + wait > until: raise Fenced
        time.sleep(wait)
        wait = min(wait * 2, 5)

class Job:
    def __init__(self, claimed):
        self.id, self.attempt = claimed["jobId"], claimed["attempt"]
        self.over, self.fenced, self.cancelled = threading.Event(), threading.Event(), threading.Event()
        self.percent, self.last_success = 0, time.monotonic()
        self.started = self.report("start")
        self.beats = threading.Thread(target=self.beat, daemon=True)
        self.beats.start()
    def report(self, verb, **more):
        sent = time.monotonic()
        answer = post(f"jobs/{self.id}/{verb}", {"attempt": self.attempt, **more}, self.last_success + 60)
        self.last_success = sent
        return answer
    def beat(self):
        while not self.over.wait(self.started["heartbeatSeconds"]):
            try: response = self.report("heartbeat", progress=self.percent)
            except Exception: return self.fenced.set()
            if response["action"] == "cancel": self.cancelled.set()
    def payload(self):
        url = self.started.get("payloadUrl")  # Signed: the key is not sent there.
        return json.load(urllib.request.urlopen(url, timeout=30)) if url else self.started["payload"]
    def progress(self, percent):
        """To be called often: it raises when the handler has to stop."""
        self.percent = percent
        if self.fenced.is_set(): raise Fenced
        if self.cancelled.is_set(): raise InterruptedError("the job was cancelled")
        if stopping.is_set(): raise InterruptedError("the worker was stopped")
    def end(self, verb, **more):
        self.over.set(), self.beats.join()
        if not self.fenced.is_set(): self.report(verb, **more)

def count(job):
    """The work itself: counts to the number in the payload, one each second."""
    if not isinstance(number := job.payload(), int): raise Permanent("the payload is not a number")
    for n in range(number): job.progress(100 * n // number), time.sleep(1)
    return {"counted": number}

for name in (signal.SIGTERM, signal.SIGINT): signal.signal(name, lambda *_: stopping.set())
idle = 1
while not stopping.wait(0 if idle == 1 else idle * random.uniform(0.5, 1)):
    idle = min(idle * 2, 10)
    try:
        for claimed in post(f"job-types/{sys.argv[1]}/claim", {"max": 1}, time.monotonic() + 60)["jobs"]:
            idle, job = 1, Job(claimed)
            try: job.end("complete", result=count(job))
            except Fenced: raise
            except Exception as why:
                job.end("fail", retryable=not isinstance(why, Permanent), error=(str(why) or repr(why))[:1000])
    except Fenced: pass
