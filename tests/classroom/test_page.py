"""The page about a class."""
from labsupport.classroom.findings import Exercise, Finding
from labsupport.classroom.page import class_page
from labsupport.workbench.text import speaking


def test_each_sentence_of_a_check_stands_on_a_line_of_its_own():
    ideas = ("b4_wrong_twice", "b4_wrong_again")
    found = [Finding(f"s0{at}", "b4_truncate_and_recover", "started", None, 0, 0, (Exercise("decide", 0, 2, "wrong", idea),))
             for at, idea in enumerate(ideas)]
    with speaking("en"):
        page = class_page(found, ["s00", "s01"])
    assert page.count("\n1 × ") == 1
    assert "\\n" not in page
