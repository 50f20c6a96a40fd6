"""What an exception of a tool is called when the model is told."""

from talaria.core.text import valid_text


def words_of(error: Exception) -> str:
    """Return the exception's type and message, whatever it does when asked for them."""
    try:
        return valid_text(f"{type(error).__name__}: {error}")
    except Exception:  # noqa: BLE001 - the tool's own code
        return f"{type(error).__name__}, which cannot say what it is"
