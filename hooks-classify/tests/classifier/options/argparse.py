"""Reads command lines with argparse: JSON in, JSON out, null for a refused line."""

import argparse
import json
import sys


class Refused(Exception):
    pass


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Refused(message)


def read(options, line):
    found = []

    class Note(argparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            found.append((option_string, values if isinstance(values, str) else None))

    parser = Parser(add_help=False)
    for name, takes_value in options:
        parser.add_argument(name, action=Note, nargs=None if takes_value else 0, dest=name)
    parser.add_argument("operands", nargs="*")
    try:
        return found, parser.parse_args(line).operands
    except Refused:
        return None


json.dump([read(options, line) for options, line in json.load(sys.stdin)], sys.stdout)
