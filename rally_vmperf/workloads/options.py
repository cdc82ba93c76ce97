# SPDX-License-Identifier: Apache-2.0
"""Options of tools: what an output states of them, and their defaults."""

import collections.abc
import dataclasses
import fnmatch
import functools
import re
import shlex
import typing as t

#: A condition changes what is measured; of a place only the class does. Names,
#: logs and displays do not. A flag has no value, so that an output may lack it
#: although it was given.
Kind = t.Literal["condition", "place", "name", "flag"]
#: A function of the text of an option, which returns an argument.
Parse = t.Callable[[str], t.Any]
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([kKmMgGtT]?)i?[bB]?")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_LOOPBACK = re.compile(r"127\.|(?:::ffff:127\.)|::1$|localhost\b|0\.0\.0\.0$")
#: The beginning of a path -> the class of the place.
_PLACES = (
    (re.compile(r"-$|/dev/(?:stdin|stdout|fd/)|/proc/self/fd/"), "pipe"),
    (
        # No file is written there.
        re.compile(r"/dev/shm|/run/|/dev/z?ram[0-9]|/mnt/(?:ramdisk|tmpfs)"),  # noqa: S108
        "memory file system",
    ),
    (re.compile(r"/dev/(?:null|zero|full|u?random)"), "no device"),
    # The last one is a link of the machine to the device of a volume.
    (re.compile(r"/dev/|[0-9]{1,3}:[0-9]|volume-[0-9]{1,9}$"), "device"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Option:
    """An option of a tool.

    :param names: The names of the option in outputs and on command lines;
        they can be globs.
    :param argument: The name of the argument; "" for an option that is
        compared as a part of ``other_options``.
    :param default: The value of an absent option, as text; None if unknown.
    :param has_value: Whether a value follows the name on a command line.
    :param parse: A function of the text that returns the argument.
    :param pattern: The pattern of the text in which an output states it, with
        the value as its group.
    :param is_total: Whether the values of several such texts are added up,
        such as those of threads.
    """

    names: tuple[str, ...]
    argument: str = ""
    default: str | None = None
    kind: Kind = "condition"
    has_value: bool = True
    parse: Parse = str
    pattern: re.Pattern[str] | None = None
    is_total: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptionTable:
    """The options of a tool.

    :param lists_since: The first version whose output lists every option with
        a value that was given, so that an absent one has its default; None
        without such a version.
    :param in_files: The pattern of the options that a file on the command line
        can set; None if the tool reads no such file.
    """

    options: tuple[Option, ...] = ()
    lists_since: tuple[int, ...] | None = None
    in_files: re.Pattern[str] | None = None

    @functools.cached_property
    def _by_name(self) -> dict[str, Option]:
        """The options by each of their names."""
        return {
            name: option for option in self.options for name in option.names
        }

    def find(self, name: str) -> Option | None:
        """Return the option of a name; None if it is unknown."""
        if option := self._by_name.get(name):
            return option
        globs = (
            option
            for pattern, option in self._by_name.items()
            if "*" in pattern and fnmatch.fnmatchcase(name, pattern)
        )
        return next(globs, None)

    def lists_all(self, version: str) -> bool:
        """Return whether an output of a version has each given option."""
        numbers = tuple(map(int, re.findall(r"[0-9]{1,9}", version)[:3]))
        return bool(self.lists_since and numbers >= self.lists_since)

    def read_text(self, text: str) -> dict[str, str]:
        """Return the options that a text states, by name."""
        stated: dict[str, str] = {}
        for option in self.options:
            found = option.pattern.findall(text) if option.pattern else ()
            if found:
                stated[option.names[0]] = (
                    str(sum(map(int, found))) if option.is_total else found[0]
                )
        return stated

    def read_output(self, text: str, program: str) -> dict[str, t.Any]:
        """Return the arguments that an output and a command line state.

        :param text: The output, perhaps behind the only command line.
        :param program: The name of the program on the command line.
        """
        arguments: dict[str, t.Any] = {}
        commands = find_commands(text, program)
        if len(commands) == 1:
            stated, _ = self.read_argv(commands[0])
            arguments = self.read(stated, is_complete=True)
        return arguments | self.read(self.read_text(text))

    def read(
        self,
        stated: collections.abc.Mapping[str, str],
        *,
        is_complete: bool = False,
    ) -> dict[str, t.Any]:
        """Return the arguments of stated options.

        :param stated: The texts of options by name.
        :param is_complete: Whether each given option is stated, so that the
            others have their defaults, and unknown ones are compared as text.
        """
        arguments: dict[str, t.Any] = {}
        others: list[str] = []
        if is_complete:
            for option in self.options:
                if option.default is not None and option.argument:
                    value = option.parse(option.default)
                    arguments[option.argument] = value
        for name, text in sorted(stated.items()):
            option = self.find(name) or Option(names=(name,))
            if option.kind not in ("condition", "place"):
                continue
            value = option.parse(text)
            if option.argument:
                arguments[option.argument] = value
            elif not option.has_value and text in ("", "1"):
                others.append(name)
            elif option.default is None or value != option.parse(
                option.default
            ):
                others.append(f"{name}={value}" if text else name)
        if is_complete:
            arguments["other_options"] = " ".join(others)
        return arguments

    def list_outside_files(self) -> set[str]:
        """Return the arguments that only the command line sets.

        A file does not change the class of the place.
        """
        in_files = {
            option.argument
            for option in self.options
            if self.in_files
            and option.kind == "condition"
            and any(map(self.in_files.fullmatch, option.names))
        }
        return {option.argument for option in self.options} - in_files - {""}

    def list_unstated(self) -> tuple[str, ...]:
        """Return the names of arguments and of flags that may be missing."""
        return tuple(
            option.argument or option.names[0]
            for option in self.options
            if option.kind == "flag" or option.argument
        )

    def read_argv(
        self, argv: collections.abc.Iterable[str]
    ) -> tuple[dict[str, str], list[str]]:
        """Return the options on a command line by name, and other parts."""
        stated: dict[str, str] = {}
        operands: list[str] = []
        rest = list(argv)
        while rest:
            part = rest.pop(0)
            if not part.startswith("-") or part == "-":
                operands.append(part)
                continue
            for name, text in self._split_argument(part, rest):
                option = self.find(name)
                stated[option.names[0] if option else name] = text
        return stated, operands

    def _split_argument(
        self, part: str, rest: list[str]
    ) -> list[tuple[str, str]]:
        """Return the options in a part; take a value from the others.

        :param part: A long option, or short ones.
        :param rest: The argv behind it.
        """
        bare, is_assigned, text = part.lstrip("-").partition("=")
        option = self.find(bare)
        if part.startswith("--") or option or is_assigned:
            has_value = option is not None and option.has_value
            if not is_assigned and has_value and rest:
                text = rest.pop(0)
            return [(bare, text)]
        letters = part[1:]
        found: list[tuple[str, str]] = []
        while letters:
            option = self.find(letters[0])
            if option is None:
                return [*found, (letters, "")]
            if option.has_value:
                text = letters[1:] or (rest.pop(0) if rest else "")
                return [*found, (letters[0], text)]
            found.append((letters[0], ""))
            letters = letters[1:]
        return found


#: A line with a prompt, variables, programs that start others, and a tool.
_COMMAND = re.compile(
    r"(?P<prompt>[^\n|]{0,120}?[#$%>\]] ?|\+ ?|"
    r"[ \t]{0,20}Command line used: )?"
    r"(?P<launcher>(?:[A-Za-z_]\w{0,60}=\S{0,200} ){0,9}"
    r"(?:(?:sudo|time|nice|ionice|chrt|numactl|taskset|env|"
    r"ip netns exec)(?: [\w=,:~/.-]{1,60}){0,6}? )?)(?:[\w./~-]{0,120}/)?"
    r"(?P<tool>fio|iperf3|iperf|ping|sockperf|wget|h2load|sysbench|openssl|"
    r"iozone|mbw)(?= )(?P<argv>.*)$"
)


#: A long option at the beginning of a line; wget prints dates there.
_LONG_OPTION = re.compile("--[a-z]")
_PROMPT = re.compile(r"^.{0,120}[#$%>\]] ")
#: The programs that bind or prioritise the program that they start.
_LAUNCHERS = re.compile(r"\b(?:nice|ionice|chrt|numactl|taskset)(?= )")
#: Variables of the environment, without those of languages and places.
_VARIABLES = re.compile(
    r"(?<!\S)(?!(?:LC_\w+|LANG|LANGUAGE|TZ|HOME|PATH|TERM|TMPDIR|"
    r"OPENSSL_CONF)=)([A-Za-z_]\w{0,60}=\S{0,200})(?= )"
)


def find_launchers(text: str) -> list[str]:
    """Return the variables of a program, and what starts it.

    These are the programs that bind or prioritise it.

    :param text: The text before its name, perhaps with a prompt.
    :returns: The names of the programs, and each variable with its value.
    """
    start = _PROMPT.sub("", text)
    return [*_VARIABLES.findall(start), *_LAUNCHERS.findall(start)]


def find_commands(text: str, tool: str) -> list[list[str]]:
    """Return the argv of each command line of a tool in a text.

    A program that binds or prioritises it is an option of its name, without
    the numbers of processors, which are names. A variable of the environment
    is an option, too.

    :param text: The text, with prompts.
    :param tool: The name of the program.
    """
    commands: list[list[str]] = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = _COMMAND.match(line)
        if match is None or match["tool"] != tool:
            continue
        argv = match["argv"]
        for following in lines[number + 1 :]:
            is_continued = argv.endswith("\\")
            if not is_continued and not _LONG_OPTION.match(following):
                break
            argv = f"{argv.rstrip(chr(92))} {following.strip()}"
        try:
            split = shlex.split(argv, comments=True)
        except ValueError:
            continue
        end = next(
            (index for index, part in enumerate(split) if part in _ENDS),
            len(split),
        )
        has_options = any(part.startswith("-") for part in split[:end])
        # Without both, it is a sentence that begins with the name.
        if match["prompt"] or has_options:
            launchers = find_launchers(match["launcher"] or "")
            commands.append(
                [*split[:end], *(f"--{name}" for name in launchers)]
            )
    return commands


#: Words of a shell that end a command.
_ENDS = ("|", ";", "&&", "||", ">", ">>", "2>&1", "&", "2>", "&>")


def parse_number(text: str) -> t.Any:
    """Return the number in a text; the text itself if it is not one."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else text


def parse_float(text: str) -> t.Any:
    """Return the number in a text; the text itself if it is not one."""
    try:
        return float(text)
    except ValueError:
        return text


def name_options(*names: str, has_value: bool = True) -> tuple[Option, ...]:
    """Return options of names, logs and displays, or that are in the output.

    They are not compared, or by what the output states.
    """
    return tuple(
        Option(names=(name,), kind="name", has_value=has_value)
        for name in names
    )


def ignore_text(argument: t.Any) -> Parse:
    """Return a function that returns an argument for any text.

    It is for options without a value, such as the levels of bzip2.
    """
    return lambda text: argument


def parse_flag(text: str) -> bool:
    """Return whether an option with a truth value is set."""
    return text not in ("0", "false", "no")


def parse_rate(text: str) -> t.Any:
    """Return bits per second such as ``1G``; the text if it is another."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return text
    return round(float(match[1]) * 1000 ** _POWERS[match[2].lower()])


def parse_size(text: str) -> t.Any:
    """Return the bytes of a size such as ``128K``; the text if unclear."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return text
    return round(float(match[1]) * 1024 ** _POWERS[match[2].lower()])


def format_size(text: str) -> str:
    """Return a size in its shortest form, so that equal sizes are equal."""
    size = parse_size(text)
    return shorten_size(size) if isinstance(size, int) else text


def shorten_size(size: int) -> str:
    """Return bytes as text with the largest suffix that divides them."""
    for suffix, factor in (("M", 1 << 20), ("k", 1 << 10)):
        if size and size % factor == 0:
            return f"{size // factor}{suffix}"
    return str(size)


def parse_mib(text: str) -> t.Any:
    """Return MiB of a size such as ``4G``; the text if it is another."""
    size = parse_size(text)
    if not isinstance(size, int):
        return text
    return size >> 20 if size % (1 << 20) == 0 else size / (1 << 20)


def parse_kib(text: str) -> t.Any:
    """Return KiB of a size such as ``64K``; the text if it is another."""
    size = parse_size(text)
    if not isinstance(size, int):
        return text
    return size >> 10 if size % 1024 == 0 else size / 1024


def classify_path(path: str) -> str:
    """Return the class of a file, which names of machines do not change."""
    for pattern, name in _PLACES:
        if pattern.match(path):
            return name
    return "file"


def classify_paths(paths: collections.abc.Iterable[str]) -> str:
    """Return the classes of several files, each once."""
    return ", ".join(sorted({classify_path(path) for path in paths}))


def classify_host(host: str) -> str:
    """Return ``loopback`` for the machine itself, or ``network``.

    :param host: A name, an address or a URI.
    """
    host = re.sub(r"^\w{1,20}://(?:[^@/]{1,100}@)?", "", host).lstrip("[")
    return "loopback" if _LOOPBACK.match(host) else "network"


def classify_route(
    connections: collections.abc.Iterable[tuple[str, str]],
) -> str:
    """Return ``loopback`` if a connection is of the machine with itself.

    :param connections: The local and the remote address of each connection.
    """
    classes = {
        "loopback" if local == remote else classify_host(remote)
        for local, remote in connections
    }
    return "loopback" if "loopback" in classes else "network"
