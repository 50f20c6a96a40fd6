"""Pictures and documents for tests, made by hand."""

import struct
import zlib


def png(width: int = 2, height: int = 2) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0\xff\0\0" * width for _ in range(height))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


GIF = (
    b"GIF89a\x03\x00\x02\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"
    b",\x00\x00\x00\x00\x03\x00\x02\x00\x00\x02\x03D\x02\x05\x00;"
)
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x04\x00\x00\xff\xc0\x00\x0b\x08\x00\x05\x00\x07\x01\x01\x11\x00\xff\xda\x00\x02\x00\xff\xd9"
)

WEBP = b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<I", 10) + b"\0" * 4 + b"\x08\0\0\x05\0\0"


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page."""
    numbers = [3 + 2 * at for at in range(len(pages))]
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>"}
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages))
    font = b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    for number, text in zip(numbers, pages, strict=True):
        drawn = b"BT /F1 12 Tf 10 100 Td (%s) Tj ET" % text.encode()
        box = b"/MediaBox [0 0 200 200]"
        objects[number] = b"<< /Type /Page /Parent 2 0 R %s /Resources %s /Contents %d 0 R >>" % (box, font, number + 1)
        objects[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn)
    out, places = b"%PDF-1.4\n", list[int]()
    for number in sorted(objects):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    table += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(out))
    return out + table + trailer
