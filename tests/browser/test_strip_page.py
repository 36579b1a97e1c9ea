"""One sentence through one Transformer, in lectures: loaded when it is opened, kept, usable by keyboard."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from test_keyboard import MARKED
from test_live_figures import rgb
from test_web_site import SCREENS, THEMES, requests, show, violations
from test_web_site import home as home  # a fixture
from test_web_site import window as window  # a fixture
from workplace import Window

from coursekit.lecture import bert
from coursekit.lecture.diagrams import contrast

pytestmark = [pytest.mark.long, pytest.mark.slow]

FIRST = {
    "lectures/02_self_attention": "softmax",
    "lectures/03_multi_head_attention": "heads",
    "lectures/04_encoder_block": "residual",
    "lectures/05_positional_encoding": "softmax",
    "lectures/07_bert_ag_news": "guess",
    "lectures/08_decoder_and_masking": "mask",
}
WRITER = "lectures/10_language_model"
ATTENTION, POSITIONS, BERT, MASKING = (
    next(page for page in FIRST if number in page) for number in ("02", "05", "07", "08")
)
# The lines of the chosen token: colour and opacity; and what is behind them.
_LINES = """
const lines = [...document.querySelectorAll(".strip-heads line[stroke*=query]")].map((each) => getComputedStyle(each));
let behind = document.querySelector(".strip-heads");
while (getComputedStyle(behind).backgroundColor.endsWith(", 0)")) behind = behind.parentElement;
return [lines.map((each) => [each.stroke, Number(each.strokeOpacity)]), getComputedStyle(behind).backgroundColor];
"""
SENTENCE = "the company said the other company lost its money"
LONGEST = "the company said its profit rose in the third quarter and the shares of the other company fell"


@pytest.fixture(autouse=True)
def forget(window, home):
    show(window, f"{home}/index.html")
    window.driver.execute_script("localStorage.clear()")
    ActionChains(window.driver).move_by_offset(0, 0).perform()
    window.driver.get_log("browser")


def open_strip(window: Window, home: str, page: str, size: str = "wide", theme: str = "light") -> None:
    show(window, f"{home}/{page}.html", size, theme)
    window.click(".course-strip button", "Open the strip")
    window.find(".course-strip [role=tab][aria-selected=true]")


def read(window: Window, sentence: str) -> None:
    field = window.find("#strip-sentence")
    field.clear()
    field.send_keys(sentence, Keys.ENTER)


def stage(window: Window, name: str) -> None:
    window.driver.execute_script("document.querySelector(`#strip-tab-${arguments[0]}`).click()", name)


def choose(window: Window, title: str, words: str, which: int = 0) -> None:
    """Choose a button of a group; `which` of those that have the same words."""
    (group,) = [choices for choices in window.all(".strip-choices") if choices.text.startswith(title)]
    same = [label for label in group.find_elements(By.CSS_SELECTOR, "label") if label.text == words]
    window.driver.execute_script("arguments[0].querySelector('input').click()", same[which])


def words(window: Window) -> list[str]:
    return [header.text for header in window.all(".strip-map tbody th")]


def cells(window: Window) -> list[WebElement]:
    return window.all(".strip-map tbody td")


def told(window: Window) -> dict[str, str]:
    """The numbers beside the map."""
    return {
        pair.find_element(By.TAG_NAME, "dt").text: pair.find_element(By.TAG_NAME, "dd").text
        for pair in window.all(".strip-beside dl > div")
    }


def value(text: str) -> float:
    return float(text.replace("−", "-"))


def errors(window: Window) -> list[str]:
    return [entry["message"] for entry in window.driver.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]


def test_nothing_of_it_is_asked_for_before_it_is_opened_and_then_nothing_from_elsewhere(window, home):
    requests(window)
    show(window, f"{home}/{ATTENTION}.html")
    assert not [url for url in requests(window) if "/strip/" in url]
    window.click(".course-strip button", "Open the strip")
    window.find(".course-strip [role=tab][aria-selected=true]")
    asked = requests(window)
    assert {"small_bert.bin", "small_bert.json", "strip.css"} <= {url.rsplit("/", 1)[1] for url in asked}
    assert all(url.startswith(home) for url in asked)
    assert not errors(window)


def test_six_lectures_have_it_each_with_its_own_part_first(window, home, site):
    assert {
        path.relative_to(site).with_suffix("").as_posix()
        for path in site.rglob("*.html")
        if "strip_opener.js" in path.read_text("utf-8")
    } == {*FIRST, WRITER}
    for page, first in FIRST.items():
        open_strip(window, home, page)
        (chosen,) = window.all(".course-strip [role=tab][aria-selected=true]")
        assert chosen.get_attribute("id") == f"strip-tab-{first}" and "strip-mine" in chosen.get_attribute("class")
        before = "return document.querySelector('.course-strip').previousElementSibling.closest('section').contains("
        assert window.driver.execute_script(before + "document.querySelector('.bd-article h1'))")
    assert not errors(window)


def test_a_sentence_is_typed_once_and_one_without_a_word_or_too_long_is_told(window, home):
    open_strip(window, home, ATTENTION)
    read(window, SENTENCE)
    expected = ["[CLS]", *SENTENCE.split(), "[SEP]"]
    assert words(window) == expected
    read(window, " ")
    assert "no word" in window.find(".strip-note").text and words(window) == expected
    assert window.find("#strip-sentence").get_attribute("aria-invalid") == "true"
    line = window.driver.execute_script(
        "return getComputedStyle(document.querySelector('.strip-note')).borderLeftWidth"
    )
    assert line == "4px", "it is seen"
    open_strip(window, home, BERT)
    assert [label.text for label in window.all(".strip-choices label") if label.text in expected] == expected
    read(window, "the " * 19)
    assert "first 18 of 19 pieces" in window.find(".strip-note").text


def test_a_weight_opens_its_dot_product_by_pointer_and_by_keyboard(window, home):
    open_strip(window, home, ATTENTION)
    read(window, SENTENCE)
    size = len(words(window))
    window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", window.find(".strip-map"))
    ActionChains(window.driver).move_to_element(cells(window)[2 * size + 5]).perform()
    assert "“company” looks at “other”" in window.find(".strip-beside").text
    window.driver.execute_script("document.querySelector('.strip-map [tabindex=\"0\"]').focus()")
    ActionChains(window.driver).send_keys(Keys.ARROW_DOWN, Keys.ARROW_LEFT).perform()
    assert "“said” looks at “the”" in window.find(".strip-beside").text
    assert window.driver.switch_to.active_element == cells(window)[3 * size + 4]
    titles = [title.get_attribute("textContent") for title in window.all(".strip-features title")]
    assert len(titles) == 3 * 32  # query, key, product
    products = [value(title.rsplit("= ", 1)[1]) for title in titles[:32]]
    found = told(window)
    assert value(found["sum of the products"]) == pytest.approx(sum(products), abs=32 * 0.005 + 0.005)
    assert value(found["÷ √d_k"]) == pytest.approx(value(found["sum of the products"]) / np.sqrt(32), abs=0.01)


def test_stages_are_a_row_that_arrow_keys_walk_through(window, home):
    open_strip(window, home, ATTENTION)
    tabs = [tab.get_attribute("id") for tab in window.all(".course-strip [role=tab]")]
    assert window.driver.switch_to.active_element.get_attribute("id") == "strip-tab-softmax"
    for key, expected in (
        (Keys.ARROW_RIGHT, "values"),
        (Keys.HOME, "tokens"),
        (Keys.ARROW_LEFT, "tokens"),
        (Keys.END, "guess"),
    ):
        ActionChains(window.driver).send_keys(key).perform()
        focused = window.driver.switch_to.active_element
        assert focused.get_attribute("id") == f"strip-tab-{expected}"
        assert window.find("#strip-panel").get_attribute("aria-labelledby") == f"strip-tab-{expected}"
    reachable = [tab.get_attribute("id") for tab in window.all('.course-strip [role=tab][tabindex="0"]')]
    assert reachable == ["strip-tab-guess"] and len(tabs) == 12


def test_block_and_head_are_chosen_above_and_the_focus_stays(window, home):
    open_strip(window, home, ATTENTION)
    before = told(window)
    window.driver.execute_script("document.querySelector('[name=strip-Head]:checked').focus()")
    ActionChains(window.driver).send_keys(Keys.ARROW_RIGHT).perform()
    focused = window.driver.switch_to.active_element
    assert (focused.get_attribute("name"), focused.get_attribute("value")) == ("strip-Head", "3")
    assert told(window) != before


@pytest.mark.parametrize("name", ["scores", "guess"])
def test_the_tab_key_leads_through_an_open_strip_and_shows_where_it_is(window, home, name):
    open_strip(window, home, ATTENTION)
    stage(window, name)
    window.driver.execute_script("document.querySelector('#strip-sentence').focus()")
    reached = []
    while window.driver.execute_script("return document.activeElement.closest('.course-strip') !== null"):
        element = window.driver.switch_to.active_element
        reached.append(element.get_attribute("name") or element.get_attribute("id") or element.tag_name)
        assert window.driver.execute_script(MARKED), reached
        ActionChains(window.driver).send_keys(Keys.TAB).perform()
    stops = ["strip-sentence", "button", "strip-ready", "strip-Block", "strip-Head", "strip-Token", f"strip-tab-{name}"]
    last = {"scores": ["td"], "guess": ["button", "button"]}
    assert reached == [*stops, "button", "button", "strip-panel", *last[name]]


def test_without_positions_twins_are_one_vector_and_a_press_brings_them_back(window, home):
    open_strip(window, home, POSITIONS)
    read(window, SENTENCE)
    stage(window, "tokens")

    def apart(label: str) -> list[float]:
        (group,) = [titled for titled in window.all(".strip-titled") if titled.text.startswith(label)]
        return [value(number.text) for number in group.find_elements(By.CSS_SELECTOR, ".strip-told")]

    assert apart("without positions") == [0, 0, 0, 0]
    assert all(distance > 1 for distance in apart("with positions"))
    choose(window, "Positions", "removed")
    assert "Positions are removed" in window.find(".strip-note").text
    window.click(".strip-note button", "As trained")
    assert not window.all(".strip-note button")
    assert len(window.all("[name=strip-Positions][value=true]:checked")) == 1


def test_the_look_ahead_mask_leaves_no_weight_on_later_tokens(window, home):
    open_strip(window, home, ATTENTION)
    stage(window, "mask")
    choose(window, "Mask", "look-ahead")
    size = len(words(window))
    assert len(window.all(".strip-map .strip-blocked")) == size * (size - 1) / 2
    stage(window, "softmax")
    said = [cell.get_attribute("aria-label") for cell in cells(window)]
    weights = np.array([value(label.rsplit(": ", 1)[1]) for label in said]).reshape(size, size)
    assert not np.triu(weights, 1).any()
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=size * 0.0005)


def test_the_lecture_on_masking_opens_with_later_tokens_hidden_and_says_that_the_encoder_never_learned_it(window, home):
    open_strip(window, home, MASKING)
    size = len(words(window))
    assert len(window.all(".strip-map .strip-blocked")) == size * (size - 1) / 2
    assert "Later tokens are hidden" in window.find(".strip-note").text
    assert "this encoder was not" in window.find(".strip-says").text
    window.click(".strip-note button", "As trained")
    assert not window.all(".strip-blocked") and not window.all(".strip-asked")
    stage(window, "softmax")
    said = [cell.get_attribute("aria-label") for cell in cells(window)]
    weights = np.array([value(label.rsplit(": ", 1)[1]) for label in said]).reshape(size, size)
    stage(window, "mask")
    choose(window, "Mask", "look-ahead")
    assert not window.all(".strip-asked .strip-bars"), "nothing is told before the prediction"
    window.click(".strip-asked button", "The row of the first token")
    told = window.find(".strip-asked [role=status]").text
    assert told.startswith("You said: the row of the first token. It is the row of the last token")
    assert "never trained for" in told
    later, guesses = window.all(".strip-asked .strip-bars")
    shown = [number.text for number in later.find_elements(By.CSS_SELECTOR, ".strip-told")]
    expected = np.triu(weights, 1).sum(axis=1)
    for text, share in zip(shown, expected, strict=True):
        assert abs(float(text.strip("<% ")) / 100 - share) < 0.005 + size * 0.0005 + 0.01 * text.startswith("<")
    assert shown[-1] == "0 %"
    names = [name.text for name in guesses.find_elements(By.CSS_SELECTOR, ".strip-name")]
    assert names == ["whole sentence", "look-ahead mask"]
    assert "Block 0, head 2" in window.find(".strip-asked").text
    choose(window, "Head", "0")
    assert "Block 0, head 0" in window.find(".strip-asked").text, "the answer stays while heads are changed"


def test_heads_and_blocks_are_counted_from_0_as_in_the_lectures(window, home):
    open_strip(window, home, ATTENTION)
    groups = [group.text.split() for group in window.all(".strip-controls .strip-choices")]
    assert groups[:2] == [["Block", "0", "1", "2"], ["Head", "0", "1", "2", "3"]]
    stage(window, "heads")
    titles = [title.text.split(":")[0] for title in window.all(".strip-heads .strip-title")]
    assert titles == [f"head {number}" for number in range(4)]
    stage(window, "guess")
    assert "head 2 of block 0" in window.find(".strip-asked").text
    window.click(".strip-asked button", "It stays")
    assert [header.text for header in window.all(".strip-table thead th")] == [f"head {h} off" for h in range(4)]


def first_guess(sentence: str, place: int) -> tuple[str, float]:
    """The encoder's first guess for the piece at a place, which is hidden, and how likely it is."""
    tf = pytest.importorskip("tensorflow")
    pytest.importorskip("tensorflow_text")
    preprocess, encoder = (tf.saved_model.load(handle) for handle in (bert.PREPROCESS, bert.ENCODER))
    vocabulary = (Path(bert.PREPROCESS) / "assets" / "vocab.txt").read_text("utf-8").split("\n")
    cut = preprocess.tokenize([sentence]).merge_dims(1, 2).to_list()[0]
    ids = np.array([[vocabulary.index("[CLS]"), *cut, vocabulary.index("[SEP]")]], dtype="int32")
    ids[0, place] = vocabulary.index("[MASK]")
    rows = dict(zip(bert.INPUTS, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))
    asked = {**rows, "masked_lm_positions": np.array([[place]], dtype="int32")}
    likely = tf.nn.softmax(encoder.mlm(asked)["mlm_logits"][0, 0]).numpy()
    return vocabulary[likely.argmax()], float(likely.max())


def test_a_hidden_word_has_five_guesses_and_the_first_is_the_encoders(window, home):
    open_strip(window, home, BERT)
    read(window, SENTENCE)
    choose(window, "Token", "company", 1)
    guessed = [line.text.split("\n") for line in window.all(".strip-bars li")]
    piece, likely = first_guess(SENTENCE, 6)
    assert len(guessed) == 5
    assert guessed[0][0] == piece and abs(int(guessed[0][-1].rstrip(" %")) - 100 * likely) < 1
    assert re.search(r"The hidden word, “company”, is guess \d+ of 7930", window.find("#strip-panel").text)


def test_a_head_is_switched_off_only_after_a_prediction_and_what_changes_is_told(window, home):
    open_strip(window, home, BERT)
    read(window, SENTENCE)
    assert not window.all(".strip-table")
    window.click(".strip-asked button", "It stays")
    said = window.find(".strip-asked [role=status]").text
    assert said.startswith("You said: it stays. ")
    lists = [bars.text.split("\n")[0] for bars in window.all(".strip-bars")]
    assert len(lists) == 2
    assert ("That is right" in said) == (lists[0] == lists[1]) == ("it stays “" in said)
    assert len(window.all(".strip-table tbody td")) == 12
    window.click(".strip-table tr:nth-child(2) td:nth-of-type(2) button")
    assert "without head 1 of block 1" in window.find(".strip-asked").text
    share = window.all(".strip-table tr:nth-child(2) td")[1].text.partition(",")[0]
    first = lists[0]
    shown = {bar.text.split("\n")[0]: bar.text.split("\n")[-1] for bar in window.all(".strip-asked .strip-bars li")}
    assert shown.get(first, share) == share, "what the table says"
    choose(window, "Head", "3")
    assert "head 3 of block 0" in window.find(".strip-asked").text
    assert not window.all(".strip-table"), "another head is another question"


def test_a_page_that_is_opened_as_a_file_says_why_it_has_no_strip(window, site):
    window.driver.get((site / f"{ATTENTION}.html").as_uri())
    window.click(".course-strip button")
    assert "python -m http.server" in window.find(".course-strip [role=status]", "http.server").text


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SCREENS)
def test_the_answer_on_the_mask_fits_its_window_and_is_accessible(window, home, size, theme):
    open_strip(window, home, MASKING, size, theme)
    read(window, LONGEST)
    window.click(".strip-asked button", "No row")
    assert len(window.all(".strip-asked .strip-bars")[0].find_elements(By.TAG_NAME, "li")) == 20
    needed = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert window.driver.execute_script(needed) <= 0
    assert not violations(window, ".course-strip")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SCREENS)
def test_every_stage_fits_its_window_is_accessible_and_has_no_error(window, home, size, theme):
    open_strip(window, home, ATTENTION, size, theme)
    read(window, LONGEST)
    assert len(words(window)) == 20
    wrong = []
    for tab in [tab.get_attribute("id") for tab in window.all(".course-strip [role=tab]")]:
        window.driver.execute_script("document.getElementById(arguments[0]).click()", tab)
        for button in window.all(".strip-asked button")[:1]:
            window.driver.execute_script("arguments[0].click()", button)
        needed = window.driver.execute_script(
            "return [document.documentElement, document.querySelector('#strip-panel')]"
            ".map((each) => each.scrollWidth - each.clientWidth)"
        )
        wrong += [f"{tab}: {more} pixels too wide" for more in needed if more > 0]
        wrong += [f"{tab}: {violation}" for violation in violations(window, ".course-strip")]
    assert not wrong
    assert not [error for error in errors(window) if "basic.css" not in error]  # which axe asks for, in vain


def test_bars_with_all_heads_and_without_one_have_the_same_scale(window, home):
    open_strip(window, home, BERT)
    read(window, SENTENCE)
    window.click(".strip-asked button", "It changes")
    bars = "return [...document.querySelectorAll('.strip-bar')].map(each => each.getBoundingClientRect().width)"
    shares = [
        float(number.text.rstrip("%").strip())
        for number in window.all(".strip-bars .strip-told")
        if "<" not in number.text
    ]
    widths = window.driver.execute_script(bars)
    firsts = [(shares[at], widths[at]) for at in (0, 5)]
    assert len(widths) == 10 and firsts[0][0] != firsts[1][0]
    (share, width), (other, less) = firsts
    assert less / width == pytest.approx(other / share, rel=0.05)
    assert not re.search(r"\d [%]", window.find(".course-strip").get_attribute("textContent") or ""), (
        "a line may end before the sign"
    )


@pytest.mark.parametrize("theme", THEMES)
def test_every_line_of_the_chosen_token_is_seen(window, home, theme):
    open_strip(window, home, "lectures/03_multi_head_attention", theme=theme)
    read(window, SENTENCE)
    lines, behind = window.driver.execute_script(_LINES)
    back = rgb(behind)
    mixed = {tuple(f * at + b * (1 - at) for f, b in zip(rgb(colour), back, strict=True)) for colour, at in lines}
    assert len(lines) >= 4 and min(contrast(colour, back) for colour in mixed) > 3


def test_the_frame_of_the_largest_product_leaves_the_words_above_it_free(window, home):
    open_strip(window, home, ATTENTION)
    boxes = "return [...document.querySelectorAll(arguments[0])].map(each => each.getBoundingClientRect().toJSON())"
    texts = window.driver.execute_script(boxes, ".strip-features text")
    frames = window.driver.execute_script(boxes, ".strip-features rect[fill=none]")
    assert len(texts) == len(frames) == 3
    for text, frame in zip(texts, frames, strict=True):
        assert text["bottom"] <= frame["top"] + 1


def carried(window: Window) -> list[str]:
    """The token that is on its way, and what its vector is at the open stage."""
    return window.find(".strip-carried").text.split("\n")


def test_a_tokens_vector_goes_from_stage_to_stage_and_lies_below_its_stage(window, home):
    open_strip(window, home, BERT)
    window.click(".strip-journey button", "From the start")
    seen, places = [], []
    for at in range(12):
        assert f"stage {at + 1} of 12" in window.find(".strip-journey [role=status]").text
        token, what = carried(window)
        assert token == "york"
        seen.append(what)
        places.append(
            window.driver.execute_script(
                "return document.querySelector('.strip-carried').style.getPropertyValue('--left')"
            )
        )
        if at < 11:
            window.click(".strip-journey button", "Next")
    assert len(set(seen)) == 12 and len(set(places)) > 5
    assert "first guess “york”" in seen[-1]
    choose(window, "Token", "red")
    assert carried(window)[0] == "red"


def test_play_goes_on_by_itself_and_a_press_stops_it(window, home):
    open_strip(window, home, MASKING)
    window.click(".strip-journey button", "Play")
    where = ".strip-journey [role=status]"
    window.wait(lambda: int(window.find(where).text.split()[1]) > 6, "two stages after that of the mask")
    window.click(".strip-journey button", "Pause")
    assert window.find(".strip-journey button").text == "Play"
    window.click(".strip-journey button", "Play")
    stage(window, "tokens")
    assert window.find(".strip-journey button").text == "Play", "who chooses a stage stays there"


def test_a_ready_sentence_opens_at_a_head_without_which_the_guess_is_another(window, home):
    """But for two, which say so: a head that does not matter, and a word that was never read."""
    open_strip(window, home, BERT)
    happens = {}
    for option in window.all("#strip-ready option")[1:]:
        sentence = option.text
        option.click()
        assert window.find("#strip-sentence").get_attribute("value") == sentence
        window.click(".strip-asked button", "It changes")
        first = window.find(".strip-bars li").text.split("\n")[0]
        happens[carried(window)[0]] = (first, "That is right" in window.find(".strip-asked [role=status]").text)
    assert happens == {
        "york": ("york", True),
        "street": ("street", True),
        "seen": ("seen", True),
        "her": ("her", True),
        "effects": ("effects", False),
        "dog": ("brown", False),
    }


def test_it_opens_at_a_word_that_it_guesses_and_where_the_head_looks_most(window, home):
    open_strip(window, home, ATTENTION)
    assert "“york” looks at “new”" in window.find(".strip-beside").text
    assert value(told(window)["weight"]) > 0.5
    assert "film reviews and news" in window.find(".strip-about").text
