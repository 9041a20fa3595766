"""Make an nbgrader course of the labs: what `python3 lab.py release` runs.

    python3 lab.py release COURSE [LAB ...] [--lang zh|en]

COURSE is a folder, new or one that this made: its source/ and release/ are made anew, and nothing else in it is touched.
"""
import argparse
import sys
from pathlib import Path

import build
import nbformat

from labsupport.classroom.course import CONFIG, Course, asked, chosen
from labsupport.errors import LabError
from labsupport.workbench.text import LANGUAGES, Language, language

SETTINGS = """# Settings of nbgrader for this course; they may be added to.
from labsupport.classroom.course import configure

configure(get_config(), {stub!r})
"""


def graded() -> list[str]:
    """The labs that have something to grade."""
    return [source.stem for source in sorted(build.SOURCES.glob("*.py")) if "### BEGIN SOLUTION" in source.read_text("utf-8")]


def release(folder: Path, lang: Language, names: list[str]) -> Course:
    """The course in *folder*, with source/ and release/ of the labs *names* made anew."""
    from labsupport.classroom.grader import generate, kept

    course = Course(folder)
    if folder.is_dir() and any(folder.iterdir()) and course.lang != lang:
        raise SystemExit(f"{folder} is a course in {course.lang}, and a course has one language. Name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".lang").write_text(f"{lang}\n", "utf-8", newline="\n")
    if not (folder / CONFIG).exists():
        (folder / CONFIG).write_text(SETTINGS.format(stub=build.STUB), "utf-8", newline="\n")
    for name in names:
        nb = build.notebook(build.SOURCES / f"{name}.py", lang, "source")
        path = folder / "source" / name / f"{name}.ipynb"
        with kept(path.parent, folder / "release" / name):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(nbformat.writes(nb) + "\n", "utf-8", newline="\n")
            generate(course, [name])
    return course


def main() -> None:
    parser = argparse.ArgumentParser("lab.py release", description="Make an nbgrader course of the labs.")
    parser.add_argument("course", metavar="COURSE", help="a folder: a new one, or a course that this made")
    parser.add_argument("names", nargs="*", metavar="LAB", help="a2, b4 …; all that have something to grade when none is named")
    parser.add_argument("--lang", choices=LANGUAGES, default=language())
    args = parser.parse_args()
    try:
        course = release(asked(args.course), args.lang, chosen(args.names, graded()))
    except (LabError, OSError) as error:
        sys.exit(str(error))
    print(f"{course.folder}: {len(course.labs)} labs ({course.lang}), source/ and release/")


if __name__ == "__main__":
    main()
