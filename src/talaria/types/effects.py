"""Functions of SQL that do more than to read: they wait, lock, write, signal, reach files, or run SQL out of a text."""

import re

WAIT = r"pg_sleep\w*|sleep|benchmark|(master|source)_pos_wait|wait_(for|until)_\w+"
LOCK = r"pg_(try_)?advisory_\w+|get_lock|release_(all_)?locks?|service_\w+_locks"
WRITE = (
    r"nextval|setval|set_config|setseed|txid_current|pg_current_xact_id|pg_stat_reset\w*|pg_(create|drop|copy)_\w+"
    r"|pg_truncate_\w+|heap_force_\w+|brin_\w+|gin_clean_pending_list|pg_(logical|replication|sync_replication)_\w+"
    r"|pg_stat_\w+_reset|pg_(restore|clear|set)_\w+_stats|pg_nextoid|pg_prewarm|autoprewarm_\w+|binary_upgrade_\w+"
    r"|pg_stop_making_pinned_objects|pg_extension_config_dump|(create|attach|detach|drop)_(hyper|distributed_)\w+"
    r"|audit_log_\w+|keyring_\w+|version_tokens_\w+|masking_dictionary_\w+|innodb_\w+|(load|flush)_rewrite_rules"
    r"|(set|read)_firewall_\w+|mysql_firewall_\w+|firewall_\w+"
)
SIGNAL = (
    r"pg_notify|pg_(terminate|cancel)_backend|pg_log_\w+|pg_(reload|rotate|switch|promote|export)\w*"
    r"|pg_((start|stop)_)?backup\w*|pg_wal_replay_\w+|pg_import_\w+|(group_replication|asynchronous)_\w+"
)
FILES = (
    r"lo_\w+|loread|lowrite|pg_(read|ls|file)_\w+|pg_stat_file|load_file|load_extension|readfile|writefile|edit"
    r"|fsdir|lsdir|zipfile|query_export_to_s3|table_import_from_s3"
)
RUN = (
    r"dblink\w*|postgres_fdw_\w+|http\w*|(query|cursor)_to_xml\w*|ts_stat|ts_rewrite|crosstab\w*|connectby|eval"
    r"|sys_(exec|eval|set)|fts3_tokenizer|spider_\w+|mroonga_\w+|pg_background_\w+|run_command_on_\w+|master_run_on_\w+"
)
_EFFECTS = re.compile(f"{WAIT}|{LOCK}|{WRITE}|{SIGNAL}|{FILES}|{RUN}", re.IGNORECASE)


def has_effects(function: str) -> bool:
    """Whether a function of this name has effects in SQLite, PostgreSQL or MySQL, or in a usual extension of theirs."""
    return _EFFECTS.fullmatch(function) is not None
