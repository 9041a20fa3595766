"""Make a student's data: the samples of the workbook, recorded anew with the ids, numbers and faults of the student's seed.

    cd FOLDER && python -m labsupport.classroom.own_data     FOLDER has a file `.student`, which says where they go
"""
import shutil

from labsupport.errors import CourseError
from labsupport.own import DATA, SEED, WORKBOOK
from labsupport.workbench import log_samples, samples


def main() -> None:
    if SEED == 0 or DATA == WORKBOOK:
        raise CourseError("no .student here: the workbook's own data are made by labsupport.workbench.samples and log_samples")
    DATA.mkdir(parents=True, exist_ok=True)
    shutil.copy(WORKBOOK / "metrics.json", DATA)  # definitions are the same for everybody
    samples.write_all(DATA)
    log_samples.write_all()


if __name__ == "__main__":
    main()
