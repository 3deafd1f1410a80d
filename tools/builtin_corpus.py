"""The text that the built-in vocabulary is learnt from: written for this purpose, so ours to ship.

Word lists by topic, and templates that make prose, JSON documents, program text and records of them. Deterministic: the same text on every
machine, since all choices come from one seeded generator. The words matter (they become tokens), the sense does not.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

NOUNS = """
time year people way day man thing woman life child world school state family student group country problem hand part place case week company system
program question work government number night point home water room mother area money story fact month lot right study book eye job word business
issue side kind head house service friend father power hour game line end member law car city community name president team minute idea body
information back parent face level office door health person art war history party result change morning reason research girl guy moment air teacher
force education foot boy age policy music process market sense nation plan college interest death experience effect use class control care field
development role effort rate heart drug show leader light voice wife police mind price report decision son view relationship town road arm difference
value building action season society tax director position player record paper space ground form event official matter center couple site project
activity star table need court oil situation cost industry figure street image phone data picture practice piece land product doctor wall worker news
test movie north love step computer type attention film tree source organisation hair window evidence culture chance brother energy period course
summer plant opportunity term letter condition choice south floor theory bank sound animal morning river mountain forest island ocean garden kitchen
bridge engine machine model grammar token mask parser lexer schema string array object integer boolean property pattern sequence language library
function argument variable constant module package version error warning message request response server client network address port socket thread
process memory buffer cache index key table column row query database file folder path user account password session customer order invoice payment
delivery address shipment product category quantity discount currency country region latitude longitude temperature pressure weight height length
width distance speed colour shape size author title chapter article comment review rating score vehicle driver passenger ticket flight airport
hotel station train bicycle weather climate rain snow wind storm cloud sun moon planet star galaxy rocket satellite telescope microscope laboratory
experiment measurement sample result hypothesis proof theorem equation matrix vector graph node edge tree leaf root branch flower fruit apple
orange banana bread cheese butter sugar coffee chocolate breakfast lunch dinner restaurant recipe ingredient horse bird fish insect
""".split()

VERBS = """
ask become begin believe bring build call carry change check choose close come compile complete consider contain continue count create decide define
deliver describe develop discuss draw drive eat enter expect explain fall feel fill find finish follow forget generate give grow handle happen hear help
hold include increase inform join keep know lead learn leave listen live load look lose make mean measure meet move need notice offer open order
parse pass pay perform plan play prepare present print produce protect provide publish push raise reach read receive record reduce refuse remain remember
remove replace report require return run save say search see seem select sell send serve set show sit sleep speak spend stand start stay stop store study
suggest support take talk teach tell test think travel try turn understand update use validate visit wait walk want warn wash watch win wonder work write
""".split()

ADJECTIVES = """
able active actual additional ancient available bad beautiful big black blue bold brief bright broad careful central certain cheap clean clear close
cold common complete complex correct dark deep different difficult direct early easy empty equal exact fair false familiar famous fast final fine first
flat foreign free fresh full general gentle global good great green grey happy hard heavy high hot huge human important independent individual
international kind large last late legal little local long low main major modern national natural necessary new nice normal old only open original
particular past patient perfect personal physical plain pleasant poor popular possible present private professional proper public quick quiet rare ready real
recent red regular rich right rough round safe serious several sharp short significant silent similar simple single small smooth social soft special
strange strict strong sudden sweet tall thick thin tiny total true typical unique useful usual valid various warm weak white whole wide wild wise wrong yellow young
""".split()

ADVERBS = "again almost already also always away carefully clearly early easily even ever exactly finally here however indeed just later maybe more never now often once only perhaps quickly quite rather really simply slowly sometimes soon still then there therefore today together tomorrow too usually very well yesterday yet".split()
LINKS = "about above across after against along among around as at because before behind below between but by during except for from if in inside into like near of off on or out over since than that through to toward under until up upon when where which while who why with without".split()
NAMES = "Ada Alan Alice Amara Anna Ben Carlos Chen Clara David Elena Emma Farid Grace Hana Hugo Ines Ivan James Julia Kenji Lars Leo Lina Maria Marta Maya Mei Mohamed Nadia Noah Nora Oliver Olga Omar Paul Priya Rosa Sam Sara Sofia Tariq Thomas Tom Vera Yuki Zoe".split()
SURNAMES = "Adams Bauer Brown Chen Costa Diaz Evans Fischer Garcia Haddad Ivanov Jansen Jones Kim Kumar Larsen Lopez Martin Meyer Moreau Nguyen Novak Okafor Patel Peterson Rossi Sato Schmidt Silva Singh Smith Tanaka Taylor Wagner Walker Weber Williams Wilson Wright Young".split()
CITIES = "Amsterdam Athens Barcelona Berlin Boston Cairo Chicago Copenhagen Delhi Dublin Geneva Hamburg Helsinki Istanbul Jakarta Kyoto Lagos Lima Lisbon London Madrid Melbourne Milan Montreal Mumbai Munich Nairobi Oslo Paris Prague Rome Santiago Seoul Singapore Stockholm Sydney Tokyo Toronto Vienna Warsaw Zurich".split()
KEYS = """
id name type value items properties required description title format enum default minimum maximum pattern address street city country postalCode
email phone firstName lastName fullName birthDate createdAt updatedAt timestamp date startTime endTime duration status state active enabled visible tags
labels category price amount currency quantity total discount url href path file size width height depth length version content message error code
data result results count page limit offset next previous user username password role permissions group groups owner author comments children
parent key values options settings config metadata source target start end index order orderId customerId productId userId score rating latitude
longitude location unit units temperature method headers body query parameters arguments response request token tokens model role tool tool_calls
function_name is_active created_at updated_at first_name last_name user_id zip_code phone_number
""".split()
OTHER_LANGUAGES = """
Der schnelle Zug fährt heute über die große Brücke nach München, und für die Gäste gibt es schöne Plätze. Können wir später zurück? Natürlich, morgen früh.
Le garçon a mangé une pomme à l'école; après le déjeuner, il était très fatigué. Où êtes-vous né? Voilà la réponse: près de la forêt, où coule la rivière.
El niño comió una manzana en la montaña. ¿Dónde está la estación? Mañana será otro día; la canción más pequeña también enseña algo al corazón español.
O menino não está aqui. A informação é pública, e a decisão também: amanhã haverá três reuniões. Não há razão para preocupação, só para atenção.
Мы читаем новую книгу о языке и времени. Это большой город, в котором живут хорошие люди. Что делать дальше, пока не известно, но время ещё есть.
Η γλώσσα είναι ένα μεγάλο ποτάμι που περνάει από την πόλη. Σήμερα ο καιρός είναι καλός και τα παιδιά παίζουν στην αυλή.
我们今天学习语言和语法。这个问题的答案是什么？时间就是生命，大家都在工作。中国的城市很大，人也很多。
今日は天気がいいですね。これは日本語の文章です。言葉の意味を考えることが大切です。ありがとうございます。
한국어 문장을 읽고 있습니다. 오늘은 날씨가 좋습니다. 감사합니다. 우리는 언어를 배우고 있습니다.
اللغة العربية جميلة، والكتاب على الطاولة. هذا هو البيت الكبير في المدينة القديمة.
यह एक छोटा वाक्य है। हम भाषा और व्याकरण के बारे में पढ़ते हैं। आज मौसम अच्छा है।
Naïve façade, café, jalapeño, smörgåsbord, Łódź, Dvořák, İstanbul. 10 €, 5 £, 20 °C, ± 3 %, ½, x² ≤ y → z; “quoted”, ‘so’ — and… 🙂 🎉 ✅ ❌ 👍 ❤
""".strip()


def documents(seed: int = 1) -> Iterator[str]:
    """The corpus, document by document."""
    rng = random.Random(seed)
    for line in OTHER_LANGUAGES.splitlines():
        for _ in range(8):
            yield line + "\n"
    for _ in range(1500):
        yield _prose(rng)
    for number in range(900):
        record = _record(rng, depth=rng.choice((1, 2, 3)))
        yield (
            json.dumps(
                record, ensure_ascii=False, indent=(None, None, 2, 4)[number % 4], separators=(",", ":") if number % 4 == 0 else None
            )
            + "\n"
        )
    for _ in range(400):
        yield _program(rng)


def _prose(rng: random.Random) -> str:
    return " ".join(_sentence(rng) for _ in range(rng.randint(3, 8))) + "\n\n"


def _sentence(rng: random.Random) -> str:
    def phrase() -> str:
        words = [rng.choice(("the", "the", "a", "this", "that", "every", "our", "their", "his", "her", "my", "some", "no", "each"))]
        if rng.random() < 0.6:
            words.append(rng.choice(ADJECTIVES))
        return " ".join([*words, _plural(rng.choice(NOUNS)) if rng.random() < 0.3 else rng.choice(NOUNS)])

    verb = rng.choice((_third, _past, _gerund, str))(rng.choice(VERBS))
    parts = [rng.choice((phrase(), rng.choice(NAMES), rng.choice(("I", "you", "we", "they", "he", "she", "it"))))]
    parts += [rng.choice(("", "is ", "was ", "will ", "can ", "has ", "does not ", "would ", "should ", "could ")) + verb, phrase()]
    if rng.random() < 0.7:
        parts += [rng.choice(LINKS), phrase()]
    if rng.random() < 0.4:
        parts.insert(2, rng.choice(ADVERBS))
    if rng.random() < 0.2:
        parts += ["in", rng.choice(CITIES)]
    text = " ".join(parts)
    return text[0].upper() + text[1:] + rng.choice((".", ".", ".", "!", "?", ";", ":"))


def _third(verb: str) -> str:
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s")


def _past(verb: str) -> str:
    return verb + ("d" if verb.endswith("e") else "ed")


def _gerund(verb: str) -> str:
    return (verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb) + "ing"


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "sh", "ch", "x")) else "s")


def _record(rng: random.Random, depth: int) -> dict[str, object]:
    return {key: _value(rng, depth) for key in rng.sample(KEYS, rng.randint(2, 7))}


def _value(rng: random.Random, depth: int) -> object:
    if depth and rng.random() < 0.4:
        if rng.random() < 0.5:
            return _record(rng, depth - 1)
        return [_value(rng, depth - 1) for _ in range(rng.randint(0, 4))]
    date = f"{rng.randint(1990, 2035)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    name, surname = rng.choice(NAMES), rng.choice(SURNAMES)
    return rng.choice(
        (
            rng.randint(0, 9),
            rng.randint(0, 100000),
            round(rng.uniform(-1000, 1000), rng.randint(1, 4)),
            rng.random() < 0.5,
            None,
            name,
            f"{name} {surname}",
            f"{name.lower()}.{surname.lower()}@example.{rng.choice(('com', 'org', 'net'))}",
            rng.choice(CITIES),
            rng.choice(NOUNS),
            rng.choice(ADJECTIVES),
            _sentence(rng),
            date,
            f"{date}T{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}Z",
            f"https://www.example.{rng.choice(('com', 'org'))}/{rng.choice(NOUNS)}/{rng.randint(1, 999)}",
            f"+{rng.randint(1, 99)} {rng.randint(100, 999)} {rng.randint(1000, 9999)}",
            f"{rng.getrandbits(32):08x}-{rng.getrandbits(16):04x}",
            rng.choice(("active", "pending", "done", "red", "green", "blue", "low", "medium", "high", "EUR", "USD", "kg", "en", "de")),
        )
    )


def _program(rng: random.Random) -> str:
    noun, other, verb = rng.choice(NOUNS), rng.choice(NOUNS), rng.choice(VERBS)
    number = rng.randint(0, 99)
    return rng.choice(
        (
            f'def {verb}_{noun}({noun}: str, {other}: int = {number}) -> bool:\n    """{_sentence(rng)}"""\n    if {noun} is None:\n'
            f'        raise ValueError("{_sentence(rng)}")\n    for index, item in enumerate({other}):\n        self.{noun}.append(item[index] + {number})\n'
            f"    return {noun}.{verb}({other}) == {number} and not {other}\n\n",
            f"class {noun.title()}{other.title()}:\n    def __init__(self, {noun}, *args, **kwargs):\n        self.{noun} = {noun}\n        self._{other} = []\n\n",
            f'import {noun}\nfrom {other} import {verb} as {noun}_{verb}\n\nif __name__ == "__main__":\n    print(f"{{{noun}}}: {{{other}!r}}")\n',
            f"static int {noun}_{verb}(const char *{noun}, size_t {other})\n{{\n    for (int i = 0; i < {number}; i++) {{\n        if ({noun}[i] != '{noun[0]}') {{\n"
            f"            return -1; /* {_sentence(rng)} */\n        }}\n    }}\n    return {other} >= {number} ? 0 : 1;\n}}\n",
            f"SELECT {noun}, COUNT(*) AS total FROM {_plural(other)} WHERE {noun} = '{rng.choice(ADJECTIVES)}' AND {other}_id > {number} "
            f"GROUP BY {noun} ORDER BY total DESC LIMIT {number};\n",
            f"const {noun} = async ({other}) => {{\n  const response = await fetch(`/{noun}/${{{other}}}`);\n  return response.json();\n}};\n",
            f'<div class="{noun}"><a href="/{other}">{_sentence(rng)}</a></div>\n',
            f"# {noun.title()}\n\n- **{other}**: `{verb}`\n- {_sentence(rng)}\n\n| {noun} | {other} |\n|---|---|\n| {number} | {rng.randint(0, 9)} |\n\n",
            f"{noun}: {rng.choice(ADJECTIVES)}\n{other}:\n  - {verb}: {number}\n    {noun}: true\n",
            f'start: {noun}+\n{noun}: {other.upper()} ("," {other.upper()})*\n{other.upper()}: /[a-z]+/\n%ignore " "\n',
        )
    )
