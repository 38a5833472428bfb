"""Reader of the output of strace: programs, connections and signals."""

import re

LINE = re.compile(r"^(\d+) +(.*)$")
STARTED = re.compile(r'^execve\("((?:[^"\\]|\\.)*)", \[(.*?)\](?:\.\.\.)?, .*= 0$')
RESUMED = re.compile(r"^<\.\.\. execve resumed>.*= 0$")
UNFINISHED = re.compile(r'^execve\("((?:[^"\\]|\\.)*)", \[(.*?)\](?:\.\.\.)?, .*<unfinished')
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\.\.\.)?')
CONNECTED = re.compile(r"connect\(\d+, \{sa_family=(AF_INET6?), sin6?_port=htons\((\d+)\)")
FORKED = re.compile(r"^(?:(?:clone3?|v?fork)\(|<\.\.\. (?:clone3?|v?fork) resumed>).* = (\d+)$")
SIGNALLED = re.compile(r"^(kill|tkill|tgkill|pidfd_send_signal)\(([-\d, ]+), (SIG\w+|0)")
EXITED = re.compile(r"^\+\+\+ exited with (\d+) \+\+\+")
KILLED = re.compile(r"^\+\+\+ killed by (SIG\w+)")


class Trace:
    """Programs, connections and signals of a trace. Programs before `shell` prepare the sandbox."""

    def __init__(self, text, shell="bash"):
        self.main = None
        self.programs = []
        self.connections = set()
        self.signals = []
        self.statuses = {}
        self.children = set()
        self._running = {}
        self._unfinished = {}
        self._shell = shell
        for line in text.splitlines():
            match = LINE.match(line)
            if match:
                self._read(int(match[1]), match[2])

    def _read(self, process, event):
        self.children.add(process)
        if match := STARTED.match(event):
            self._start(process, match[1], match[2])
        elif match := UNFINISHED.match(event):
            self._unfinished[process] = (match[1], match[2])
        elif RESUMED.match(event) and process in self._unfinished:
            self._start(process, *self._unfinished.pop(process))
        elif match := FORKED.match(event):
            self.children.add(int(match[1]))
        elif match := CONNECTED.search(event):
            self.connections.add((match[1], int(match[2])))
        elif match := SIGNALLED.match(event):
            if match[3] != "0":
                self.signals.append((process, int(match[2].split(",")[0]), match[3]))
        elif match := EXITED.match(event):
            self._exit(process, int(match[1]))
        elif match := KILLED.match(event):
            self._exit(process, match[1])

    def _start(self, process, path, words):
        name = path.rsplit("/", 1)[-1]
        if self.main is None:
            if name != self._shell:
                return
            self.main = process
        program = {"path": path, "words": WORD.findall(words), "process": process}
        self.programs.append(program)
        self._running.setdefault(process, []).append(program)

    def _exit(self, process, status):
        self.statuses[process] = status
        for program in self._running.pop(process, []):
            program["status"] = status

    @property
    def status(self):
        """Exit status of the command, the name of the signal that ended it, or `None`."""
        return self.statuses.get(self.main)

    def foreign_signals(self):
        """Returns the signals to processes that the command did not start."""
        known = self.children
        return [[target, name] for _, target, name in self.signals if target == -1 or abs(target) not in known | {0}]
