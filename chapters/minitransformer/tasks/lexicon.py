"""The words of the language of `sentences`: what they are in French, and what can be said of what; chapter 15.

Classes of nouns: A animals, R roads, W waters, C containers, each half masculine and half feminine.
"""

NOUNS = {  # English: French, its gender, its class
    "animal": ("animal", "m", "A"),
    "cat": ("chat", "m", "A"),
    "dog": ("chien", "m", "A"),
    "horse": ("cheval", "m", "A"),
    "bird": ("oiseau", "m", "A"),
    "rabbit": ("lapin", "m", "A"),
    "mouse": ("souris", "f", "A"),
    "cow": ("vache", "f", "A"),
    "goat": ("chèvre", "f", "A"),
    "hen": ("poule", "f", "A"),
    "turtle": ("tortue", "f", "A"),
    "giraffe": ("girafe", "f", "A"),
    "path": ("chemin", "m", "R"),
    "bridge": ("pont", "m", "R"),
    "trail": ("sentier", "m", "R"),
    "boulevard": ("boulevard", "m", "R"),
    "street": ("rue", "f", "R"),
    "road": ("route", "f", "R"),
    "avenue": ("avenue", "f", "R"),
    "alley": ("ruelle", "f", "R"),
    "lake": ("lac", "m", "W"),
    "canal": ("canal", "m", "W"),
    "pond": ("étang", "m", "W"),
    "stream": ("ruisseau", "m", "W"),
    "river": ("rivière", "f", "W"),
    "sea": ("mer", "f", "W"),
    "bay": ("baie", "f", "W"),
    "lagoon": ("lagune", "f", "W"),
    "bag": ("sac", "m", "C"),
    "basket": ("panier", "m", "C"),
    "bucket": ("seau", "m", "C"),
    "chest": ("coffre", "m", "C"),
    "box": ("boîte", "f", "C"),
    "bottle": ("bouteille", "f", "C"),
    "suitcase": ("valise", "f", "C"),
    "crate": ("caisse", "f", "C"),
}
PROPERTIES = {  # English: French, masculine and feminine, and the classes of what can be so
    "tired": ("fatigué", "fatiguée", "A"),
    "hungry": ("affamé", "affamée", "A"),
    "thirsty": ("assoiffé", "assoiffée", "A"),
    "sick": ("malade", "malade", "A"),
    "scared": ("effrayé", "effrayée", "A"),
    "nervous": ("nerveux", "nerveuse", "A"),
    "wide": ("large", "large", "RWC"),
    "narrow": ("étroit", "étroite", "RWC"),
    "long": ("long", "longue", "RWC"),
    "steep": ("escarpé", "escarpée", "R"),
    "slippery": ("glissant", "glissante", "RC"),
    "deep": ("profond", "profonde", "WC"),
    "salty": ("salé", "salée", "W"),
    "polluted": ("pollué", "polluée", "RW"),
    "broken": ("cassé", "cassée", "RC"),
    "heavy": ("lourd", "lourde", "AC"),
    "empty": ("vide", "vide", "RWC"),
    "closed": ("fermé", "fermée", "RWC"),
}
PLAIN = ("broken", "empty", "closed")  # properties that take neither *too* nor *very*
ADJECTIVES = {  # English: French, masculine and feminine; they fit every noun, and tell nothing about *it*
    "small": ("petit", "petite"),
    "big": ("grand", "grande"),
    "old": ("vieux", "vieille"),
    "beautiful": ("beau", "belle"),
    "black": ("noir", "noire"),
    "white": ("blanc", "blanche"),
    "green": ("vert", "verte"),
    "grey": ("gris", "grise"),
}
BEFORE = ("small", "big", "old", "beautiful")  # adjectives that stand before the French noun
VERBS = {  # past: base, French participle, and the classes of subject and object
    "crossed": ("cross", "traversé", ("AR", "AW")),
    "avoided": ("avoid", "évité", ("AR", "AW", "AC", "AA")),
    "left": ("leave", "quitté", ("AR", "AW")),
    "saw": ("see", "vu", ("AR", "AW", "AC", "AA")),
    "found": ("find", "trouvé", ("AR", "AW", "AC", "AA")),
    "pushed": ("push", "poussé", ("AC",)),
    "carried": ("carry", "porté", ("AC",)),
    "stopped": ("stop", "arrêté", ("RA", "WA", "CA", "AA")),
    "surprised": ("surprise", "surpris", ("RA", "WA", "CA", "AA")),
    "attracted": ("attract", "attiré", ("RA", "WA", "CA")),
    "hid": ("hide", "caché", ("CA", "CR", "CW", "RA")),
    "blocked": ("block", "bloqué", ("CR", "CW", "CA")),
}
DETERMINERS = {"the": ("le", "la"), "a": ("un", "une"), "this": ("ce", "cette"), "my": ("mon", "ma")}
ELIDED = {  # what these words become before a vowel
    "le": "l'",
    "la": "l'",
    "que": "qu'",
    "ne": "n'",
    "de": "d'",
    "ce": "cet",
    "ma": "mon",
    "vieux": "vieil",
    "beau": "bel",
}
ENGLISH = (
    *(*DETERMINERS, "an", *ADJECTIVES, *NOUNS, *VERBS, *(base for base, _, _ in VERBS.values()), "didn't", "never"),
    *("because", "but", "it", "was", "too", "very", *PROPERTIES),
)
FRENCH = tuple(
    dict.fromkeys(
        [
            *(form for forms in DETERMINERS.values() for form in forms),
            *ELIDED.values(),
            *(form for forms in ADJECTIVES.values() for form in forms),
            *(noun for noun, _, _ in NOUNS.values()),
            *(participle for _, participle, _ in VERBS.values()),
            *("a", "pas", "jamais", "de", "parce", "que", "mais", "il", "elle", "était", "trop", "très"),
            *(form for *forms, _ in PROPERTIES.values() for form in forms),
        ]
    )
)
