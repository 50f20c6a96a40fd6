"""Types of files: content first, names only where they agree."""

import io
import zipfile

import pytest

from talaria.artifacts.media import Media, media_of
from tests.artifacts.pictures import PNG

HTML = b"<!doctype html><script>alert(1)</script>"


def a_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", "b")
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "head", "media"),
    [
        ("a.png", PNG, Media("image/png")),
        ("a.html", PNG, Media("image/png")),
        ("a.png", HTML, Media("text/plain", "utf-8")),
        ("a.txt", HTML, Media("text/plain", "utf-8")),
        ("a", HTML, Media("text/plain", "utf-8")),
        ("a.HTML", HTML, Media("text/html", "utf-8")),
        ("a.pdf", HTML, Media("text/plain", "utf-8")),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", Media("image/svg+xml", "utf-8")),
        ("a.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", Media("text/plain", "utf-8")),
        ("a.txt", b"%PDF-1.4\n", Media("application/pdf")),
        ("a.csv", "姓名,分\n李,1\n".encode(), Media("text/csv", "utf-8")),
        ("a.csv", "姓名,分\n李,1\n".encode("gb18030"), Media("text/csv", "gb18030")),
        ("a.csv", "\ufeffa,b\n".encode(), Media("text/csv", "utf-8")),
        ("a.txt", "\ufeffh".encode("utf-16-le"), Media("text/plain", "utf-16")),
        ("a.json", b'{"a": 1}', Media("application/json", "utf-8")),
        ("a.txt", b"BM is how this text begins", Media("text/plain", "utf-8")),
        ("a.zip", a_zip(), Media("application/zip")),
        ("a.docx", a_zip(), Media("application/vnd.openxmlformats-officedocument.wordprocessingml.document")),
        ("a.html", a_zip(), Media("application/zip")),
        ("a.png", b"\0\1\2\3" * 9, Media("application/octet-stream")),
        ("a.html", b"\0" + HTML, Media("application/octet-stream")),
        ("a.pdf", b"\0\1\2", Media("application/octet-stream")),
        ("a.mp3", b"ID3\x03\0\0\0\0\0\0" + bytes(30), Media("audio/mpeg")),
        ("a.mp4", b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", Media("video/mp4")),
        ("a", b"", Media("text/plain", "utf-8")),
        ("a.txt", "李".encode() * 2730 + "李".encode()[:2], Media("text/plain", "utf-8")),
    ],
)
def test_a_file_is_what_its_content_says(name: str, head: bytes, media: Media) -> None:
    assert media_of(name, head) == media
