"""Tests of the reader of traces."""

import unittest

from tests import support  # noqa: F401
import trace as tracing

TRACE = r"""7 execve("/usr/sbin/chroot", ["chroot", "/r", "setpriv"], 0x7ff /* 9 vars */) = 0
7 execve("/usr/bin/env", ["env", "-i"], 0x7ff /* 9 vars */) = 0
7 execve("/usr/local/bin/bash", ["bash", "-c", "x"], 0x5 /* 9 vars */) = -1 ENOENT (No such file or directory)
7 execve("/usr/bin/bash", ["bash", "-c", "jq . | \"a b\""], 0x5 /* 9 vars */) = 0
8 execve("/usr/bin/jq", ["jq", "."], 0x5 /* 9 vars */ <unfinished ...>
9 execve("/usr/bin/env", ["env", "node", "-e", "1"], 0x5 /* 9 vars */) = 0
8 <... execve resumed>)             = 0
9 execve("/usr/bin/node", ["node", "-e", "1"], 0x5 /* 9 vars */) = 0
9 connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("10.0.0.1")}, 16) = -1 ENETUNREACH
9 connect(3, {sa_family=AF_INET6, sin6_port=htons(53), sin6_flowinfo=htonl(0)}, 28) = -1 ENETUNREACH
9 connect(3, {sa_family=AF_UNIX, sun_path="/run/x"}, 9) = -1 ENOENT
9 kill(8, SIGTERM) = 0
9 kill(8, 0) = 0
9 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>
9 <... clone resumed>, child_tidptr=0x7f8) = 11
9 vfork()                           = 12
9 kill(11, SIGKILL) = 0
9 kill(-12, SIGKILL) = 0
9 kill(1, SIGHUP) = -1 EPERM (Operation not permitted)
8 +++ killed by SIGTERM +++
9 +++ exited with 2 +++
7 +++ exited with 0 +++
"""


class TraceTest(unittest.TestCase):
    def setUp(self):
        self.trace = tracing.Trace(TRACE)

    def test_programs_begin_with_the_shell_and_have_statuses(self):
        found = [(program["path"], program["status"]) for program in self.trace.programs]
        self.assertEqual(found, [
            ("/usr/bin/bash", 0), ("/usr/bin/env", 2), ("/usr/bin/jq", "SIGTERM"), ("/usr/bin/node", 2)])
        self.assertEqual(self.trace.programs[2]["words"], ["jq", "."])
        self.assertEqual(self.trace.status, 0)

    def test_connections_are_those_to_addresses(self):
        self.assertEqual(self.trace.connections, {("AF_INET", 443), ("AF_INET6", 53)})

    def test_signals_to_own_processes_are_not_foreign(self):
        self.assertEqual(self.trace.foreign_signals(), [[1, "SIGHUP"]])

    def test_an_empty_trace_has_no_status(self):
        self.assertIsNone(tracing.Trace("").status)


if __name__ == "__main__":
    unittest.main()
