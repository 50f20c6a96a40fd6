"""What a model reads of a message with files."""

from talaria.core.messages import File, Image, Text, UserMessage
from talaria.models.shown import as_text, content_of

PLACED = UserMessage(
    (
        Text("Look."),
        Image("image/png", "QUJD", "art_1", "a.png", "/workspace/a.png"),
        File("b.csv", "text/csv", blob="art_2", place="/workspace/b.csv"),
        File("c.txt", text="inside", blob="art_3"),
        File("d.bin", "application/octet-stream", blob="art_4"),
    ),
    "[Sent]",
)


def test_a_model_that_sees_gets_pictures_and_reads_where_files_lie() -> None:
    said = content_of(PLACED, vision=True, text=lambda text: text, picture=lambda url: f"<{url[:14]}>")
    assert said == [
        "Look.",
        "<data:image/png>",
        "File b.csv:\n[it is /workspace/b.csv]",
        "File c.txt:\ninside",
        "File d.bin:\n[content of type application/octet-stream that cannot be shown here]",
        "[The image a.png is /workspace/a.png]",
        "[Sent]",
    ]


def test_one_that_does_not_see_reads_where_pictures_lie_too() -> None:
    assert "cannot be shown here]" in as_text(PLACED)
    assert "[The image a.png is /workspace/a.png]\n\n[Sent]" in as_text(PLACED)
