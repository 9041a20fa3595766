"""Give each student of a course their own logs: what `python3 lab.py class` runs.

    python3 lab.py class COURSE --students 40

The same shape for everybody, with other ids, numbers and faults, all of which follow from a student's seed in roster.csv. What
a student gets is students/ID.zip: notebooks, data, and the file `.student` that the notebooks and their checks read.
"""
import argparse
import os
import secrets
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from labsupport.classroom.course import ID, Course, asked, seed_of
from labsupport.errors import CourseError, LabError
from labsupport.own import FILE, WORKBOOK, mark, student


def enrol(course: Course, ids: list[str], course_seed: int) -> dict[str, int]:
    """The roster with *ids* in it: whoever is there keeps their seed. CourseError for an id that cannot name a file."""
    bad = next((id for id in ids if ID.fullmatch(id) is None or id.endswith(".") or id.lower().endswith(".zip")), None)
    if bad is not None:
        raise CourseError(f"{bad!r} is no id: letters, digits, dots and hyphens, 40 at the most, no underscore, "
                          "and neither a dot nor .zip at the end")
    roster = course.roster()
    folded = {id.lower(): id for id in roster}  # on many disks two names that differ in case are one
    for id in ids:
        if folded.setdefault(id.lower(), id) != id:
            raise CourseError(f"{id!r} and {folded[id.lower()]!r} differ in case only, and would be one folder")
        roster.setdefault(id, seed_of(id, course_seed))
    course.write_roster(roster)
    return roster


def read_ids(path: Path) -> list[str]:
    """The ids in the file at *path*, one a line, each once; a first line that says id is a heading."""
    try:
        lines = [line.strip() for line in path.read_text("utf-8-sig").splitlines()]
    except UnicodeDecodeError:
        raise CourseError(f"{path} is not in UTF-8. Save it so; ids are letters, digits, dots and hyphens.") from None
    ids = list(dict.fromkeys(line for at, line in enumerate(lines) if line and (at, line.lower()) != (0, "id")))
    if not ids:
        raise CourseError(f"{path} has no ids: an id on each line")
    return ids


def make_data(folder: Path, seed: int) -> None:
    """The data of the student with that *seed* in *folder*/data, unless they are there, all of them and of that seed."""
    data = folder / "data"
    if data.exists() and _seed(folder) != seed:
        shutil.rmtree(data)
    data.mkdir(parents=True, exist_ok=True)
    mark(folder, seed, "data")
    wanted = [path.relative_to(WORKBOOK) for path in WORKBOOK.rglob("*") if path.suffix not in ("", ".md")]
    if not all((data / name).is_file() for name in wanted):
        command = [sys.executable, "-m", "labsupport.classroom.own_data"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if result.returncode:
            raise CourseError(f"the data of {folder} were not made: {(result.stderr.strip().splitlines() or [''])[-1]}")


def _seed(folder: Path) -> int | None:
    """The seed of the data in *folder*, as `.student` there says; None where it says nothing that can be read."""
    try:
        return student(folder)[0] if (folder / FILE).exists() else None
    except LabError:
        return None


def equip(course: Course, id: str, seed: int) -> None:
    """The folder of the student *id*, and its zip: everything that they need beside the workbook itself."""
    folder = course.folder / "students" / id
    make_data(folder, seed)
    (folder / ".lang").write_text(f"{course.lang}\n", "utf-8")
    for lab in course.labs:
        shutil.copy(course.folder / "release" / lab / f"{lab}.ipynb", folder)
    shutil.make_archive(str(folder), "zip", folder.parent, id)


def main() -> None:
    parser = argparse.ArgumentParser("lab.py class", description="Give each student of a course their own logs.")
    parser.add_argument("course", metavar="COURSE", help="what lab.py release made")
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--students", type=int, metavar="N", help="N students: s01, s02 …")
    who.add_argument("--ids", metavar="FILE", help="a file with an id on each line")
    parser.add_argument("--seed", type=int, help="of the course; random without it, and kept in roster.csv")
    args = parser.parse_args()
    try:
        course = Course(asked(args.course))
        course.lang  # noqa: B018  says so when it is no course
        if args.students is not None and not 1 <= args.students <= 9999:
            raise CourseError("--students takes a number from 1 to 9999")
        wide = max(2, len(str(args.students)))
        ids = read_ids(asked(args.ids)) if args.ids else [f"s{at:0{wide}}" for at in range(1, args.students + 1)]
        roster = enrol(course, ids, secrets.randbelow(2**31) if args.seed is None else args.seed)
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # each waits for a process of its own
            list(pool.map(lambda id: equip(course, id, roster[id]), ids))
    except (LabError, OSError) as error:
        sys.exit(str(error))
    print(f"{course.folder / 'students'}: {len(ids)} students, a folder and a zip for each")


if __name__ == "__main__":
    main()
