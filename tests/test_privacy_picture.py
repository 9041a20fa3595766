"""The picture of lab B10: it says what became of the deletion, nothing jumps, and no word of anybody is in it unasked."""
import re
from pathlib import Path
from shutil import copytree

import pytest

from labsupport.errors import HoldError, RoleError
from labsupport.sessionlog.retention import hold_on
from labsupport.sessionlog.roles import AUDITOR, OFFICER, SUPPORT
from labsupport.workbench.erasing import PLACES, Target, attempt, erase, key_bytes_found, look, places, targets
from labsupport.workbench.explorers.b10 import privacy_explorer
from labsupport.workbench.pictures.privacy import LEFT_WORDS, TARGET_WORDS
from labsupport.workbench.privacy_scene import (
    BACKUP,
    CHECKUP,
    EXPORT,
    LOGS,
    NAME,
    OTHER_NAME,
    PATIENT_1,
    PATIENT_2,
    PATIENTS,
    PHONE,
    SECRET,
    VISIT,
    key,
    settle,
    stored,
)
from labsupport.workbench.privacy_tables import left_table
from labsupport.workbench.show import sentence_of
from labsupport.workbench.text import speaking

ALL = list(TARGET_WORDS)
LOST = {"nothing": 0, "prompt1": 9, "prompt2": 2, "title1": 0, "result": 5, "visit": 4, "letter": 1, "keys": 9, "all": 9}


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


@pytest.fixture
def clinic(tmp_path):
    settle(tmp_path / "clinic")
    return tmp_path / "clinic"


@pytest.fixture(scope="module")
def shown():
    """Every picture of the explorer: what people said is drawn in those of True."""
    with speaking("en"):
        found = {}
        for show_text in (False, True):
            explorer = privacy_explorer(show_text=show_text)
            found[show_text] = {(target, role, hold): explorer.draw(target, role, hold)
                                for target in ALL for role in ("officer", "support") for hold in (False, True)}
        return found


def words(markup):
    return " ".join(re.sub(r"<[^>]*>", " ", markup).split())


def test_nothing_jumps(shown):
    shapes = {(tuple(len(re.findall("<tr", body)) for body in re.findall(r"<tbody>.*?</tbody>", picture, re.DOTALL)),
               tuple(re.findall("<colgroup>.*?</colgroup>", picture))) for picture in shown[True].values()}
    assert len(shapes) == 1


def test_what_people_said_is_drawn_on_request_only(shown):
    assert not [it for it, picture in shown[False].items() if any(word in picture for word in (NAME, PHONE, SECRET, "cough"))]
    explorer = privacy_explorer(show_text=True)
    explorer.role.value = "auditor"
    assert f"{NAME} has had a cough" in explorer.still.picture
    assert not [it for it, picture in shown[True].items() if NAME in picture], "neither officer nor support reads it"


def test_no_key_and_no_secret_is_drawn(shown):
    assert not [it for it, picture in shown[True].items() if SECRET in picture or "protected:" in picture]


@pytest.mark.parametrize("target", ALL)
def test_the_picture_counts_what_the_deletion_says(shown, clinic, target):
    now = attempt(clinic, LOGS, targets(stored(clinic))[target], OFFICER)
    said = sentence_of(shown[False][target, "officer", False])
    lost = 0 if now.erased is None else len(now.erased.lost)
    assert lost == LOST[target]
    assert target == "nothing" or f"{lost} request" in said
    readable = sum(not level.missing for found in now.levels.values() for level in found or ())
    assert readable == 10 - lost
    assert f"{readable} request" in said
    assert f"{list(now.found.values()).count(True)} still show" in said
    left = () if now.erased is None else now.erased.unreached
    assert set(left) <= set(LEFT_WORDS)


@pytest.mark.parametrize("target", [name for name in ALL if name != "nothing"])
def test_who_may_not_delete_deletes_nothing(shown, clinic, target):
    logs, before = stored(clinic), look(clinic, LOGS)
    for role in (SUPPORT, AUDITOR):
        now = attempt(clinic, LOGS, targets(logs)[target], role)
        assert isinstance(now.refused, RoleError)
        assert (now.levels, now.found) == (before.levels, before.found)
    picture = shown[False][target, "support", False]
    assert 'role="alert"' in picture
    assert "This role may not delete" in sentence_of(picture)


def test_under_the_hold_one_deletion_goes_through(shown):
    through = [target for target in ALL if "Done" in sentence_of(shown[False][target, "officer", True])]
    assert through == ["letter"]
    assert "The hold on visit wins" in sentence_of(shown[False]["keys", "officer", True])


def test_a_deletion_that_is_held_is_not_done_by_half(clinic):
    logs, before = stored(clinic), look(clinic, LOGS)
    with pytest.raises(HoldError):
        erase(clinic, targets(logs)["all"], OFFICER, [hold_on("case-7", VISIT, logs[VISIT])])
    assert look(clinic, LOGS) == before


def test_where_the_name_is_after_each_deletion(clinic):
    assert [place for place in PLACES if places(clinic)[place] is not True] == ["provider"]
    erase(clinic, targets(stored(clinic))["keys"], OFFICER)
    assert [place for place in PLACES if places(clinic)[place]] == [
        "tool", "attachments", "fork", "backup", "backup_keys", "export"]


def test_when_all_is_deleted_no_byte_of_the_live_files_has_her_name(clinic):
    logs = stored(clinic)
    erase(clinic, targets(logs)["all"], OFFICER)
    live = [path for path in clinic.rglob("*") if path.is_file() and not {BACKUP, EXPORT} & set(path.relative_to(clinic).parts)]
    assert live
    spelled = {NAME.encode(), NAME.encode("unicode_escape"), PHONE.encode(), SECRET.encode()}
    assert not [path for path in live if any(word in path.read_bytes() for word in spelled)]


def test_the_logs_as_they_lie_there_have_no_name_in_them_either(clinic):
    told = b"".join(path.read_bytes() for path in sorted(Path(clinic / "logs").glob("*.jsonl")))
    assert all(id.encode() in told for id in LOGS)
    assert not [word for word in (NAME, OTHER_NAME, PHONE, SECRET) if word.encode() in told]


def test_a_key_is_in_the_files_and_then_it_is_not(clinic):
    assert key_bytes_found(clinic, key("prompt", 1), OFFICER) == (True, False)


def test_a_shared_key_takes_the_other_patient_along_and_her_own_key_does_not(clinic, tmp_path):
    settle(tmp_path / "finer", by_patient=True)
    lost = {patient: {id for id, _ in attempt(copytree(folder, tmp_path / f"gone {patient}"), LOGS,
                                              Target((key("prompt", 1, patient),)), OFFICER).erased.lost}
            for folder, patient in ((clinic, ""), (tmp_path / "finer", PATIENT_1), (tmp_path / "finer", PATIENT_2))}
    assert lost == {"": set(PATIENTS), PATIENT_1: set(PATIENTS) - {CHECKUP}, PATIENT_2: {CHECKUP}}


def test_a_hold_on_the_visit_is_on_the_other_patients_words_where_they_share_a_key(clinic, tmp_path):
    settle(tmp_path / "finer", by_patient=True)
    shared, own = (hold_on("case-7", VISIT, stored(folder)[VISIT]) for folder in (clinic, tmp_path / "finer"))
    assert shared.keeps(key("prompt", 1).label)
    assert [own.keeps(key("prompt", 1, patient).label) for patient in (PATIENT_1, PATIENT_2)] == [True, False]


def test_keys_by_patient_change_nothing_else(clinic, tmp_path):
    settle(tmp_path / "finer", by_patient=True)
    found, finer = look(clinic, LOGS), look(tmp_path / "finer", LOGS)
    assert {id: [level.level for level in levels] for id, levels in found.levels.items()} == {
        id: [level.level for level in levels] for id, levels in finer.levels.items()}
    assert found.found == finer.found
    assert not [name for events in stored(tmp_path / "finer").values() for event in events for name in (NAME, OTHER_NAME)
                if name in str(event.read())]


def test_the_table_says_what_is_not_reached(clinic):
    table = left_table(prompt1=erase(clinic, targets(stored(clinic))["prompt1"], OFFICER))
    assert table.to_numpy().tolist() == [["key prompt@1", "backups, processes that hold a key, what was read out already"]]


@pytest.mark.parametrize(("lang", "said"), [
    ("en", "The officer asks to delete: log visit. Done; 4 requests can no longer be rebuilt. 6 requests can be rebuilt now; "
           "of 11 places where one can look, 6 still show the name."),
    ("zh", "合规专员要求删除：日志 visit。删了，4 次请求从此不能重建。"
           "现在能重建 6 次请求，能去看的 11 处里，6 处还读得到名字。"),
])
def test_the_sentence_stands_alone(lang, said):
    with speaking(lang):
        explorer = privacy_explorer()
        explorer.target.value = "visit"
        assert repr(explorer.still) == said


def test_the_rows_say_it(shown):
    text = words(shown[False]["prompt2", "officer", False])
    assert "visit 27 ○ gone lacks prompt@2" in text
    assert "visit 14 ◑ with attachment 1 key, 2 attachments" in text
    assert "hours 4 ● whole –" in text
    gone = words(shown[False]["visit", "officer", False])
    assert "visit 4 ○ log deleted –" in gone
    assert "its attachments, sub-agents, forks, freed disk blocks" in gone
