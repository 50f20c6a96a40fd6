"""`talaria serve` with logins: tokens of a provider, by the machine's own clock; and no public address without any."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import ask, talaria
from tests.cli.test_main import run
from tests.server.provider import identity_provider


async def test_a_token_of_the_provider_lets_in(tmp_path: Path) -> None:
    now = int(time.time())
    async with identity_provider() as idp:
        config: dict[str, Any] = {"store": {"url": "memory://"}, "auth": idp.auth()}

        def visit() -> tuple[list[int], str]:
            good = idp.token(exp=now + 600, iat=now)
            tokens = (good, idp.token(exp=now - 600, iat=now - 1200), idp.token("rsa-evil", exp=now + 600, iat=now))
            with talaria(tmp_path, config) as server:
                url = server.url()
                answers = [ask(url, "/ai-api/sessions", token=token) for token in tokens]
                return [each.status for each in answers], server.errors

        statuses, said = await asyncio.to_thread(visit)
        assert statuses == [200, 401, 401]
        assert f"jwt: tokens of {idp.issuer} for talaria" in said
        assert "Traceback" not in said


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_no_option_and_no_variable_opens_a_public_address_without_a_login(tmp_path: Path, host: str) -> None:
    for result in (
        run(tmp_path, "serve", "--port", "0", "--host", host),
        run(tmp_path, "serve", "--port", "0", TALARIA_SERVER__HOST=f"'{host}'"),
    ):
        assert (result.returncode, "auth.kind is none" in result.stderr) == (2, True)
