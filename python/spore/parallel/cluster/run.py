# SPDX-License-Identifier: Apache-2.0
"""msrun: starts the processes of a job on this host, with MindSpore's options, log files and exit codes. The processes are MPI's: mpirun starts them,
connects them, and ends all when one fails. What mpirun itself says goes to scheduler.log."""
import argparse
import ast
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

__all__ = ["get_args", "run", "main"]

# Every process takes its number from the launcher, writes to its own log, and becomes the program.
_WORKER = ('rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; export RANK_ID=$rank DEVICE_ID=$rank MS_NODE_ID=$rank; '
           'exec "$@" >"${0}_$rank.log" 2>&1 </dev/null')
_GRACE = 3.0  # seconds that mpirun has to end its processes before it is killed


def _truth(text):
    """True or False, as it is written in Python or in JSON."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    raise argparse.ArgumentTypeError(f"must be True or False, but got {text!r}; lists of processors for each process are not done")


def _parser():
    parser = argparse.ArgumentParser(prog="msrun", description="Start a script in several processes of this host, which MPI connects. Several hosts: "
                                     "mpirun --host A:2,B:2 -n 4 spore run SCRIPT.")
    add = parser.add_argument
    add("--worker_num", type=int, default=8, help="processes of the job (8)")
    add("--local_worker_num", type=int, default=8, help="processes of the job on this host (8): all of them")
    add("--master_addr", default="127.0.0.1", help="address of the first host; must be this one")
    add("--master_port", type=int, default=8118, help="taken and not needed: MPI finds its own ports")
    add("--node_rank", type=int, default=-1, help="number of this host (-1); there is one")
    add("--log_dir", default="", help="folder for worker_N.log and scheduler.log; made if it is not there (this folder)")
    add("--join", type=ast.literal_eval, choices=[True, False], default=False, help="wait for the end, show logs, exit with 1 when a process fails (False)")
    add("--cluster_time_out", type=int, default=600, help="seconds that processes may take to find each other (600)")
    add("--bind_core", type=_truth, default=False, help="True: each process keeps to its own core")
    add("--bind_numa", type=_truth, default=False, help="True: each process keeps to one part of memory and its processors")
    add("--sim_level", type=int, choices=[0, 1, 2, 3], default=-1, help="dry runs are not done")
    add("--sim_rank_id", type=int, default=-1, help="dry runs are not done")
    add("--rank_table_file", default="", help="exported as RANK_TABLE_FILE")
    add("--worker_log_name", default="", help="another name than worker; {ip} and {hostname} are replaced")
    add("--tail_worker_log", default="-1", help="with --join=True: processes whose logs are shown, '0,2'; -1: all")
    add("--restarts", type=int, default=0, help="with --join=True: begin the job again this often when it fails, from its last checkpoint (0)")
    add("task_script", help="the script; python or pytest may stand before its own arguments")
    add("task_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def get_args(arguments=None):
    """The options of a command line."""
    return _parser().parse_args(arguments)


def _is_here(address):
    """Whether an address is this host's."""
    try:
        found = {info[4][0] for info in socket.getaddrinfo(address.strip("[]"), None)}
        own = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}
    except OSError:
        return False
    if any(a.startswith("127.") or a == "::1" or a in own for a in found):
        return True
    for a in found:  # an address of some interface can be bound to
        with socket.socket(socket.AF_INET6 if ":" in a else socket.AF_INET) as s:
            try:
                s.bind((a, 0))
                return True
            except OSError:
                continue
    return False


def _check(args):
    if args.worker_num <= 0:
        raise ValueError(f"worker_num must be greater than 0, but got {args.worker_num}.")
    if args.local_worker_num > args.worker_num:
        raise ValueError(f"Total worker number is {args.worker_num}, but got exceeded local worker number: {args.local_worker_num}.")
    if args.local_worker_num < args.worker_num or not _is_here(args.master_addr):
        raise RuntimeError(f"msrun: {args.local_worker_num} of {args.worker_num} processes on this host, the first of which is on {args.master_addr}: msrun "
                           "starts all on one host. For several hosts: mpirun --host A:2,B:2 -n 4 spore run SCRIPT, once, on the first of them.")
    if args.sim_level != -1 or args.sim_rank_id != -1:
        raise RuntimeError("msrun: --sim_level and --sim_rank_id ask for a dry run, which is not done.")
    if args.restarts < 0 or (args.restarts and not args.join):
        raise ValueError(f"msrun: --restarts={args.restarts} needs a number from 0 and --join=True: who does not wait for the end cannot begin again.")
    if args.tail_worker_log != "-1" and not re.fullmatch(r"\d+(,\d+)*", args.tail_worker_log):
        raise ValueError(f"msrun: --tail_worker_log must be numbers of processes such as '0,2', or -1, but got {args.tail_worker_log!r}.")


def _mpirun():
    """(path, family) of the launcher: SPORE_MPIRUN, or the first that is found."""
    named = os.environ.get("SPORE_MPIRUN")
    for name in [named] if named else ["mpirun", "mpirun.openmpi", "mpiexec", "mpiexec.mpich", "mpiexec.hydra"]:
        path = shutil.which(name)
        if path is None:
            continue
        said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False, timeout=60).stdout
        if any(word in said for word in ("Open MPI", "OpenRTE", "PRRTE")):
            return path, "openmpi"
        if "HYDRA" in said or "MPICH" in said:
            return path, "mpich"
    raise RuntimeError(f"msrun: {named or 'mpirun'} is not on PATH, or no Open MPI or MPICH: install the package openmpi-bin (or mpich), or name the launcher by "
                       "SPORE_MPIRUN.")


def _command(args, log):
    """What mpirun is called with."""
    path, family = _mpirun()
    script = [args.task_script, *args.task_script_args]
    if args.task_script in ("python", "python3"):
        script = script[1:]
    elif args.task_script == "pytest":
        script = ["-m", *script]
    bind = "core" if args.bind_core else "numa" if args.bind_numa else "none"
    how = ["--oversubscribe", "--bind-to", bind] if family == "openmpi" else [] if bind == "none" else ["-bind-to", bind]
    return [path, *how, "-n", str(args.worker_num), "/bin/sh", "-c", _WORKER, log, sys.executable, "-m", "spore.run", *script], script


def _environment(args):
    env = dict(os.environ, RANK_SIZE=str(args.worker_num), MS_WORKER_NUM=str(args.worker_num), MS_ROLE="MS_WORKER", PYTHONUNBUFFERED="1")
    if os.geteuid() == 0:  # Open MPI asks whether root means it
        env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if not {"SPORE_NUM_THREADS", "OMP_NUM_THREADS"} & env.keys():
        env["SPORE_NUM_THREADS"] = str(max(1, len(os.sched_getaffinity(0)) // args.worker_num))
    if args.restarts:
        env.update(SPORE_RESTARTS=str(args.restarts), SPORE_JOB_BEGAN=str(time.time()))
    if args.rank_table_file:
        env["RANK_TABLE_FILE"] = args.rank_table_file
    return env


def _log_name(args):
    name = args.worker_log_name or "worker"
    name = name.replace("{hostname}", socket.gethostname())
    return os.path.join(args.log_dir, name.replace("{ip}", args.master_addr) if "{ip}" in name else name)


class _Logs:
    """What is written to the logs, shown line by line with the number of the process."""

    def __init__(self, paths, shown):
        self._paths, self._shown, self._files, self._rest = paths, shown, {}, {}

    def show(self, last=False):
        for rank in self._shown:
            if rank not in self._files:
                if not os.path.exists(self._paths[rank]):
                    continue
                self._files[rank] = open(self._paths[rank], encoding="utf-8", errors="replace")  # closed by close()
            text = self._rest.pop(rank, "") + self._files[rank].read()
            whole, _, self._rest[rank] = (text, "", "") if last else text.rpartition("\n")
            for line in whole.splitlines():
                sys.stdout.write(f"[{rank}] {line}\n")
        sys.stdout.flush()

    def close(self):
        for file in self._files.values():
            file.close()


def _stop(job):
    """End mpirun and with it all processes."""
    for sign, patience in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _GRACE)):
        if job.poll() is None:
            os.killpg(job.pid, sign)
        try:
            job.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def _cause(paths, shown, scheduler):
    """Which process failed first, and why, in a few lines."""
    for rank, path in enumerate(paths):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.read().splitlines()
        except OSError:
            continue
        if any(re.match(r"spore: rank \d+ of \d+ ends the job", line) for line in lines):
            told = [] if rank in shown else [f"[{rank}] {line}" for line in lines[-30:]]
            return [*told, f"msrun: process {rank} failed first; its log: {path}"]
    with open(scheduler, encoding="utf-8", errors="replace") as file:
        said = [line.strip("=- ") for line in file.read().splitlines()]
    return [f"msrun: {line}" for line in said if line][:15]


def _wait(job, args, paths, scheduler):
    """Until the end, with the logs on the console. Whether all went well."""
    shown = range(args.worker_num) if args.tail_worker_log == "-1" else [int(n) for n in args.tail_worker_log.split(",") if int(n) < args.worker_num]
    logs = _Logs(paths, shown)
    asked = []
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda number, frame: asked.append(number))
    while job.poll() is None and not asked:
        logs.show()
        time.sleep(0.1)
    if asked:
        sys.stderr.write(f"msrun: {signal.Signals(asked[0]).name}: all processes are ended\n")
        _stop(job)
        sys.exit(0 if asked[0] == signal.SIGINT else 128 + asked[0])  # MindSpore's answer to Ctrl-C is 0
    logs.show(last=True)
    logs.close()
    if job.returncode == 0:
        return True
    sys.stderr.write("\n".join([*_cause(paths, shown, scheduler), ""]))
    return False


def run(args):
    """Start the job that the options describe, and with --join=True wait for its end."""
    _check(args)
    if args.log_dir:
        os.makedirs(args.log_dir, mode=0o700, exist_ok=True)
    log, scheduler = _log_name(args), os.path.join(args.log_dir, "scheduler.log")
    command, script = _command(args, log)
    paths = [f"{log}_{rank}.log" for rank in range(args.worker_num)]
    for rank, path in enumerate(paths):
        open(path, "w", encoding="utf-8").close()
        print(f"Start worker process with rank id:{rank}, log file:{path}. Environment variable [RANK_ID={rank}] is exported. "
              f"Execute command: spore run {' '.join(script)}", flush=True)
    env = _environment(args)
    for attempt in range(args.restarts + 1):
        env["SPORE_RESTART"] = str(attempt)
        with open(scheduler, "w", encoding="utf-8") as out:
            job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=env, start_new_session=True)
        if not args.join or _wait(job, args, paths, scheduler):
            return
        if attempt < args.restarts:
            sys.stderr.write(f"msrun: the job begins again, {attempt + 1} of {args.restarts} times; logs so far end in .{attempt}\n")
            for path in [*paths, scheduler]:
                os.replace(path, f"{path}.{attempt}")
            for path in paths:
                open(path, "w", encoding="utf-8").close()
    raise RuntimeError(f"Distributed job exited with exception. Please check logs in directory: {args.log_dir}.")


def main(arguments=None):
    """The command; its exit status."""
    try:
        run(get_args(arguments))
    except (RuntimeError, ValueError, OSError) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
