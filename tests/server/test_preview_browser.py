"""A previewed page in a real browser: its own scripts work, and nothing of this server is within its reach."""

import pytest
from aiohttp import web

from tests.browser import browser
from tests.server.test_preview import shown

PAGE = """<!doctype html><title>start</title><link rel="stylesheet" href="style.css"><p id="p">x</p>
<script type="module" src="app.js"></script>"""
APP = """const asked = { method: 'PUT', headers: { 'content-type': 'application/json' } };
document.title = (await (await fetch('api', asked)).json()).a;"""


def typed(text: str, kind: str) -> web.Response:
    return web.Response(text=text, content_type=kind)


async def page(_: web.Request) -> web.Response:
    return typed(PAGE, "text/html")


async def app(_: web.Request) -> web.Response:
    return typed(APP, "text/javascript")


async def style(_: web.Request) -> web.Response:
    return typed("p { color: rgb(1, 2, 3) }", "text/css")


async def api(request: web.Request) -> web.Response:
    return web.json_response({"a": f"{request.method} {request.content_type}"})


ROUTES = (web.get("/", page), web.get("/app.js", app), web.get("/style.css", style), web.put("/api", api))
TRIED = {
    "fetch('/ai-api/sessions').then(() => 'read', () => 'refused')": "refused",
    "fetch('/ai-api/sessions', {credentials: 'include'}).then(() => 'read', () => 'refused')": "refused",
    "(() => { try { return document.cookie } catch (error) { return error.name } })()": "SecurityError",
    "(() => { try { return localStorage.length } catch (error) { return error.name } })()": "SecurityError",
    "(async () => { try { await navigator.serviceWorker.register('app.js'); return 'there' } "
    "catch (error) { return 'refused' } })()": "refused",
    "self.origin": "null",
}


@pytest.mark.service("chromium")
async def test_a_page_works_and_reaches_nothing_of_this_server() -> None:
    async with shown(*ROUTES) as it, browser() as tab:
        await tab.open(it.link)
        asked = "new Promise(done => setInterval(() => document.title !== 'start' && done(document.title), 20))"
        assert await tab.value(asked) == "PUT application/json"
        assert await tab.value("getComputedStyle(document.getElementById('p')).color") == "rgb(1, 2, 3)"
        assert {tried: await tab.value(tried) for tried in TRIED} == TRIED
