"""Cells of the student's own that may cost nothing."""

from __future__ import annotations

from hostile.kinds import harmless

HARMLESS = [
    harmless("warnings", "warnings and text on stderr", """
        import sys, warnings, logging
        warnings.warn("beware"); logging.error("beware"); print("E tensorflow/stream_executor", file=sys.stderr)
    """),
    harmless("exits", "a cell that exits in four ways, none of which ends the rest", """
        import sys
        exit()
        quit()
        sys.exit(1)
    """),
    harmless("system-exit", "a cell that raises SystemExit", "raise SystemExit(3)"),
    harmless("keyboard-interrupt", "a cell that raises KeyboardInterrupt", "raise KeyboardInterrupt"),
    harmless("magics", "magics that run programs, write files and show pages", """
        %matplotlib inline
        !rm -rf / --no-preserve-root 2>/dev/null; echo done
        %reload_ext autoreload
        %time 1 + 1
        %pip install nothing-at-all
    """),
    harmless("javascript", "a cell of JavaScript", "%%javascript\nalert(document.cookie)"),
    harmless("bash-kill", "a shell that kills all it can see", "%%bash\nkill -9 -1\nkill -9 $PPID 0"),
    harmless("broken-cell", "a cell that is no Python", "this is (not python ]["),
    harmless("own-crash", "a cell of the student's own that ends its process", "import os\nos._exit(1)", "left out"),
    harmless("own-segfault", "a cell of the student's own that crashes in C",
              "import ctypes\nctypes.string_at(1)", "left out"),
    harmless("own-hang", "a cell of the student's own that never ends", "while True:\n    pass", "left out"),
    harmless("gigabyte-print", "prints a gigabyte", """
        text = "x" * (1 << 20)
        for _ in range(1024):
            print(text)
    """),
    harmless("gigabyte-display", "displays, and leaves as a cell's value, what is large", """
        from IPython.display import HTML, display
        for _ in range(64):
            display(HTML("<script>" + "x" * (1 << 20)))
        "x" * (1 << 27)
    """),
    harmless("raising-hooks", "IPython hooks that raise before and after every cell", """
        def bad(*_):
            raise SystemExit("hook")
        for event in ("pre_execute", "pre_run_cell", "post_execute", "post_run_cell"):
            get_ipython().events.register(event, bad)
    """),
    harmless("output-closed", "closes standard output and its descriptor", """
        import os, sys
        sys.stdout.close(); sys.stderr.close()
        os.close(1); os.close(2)
    """),
    harmless("signals-ignored", "ignores every signal that can be ignored", """
        import signal
        for number in range(1, 64):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
    """),
    harmless("daemons", "leaves processes behind in sessions of their own", """
        import os, time
        for _ in range(5):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    time.sleep(100000)
                os._exit(0)
    """),
    harmless("disk-full", "fills everything that can be written", """
        import os
        for number in range(100):
            try:
                with open(f"/tmp/{number}", "wb") as file:
                    for _ in range(300):
                        file.write(b"0" * (1 << 20))
            except OSError:
                pass
    """),
    harmless("atexit", "code that runs when the process ends", """
        import atexit, os, threading
        atexit.register(lambda: [open("/proc/self/mem") for _ in iter(int, 1)])
        os.register_at_fork(after_in_child=lambda: os._exit(3))
        threading._register_atexit(lambda: None)
    """),
]  # fmt: skip
