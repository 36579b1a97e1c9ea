"""Reading, writing and talking where it is not allowed."""

from __future__ import annotations

from hostile.kinds import theft

THEFTS = [
    theft("reads-course", "looks for solutions, oracles, gradebook and other work on disk", """
        import os
        def loot():
            for folder, _, files in os.walk("/"):
                if folder.endswith(("/autograder", "/solutions", "/handed-in")):
                    return True
                if {"course.toml", "02_self_attention.ipynb", ".grading-seed"}.intersection(files):
                    return True
    """),
    theft("reads-canary", "reads a file of the user's by its full path",
           "def loot():\n    return open('@CANARY@').read()"),
    theft("reads-home", "reads what a home and a system may hold", """
        import glob
        def loot():
            return (glob.glob("/r??t/*") or glob.glob("/home/*") or glob.glob("/etc/passwd*") or glob.glob("/etc/ssh/*")
                    or glob.glob("/var/*") or glob.glob("/mnt/*") or glob.glob("/run/*"))
    """),
    theft("imports-autograder", "imports the oracles", """
        def loot():
            from exercises.formulas.attention import softmax
            return softmax
    """),
    theft("reads-environment", "looks for a secret in its own and every other environment", """
        import glob, os
        def loot():
            found = str(os.environ)
            for path in glob.glob("/proc/*/environ"):
                try:
                    found += open(path).read()
                except OSError:
                    pass
            return "@SECRET@" in found
    """),
    theft("reads-processes", "looks at other processes, their memory and their descriptors", """
        import glob
        def loot():
            return glob.glob("/proc/[0-9]*") + glob.glob("/proc/self/fd/*") + glob.glob("/proc/self/mem")
    """),
    theft("reads-parent-memory", "attaches to its parent", """
        import ctypes, os
        def loot():
            libc = ctypes.CDLL(None, use_errno=True)
            return any(libc.ptrace(16, pid, 0, 0) == 0 for pid in (os.getppid(), 1, 2) if pid != os.getpid())
    """),
    theft("calls-out", "connects to a server on this machine and to others", """
        import socket
        def loot():
            for address in (("127.0.0.1", @PORT@), ("localhost", @PORT@), ("10.0.0.1", 80), ("1.1.1.1", 53)):
                try:
                    socket.create_connection(address, 1).send(b"hello")
                    return True
                except OSError:
                    pass
            try:
                return socket.getaddrinfo("example.org", 80)
            except OSError:
                return None
    """),
    theft("listens", "opens sockets of other families", """
        import socket
        def loot():
            for family, kind in ((socket.AF_INET, 3), (17, 3), (16, 3), (socket.AF_INET6, 1), (40, 1)):
                try:
                    return socket.socket(family, kind)
                except OSError:
                    pass
    """),
    theft("writes-canary", "writes to a file of the user's",
           "def loot():\n    open('@CANARY@', 'a').write('changed')\n    return True"),
    theft("writes-packages", "changes the code that grades, or that the next student imports", """
        import os, sys
        def loot():
            shown = filter(None, sys.path)  # the one without a name is the submission's own
            for folder in ["/grader", "/grader/worker", "/grader/coursekit", "/usr", "/", "/etc", "/dev", *shown]:
                try:
                    with open(os.path.join(folder, "sitecustomize.py"), "w") as file:
                        file.write("raise SystemExit")
                    return True
                except OSError:
                    pass
    """),
    theft("breaks-walls", "mounts, makes namespaces, changes root and user", """
        import ctypes
        def loot():
            libc = ctypes.CDLL(None)
            if libc.unshare(0x10000000) == 0 or libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
                return True
            return libc.chroot(b"/tmp") == 0 or libc.setuid(0) == 0
    """),
    theft("leaves-a-note", "leaves files where the next student may find them", """
        def loot():
            for folder in ("/tmp", "/dev/shm", "/tmp/home", "/var/tmp", "."):
                try:
                    open(folder + "/note-for-the-next", "w").write("full marks")
                except OSError:
                    pass
    """),
    theft("reads-terminals", "reads and writes the terminals of others", """
        import os
        def loot():
            for name in os.listdir("/dev/pts"):
                if name.isdigit():
                    return os.open("/dev/pts/" + name, os.O_RDWR | os.O_NOCTTY)
    """),
    theft("opens-terminals", "opens terminals until there are none, and keeps them", """
        import os, time
        kept = []
        def loot():
            try:
                while len(kept) < 2000:
                    kept.append(os.openpty())
            except OSError:
                pass
            return len(kept) > 100
    """),
    theft("locks-files", "locks files of the machine, and sees the locks of others", """
        import fcntl, glob
        def loot():
            for path in glob.glob("/grader/*/*.py"):
                file = open(path)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                try:
                    fcntl.fcntl(file, 1024, fcntl.F_RDLCK)
                    return True
                except OSError:
                    pass
    """),
    theft("finds-a-note", "looks for what another student left", """
        import os
        def loot():
            for folder in ("/tmp", "/dev/shm", "/tmp/home", "/var/tmp", "."):
                if os.path.exists(folder + "/note-for-the-next"):
                    return True
    """),
]  # fmt: skip
