"""judge.py SAMPLE EXPECTED: is what a function answered (standard input) what the sample should get?

EXPECTED is one or more HTTP statuses, `batch` (every message was handled) or `summary` (the run
said what it did).
"""

import json
import sys

sample, expected = sys.argv[1:]
answer = json.load(sys.stdin)
if expected == "batch":
    seen, good = f"failures {answer['batchItemFailures']}", answer["batchItemFailures"] == []
elif expected == "summary":
    seen, good = json.dumps(answer), "errorType" not in answer
else:
    seen = answer.get("statusCode", answer)
    good = str(seen) in expected.split()
print(f"   {sample:44} {seen}")
if not good:
    sys.exit(f"{sample}: expected {expected}, but it answered {json.dumps(answer)}")
