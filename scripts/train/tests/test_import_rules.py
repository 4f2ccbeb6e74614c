"""Imports of sardonyx_train go one way: between its folders in the order below, and between files without a circle.

Imports inside functions count too. They spare a command the seconds that torch takes to load; they must not hide a circle.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from sardonyx_train.program import _create_parser

NAME = "sardonyx_train"
PACKAGE = Path(__file__).parent.parent / NAME
# A folder imports from those before it. The files at the top come last.
ORDER = ("base", "config", "tasks", "data", "model", "training", "export", "loop", "commands", "program", "__main__")


def find_faults(root: Path) -> list[str]:
    """A sentence for each import that breaks a rule; none if all is well. `root`: the folder of the package."""
    modules = {".".join(path.relative_to(root).with_suffix("").parts): path for path in sorted(root.rglob("*.py"))}
    modules.pop("__init__", None)
    imports = {module: sorted(set(_list_imports(module, path, modules.keys()))) for module, path in modules.items()}
    faults = [f"{module}: {place} is not in the order" for module in imports if (place := module.split(".")[0]) not in ORDER]
    if faults:
        return faults
    for module, targets in imports.items():
        for target in targets:
            own, other = module.split(".")[0], target.split(".")[0]
            if ORDER.index(own) < ORDER.index(other):
                faults.append(f"{module} imports {target}: {own} comes before {other}")
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        faults.append(f"circle: {' ← '.join(error.args[1])}")
    return faults


def _list_imports(module: str, path: Path, known: set[str]) -> Iterator[str]:
    """Modules of the package that a module imports anywhere in its text."""
    folder = module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            starts = [(words[1:], "") for words in names if words[0] == NAME]
        elif isinstance(node, ast.ImportFrom):
            words = node.module.split(".") if node.module else []
            if node.level > 0:
                words = [*folder[: len(folder) - node.level + 1], *words]
            elif words[0] == NAME:
                words = words[1:]
            else:
                continue
            starts = [(words, alias.name) for alias in node.names]
        else:
            continue
        for words, name in starts:
            place = ".".join(words)
            inner = f"{place}.{name}".strip(".")  # the name is itself a module, or stands in one
            candidates = (inner, f"{inner}.__init__", place, f"{place}.__init__")
            yield from [target for target in candidates if target in known][:1]


def test_imports_go_one_way_and_no_file_is_in_a_circle():
    assert find_faults(PACKAGE) == []


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"base/a.py": "from ..loop.b import c", "loop/b.py": ""}, "base.a imports loop.b: base comes before loop"),
        ({"config/a.py": "def f():\n    from ..model.b import c", "model/b.py": ""}, "config.a imports model.b: config comes before model"),
        (
            {"data/a.py": "from sardonyx_train.training import b", "training/b.py": ""},
            "data.a imports training.b: data comes before training",
        ),
        ({"data/a.py": "import sardonyx_train.training.b", "training/b.py": ""}, "data.a imports training.b: data comes before training"),
        ({"tasks/a.py": "from .. import export", "export/__init__.py": ""}, "tasks.a imports export.__init__: tasks comes before export"),
        (
            {"commands/a.py": "def f():\n    from ..program import main", "program.py": ""},
            "commands.a imports program: commands comes before program",
        ),
        ({"loop/a.py": "from .b import c", "loop/b.py": "def f():\n    from .a import d"}, "circle: loop.a ← loop.b ← loop.a"),
        ({"helpers/a.py": ""}, "helpers.a: helpers is not in the order"),
        ({"trainer.py": ""}, "trainer: trainer is not in the order"),
    ],
)
def test_a_planted_fault_is_found(tmp_path, files, fault):
    for name, text in {"__init__.py": "", **files}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (found,) = find_faults(tmp_path)
    assert found in (fault, "circle: loop.b ← loop.a ← loop.b" if fault.startswith("circle") else fault)


def test_every_command_is_a_function_in_commands():
    parser = _create_parser()
    choices = next(action.choices for action in parser._actions if action.dest == "command")
    for name, command in choices.items():
        module, _, function = command.get_default("function").partition(".")
        text = (PACKAGE / "commands" / f"{module}.py").read_text(encoding="utf-8")
        assert function in [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)], name
