"""Lab 06, exercise `standardize`: solutions as different students write them, right and wrong."""

CORRECT = [
    # character by character
    """
def standardize(text):
    text = text.lower()
    for spelling in ("<br />", "<br/>", "<br>"):
        text = text.replace(spelling, " ")
    kept = [character for character in text if character not in string.punctuation]
    return " ".join("".join(kept).split())
""",
    # regular expressions throughout
    r"""
def standardize(text):
    text = re.sub(r"<br\s*/?\s*>", " ", text, flags=re.IGNORECASE)
    text = re.sub("[" + re.escape(string.punctuation) + "]", "", text)
    return re.sub(r"\s+", " ", text).strip().lower()
""",
    # word characters and spaces
    r"""
import re as regex
BREAK = regex.compile("<br ?/?>", regex.I)
def standardize(text):
    return " ".join(regex.sub(f"[{regex.escape(string.punctuation)}]", "", BREAK.sub(" ", text)).lower().split())
""",
    # TensorFlow's strings, joined outside
    r"""
def standardize(text):
    text = tf.strings.lower(text, encoding="utf-8")
    text = tf.strings.regex_replace(text, r"<br\s*/?>", " ")
    text = tf.strings.regex_replace(text, r"[!-/:-@\[-`{-~]", "")
    return " ".join(text.numpy().decode("utf-8").split())
""",
    # a table for everything
    """
def standardize(text):
    table = {ord(mark): None for mark in string.punctuation} | {ord(blank): " " for blank in "\\t\\n\\r"}
    words = re.split("<br */?>", text.casefold())
    return " ".join(word for part in words for word in part.translate(table).split(" ") if word)
""",
    # isalnum
    """
def standardize(text):
    text = text.replace("<BR", "<br").replace("<Br", "<br").replace("<bR", "<br")
    text = text.replace("<br />", "\\n").replace("<br/>", "\\n").replace("<br>", "\\n").lower()
    return " ".join("".join(c for c in text if ord(c) > 127 or c.isalnum() or c.isspace()).split())
""",
]

WRONG = [
    (
        "other_punctuation",
        r"""
def standardize(text):
    text = re.sub(r"<br\s*/?>", " ", text.lower())
    return " ".join(re.sub(r"[^\w\s]", "", text).split())
""",
    ),
    (
        "br_becomes_a_word",
        r"""
def standardize(text):
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(text.replace("<br />", " ").split())
""",
    ),
    (
        "every_tag_removed",
        r"""
def standardize(text):
    text = re.sub(r"<[^>]+>", " ", text.lower()).translate(str.maketrans("", "", string.punctuation))
    return " ".join(text.split())
""",
    ),
    (
        "other_letters_lost",
        r"""
def standardize(text):
    text = re.sub(r"<br ?/?>", " ", text.lower())
    return " ".join(re.sub(r"[^a-z0-9\s]", "", text).split())
""",
    ),
    (
        "punctuation_to_space",
        r"""
def standardize(text):
    text = re.sub(r"<br ?/?>", " ", text.lower())
    return " ".join(re.sub(f"[{re.escape(string.punctuation)}]", " ", text).split())
""",
    ),
    (
        "ends_not_stripped",
        r"""
def standardize(text):
    text = re.sub(r"<br ?/?>", " ", text.lower()).translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\s+", " ", text)
""",
    ),
    (
        "br_in_capitals_missed",
        r"""
def standardize(text):
    text = re.sub(r"<br ?/?>", " ", text).translate(str.maketrans("", "", string.punctuation))
    return " ".join(text.lower().split())
""",
    ),
    (
        "apostrophes_kept",
        r"""
def standardize(text):
    text = re.sub(r"<br ?/?>", " ", text.lower())
    return " ".join("".join(c for c in text if c == "'" or c not in string.punctuation).split())
""",
    ),
    (None, "def standardize(text):\n    return text\n"),
    (None, "def standardize(text):\n    return text.lower().split()\n"),
    (None, "def standardize(text):\n    return tf.strings.lower(text)\n"),
    # right, but for its type: bytes in a tensor, and in Python
    *(
        (
            None,
            r"""
def standardize(text):
    text = tf.strings.regex_replace(tf.strings.lower(text, encoding="utf-8"), r"<br\s*/?>", " ")
    text = tf.strings.regex_replace(text, r"[!-/:-@\[-`{-~]", "")
    return """
            + result,
        )
        for result in (
            'tf.strings.reduce_join(tf.strings.split(text), separator=" ")\n',
            'b" ".join(text.numpy().split())\n',
        )
    ),
]
