"""URLs: read once, in one spelling; tricks are refused before anything is looked up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from talaria.core.errors import ConfigurationError, FetchRefused
from talaria.fetch import Listed, Rules, read_url


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("https://Example.COM", "https://example.com/"),
        ("HTTPS://example.com.:443/a", "https://example.com/a"),
        ("http://example.com:80", "http://example.com/"),
        ("http://example.com:8080/?q=1#part", "http://example.com:8080/?q=1"),
        ("https://example.com/a/../b/./c/", "https://example.com/b/c/"),
        ("https://example.com/a/%2E%2e/b/..", "https://example.com/"),
        ("https://example.com/../../etc", "https://example.com/etc"),
        ("https://example.com//a//b", "https://example.com//a//b"),
        ("https://example.com/价格?名=值", "https://example.com/%E4%BB%B7%E6%A0%BC?%E5%90%8D=%E5%80%BC"),
        ("https://example.com/100%", "https://example.com/100%25"),
        ("https://例子。测试/", "https://xn--fsqu00a.xn--0zwm56d/"),
        ("https://ｅｘａｍｐｌｅ．com/", "https://example.com/"),
        ("http://[2606:4700:4700:0::1111]:8080/", "http://[2606:4700:4700::1111]:8080/"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("https://a_b.example.com/", "https://a_b.example.com/"),
    ],
)
def test_a_url_has_one_spelling(text: str, normal: str) -> None:
    assert str(read_url(text)) == normal


@pytest.mark.parametrize(
    "text",
    [
        *("", "example.com", "//example.com/", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/"),
        *("javascript:alert(1)", "data:text/html,x", "http:///x", "http:example.com", "https://", "http://:80/"),
        *("http://user@example.com/", "http://user:pass@example.com/", "http://@example.com/", "http://a@b@c/"),
        *("http://example.com\\@evil.test/", "http:\\\\example.com/", "http://example.com/a b", " http://example.com"),
        *(
            "http://example.com\t.evil.test/",
            "http://exa\nmple.com/",
            "http://example.com/\r\nHost: evil",
            "http://a\x00b/",
        ),
        *(
            "http://exam\u200bple.com/",
            "http://example.com/\u202etxt",
            "http://a\xadb.com/",
            "http://example.com/\ud800",
        ),
        *("http://2130706433/", "http://0x7f.1/", "http://127.1/", "http://017700000001/", "http://0177.0.0.1/"),
        *(
            "http://127.0.0.1.5/",
            "http://1.2.3/",
            "http://1.2.3.04/",
            "http://0x7f000001/",
            "http://a.0x/",
            "http://256.1.1.1/",
        ),
        *(
            "http://①②⑦.⓪.⓪.①/",
            "http://１２７.0.0.1/",
            "http://127。0。0。1/",
            "http://[::1%25lo]/",
            "http://[fe80::1%lo]/",
        ),
        *("http://[::1/", "http://[]/", "http://[127.0.0.1]/", "http://[v1.x]/", "http://::1/", "http://[::1]x/"),
        *("http://example.com%2eevil.test/", "http://%31%32%37.0.0.1/", "http://a..b/", "http://.a/", "http://a../"),
        *(
            "http://-a.com/",
            "http://a*b.com/",
            "http://example.com:0/",
            "http://example.com:99999/",
            "http://example.com:x/",
        ),
        *(
            "http://example.com:８０/",
            f"http://{'a' * 64}.com/",
            f"http://{'a.' * 130}com/",
            "http://example.com/" + "a" * 9000,
        ),
        *("http://example.com℀/", "http://☃.net/", "http://xn--\u3042/", "http://a／b.com/", "http://example.com:+80/"),
    ],
)
def test_tricks_are_refused(text: str) -> None:
    with pytest.raises(FetchRefused):
        read_url(text)


HOSTS = st.from_regex(r"[a-z0-9.:\[\]%@\\/-]{1,40}", fullmatch=True) | st.text(max_size=20)


@given(st.sampled_from(["http://", "https://", "//", "HTTP://", ""]), HOSTS, st.text(max_size=30))
def test_the_client_reads_the_same_host_and_path_as_the_guard(scheme: str, host: str, rest: str) -> None:
    try:
        url = read_url(scheme + host + rest)
    except FetchRefused:
        return
    sent = URL(str(url), encoded=True)
    assert (sent.scheme, sent.raw_host, sent.port) == (url.scheme, url.host, url.port)
    assert (sent.raw_path, sent.raw_query_string, sent.user, sent.fragment) == (url.path, url.query, None, "")
    assert read_url(str(url)) == url


ALLOWED = Listed(["https://api.example.com/v1/"], "http.allow")


@pytest.mark.parametrize(
    "text",
    ["https://api.example.com/v1/x", "https://API.EXAMPLE.COM/v1/x?q=../", "https://api.example.com:443/v1/x"],
)
def test_what_is_on_the_list_may_be_asked(text: str) -> None:
    Rules(only=ALLOWED).check(read_url(text))


@pytest.mark.parametrize(
    "text",
    [
        *("http://api.example.com/v1/x", "https://api.example.com@10.0.0.5/v1/", "https://api.example.com:22/v1/"),
        *("https://api.example.com.evil.test/v1/", "https://evil-api.example.com/v1/"),
        *("https://evil.test/#@api.example.com/v1/", "https://api.example.com\\@evil.test/v1/"),
        *("https://api.example.com/v1/../admin", "https://api.example.com/v1/%2e%2e/admin"),
        *("https://api.example.com/v1/..%2fadmin", "https://api.example.com/v1x", "https://api.example.com/v1"),
        *("https://api.example.com/v1/%252e%252e%252fadmin", "https://api.example.com/v1/..%5cadmin"),
        *("https://2130706433/v1/", "https://0x7f.1/", "https://127.1/", "https://017700000001/", "https://[::1]/"),
        *("https://[::ffff:127.0.0.1]/", "https://①②⑦.⓪.⓪.①/", "https://localhost./", "https://аpi.example.com/v1/x"),
        *("https://api.example.com%2eevil.test/v1/", "https://api.example.com\t.evil.test/", "//api.example.com/v1/"),
        *("gopher://api.example.com/v1/", "https://api.example.com/v1/ HTTP/1.1\r\nHost: evil"),
    ],
)
def test_what_only_looks_like_it_may_not(text: str) -> None:
    with pytest.raises(FetchRefused):
        Rules(only=ALLOWED).check(read_url(text))


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("https://pypi.org/", True),
        ("http://PyPI.org./", True),
        ("https://pypi.org:8443/", False),
        ("https://a.pypi.org/", False),
        ("https://b.a.example.com/", True),
        ("https://example.com/", False),
        ("https://anexample.com/", False),
        ("http://api.test:8443/", True),
        ("https://api.test/", False),
        ("http://10.1.2.3/", True),
        ("http://[::ffff:10.1.2.3]/", True),
        ("http://10.2.0.1/", False),
        ("http://[fd00::1]:9000/", True),
        ("https://xn--fsqu00a.xn--0zwm56d/", True),
    ],
)
def test_a_list_may_name_hosts_domains_ports_and_networks(text: str, listed: bool) -> None:
    entries = ["pypi.org", "*.example.com", "api.test:8443", "10.1.0.0/16", "[fd00::1]:9000", "例子.测试"]
    assert Listed(entries, "http.allow").has(read_url(text)) is listed


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "*",
        "*.",
        "https://user@host/",
        "host:0",
        "host:x",
        "a b",
        ":443",
        "host:99999",
        "ftp://host/",
        "https://host/v1",
        "https://host/?q=1",
        "10.0.0.1/8",
        "127.1",
        "host/path",
        "a*.com",
        "*.*.com",
    ],
)
def test_what_is_no_host_is_told_at_the_start(entry: str) -> None:
    with pytest.raises(ConfigurationError, match=r"http\.allow: "):
        Listed([entry], "http.allow")
