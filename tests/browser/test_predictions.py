"""Predictions of the web site's lectures: said in a field, kept in the reader's browser, counted at the page's end."""

from __future__ import annotations

import re

import nbformat
import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from test_web_site import COURSE, SIZES, THEMES, show, violations
from test_web_site import home as home  # a fixture
from test_web_site import window as window  # a fixture
from workplace import Window

pytestmark = [pytest.mark.long, pytest.mark.slow]

CHOICES = "lectures/02_self_attention"  # each prediction has options
WORDS = "lectures/06_imdb_classifier"  # three predictions without
MIXED = "lectures/05_positional_encoding"  # the first two have options, not all others do
END = ".course-predicted"


@pytest.fixture(autouse=True)
def forget(window, home):
    show(window, f"{home}/index.html")
    window.driver.execute_script("localStorage.clear()")


def predictions(page: str) -> list[tuple[list[str], str]]:
    """The letters of the options of each prediction of a lecture, and the one that its answer begins with."""
    cells = nbformat.read(COURSE / f"{page}.ipynb", as_version=4).cells
    sources = [cell.source for cell in cells if cell.source.startswith("**Predict.**")]
    found = []
    for source in sources:
        right = re.search(r"<summary>Answer</summary>\s*\*\*\(([a-z])\)\*\*", source)
        found.append((re.findall(r"^- \(([a-z])\)", source, re.MULTILINE), right[1] if right else ""))
    return found


def wrong_of(page: str, number: int) -> str:
    letters, right = predictions(page)[number]
    return next(letter for letter in letters if letter != right)


def forms(window: Window) -> list[WebElement]:
    return window.all("form.course-predict")


def choose(window: Window, number: int, letter: str) -> None:
    """Click on the words of an option."""
    option = forms(window)[number].find_element(By.CSS_SELECTOR, f"label:has(input[value='{letter}']) span")
    window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", option)
    ActionChains(window.driver).move_to_element_with_offset(option, 5 - option.size["width"] // 2, 0).click().perform()


def write(window: Window, number: int, words: str) -> None:
    forms(window)[number].find_element(By.CSS_SELECTOR, "textarea").send_keys(words)
    button = forms(window)[number].find_element(By.CSS_SELECTOR, "button")
    window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()


def said(window: Window, number: int) -> str:
    """What is read out and shown above the answer."""
    return forms(window)[number].find_element(By.CSS_SELECTOR, "[role=status]").text


def is_open(window: Window, number: int) -> bool:
    answer = "return arguments[0].nextElementSibling.matches('details') && arguments[0].nextElementSibling.open"
    return window.driver.execute_script(answer, forms(window)[number])


def stored(window: Window) -> dict[str, str]:
    kept = "return Object.fromEntries(Object.entries(localStorage).filter(each => each[0].startsWith('course-pred')))"
    return window.driver.execute_script(kept)


def press(window: Window, *keys: str) -> None:
    ActionChains(window.driver).send_keys(*keys).perform()


def test_every_prediction_of_every_lecture_is_a_field_with_its_options(window, home):
    lectures = sorted((COURSE / "lectures").glob("*.ipynb"))
    for lecture in lectures:
        page = f"lectures/{lecture.stem}"
        show(window, f"{home}/{page}.html")
        offered = window.driver.execute_script(
            "return [...document.querySelectorAll('form.course-predict')].map(form => ["
            "[...form.querySelectorAll('input[type=radio]')].map(each => each.value),"
            "form.querySelectorAll('textarea').length,"
            "form.querySelector('legend').textContent.startsWith('Predict.'), form.nextElementSibling.open])"
        )
        expected = [[letters, 0 if letters else 1, True, False] for letters, _ in predictions(page)]
        assert offered == expected, page
        assert not window.all(f"{END}:not([hidden])"), "nothing is said yet"


def test_a_choice_opens_its_answer_says_what_was_said_and_a_reload_keeps_it(window, home):
    show(window, f"{home}/{CHOICES}.html")
    right, wrong = predictions(CHOICES)[0][1], wrong_of(CHOICES, 1)
    assert not said(window, 0) and not is_open(window, 0)
    choose(window, 0, right)
    choose(window, 1, wrong)

    def seen() -> list[object]:
        checked = [button.get_attribute("value") for button in window.all(".course-predict input:checked")]
        return [said(window, 0), said(window, 1), checked, [is_open(window, number) for number in range(3)]]

    expected = [
        f"You said ({right}). That is right.",
        f"You said ({wrong}). The answer is ({predictions(CHOICES)[1][1]}).",
        [right, wrong],
        [True, True, False],
    ]
    assert seen() == expected
    show(window, f"{home}/{CHOICES}.html")
    assert seen() == expected


def test_what_was_said_before_the_answer_stays(window, home):
    show(window, f"{home}/{CHOICES}.html")
    wrong, right = wrong_of(CHOICES, 0), predictions(CHOICES)[0][1]
    choose(window, 0, wrong)
    choose(window, 0, right)
    assert said(window, 0).startswith(f"You said ({wrong}).")


def test_the_end_of_the_page_counts_and_leads_to_the_sections_of_the_others(window, home):
    show(window, f"{home}/{MIXED}.html")
    choose(window, 0, predictions(MIXED)[0][1])
    choose(window, 1, wrong_of(MIXED, 1))
    end = window.find(END)
    assert "You chose the right answer in 1 of 2 predictions." in end.text

    def led_to(title: str) -> list[str]:
        lists = end.find_elements(By.XPATH, f".//p[text()='{title}']/following-sibling::ul[1]//a")
        return [link.get_attribute("href").partition("#")[2] for link in lists]

    sections = window.driver.execute_script(
        "return [...document.querySelectorAll('form.course-predict')].map(each => each.closest('section').id)"
    )
    assert led_to("Read again:") == [sections[1]]
    assert led_to("Not predicted yet:") == sections[2:]
    in_words = []
    for number, (letters, right) in list(enumerate(predictions(MIXED)))[2:]:
        if letters:
            choose(window, number, right)
        else:
            write(window, number, "all of them")
            in_words.append(sections[number])
    assert in_words and led_to("Compare your own words with the answer:") == in_words
    assert not led_to("Not predicted yet:")
    heading = window.driver.execute_script(
        "const h = document.getElementById(arguments[0]).querySelector('h2').cloneNode(true);"
        "h.querySelector('.headerlink').remove(); return h.textContent",
        sections[1],
    )
    link = end.find_element(By.CSS_SELECTOR, f"a[href='#{sections[1]}']")
    assert link.get_attribute("textContent") == heading
    link.click()
    assert window.driver.current_url.endswith(f"#{sections[1]}")


def test_a_heading_with_a_formula_is_typeset_at_the_end_too(window, home):
    for _ in range(2):  # just said, and kept
        show(window, f"{home}/{CHOICES}.html")
        if not said(window, 2):
            choose(window, 2, wrong_of(CHOICES, 2))
        assert window.wait(lambda: window.all(f"{END} a mjx-container"), "a formula in a link")
        assert "\\(" not in window.find(END).text


def test_own_words_are_kept_as_text(window, home):
    show(window, f"{home}/{WORDS}.html")
    words = "<b>2 1 3</b> & “ü”"
    write(window, 0, words)
    for _ in range(2):
        assert words in said(window, 0) and is_open(window, 0)
        field = forms(window)[0].find_element(By.CSS_SELECTOR, "textarea")
        assert field.get_attribute("value") == words and field.get_attribute("readonly")
        assert not is_open(window, 1)
        show(window, f"{home}/{WORDS}.html")
    assert "with options" not in window.find(END).text


def test_each_page_keeps_its_own(window, home):
    for page in (CHOICES, MIXED):
        show(window, f"{home}/{page}.html")
        assert not any(said(window, number) for number in range(3)), "nothing of another page"
        choose(window, 0, "a")
    kept = stored(window)
    assert len(kept) == 2 and all(page in "".join(kept) for page in (CHOICES, MIXED))
    show(window, f"{home}/{CHOICES}.html")
    window.click(f"{END} button", "Forget")
    assert not any(said(window, number) or is_open(window, number) for number in range(3))
    assert not window.all(".course-predict input:checked, .course-predict input:disabled")
    assert "Nothing is kept." in window.find(END).text
    assert window.driver.switch_to.active_element.text.startswith("Forget"), "the focus stays"
    choose(window, 0, "b")
    assert said(window, 0).startswith("You said (b)."), "the reader may predict anew"
    show(window, f"{home}/{MIXED}.html")
    assert said(window, 0).startswith("You said (a)."), "another page's are not forgotten"


@pytest.mark.parametrize("value", ["no JSON", "null", "7", '"text"', "[1]"])
def test_what_cannot_be_read_is_nothing_said(window, home, value):
    show(window, f"{home}/{CHOICES}.html")
    place = f"course-predictions:/{CHOICES}.html"
    window.driver.execute_script("localStorage.setItem(...arguments)", place, value)
    show(window, f"{home}/{CHOICES}.html")
    assert not said(window, 0)
    choose(window, 0, "a")
    show(window, f"{home}/{CHOICES}.html")
    assert said(window, 0).startswith("You said (a).")


def test_a_browser_that_stores_nothing_loses_only_the_memory(window, home):
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }})"
    # The theme itself needs the storage: it is refused when its scripts have run, before those of the course do.
    late = f"document.addEventListener('DOMContentLoaded', () => {{ {refuse} }}, {{capture: true}})"
    script = window.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": late})
    try:
        show(window, f"{home}/{MIXED}.html")
        refused = "try { localStorage; return false; } catch { return true; }"
        assert window.driver.execute_script(refused)
        choose(window, 0, predictions(MIXED)[0][1])
        write(window, 2, "none")
        assert said(window, 0).endswith("That is right.") and is_open(window, 0) and "none" in said(window, 2)
        assert "You chose the right answer in 1 of 1 prediction." in window.find(END).text
        window.click(f"{END} button", "Forget")
        assert not said(window, 0)
        assert not [entry for entry in window.driver.get_log("browser") if "predict.js" in entry["message"]]
    finally:
        window.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_the_keyboard_alone_predicts(window, home):
    show(window, f"{home}/{MIXED}.html")
    window.driver.execute_script("document.querySelector('.course-predict input').focus()")
    press(window, Keys.ARROW_DOWN)
    assert not is_open(window, 0), "an arrow passes over an option; it does not choose it"
    press(window, Keys.ARROW_DOWN)
    assert not said(window, 0)
    press(window, Keys.ENTER)
    assert said(window, 0).startswith("You said (c).") and is_open(window, 0)
    assert window.driver.switch_to.active_element.get_attribute("value") == "c", "the focus stays"

    window.driver.execute_script("document.querySelectorAll('.course-predict')[1].querySelector('input').focus()")
    press(window, Keys.SPACE)
    assert said(window, 1).startswith("You said (a).")

    window.driver.execute_script("document.querySelector('.course-predict textarea').focus()")
    press(window, "rotary", Keys.TAB, Keys.ENTER)
    assert "“rotary”" in said(window, 2) and is_open(window, 2)
    assert window.driver.switch_to.active_element.tag_name == "textarea", "the focus stays"

    window.driver.execute_script("document.querySelector('.course-predicted a').focus()")
    for _ in range(4):
        press(window, Keys.TAB)
        if window.driver.switch_to.active_element.tag_name == "button":
            break
    press(window, Keys.ENTER)
    assert not stored(window).get(f"course-predictions:/{MIXED}.html", "{}").strip("{}")
    assert not said(window, 0)


def test_an_option_that_arrows_reached_is_kept_by_space_or_by_the_button(window, home):
    show(window, f"{home}/{CHOICES}.html")
    for number, keys in enumerate(([Keys.SPACE], [Keys.TAB, Keys.ENTER])):
        window.driver.execute_script(
            "document.querySelectorAll('.course-predict')[arguments[0]].querySelector('input').focus()", number
        )
        press(window, Keys.ARROW_DOWN)
        assert not said(window, number)
        press(window, *keys)
        assert said(window, number).startswith("You said (b).")
        assert window.driver.switch_to.active_element.get_attribute("value") == "b", "the focus stays"


def test_without_its_script_a_prediction_is_text_and_a_folded_answer(window, home):
    window.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/predict.js*"]})
    show(window, f"{home}/{CHOICES}.html")
    window.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    window.driver.get_log("browser")
    assert not window.all("form.course-predict, .course-predicted")
    questions = [paragraph.text for paragraph in window.all("section > p") if paragraph.text.startswith("Predict.")]
    letters = [choice.text[1] for choice in window.all("section > ul > li") if re.match(r"\([a-z]\)", choice.text)]
    wanted = predictions(CHOICES)
    assert len(questions) == len(wanted) and letters == [option for options, _ in wanted for option in options]
    assert not any(answer.get_attribute("open") for answer in window.all("section > details"))


def test_printed_answers_stand_at_the_end_and_what_was_said_stays_at_its_question(window, home):
    show(window, f"{home}/{CHOICES}.html")
    choose(window, 0, "a")
    order = "return [...document.querySelectorAll('.bd-article details')].map(each => each.innerText.slice(0, 300))"
    before = window.driver.execute_script(order)
    window.driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    ends = window.driver.execute_script(
        "const end = document.querySelector('.bd-article > section').lastElementChild;"
        "return [end.className, ...[...end.querySelectorAll('details')].map(each =>"
        " [each.open, each.querySelector('summary').textContent, each.clientHeight > 40])]"
    )
    answers = sum(text.startswith("Answer") for text in before)
    assert ends == ["course-answers", *([True, f"Answer {number}", True] for number in range(1, answers + 1))]
    assert [answer.text for answer in window.all(".course-predict + .course-answer")] == [
        f"Answer {number}: at the end." for number in numbers_of_predictions(CHOICES)
    ]
    assert said(window, 0).startswith("You said (a).")
    assert not any(element.is_displayed() for element in window.all(f".course-predict button, {END}"))
    window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    window.driver.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert [is_open(window, number) for number in range(3)] == [True, False, False]
    assert window.driver.execute_script(order) == before and not window.all(".course-answers, .course-answer")


def numbers_of_predictions(page: str) -> list[int]:
    """Which of the folded answers of a lecture, counted from 1, belong to predictions."""
    cells = nbformat.read(COURSE / f"{page}.ipynb", as_version=4).cells
    answers = [cell.source for cell in cells for _ in range(cell.source.count("<summary>Answer</summary>"))]
    return [number for number, source in enumerate(answers, 1) if source.startswith("**Predict.**")]


def test_without_a_script_printed_answers_are_readable(window, home):
    window.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/predict.js*", "*/course.js*"]})
    show(window, f"{home}/{CHOICES}.html")
    window.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    window.driver.get_log("browser")
    readable = (
        "return [...document.querySelectorAll('.bd-article section > details > p')]"
        ".map(each => each.checkVisibility({contentVisibilityAuto: true}) && each.clientHeight > 15)"
    )
    assert not any(window.driver.execute_script(readable)), "folded on the screen"
    window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    printed = window.wait(  # what was folded is laid out with the next frame
        lambda: (found := window.driver.execute_script(readable)) and all(found) and found, "the answers on paper"
    )
    window.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(printed) > 5


@pytest.mark.parametrize("theme", THEMES)
def test_what_was_said_is_accessible_and_fits(window, home, theme):
    for size in SIZES:
        show(window, f"{home}/{MIXED}.html", size, theme)
        window.driver.execute_script("localStorage.clear()")
        show(window, f"{home}/{MIXED}.html", size, theme)
        assert not violations(window), (size, "nothing said")
        show(window, f"{home}/{MIXED}.html", size, theme)
        choose(window, 0, predictions(MIXED)[0][1])
        choose(window, 1, wrong_of(MIXED, 1))
        write(window, 2, "x" * 200)
        room = "const root = document.documentElement; return root.scrollWidth <= root.clientWidth"
        assert window.driver.execute_script(room), size
        assert not violations(window), (size, "all said")
        pieces = [*forms(window), window.find(END)]
        assert not [pair for piece in pieces for pair in window.contrasts(piece) if pair[1] < 4.5], size
