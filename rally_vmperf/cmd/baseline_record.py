"""Command that measures bare metal and registers the result."""

import argparse
import collections.abc
import getpass
import typing as t

from cliff import command

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import configuration
from rally_vmperf.cmd import jump_option
from rally_vmperf.cmd import questions
from rally_vmperf.records import build

if t.TYPE_CHECKING:
    from rally_vmperf.execution import station as stations
    from rally_vmperf.machines import base


class Record(command.Command):
    """Measure bare metal as a task measures guests, and register it.

    The machine is held to the guests' shape while it runs: as many CPUs and
    as much memory as the flavor has, in as many copies as there are guests.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the command's arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("name", help="name to register it under")
        questions.add_arguments(parser)
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument(
            "--local", action="store_true", help="this machine is bare metal"
        )
        where.add_argument(
            "--host",
            metavar="USER@ADDRESS",
            help="bare metal is reached by SSH; its host key must be known",
        )
        parser.add_argument(
            "--jump",
            type=jump_option.hops,
            metavar="USER@ADDRESS",
            help="reach --host through it, as ssh -J does: "
            "[user@]host[:port], a comma between several",
        )
        parser.add_argument(
            "--key-file",
            metavar="FILE",
            help="private key for --host, --jump and --peer",
        )
        parser.add_argument(
            "--known-hosts",
            metavar="FILE",
            help="host keys of --host, --jump and --peer; default: the "
            "user's own",
        )
        parser.add_argument(
            "--peer",
            metavar="USER@ADDRESS",
            help="other end of network workloads; default: the task's",
        )
        parser.add_argument(
            "--folder",
            default="/var/tmp",  # noqa: S108 - ours in it are closed
            help="folder on the disk that guests use too, in which each copy "
            "makes one of its own; nobody but root and you may be able to "
            "write there; default: %(default)s",
        )
        parser.add_argument(
            "--whole",
            action="store_true",
            help="leave the machine whole instead of holding it to the shape",
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="overwrite a baseline of the same name",
        )
        configuration.add_argument(parser)
        return parser

    def take_action(self, parsed: argparse.Namespace) -> None:
        """Ask, measure, register."""
        if parsed.jump and not parsed.host:
            raise document.BaselineError(
                "--jump leads to another machine: add --host USER@ADDRESS"
            )
        configuration.load(parsed.config_file)
        registry = store.Store(configuration.option("baseline_dir"))
        with registry.reserve(parsed.name, replace=parsed.replace):
            self._register(registry, parsed)

    def _register(
        self, registry: store.Store, parsed: argparse.Namespace
    ) -> None:
        asked = questions.read(parsed)
        recorded_at = build.now()
        recordings = [
            self._record(parsed, question, asked.peer)
            for question in self._that_fit(parsed, asked.questions)
        ]
        content = {
            "version": 1,
            "name": parsed.name,
            "recorded_at": recorded_at,
            "software": build.software(),
            "machine": _merged([one.machine for one in recordings]),
            "entries": [e for one in recordings for e in one.entries],
        }
        peers = [one.peer for one in recordings if one.peer]
        if peers:
            content["peer"] = _merged(peers)
        registry.save(content, replace=parsed.replace)
        self._say(
            f"baseline {parsed.name!r} is registered: "
            f"{registry.folder / parsed.name}.json"
        )

    def _that_fit(
        self,
        parsed: argparse.Namespace,
        asked: collections.abc.Sequence[questions.Question],
    ) -> list[questions.Question]:
        """Return the questions that the machine is large enough for.

        Before anything is measured; what was insisted on is not left out.
        """
        from rally_vmperf.execution import sizing

        if parsed.whole:
            return list(asked)
        shapes = dict.fromkeys(question.shape for question in asked)
        too_small = sizing.too_small(lambda: _connect(parsed), shapes)
        for question in asked:
            if question.insisted and question.shape in too_small:
                raise too_small[question.shape]
        for shape, error in too_small.items():
            self._say(f"left out: {shape}: {error}")
        fitting = [one for one in asked if one.shape not in too_small]
        if not fitting:
            raise next(iter(too_small.values()))
        return fitting

    def _record(
        self,
        parsed: argparse.Namespace,
        question: questions.Question,
        peer: dict[str, t.Any] | None,
    ) -> t.Any:
        from rally_vmperf.execution import recorder

        self._say(f"bare metal as {question.shape}")
        return recorder.record(
            recorder.Plan(
                assignments=question.assignments,
                shape=question.shape,
                repetitions=question.repetitions,
                warmup=question.warmup,
                folder=parsed.folder,
                held=not parsed.whole,
                progress=self._say,
            ),
            lambda: _connect(parsed),
            _peer(parsed, question, peer),
        )

    def _say(self, line: str) -> None:
        self.app.stdout.write(f"{line}\n")
        self.app.stdout.flush()


def _merged(machines: list[dict[str, t.Any]]) -> dict[str, t.Any]:
    """Return one account of a machine, with the tools of all recordings."""
    tools: dict[str, t.Any] = {}
    for one in machines:
        tools.update(one["tools"])
    return {**machines[0], "tools": tools}


def _connect(parsed: argparse.Namespace) -> "base.Machine":
    from rally_vmperf.machines import jump
    from rally_vmperf.machines import local
    from rally_vmperf.machines import ssh

    if parsed.local:
        return local.Local("bare metal")
    user, _, address = parsed.host.rpartition("@")
    files = {"key_file": parsed.key_file, "known_hosts": parsed.known_hosts}
    return ssh.Ssh(
        "bare metal",
        host=address,
        user=user or getpass.getuser(),
        way=jump.chain([{**hop, **files} for hop in parsed.jump or ()]),
        **files,
    )


def _peer(
    parsed: argparse.Namespace,
    question: questions.Question,
    peer: dict[str, t.Any] | None,
) -> "stations.Station | None":
    from rally_vmperf.execution import assignment
    from rally_vmperf.execution import reach

    if parsed.peer:
        user, _, address = parsed.peer.rpartition("@")
        peer = {"user": user or getpass.getuser(), "address": address}
        if parsed.key_file:
            peer["key_file"] = parsed.key_file
        if parsed.known_hosts:
            peer["known_hosts"] = parsed.known_hosts
    if not assignment.needs(question.assignments):
        return None
    if peer is None:
        raise document.BaselineError(
            "network workloads need another end: add --peer USER@ADDRESS"
        )
    return reach.peer_station(peer)
