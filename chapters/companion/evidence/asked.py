"""What chapter 21 asks a published chat model, a hundred cases of each kind, and what it said: `make public-model`."""

import bz2
import json
import re
from pathlib import Path

from minitransformer.arrays import one_of
from minitransformer.public_model import chat_prompt

FILE = Path(__file__).with_name("public_model.json")
ANSWERS = FILE.with_name("public_model_answers.json.bz2")
CAPITALS = {  # of a hundred countries; where two are right or one has two spellings, | stands between them
    **{"Afghanistan": "Kabul", "Albania": "Tirana", "Algeria": "Algiers", "Angola": "Luanda"},
    **{"Argentina": "Buenos Aires", "Armenia": "Yerevan", "Australia": "Canberra", "Austria": "Vienna"},
    **{"Azerbaijan": "Baku", "Bahrain": "Manama", "Bangladesh": "Dhaka", "Belarus": "Minsk", "Belgium": "Brussels"},
    **{"Bolivia": "La Paz|Sucre", "Botswana": "Gaborone", "Brazil": "Brasília|Brasilia", "Bulgaria": "Sofia"},
    **{"Cambodia": "Phnom Penh", "Cameroon": "Yaoundé|Yaounde", "Canada": "Ottawa", "Chad": "N'Djamena"},
    **{"Chile": "Santiago", "China": "Beijing", "Colombia": "Bogotá|Bogota", "Croatia": "Zagreb", "Cuba": "Havana"},
    **{"Cyprus": "Nicosia", "Denmark": "Copenhagen", "Ecuador": "Quito", "Egypt": "Cairo", "Estonia": "Tallinn"},
    **{"Ethiopia": "Addis Ababa", "Fiji": "Suva", "Finland": "Helsinki", "France": "Paris", "Gabon": "Libreville"},
    **{"Georgia": "Tbilisi", "Germany": "Berlin", "Ghana": "Accra", "Greece": "Athens", "Guinea": "Conakry"},
    **{"Guatemala": "Guatemala City", "Haiti": "Port-au-Prince", "Honduras": "Tegucigalpa", "Hungary": "Budapest"},
    **{"Iceland": "Reykjavík|Reykjavik", "India": "New Delhi", "Indonesia": "Jakarta", "Iran": "Tehran"},
    **{"Iraq": "Baghdad", "Ireland": "Dublin", "Israel": "Jerusalem", "Italy": "Rome", "Jamaica": "Kingston"},
    **{"Japan": "Tokyo", "Jordan": "Amman", "Kenya": "Nairobi", "Kuwait": "Kuwait City", "Laos": "Vientiane"},
    **{"Latvia": "Riga", "Lebanon": "Beirut", "Libya": "Tripoli", "Lithuania": "Vilnius", "Madagascar": "Antananarivo"},
    **{"Malaysia": "Kuala Lumpur", "Mali": "Bamako", "Malta": "Valletta", "Mexico": "Mexico City", "Morocco": "Rabat"},
    **{"Mongolia": "Ulaanbaatar|Ulan Bator", "Mozambique": "Maputo", "Nepal": "Kathmandu", "Nicaragua": "Managua"},
    **{"Niger": "Niamey", "Nigeria": "Abuja", "Norway": "Oslo", "Oman": "Muscat", "Pakistan": "Islamabad"},
    **{"Paraguay": "Asunción|Asuncion", "Peru": "Lima", "Poland": "Warsaw", "Portugal": "Lisbon", "Qatar": "Doha"},
    **{"Romania": "Bucharest", "Russia": "Moscow", "Rwanda": "Kigali", "Senegal": "Dakar", "Serbia": "Belgrade"},
    **{"Slovakia": "Bratislava", "Slovenia": "Ljubljana", "Somalia": "Mogadishu", "Spain": "Madrid"},
    **{"Sudan": "Khartoum", "Sweden": "Stockholm", "Thailand": "Bangkok", "Tunisia": "Tunis", "Turkey": "Ankara"},
    **{"Uganda": "Kampala", "Ukraine": "Kyiv|Kiev", "Zambia": "Lusaka"},
}
OPPOSITES = {
    **{"big": "small|little|tiny", "up": "down", "left": "right", "black": "white", "good": "bad|evil"},
    **{"day": "night", "open": "closed|close|shut", "old": "new|young", "rich": "poor", "fast": "slow", "high": "low"},
    **{"happy": "sad|unhappy", "hard": "soft|easy", "long": "short", "wet": "dry", "strong": "weak", "early": "late"},
    **{"full": "empty", "true": "false", "light": "dark|heavy|darkness", "near": "far", "first": "last"},
    **{"win": "lose|loss", "love": "hate|hatred", "begin": "end|finish|stop", "buy": "sell", "push": "pull"},
    **{"inside": "outside|out", "above": "below|under|beneath", "north": "south", "east": "west", "war": "peace"},
    **{"life": "death", "male": "female", "brother": "sister", "king": "queen", "thick": "thin"},
    **{"deep": "shallow", "loud": "quiet|soft|silent", "clean": "dirty|unclean", "sweet": "sour|bitter"},
    **{"wide": "narrow", "brave": "coward|cowardly|afraid|timid|fearful", "summer": "winter", "give": "take|receive"},
    **{"remember": "forget", "safe": "dangerous|unsafe|danger", "tall": "short", "front": "back|rear", "top": "bottom"},
    **{"before": "after", "more": "less|fewer", "with": "without", "yes": "no", "on": "off", "come": "go|leave"},
    **{"start": "stop|end|finish", "question": "answer", "husband": "wife", "man": "woman", "boy": "girl"},
    **{"son": "daughter", "uncle": "aunt", "father": "mother", "friend": "enemy|foe", "heaven": "hell"},
    **{"truth": "lie|falsehood", "success": "failure", "possible": "impossible"},
    **{"legal": "illegal", "visible": "invisible", "polite": "rude|impolite", "smooth": "rough", "sharp": "blunt|dull"},
    **{"bright": "dark|dim|dull", "ancient": "modern", "cheap": "expensive|dear|costly", "guilty": "innocent"},
    **{"public": "private", "present": "absent|past", "maximum": "minimum", "positive": "negative", "plus": "minus"},
    **{"increase": "decrease|reduce", "arrive": "depart|leave", "accept": "reject|refuse|decline", "build": "destroy"},
    **{"borrow": "lend", "attack": "defend|defence|defense|retreat", "laugh": "cry|weep", "sit": "stand"},
    **{"sunrise": "sunset", "dead": "alive|living", "asleep": "awake", "alone": "together", "simple": "complex"},
    **{
        "important": "unimportant|trivial|insignificant",
        "lucky": "unlucky",
        "rise": "fall|set|sink",
        "honest": "dishonest",
    },
}
FRENCH = {
    **{"dog": "chien", "cat": "chat", "house": "maison", "water": "eau", "bread": "pain", "milk": "lait"},
    **{"sun": "soleil", "moon": "lune", "tree": "arbre", "book": "livre", "red": "rouge", "green": "vert"},
    **{"blue": "bleu", "white": "blanc", "black": "noir", "two": "deux", "three": "trois", "four": "quatre"},
    **{"five": "cinq", "seven": "sept", "eight": "huit", "nine": "neuf", "ten": "dix", "man": "homme"},
    **{"woman": "femme", "child": "enfant", "king": "roi", "queen": "reine", "day": "jour", "night": "nuit"},
    **{"city": "ville", "street": "rue", "horse": "cheval", "bird": "oiseau", "fish": "poisson", "cow": "vache"},
    **{"cheese": "fromage", "wine": "vin", "apple": "pomme", "hand": "main", "head": "tête", "heart": "cœur|coeur"},
    **{"door": "porte", "window": "fenêtre", "school": "école", "friend": "ami", "mother": "mère", "father": "père"},
    **{"love": "amour|aimer", "good": "bon", "big": "grand|gros", "small": "petit", "hello": "bonjour|salut"},
    **{"thanks": "merci", "yes": "oui", "no": "non", "year": "année|an", "month": "mois", "week": "semaine"},
    **{"morning": "matin", "evening": "soir", "summer": "été", "winter": "hiver", "rain": "pluie", "wind": "vent"},
    **{"sea": "mer", "river": "rivière|fleuve", "mountain": "montagne", "earth": "terre", "sky": "ciel"},
    **{"fire": "feu", "bridge": "pont", "road": "route|chemin", "car": "voiture", "boat": "bateau", "church": "église"},
    **{"bed": "lit", "chair": "chaise", "knife": "couteau", "key": "clé|clef", "shoe": "chaussure"},
    **{"hat": "chapeau", "egg": "œuf|oeuf", "salt": "sel", "sugar": "sucre", "meat": "viande", "eye": "œil|oeil"},
    **{"nose": "nez", "mouth": "bouche", "ear": "oreille", "foot": "pied", "arm": "bras", "brother": "frère"},
    **{"sister": "sœur|soeur", "son": "fils", "girl": "fille", "boy": "garçon", "old": "vieux|vieille"},
    **{"young": "jeune", "new": "nouveau|neuf"},
}
ANIMALS, PLACES = ("animal", "dog", "cat", "horse", "child"), ("street", "river", "bridge", "road", "garden")
PROPERTIES = {"tired": 0, "hungry": 0, "wide": 1, "long": 1}  # which of the two nouns _it_ means then
SENTENCE = "The {} didn't cross the {} because it was too {}."
THREE_CAPITALS = "The capital of the Netherlands is Amsterdam.\nThe capital of Switzerland is Bern.\n"
THREE_CAPITALS += "The capital of Vietnam is Hanoi.\nThe capital of {} is"
QUESTION = "What is the capital of {}?"
WAYS = {  # of asking for a capital: the text that the model reads
    "begun": "The capital of {} is",
    "the city of": "The capital of {} is the city of",
    "behind a mark": "<|endoftext|>The capital of {} is",
    "three examples": THREE_CAPITALS,
    "a bare question": QUESTION,
    "User, Assistant": f"User: {QUESTION}\nAssistant:",
    "no system line": chat_prompt(QUESTION, system=None),
    "another system line": chat_prompt(QUESTION, system="You are a gardener."),
    "chat": chat_prompt(QUESTION),
}
TOKENS = dict.fromkeys(WAYS, 64) | {"begun": 8, "the city of": 8, "behind a mark": 8, "three examples": 8}  # at most
ROUNDED_WAYS = ("begun", "the city of", "behind a mark", "three examples", "chat")  # asked with rounded weights, too
LETTERS = "How many letters are in the word {}?"
OTHER_WAYS = {  # of asking for other things, and how many tokens the answer may have
    "sums of one digit": {
        "examples": ("2 + 5 = 7\n8 + 4 = 12\n9 + 9 = 18\n1 + 3 = 4\n{} =", 3),
    },
    "sums of two digits": {
        "begun": ("{} =", 5),
        "examples": ("12 + 35 = 47\n40 + 21 = 61\n58 + 27 = 85\n66 + 71 = 137\n{} =", 5),
        "chat": (chat_prompt("What is {}?"), 64),
    },
    "opposites": {
        "begun": ("The opposite of {} is", 5),
        "examples": ("hot - cold\nupstairs - downstairs\nalways - never\n{} -", 4),
        "chat": (chat_prompt("What is the opposite of {}? Answer with one word."), 64),
    },
    "words in French": {
        "begun": ('The French word for "{}" is "', 6),
        "examples": ("English words in French:\ngarden: jardin\nspoon: cuillère\nsnow: neige\n{}:", 6),
        "chat": (chat_prompt('How do you say "{}" in French?'), 64),
    },
    "words spelled": {
        "examples": ("garden: g a r d e n\nsnow: s n o w\ntrain: t r a i n\n{}:", 16),
        "chat": (chat_prompt("Spell the word {}, one letter at a time."), 64),
    },
    "letters copied": {
        "examples": ("g-a-r-d-e-n: g a r d e n\ns-n-o-w: s n o w\nt-r-a-i-n: t r a i n\n{}:", 16),
    },
    "letters counted": {
        "examples": ("garden: 6\nsnow: 4\ntrain: 5\nelephant: 8\n{}:", 3),
        "chat": (chat_prompt(LETTERS), 64),
    },
    "apart, counted": {
        "examples": ("g a r d e n: 6\ns n o w: 4\nt r a i n: 5\ne l e p h a n t: 8\n{}:", 3),
        "chat": (chat_prompt("How many letters are these: {}?"), 64),
    },
    "five words said again": {
        "examples": ("List: table, lake, bread.\nAgain: table, lake, bread.\nList: {}.\nAgain:", 16),
        "chat": (chat_prompt("Repeat this list: {}."), 64),
    },
}
DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def is_right(answer, wanted):
    """Tell whether an answer holds what is wanted, as whole words.

    Where several are right alike, a stroke stands between them.  Used in chapter 21.

    >>> is_right("It is Tunisia.", "Tunis"), is_right(" new delhi, of course", "New Delhi|Delhi")
    (False, True)
    """
    return any(re.search(rf"\b{re.escape(one)}\b", answer, re.IGNORECASE) for one in wanted.split("|"))


def counted_part(answer, way):
    r"""Return the part of an answer that is judged: all of it, but behind examples its first line.  Used in chapter 21.

    >>> counted_part(" Rome.\nThe capital of Spain", "three examples")
    'Rome.'
    >>> counted_part(" Rome.\nIt", "begun")
    ' Rome.\nIt'
    """
    return answer.strip().partition("\n")[0] if "example" in way else answer


def said_first(answer, country):
    """Return what an answer says first of a capital, in 24 characters at most.  Used in chapter 21.

    >>> said_first("The capital of Italy is Rome.", "Italy")
    'Rome.'
    >>> said_first(" in the middle of nowhere, far away", "Italy")
    'in the middle of nowher…'
    """
    line = answer.strip().partition("\n")[0].replace("\ufffd", "")  # where it ends within a letter
    line = re.sub(rf"^The capital of {country} is (?:the city of )?", "", line)
    return line if len(line) <= 24 else line[:23] + "…"


def wanted_of(task, asked):
    """Return what is right of a task of `OTHER_WAYS`, a regular expression.  Used in chapter 21.

    >>> wanted_of("sums of two digits", "12 + 35"), wanted_of("letters counted", "milk")
    ('\\\\b47\\\\b', '\\\\b(?:4|four)\\\\b')
    """
    if task.startswith("sums"):
        return rf"\b{sum(map(int, asked.split(' + ')))}\b"
    if task in ("opposites", "words in French"):
        wanted = (OPPOSITES if task == "opposites" else FRENCH)[asked]
        return "|".join(rf"\b{re.escape(one)}\b" for one in wanted.split("|"))
    if task == "five words said again":
        return re.escape(asked)
    word = re.sub("[- ]", "", asked)
    if "counted" in task:
        return rf"\b(?:{len(word)}|{DIGITS[len(word)]})\b"
    return rf"(?<!\w){'[^a-z]+'.join(word)}(?!\w)"


def judged(task, way, text):
    r"""Return the part of an answer that counts: of sums the first number, in a chat the last; else its first line.

    In a chat all of another answer counts.  Used in chapter 21.

    >>> judged("sums of two digits", "examples", " 47\n1 + 1 = 2")
    '47'
    """
    if task.startswith("sums"):
        numbers = re.findall(r"\d+", text.replace(",", ""))
        return numbers[-1 if way == "chat" else 0] if numbers else ""
    return text.strip() if way == "chat" else text.strip().partition("\n")[0]


def load_asked(part):
    """Return a part of what `make public-model` has measured, mostly a dict.  Used in chapter 21.

    Raises ValueError where there is no such part, naming those that there are.

    >>> sorted(load_asked("capitals")["as it is"])[:2]
    ['User, Assistant', 'a bare question']
    """
    measured = json.loads(FILE.read_text(encoding="utf-8"))
    return measured[one_of(part, "part", measured)]


def load_answers(part):
    """Return all answers of a part, "capitals" or "others": rounding or task -> way -> question -> what was said.

    Raises ValueError where there is no such part.  Used in chapter 21.

    >>> load_answers("capitals")["as it is"]["begun"]["France"]
    ' Paris.\\n\\nThe answer is:'
    """
    kept = json.loads(bz2.decompress(ANSWERS.read_bytes()))
    return {
        one: {way: dict(zip(ways["asked"], said)) for way, said in ways.items() if way != "asked"}
        for one, ways in kept[one_of(part, "part", kept)].items()
    }
