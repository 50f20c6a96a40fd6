"""Values every part speaks in: messages, events, ids, errors, principal, usage, redaction, valid text. No I/O."""
