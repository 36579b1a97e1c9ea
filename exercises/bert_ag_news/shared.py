"""What several exercises of lab 07 share."""

SENTENCES = (
    "Bees find home",
    "Rain stops play",
    "Shares fall",
    "A comet",
    "Vote delayed",
    "Goal!",
    "New chip",
    "Oil",
    "Ülkü wins",
    "Peace talks go on",
    "Robots pick plums",
    "x",
)
