"""Keys: what they sealed opens while they are there, at its place, under their root; and after that nowhere."""
import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import copytree

import pytest

from labsupport.errors import KeyMissingError, OutsideFormatError, SealError
from labsupport.outside import Attachments, Keys, TenantVault, derive_key

ROOT, OTHER_ROOT = bytes(range(32)), bytes(32)
SECRET = b"Ana has a cough"
NAME = "clinic-a/prompt"


@pytest.fixture
def keys(tmp_path):
    with Keys(tmp_path / "keys.db", ROOT, lambda: 7) as found:
        yield found


def files(folder: Path) -> bytes:
    """The bytes of the database, its write-ahead log and whatever else lies beside it."""
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())


def wrapped(folder: Path) -> bytes:
    """The first key of the name, as it lies in the database."""
    with closing(sqlite3.connect(folder / "keys.db")) as database:
        return database.execute("SELECT wrapped FROM keys WHERE name = ? AND version = 1", (NAME,)).fetchone()[0]


def test_what_was_sealed_is_not_there_in_the_clear_and_comes_back(keys, tmp_path):
    version, sealed = keys.seal(NAME, SECRET, "here")
    assert SECRET.decode() not in sealed
    assert keys.open(NAME, version, sealed, "here") == SECRET
    with Keys(tmp_path / "keys.db", ROOT, lambda: 8) as again:
        assert again.open(NAME, version, sealed, "here") == SECRET


def test_the_same_is_sealed_as_another_text_each_time(keys):
    assert len({keys.seal(NAME, SECRET, "here") for _ in range(20)}) == 20


@pytest.mark.parametrize("data", [b"", b"\0" * 100_000, "🙂\ud83d".encode("utf-8", "surrogatepass")],
                         ids=["none", "long", "half"])
def test_any_bytes_are_sealed(keys, data):
    assert keys.open(NAME, *keys.seal(NAME, data, "here"), "here") == data


@pytest.mark.parametrize(("change", "where"), [
    (lambda sealed: sealed, "elsewhere"), (lambda sealed: sealed[:-8], "here"), (lambda sealed: "", "here"),
    (lambda sealed: "A" * len(sealed), "here"), (lambda sealed: "not base64!", "here"), (lambda sealed: "ü" + sealed, "here"),
], ids=["moved", "cut", "empty", "overwritten", "no base64", "no ASCII"])
def test_what_was_altered_or_moved_does_not_open(keys, change, where):
    version, sealed = keys.seal(NAME, SECRET, "here")
    with pytest.raises(SealError) as caught:
        keys.open(NAME, version, change(sealed), where)
    assert caught.value.name == NAME
    assert sealed[20:40] not in str(caught.value)
    assert "Ana" not in repr(caught.value)


def test_a_seal_of_one_key_does_not_open_under_another(keys):
    _, sealed = keys.seal(NAME, SECRET, "here")
    keys.seal("clinic-b/prompt", b"", "here")
    with pytest.raises(SealError):
        keys.open("clinic-b/prompt", 1, sealed, "here")


def test_another_root_opens_nothing(keys, tmp_path):
    version, sealed = keys.seal(NAME, SECRET, "here")
    with Keys(tmp_path / "keys.db", OTHER_ROOT, lambda: 8) as other, pytest.raises(SealError, match="root"):
        other.open(NAME, version, sealed, "here")


def test_a_row_that_is_moved_to_another_name_opens_nothing(keys, tmp_path):
    _, sealed = keys.seal(NAME, SECRET, "here")
    keys.close()
    with closing(sqlite3.connect(tmp_path / "keys.db")) as database, database:
        database.execute("UPDATE keys SET name = 'clinic-b/prompt'")
    with Keys(tmp_path / "keys.db", ROOT, lambda: 8) as again, pytest.raises(SealError):
        again.open("clinic-b/prompt", 1, sealed, "here")


def test_rotation_seals_with_the_new_key_and_opens_with_both(keys):
    old = keys.seal(NAME, SECRET, "here")
    assert keys.rotate(NAME) == 2
    new = keys.seal(NAME, SECRET, "here")
    assert (old[0], new[0]) == (1, 2)
    assert [keys.open(NAME, *one, "here") for one in (old, new)] == [SECRET, SECRET]
    assert [(state.version, state.retired) for state in keys.states(NAME)] == [(1, 7), (2, None)]


def test_a_rotation_before_the_first_seal_makes_the_first_key(keys):
    assert (keys.rotate(NAME), keys.rotate(NAME), keys.seal(NAME, b"", "here")[0]) == (1, 2, 2)


def test_a_deleted_key_is_gone_from_every_byte_and_its_number_is_not_given_again(keys, tmp_path):
    version, sealed = keys.seal(NAME, SECRET, "here")
    for more in range(40):  # rows that move from page to page
        keys.seal(f"clinic-a/class-{more}", b"x", "here")
    there = wrapped(tmp_path)
    assert there in files(tmp_path)
    removed = keys.delete(NAME, version)
    assert removed.versions == (1,)
    assert set(removed.unreached) == {"backup", "process", "plain"}
    assert there not in files(tmp_path)
    assert (keys.has(NAME, 1), keys.seal(NAME, b"", "here")[0]) == (False, 2)
    with pytest.raises(KeyMissingError, match="deleted") as caught:
        keys.open(NAME, version, sealed, "here")
    assert (caught.value.name, caught.value.version, caught.value.deleted) == (NAME, 1, True)


def test_while_somebody_reads_the_pages_the_deletion_says_so_and_it_is_made_good_at_the_next_opening(keys, tmp_path):
    keys.seal(NAME, SECRET, "here")
    there = wrapped(tmp_path)
    with closing(sqlite3.connect(tmp_path / "keys.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM keys").fetchall()
        assert "wal" in keys.delete(NAME).unreached
        assert not keys.has(NAME, 1)
    keys.close()
    with Keys(tmp_path / "keys.db", ROOT, lambda: 8):
        assert there not in files(tmp_path)


def test_a_backup_of_the_database_opens_what_was_deleted_here_which_the_answer_names(keys, tmp_path):
    version, sealed = keys.seal(NAME, SECRET, "here")
    keys.close()
    backup = copytree(tmp_path, tmp_path.with_name("backup"))
    with Keys(tmp_path / "keys.db", ROOT, lambda: 8) as again:
        assert "backup" in again.delete(NAME).unreached
    with Keys(backup / "keys.db", ROOT, lambda: 8) as old:
        assert old.open(NAME, version, sealed, "here") == SECRET


@pytest.mark.parametrize(("name", "version", "deleted"), [("clinic-a/none", 1, False), (NAME, 2, False), (NAME, 1, True)])
def test_what_is_not_there_says_whether_it_ever_was(keys, name, version, deleted):
    keys.seal(NAME, b"", "here")
    keys.delete(NAME, 1)
    for ask in (lambda: keys.open(name, version, "x", "here"), lambda: keys.delete(name, version)):
        with pytest.raises(KeyMissingError) as caught:
            ask()
        assert caught.value.deleted is deleted


def test_deleting_a_name_deletes_all_its_versions_and_no_other(keys):
    keys.rotate(NAME)
    keys.rotate(NAME)
    _, other = keys.seal("clinic-ab/prompt", SECRET, "here")
    assert keys.delete(NAME).versions == (1, 2)
    assert keys.open("clinic-ab/prompt", 1, other, "here") == SECRET
    assert [state.name for state in keys.states("clinic-a")] == [NAME, NAME]


def test_another_root_takes_over_without_touching_what_is_sealed(keys, tmp_path):
    version, sealed = keys.seal(NAME, SECRET, "here")
    keys.seal("clinic-b/prompt", b"", "here")
    keys.delete("clinic-b/prompt")
    assert keys.rewrap(OTHER_ROOT) == 1
    assert keys.open(NAME, version, sealed, "here") == SECRET
    with Keys(tmp_path / "keys.db", OTHER_ROOT, lambda: 8) as again:
        assert again.open(NAME, version, sealed, "here") == SECRET
    with Keys(tmp_path / "keys.db", ROOT, lambda: 8) as old, pytest.raises(SealError):
        old.open(NAME, version, sealed, "here")


@pytest.mark.parametrize("root", [b"", bytes(31), bytes(33), "0" * 32, bytearray(32)])
def test_a_root_is_32_bytes(tmp_path, root):
    with pytest.raises(ValueError, match="32 bytes"):
        Keys(tmp_path / "keys.db", root, lambda: 0)
    with pytest.raises(ValueError, match="32 bytes"):
        derive_key(root, "x")


@pytest.mark.parametrize("name", ["", "/", "a/", "/a", "a//b", "A", "a@1", "a:b", "ü", "a\n", "a" * 256, None])
def test_a_name_is_plain(keys, name):
    for ask in (lambda: keys.seal(name, b"", "x"), lambda: keys.open(name, 1, "", "x"), lambda: keys.rotate(name),
                lambda: keys.delete(name)):
        with pytest.raises(ValueError, match="name of a key"):
            ask()


def test_a_file_of_something_else_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "keys.db")) as database, database:
        database.execute("CREATE TABLE notes (x)")
    with pytest.raises(OutsideFormatError):
        Keys(tmp_path / "keys.db", ROOT, lambda: 0)


def test_a_derived_key_is_the_same_for_the_same_purpose_alone():
    assert derive_key(ROOT, "a") == derive_key(ROOT, "a")
    assert len({derive_key(ROOT, "a"), derive_key(ROOT, "b"), derive_key(OTHER_ROOT, "a"), ROOT}) == 4


def test_a_tenant_opens_what_is_its_own(keys, tmp_path):
    vaults = [TenantVault(tenant, keys, Attachments(tmp_path / tenant, ROOT)) for tenant in ("clinic-a", "clinic-ab")]
    name, version, sealed = vaults[0].seal("prompt", SECRET, "here")
    assert (name, vaults[0].open(name, version, sealed, "here")) == (NAME, SECRET)
    with pytest.raises(ValueError, match="another tenant"):
        vaults[1].open(name, version, sealed, "here")
    ref = vaults[0].keep(SECRET)
    assert (vaults[0].get(ref), vaults[0].has("attachment", ref), vaults[1].has("attachment", ref)) == (SECRET, True, False)
    assert (vaults[0].has("key", name, 1), vaults[0].has("key", name, 2)) == (True, False)


def test_no_error_and_no_repr_tells_a_key_or_what_it_sealed(keys, tmp_path):
    _, sealed = keys.seal(NAME, SECRET, "here")
    told = [repr(keys), repr(keys.states()), repr(keys.delete(NAME))]
    with pytest.raises(KeyMissingError) as caught:
        keys.open(NAME, 1, sealed, "here")
    told += [str(caught.value), repr(caught.value.__dict__)]
    assert not [text for text in told if "Ana" in text or sealed in text or ROOT.hex() in text or repr(ROOT) in text]
