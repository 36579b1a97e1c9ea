"""The inner walls: what a freshly forked runner gives up, for good, before student code is run.

Each wall is a function that raises `OSError` (or `ImportError`) when it cannot stand. Bubblewrap has already put the
parent behind the outer wall; these walls separate one submission from the parent and from every other submission.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import os
import resource
import signal
import socket
import sys
import tempfile
from typing import Any

TERMINALS = 16
NOBODY = 65534
PROC_FILES = ("cpuinfo", "meminfo", "stat", "version", "loadavg", "uptime", "filesystems")

_CLONE_NEWNS = 0x00020000
_CLONE_NEWCGROUP = 0x02000000
_CLONE_NEWUTS = 0x04000000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_NAMESPACES = _CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWPID | _CLONE_NEWNET | _CLONE_NEWIPC

_MS_RDONLY = 1
_MS_NOSUID = 2
_MS_NODEV = 4
_MS_NOEXEC = 8
_MS_REMOUNT = 32
_MS_BIND = 4096
_MS_REC = 16384
_MS_PRIVATE = 1 << 18

_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_LINUX_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: Any) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _prctl(option: int, *arguments: int) -> None:
    _call("prctl", option, *(ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]))


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    source_, target_, kind_, data_ = (None if text is None else text.encode() for text in (source, target, kind, data))
    _call("mount", source_, target_, kind_, ctypes.c_ulong(flags), data_)


def become(user: int) -> None:
    """Give up root for the unprivileged `user`; the process can still be looked at by itself through /proc."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    _prctl(_PR_SET_DUMPABLE, 1)  # the kernel clears it here, and /proc/self/uid_map could not be written


def enter_namespaces() -> None:
    """Leave the parent's user, mount, process, network and IPC namespaces; the next fork is process 1 of its own."""
    user, group = os.getuid(), os.getgid()
    _call("unshare", _NAMESPACES)
    for name, content in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(content)


def own_files(size: int) -> None:
    """Put a private, size-limited, empty file system over everything that can be written, terminals included."""
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    _mount("tmpfs", "/tmp", "tmpfs", _MS_NOSUID | _MS_NODEV, f"size={size},nr_inodes=65536,mode=0700")
    for name in ("home", "cell", "shm"):
        os.mkdir(f"/tmp/{name}", 0o700)
    _mount("/tmp/shm", "/dev/shm", None, _MS_BIND)
    _mount("devpts", "/dev/pts", "devpts", _MS_NOSUID | _MS_NOEXEC, f"newinstance,ptmxmode=0666,max={TERMINALS}")
    _replace_zero()
    os.chdir("/tmp/cell")


def _replace_zero() -> None:
    """Put a file with a hole of 4 EiB in place of /dev/zero, which hands out memory that no limit counts.

    What a shared mapping of the device holds stays when the mapping shrinks, and no process shows it.
    """
    with open("/tmp/zero", "wb") as file:
        file.truncate(1 << 62)
    _mount("/tmp/zero", "/dev/zero", None, _MS_BIND)
    _mount(None, "/dev/zero", None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV)
    os.unlink("/tmp/zero")


def hide_processes(files: dict[str, bytes]) -> None:
    """Cover /proc, which shows the parent and its other children, with copies of a few harmless `files`."""
    flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    _mount("tmpfs", "/proc", "tmpfs", flags, "size=1m,mode=0755")
    for name, content in files.items():
        with open(f"/proc/{name}", "wb") as file:
            file.write(content)
    os.mkdir("/proc/self")
    os.symlink(os.path.realpath(sys.executable), "/proc/self/exe")  # TensorFlow stops without these two
    with open("/proc/self/cmdline", "wb") as file:
        file.write(b"python\0")
    _mount(None, "/proc", None, flags | _MS_REMOUNT | _MS_RDONLY)


def own_folder(user: int, folder: str) -> None:
    """End what an earlier process of `user` left running, and make an empty `folder` that is theirs alone. For root."""
    end_processes(user)
    if os.path.isdir(folder):  # put out of reach and not deleted: nobody knows how deep it is
        earlier = tempfile.mkdtemp(prefix="earlier-", dir=os.path.dirname(folder))
        os.chown(folder, 0, 0)
        os.rename(folder, earlier)
    for path in (folder, *(f"{folder}/{name}" for name in ("home", "cell", "tmp"))):
        os.mkdir(path, 0o700)
        os.chown(path, user, user)


def end_processes(user: int) -> None:
    """Kill every process of `user`, at one stroke: none of them can fork away from it. For root.

    Raises:
        ValueError: programs that are not submissions may be running as this user, too.
    """
    if user < 1000 or user == NOBODY:
        raise ValueError(f"user {user} is not for submissions alone")
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            if os.getresuid() == (user, user, user):
                os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def adopt_orphans() -> None:
    """Become the parent of processes that a submission leaves behind: in a container nobody else may collect them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def outlive(child: int, user: int) -> int:
    """Collect every process that ends until `child` does, then end and collect all others; return its status.

    What nobody collects counts against the number of processes that `user` may have.
    """
    ended, status = os.wait()
    while ended != child:
        ended, status = os.wait()
    end_processes(user)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    return status


def live_as(user: int, folder: str) -> None:
    """Give up root and its capabilities for `user`, and go to the user's folder."""
    with contextlib.suppress(OSError):  # a container may forbid it; without new privileges there is nothing to gain
        _drop_bounding_set()
    become(user)
    _clear_capabilities()
    os.umask(0o077)
    os.chdir(f"{folder}/cell")


def drop_capabilities() -> None:
    """Give up every capability in the new user namespace, and the right to gain one by running a program."""
    _drop_bounding_set()
    _clear_capabilities()


def _drop_bounding_set() -> None:
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), *[ctypes.c_ulong(0)] * 3) != 0:
            if ctypes.get_errno() == errno.EINVAL:
                break  # past the last capability that this kernel knows
            raise OSError(ctypes.get_errno(), f"capability {capability} cannot be dropped")


def _clear_capabilities() -> None:
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_LINUX_CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())


def forbid_new_privileges() -> None:
    """Make set-user-id programs and file capabilities powerless."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def die_first() -> None:
    """Make the kernel end this process before the grader if memory runs out."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


# Also how many descriptors may be under way in sockets, for all processes of a user together. Below the usual 1024: the
# grader may be the same user, and hands its own to the worker.
OPEN_FILES = 512
# Timers and signals under way: a user has a fixed number, whose memory no limit counts.
PENDING_SIGNALS = 256


def limit_resources(*, memory: int, processes: int, file_size: int, cpu_seconds: int) -> None:
    """Bound what one process may take: address space, processes, file size, CPU seconds, open files, no core file."""
    wanted = {
        resource.RLIMIT_CORE: 1,  # not 0: a crash handler of the system is passed over at 1 only, see core(5)
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_FSIZE: file_size,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_NPROC: processes,
    }
    if sys.platform == "linux":
        wanted[resource.RLIMIT_AS] = memory
        wanted[resource.RLIMIT_MSGQUEUE] = 0
        wanted[resource.RLIMIT_MEMLOCK] = 1 << 20
        wanted[resource.RLIMIT_SIGPENDING] = PENDING_SIGNALS
    for kind, limit in wanted.items():
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(kind, (limit, limit))


# By the names that the library knows; see `_NEWER` for calls that may be younger than the library.
_DENIED = (
    # other processes' memory and descriptors
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp",
    # rearranging the file system, or asking how it was put together
    "mount", "umount", "umount2", "pivot_root", "chroot", "name_to_handle_at", "open_by_handle_at", "swapon", "swapoff",
    "quotactl",
    # new and other namespaces
    "unshare", "setns",
    # large or rarely used parts of the kernel
    "add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd", "kexec_load", "kexec_file_load",
    "init_module", "finit_module", "delete_module", "reboot",
    "syslog", "acct", "settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "iopl", "ioperm", "vhangup",
    "lookup_dcookie", "nfsservctl", "uselib", "_sysctl", "fanotify_init", "personality", "modify_ldt",
    "remap_file_pages",
    # memory outside the address-space limit
    "memfd_create", "shmget", "shmat", "shmctl", "msgget", "semget", "vmsplice",
    # of which the whole machine, or the grader's user, has a fixed number
    "io_setup", "inotify_init", "inotify_init1",
)  # fmt: skip
# From 424 on a call has the same number on x86_64 and arm64 (the kernel's syscall_64.tbl and scripts/syscall.tbl). Of
# these only the ones in `_ALLOWED` may be made. All others are refused by number, whether the library, or this kernel,
# has a name for them or not, and seem not to be there: programs then do as on an older kernel. In Linux 6.19 these are
# io_uring (425 to 427), mounts and namespaces (428 to 433, 442, 457, 458, 467, 470), clone3 (435), whose flags are out
# of a filter's sight, other processes (438, 440, 448), quotas (443), landlock (444 to 446) and memfd_secret (447),
# whose memory no limit counts, and rare ones.
_NEWER = range(424, 512)
_ALLOWED = {
    424: "pidfd_send_signal", 434: "pidfd_open", 436: "close_range", 437: "openat2", 439: "faccessat2",
    441: "epoll_pwait2", 449: "futex_waitv", 452: "fchmodat2", 453: "map_shadow_stack", 454: "futex_wake",
    455: "futex_wait", 456: "futex_requeue", 462: "mseal",
}  # fmt: skip
_DONE = ("flock", "sync", "syncfs")  # reach files and disks of the machine, so they succeed and do nothing
_AF_UNIX = 1
_TIOCSTI = 0x5412
_MAP_HUGETLB = 0x40000
_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW = 6, 7, 37, 38
_F_SETLEASE, _F_NOTIFY, _F_SETPIPE_SZ = 1024, 1026, 1031
_SO_SNDBUFFORCE = 32
_UNKNOWN_CALL = -1


def system_call_filter() -> Any:
    """Return the filter that refuses, once its `load` is called, the system calls that homework does not need.

    It is built once, in the parent, and loaded in each child.

    Raises:
        ImportError: pyseccomp or the library libseccomp is not there, or the library is too old for a rule.
    """
    try:
        import pyseccomp
    except RuntimeError as error:  # what it raises when libseccomp is missing
        raise ImportError(str(error)) from error

    def argument(number: int, value: int) -> Any:
        return pyseccomp.Arg(number, pyseccomp.MASKED_EQ, 0xFFFFFFFF, value)

    def flags(number: int, value: int) -> Any:
        return pyseccomp.Arg(number, pyseccomp.MASKED_EQ, value, value)

    denied, done = pyseccomp.ERRNO(errno.EPERM), pyseccomp.ERRNO(0)
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in _DENIED:
        _add(rules, denied, name)
    for name in _DONE:
        _add(rules, done, name)
    for flag in (
        _CLONE_NEWNS, _CLONE_NEWCGROUP, _CLONE_NEWUTS, _CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET,
    ):  # fmt: skip
        _add(rules, denied, "clone", flags(0, flag))
    for number in _NEWER:
        if number not in _ALLOWED:
            rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), number)
    _add(rules, denied, "socket", pyseccomp.Arg(0, pyseccomp.NE, _AF_UNIX))
    _add(rules, denied, "ioctl", argument(1, _TIOCSTI))
    # What such a mapping holds stays when most of it is unmapped or given back, and then no process shows it.
    _add(rules, denied, "mmap", flags(3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS))
    _add(rules, denied, "mmap", flags(3, _MAP_HUGETLB))
    # Files that are shown belong to the machine: a lock on one of them would be a lock on the machine's.
    for command in (_F_SETLK, _F_SETLKW, _F_OFD_SETLK, _F_OFD_SETLKW):
        _add(rules, done, "fcntl", argument(1, command))
    for command in (_F_SETLEASE, _F_NOTIFY, _F_SETPIPE_SZ):
        _add(rules, denied, "fcntl", argument(1, command))
    # The meter relies on the size that the system gives to a socket's buffer.
    for option in (socket.SO_SNDBUF, _SO_SNDBUFFORCE):
        _add(rules, done, "setsockopt", argument(1, socket.SOL_SOCKET), argument(2, option))
    # Ignored, or with SA_NOCLDWAIT, children vanish with their CPU time; else each is waited for, or still there.
    _add(rules, denied, "rt_sigaction", argument(0, signal.SIGCHLD), pyseccomp.Arg(1, pyseccomp.NE, 0))
    # A lower limit of CPU time ends a process with the kernel's SIGKILL, which must come from nobody inside.
    _add(rules, denied, "setrlimit", pyseccomp.Arg(0, pyseccomp.EQ, resource.RLIMIT_CPU))
    limits_cpu = (pyseccomp.Arg(1, pyseccomp.EQ, resource.RLIMIT_CPU), pyseccomp.Arg(2, pyseccomp.NE, 0))
    _add(rules, denied, "prlimit64", *limits_cpu)
    return rules


def _add(rules: Any, action: int, name: str, *conditions: Any) -> None:
    import pyseccomp

    number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
    if number == _UNKNOWN_CALL:
        raise ImportError(f"this libseccomp is too old: it does not know the system call {name}")
    rules.add_rule(action, number, *conditions)
