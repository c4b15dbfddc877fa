"""The rules of the house that no compiler holds: who may include whom, where heavy headers may stand, how long a file
may be, that no engine's name is in the code, that nothing points at one machine, and that documents' links lead somewhere."""
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
LONGEST_FILE = 400

# Header (as written between <> or "") -> where it may be included. A private header, one that only .cc files of its own
# room include, counts as a .cc: it costs no other room its compile time.
HEAVY = {
    r"CLI/": r"src/cli/.*",
    r"curl/": r"src/net/.*\.cc",
    r"SQLiteCpp/|sqlite3\.h": r"src/recipe/.*\.cc",
    r"yaml-cpp/": r"src/(workload|engine)/.*\.cc",
    r"valijson/": r"src/report/.*\.cc|.*_test\.cc",
    r"boost/": r".*\.cc",
    r"nlohmann/json\.hpp": r".*\.cc",
    r"fmt/": r".*\.cc",
}
ENGINES = re.compile(r"llama|vllm|sglang", re.IGNORECASE)
# The demo's defaults name an engine and weights; everything else about engines is in engines/.
# load/vllm_result reads and writes a load client's file format of that name.
ENGINE_NAMES_ALLOWED = re.compile(r"src/workload/.*|src/candidate/source\.cc|src/cli/.*|src/load/(vllm_result|result_files)\..*"
                                  r"|src/.*_test\.cc|src/.*_for_test\.(h|cc)")
# A path on one machine. Examples in documents use ~, $HOME or relative paths.
LOCAL_PATH = re.compile(r"(?<![\w.$}])/(?:work|root|home/[a-z][\w-]+|Users/\w+)/[\w.]")


def files(*patterns, folder=SRC):
    return sorted({path for pattern in patterns for path in folder.rglob(pattern)})


def tracked():
    """What is or would be committed: everything but build outputs and caches."""
    for top, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in (".git", "build", "ignored", "__pycache__", ".cache", "node_modules", "shared")]
        for name in names:
            if name == ".git":   # of a worktree: a file that says where the repository is
                continue
            yield pathlib.Path(top) / name


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if found:
            yield number, found.group(1)


class Rooms(unittest.TestCase):
    maxDiff = None

    def none(self, problems, mend):
        self.assertFalse(problems, "\n" + "\n".join(problems) + "\n" + mend)

    def test_a_room_includes_only_rooms_listed_before_it(self):
        order = re.findall(r"^room\((\w+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
        self.assertGreater(len(order), 10)
        problems = []
        for path in files("*.h", "*.cc"):
            room = path.relative_to(SRC).parts[0]
            if room not in order:
                problems.append(f"{name_of(path)}: room {room} is not in CMakeLists.txt")
                continue
            for number, header in includes(path):
                other = header.split("/")[0]
                if other in order and order.index(other) > order.index(room):
                    problems.append(f"{name_of(path)}:{number}: {room} includes {header}, and {other} comes after {room}")
        self.none(problems, "Move the code down, or pass what it needs as a value.")

    def test_our_includes_name_files_that_exist(self):
        rooms = {path.name for path in SRC.iterdir()}
        problems = [f"{name_of(path)}:{number}: {header} is not there"
                    for path in files("*.h", "*.cc") for number, header in includes(path)
                    if header.split("/")[0] in rooms and "/" in header and not (SRC / header).exists()]
        self.none(problems, "Includes start at src/: \"room/noun.h\".")

    def test_heavy_headers_stay_where_they_belong(self):
        problems = []
        includers = {}
        for path in files("*.h", "*.cc"):
            for _, header in includes(path):
                includers.setdefault(header, []).append(path)
        for path in files("*.h", "*.cc"):
            users = includers.get(path.relative_to(SRC).as_posix(), [])
            private = path.suffix == ".h" and all(user.suffix == ".cc" and user.parent == path.parent for user in users)
            name = name_of(path.with_suffix(".cc") if private else path)
            for number, header in includes(path):
                for heavy, allowed in HEAVY.items():
                    if re.match(heavy, header) and not re.fullmatch(allowed, name):
                        problems.append(f"{name_of(path)}:{number}: {header} may stand only in {allowed}")
        self.none(problems, "Forward-declare in the header, include in the .cc.")

    def test_no_file_is_too_long(self):
        problems = []
        for path in files("*.h", "*.cc") + files("*.cc", folder=ROOT / "fuzz") + files("*.py", folder=ROOT / "tests"):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > LONGEST_FILE:
                problems.append(f"{name_of(path)}: {lines} lines")
        self.none(problems, f"At most {LONGEST_FILE}: split by noun.")

    def test_no_engine_is_named_in_the_code(self):
        problems = []
        for path in files("*.h", "*.cc"):
            if ENGINE_NAMES_ALLOWED.fullmatch(name_of(path)):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                found = ENGINES.search(re.sub(r"//.*", "", line))     # a comment may say why
                if found:
                    problems.append(f"{name_of(path)}:{number}: {found.group(0)}")
        self.none(problems, "What is true of one engine belongs in its pack, engines/NAME/pack.yaml.")

    def test_nothing_points_at_one_machine(self):
        problems = []
        for path in tracked():
            if name_of(path).startswith("tests/cases/") or path == pathlib.Path(__file__).resolve():
                continue    # cases quote other people's logs
            try:
                text = path.read_text(encoding="utf-8")
            except (UnicodeDecodeError, OSError):
                continue
            for number, line in enumerate(text.splitlines(), 1):
                found = LOCAL_PATH.search(line)
                if found:
                    problems.append(f"{name_of(path)}:{number}: {line.strip()[:120]}")
        self.none(problems, "Use a relative path, $HOME or a temporary folder.")

    def test_links_in_documents_lead_somewhere(self):
        problems = []
        for path in tracked():
            if path.suffix != ".md" or name_of(path).startswith("tests/cases/"):
                continue
            text = re.sub(r"```.*?```", lambda block: "\n" * block.group(0).count("\n"), path.read_text(encoding="utf-8"), flags=re.DOTALL)
            for number, line in enumerate(text.splitlines(), 1):
                for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                    problem = self.link_problem(path, target)
                    if problem:
                        problems.append(f"{name_of(path)}:{number}: {target}: {problem}")
        self.none(problems, "Links are relative to the document.")

    def link_problem(self, document, target):
        if re.match(r"[a-z]+:", target):
            return None
        file, _, anchor = target.partition("#")
        place = (document.parent / file).resolve() if file else document
        if not place.exists():
            return "no such file"
        if ROOT not in place.parents and place != ROOT:
            return "leads out of the repository"
        if anchor and place.suffix == ".md" and anchor not in anchors(place):
            return "no such heading"
        return None


def anchors(document):
    """Heading anchors as forges make them."""
    found = set()
    for line in document.read_text(encoding="utf-8").splitlines():
        heading = re.match(r"#+\s+(.*)", line)
        if heading:
            text = re.sub(r"[^\w\- ]", "", heading.group(1).lower().strip())
            found.add(text.replace(" ", "-"))
    return found


if __name__ == "__main__":
    unittest.main()
