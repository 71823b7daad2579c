# What the scripts beside this one share; sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
scratch=$(mktemp -d)
children=()
step_title=

# Nothing here may reach a real account, also if the caller's shell is set up for one.
unset AWS_PROFILE AWS_SESSION_TOKEN AWS_ENDPOINT_URL
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
export AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
export SAM_CLI_TELEMETRY=0

# The cargo packages that have functions, and every function: a file each.
package_names() { basename -a functions/*/; }
function_names() { basename -a -s .rs functions/*/src/bin/*.rs; }

# The systems that can be switched, by their templates.
system_names() { basename -a -s .yaml infra/*.yaml; }

say() { printf '\n== %s\n' "$*"; }

fail() {
  echo "$*" >&2
  exit 1
}

# Runs a step and says how long it took. The first command in it that fails ends the script.
step() {
  local started=$SECONDS
  step_title=$1
  shift
  say "$step_title"
  "$@"
  printf -- '-- %s: %d s\n' "$step_title" $((SECONDS - started))
  step_title=
}

# Starts a process that is stopped, with what it started, when the script ends: `start LOG COMMAND…`
# in a session of its own.
start() {
  local log=$1
  shift
  setsid "$@" >"$log" 2>&1 &
  children+=($!)
}

stop_children() {
  local code=$? child
  [ -z "$step_title" ] || printf '\nFAILED: %s\n' "$step_title" >&2
  for child in "${children[@]}"; do
    kill -TERM -- "-$child" 2>/dev/null || true
  done
  for child in "${children[@]}"; do
    for _ in $(seq 50); do
      kill -0 -- "-$child" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL -- "-$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  done
  rm -rf "$scratch"
  return "$code"
}
trap stop_children EXIT
trap 'exit 130' INT TERM

# Python's tools at the versions in requirements.txt, installed once.
install_tools() {
  if ! cmp -s tests/deploy/requirements.txt .venv/requirements.txt; then
    [ -x .venv/bin/python ] || python3 -m venv .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check \
      --requirement tests/deploy/requirements.txt
    cp tests/deploy/requirements.txt .venv/requirements.txt
  fi
  export PATH="$root/.venv/bin:$PATH"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Waits until something listens: `await_port PORT SECONDS LOG`.
await_port() {
  local deadline=$((SECONDS + $2))
  until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; do
    if [ $SECONDS -ge $deadline ]; then
      tail -n 40 "$3" >&2
      return 1
    fi
    sleep 0.2
  done
}
