"""A plugin with one tool that takes consent: it writes into a file to whom it sent a mail."""

PLUGIN = '''
from pathlib import Path

from talaria import tool


@tool(approval=True)
def send_mail(to: str) -> str:
    """Send a mail.

    Args:
        to: To whom.
    """
    with Path("sent").open("a") as sent:
        sent.write(f"{to}\\n")
    return f"sent to {to}"
'''
