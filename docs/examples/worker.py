"""A worker in plain HTTP: SWITCHYARD_URL=http://localhost:8080 SWITCHYARD_KEY=... worker.py <job type>

It takes one job at a time. A 409 or 404 is the fence: the job is somebody else's, and nothing more is
said about it. SIGTERM and Ctrl-C stop it: what runs is told, and failed as worth another run."""
import json, os, random, signal, socket, sys, threading, time, urllib.error, urllib.request

URL, KEY = os.environ["SWITCHYARD_URL"].rstrip("/"), os.environ["SWITCHYARD_KEY"]
WORKER = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
stopping = threading.Event()

class Gone(Exception): """The job is not this worker's any more, or has to be taken for lost."""
class GiveUp(Exception): """No other run would do better."""

def post(path, body, until):
    """Says one word; says it again while the server is busy or away, but not past `until`."""
    head = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    body = json.dumps({"workerId": WORKER, **body}).encode()
    wait = 0.5
    while True:
        try:
            request = urllib.request.Request(f"{URL}/api/v1/{path}", body, head)
            return json.load(urllib.request.urlopen(request, timeout=10))
        except urllib.error.HTTPError as error:
            if error.code in (404, 409) and path.startswith("jobs/"): raise Gone
            if error.code < 500 and error.code != 429: raise
            wait = max(wait, int(error.headers.get("Retry-After") or 0))
        except OSError: pass  # Nobody is there, or nobody answers in time.
        if time.monotonic() + wait > until: raise Gone
        time.sleep(wait)
        wait = min(wait * 2, 5)

class Job:
    def __init__(self, claimed):
        self.id, self.attempt = claimed["jobId"], claimed["attempt"]
        self.over, self.gone, self.cancelled = threading.Event(), threading.Event(), threading.Event()
        self.percent, self.heard = 0, time.monotonic()
        self.started = self.say("start")
        self.beats = threading.Thread(target=self.beat, daemon=True)
        self.beats.start()
    def say(self, verb, **more):
        sent = time.monotonic()
        answer = post(f"jobs/{self.id}/{verb}", {"attempt": self.attempt, **more}, self.heard + 60)
        self.heard = sent
        return answer
    def beat(self):
        while not self.over.wait(self.started["heartbeatSeconds"]):
            try: heard = self.say("heartbeat", progress=self.percent)
            except Exception: return self.gone.set()
            if heard["action"] == "cancel": self.cancelled.set()
    def payload(self):
        url = self.started.get("payloadUrl")  # Signed: the key is not sent there.
        return json.load(urllib.request.urlopen(url, timeout=30)) if url else self.started["payload"]
    def progress(self, percent):
        """To be called often: this is also where a handler hears that it has to stop."""
        self.percent = percent
        if self.gone.is_set(): raise Gone
        if self.cancelled.is_set(): raise InterruptedError("the job was cancelled")
        if stopping.is_set(): raise InterruptedError("the worker was stopped")
    def end(self, verb, **more):
        self.over.set(), self.beats.join()
        if not self.gone.is_set(): self.say(verb, **more)

def count(job):
    """The work itself: counts to the number in the payload, one each second."""
    if not isinstance(number := job.payload(), int): raise GiveUp("the payload is not a number")
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
            except Gone: raise
            except Exception as why:
                job.end("fail", retryable=not isinstance(why, GiveUp), error=(str(why) or repr(why))[:1000])
    except Gone: pass
