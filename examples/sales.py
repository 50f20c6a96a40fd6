"""Questions about business data, in English and Chinese: the agent reads a sales database, and can only read it."""

import asyncio
import re
import sqlite3
from pathlib import Path

from talaria import Agent, Runtime
from talaria.core.messages import ToolMessage, UserMessage
from talaria.testing.scripted_model import Call, Say, ScriptedModel

DATABASE = Path("sales.db")
SCHEMA = """
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, 名称 TEXT NOT NULL, price NUMERIC NOT NULL);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL REFERENCES products (id),
  region TEXT NOT NULL, pieces INTEGER NOT NULL, day TEXT NOT NULL
);
CREATE TABLE salaries (name TEXT, amount NUMERIC);
"""
PRODUCTS = [(1, "Tea", "茶", 12.5), (2, "Porcelain", "瓷器", 240), (3, "Silk", "丝绸", 80)]
REGIONS = ("华东", "华南", "华北", "Europe")


def make_database() -> None:
    """A year of orders, always the same."""
    DATABASE.unlink(missing_ok=True)
    orders = [
        (n, n % 3 + 1, REGIONS[n * 7 % 4], n * 13 % 9 + 1, f"2026-{n % 12 + 1:02}-{n * 5 % 28 + 1:02}")
        for n in range(1, 1201)
    ]
    with sqlite3.connect(DATABASE) as database:
        database.executescript(SCHEMA)
        database.executemany("INSERT INTO products VALUES (?, ?, ?, ?)", PRODUCTS)
        database.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", orders)
        database.execute("INSERT INTO salaries VALUES ('Wang Fang', 31000)")
    database.close()


QUESTIONS = {
    "Which product brought in the most in 2026?": (
        "SELECT p.name, sum(o.pieces * p.price) AS total FROM orders o JOIN products p ON p.id = o.product_id "
        "WHERE o.day LIKE '2026-%' GROUP BY p.id ORDER BY total DESC LIMIT 1"
    ),
    "各地区卖出多少件?": "SELECT region AS 地区, sum(pieces) AS 件数 FROM orders GROUP BY region ORDER BY 件数 DESC",
    "哪个月丝绸卖得最好?": (
        "SELECT substr(day, 1, 7) AS 月份, sum(pieces) AS 件数 FROM orders JOIN products p ON p.id = product_id "
        "WHERE p.名称 = '丝绸' GROUP BY 月份 ORDER BY 件数 DESC, 月份 LIMIT 1"
    ),
    "What do people earn?": "SELECT * FROM salaries",
    "Please delete the orders of May.": "DELETE FROM orders WHERE day LIKE '2026-05-%'",
}


def script(request):
    """What stands in for a model: it looks at the schema, asks one query, and says what that said."""
    messages = request.prompt.messages
    question = next(each.parts[0].text for each in messages if isinstance(each, UserMessage))
    results = [each.text for each in messages if isinstance(each, ToolMessage)]
    match len(results):
        case 0:
            return Call("database_schema", {"database": "sales"})
        case 1:
            return Call("query_database", {"database": "sales", "sql": QUESTIONS[question]})
        case _:
            return Say(re.search(r"^({.*}|QueryRefused: .*)$", results[-1], re.MULTILINE)[0])


analyst = Agent(
    "analyst",
    instructions="Answer from the database, in the language of the question. Say so when it does not hold the answer.",
    tools=["query_database", "database_schema"],
)
databases = {
    "sales": {
        "url": f"sqlite:///{DATABASE}",
        "tables": ["orders", "products"],
        "about": "orders and products, 订单与产品; prices in CNY",
    }
}


def runtime() -> Runtime:
    if Path("talaria.yaml").exists():  # which must have the same databases
        return Runtime(agents=[analyst])
    settings = {"store": {"url": "memory://"}, "databases": databases}
    return Runtime(settings, agents=[analyst], model=ScriptedModel(script=script))


async def main() -> None:
    make_database()
    async with runtime() as here:
        for question in QUESTIONS:
            result = await here.run(analyst, question)
            print(f"{question}\n{result.text}\n")


if __name__ == "__main__":
    asyncio.run(main())
