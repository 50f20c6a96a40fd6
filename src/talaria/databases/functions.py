"""The functions that a statement may call: those that make a value of their arguments, and reach nothing else."""

from typing import Final

from talaria.types.sql import Dialect

_COMMON = """
abs acos ascii asin atan atan2 avg ceil ceiling char_length character_length coalesce concat concat_ws cos cot count
cume_dist degrees dense_rank exp first_value floor format greatest json_array json_object lag last_value lead least
left length ln log log10 log2 lower lpad ltrim max min mod nth_value ntile nullif octet_length percent_rank pi pow power
radians rank replace reverse right round row_number rpad rtrim sign sin sqrt substr substring sum tan trim upper
"""
_POSTGRES = """
age array array_agg array_append array_cat array_length array_lower array_ndims array_position array_prepend
array_remove array_replace array_to_string array_upper bit_and bit_length bit_or bool_and bool_or btrim cardinality
cbrt chr clock_timestamp corr covar_pop covar_samp date_bin date_part date_trunc decode div encode every gcd
generate_series generate_subscripts grouping initcap isempty isfinite json_agg json_array_elements
json_array_elements_text json_array_length json_build_array json_build_object json_each json_each_text
json_extract_path json_extract_path_text json_object_agg json_object_keys json_typeof jsonb_agg jsonb_array_elements
jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text
jsonb_extract_path jsonb_extract_path_text jsonb_object_agg jsonb_object_keys jsonb_path_exists jsonb_path_query
jsonb_path_query_array jsonb_path_query_first jsonb_pretty jsonb_set jsonb_strip_nulls jsonb_typeof justify_days
justify_hours justify_interval lcm lower_inc make_date make_interval make_time make_timestamp make_timestamptz md5
mode now num_nonnulls num_nulls percentile_cont percentile_disc position quote_ident quote_literal random range_merge
regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array
regexp_split_to_table regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope repeat
row_to_json scale sha256 split_part starts_with statement_timestamp stddev stddev_pop stddev_samp string_agg
string_to_array strpos timezone to_char to_date to_json to_jsonb to_number to_timestamp to_tsquery to_tsvector
plainto_tsquery websearch_to_tsquery ts_rank transaction_timestamp translate trim_scale trunc unnest upper_inc var_pop
var_samp variance width_bucket
"""
_MYSQL = """
adddate addtime any_value bin bit_and bit_or bit_xor conv convert_tz crc32 curdate current_date current_timestamp
curtime date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear elt field find_in_set
from_base64 from_days from_unixtime get_format group_concat hex hour if ifnull inet_aton inet_ntoa instr isnull
json_arrayagg json_contains json_contains_path json_depth json_extract json_keys json_length json_objectagg
json_pretty json_quote json_search json_type json_unquote json_valid json_value last_day lcase locate makedate
maketime md5 microsecond mid minute month monthname now oct ord period_add period_diff position quarter quote rand
regexp_instr regexp_like regexp_replace regexp_substr repeat sec_to_time second sha1 sha2 soundex space std stddev
stddev_pop stddev_samp str_to_date strcmp subdate substring_index subtime sysdate time time_format time_to_sec timediff
timestamp timestampadd timestampdiff to_base64 to_days to_seconds truncate ucase unhex unix_timestamp utc_date
utc_timestamp var_pop var_samp variance week weekday weekofyear year yearweek
"""
_SQLITE = """
char date datetime glob group_concat hex ifnull iif instr json json_array_length json_each json_extract
json_group_array json_group_object json_quote json_tree json_type json_valid julianday like likely printf quote random
strftime time timediff total trunc typeof unhex unicode unixepoch unlikely
"""
FUNCTIONS: Final[dict[Dialect, frozenset[str]]] = {
    "postgres": frozenset((_COMMON + _POSTGRES).split()),
    "mysql": frozenset((_COMMON + _MYSQL).split()),
    "sqlite": frozenset((_COMMON + _SQLITE).split()),
}
_GRAMMAR = """
all and any as between by case cast convert cross cube distinct else except exists extract filter from full group
grouping having ilike in inner intersect interval is join lateral like limit match against materialized not offset
on or order over partition regexp rlike rollup row rows select sets separator similar some then to union using
values when where window with within xor collate binary char character varchar nchar decimal numeric dec float
double int integer bigint smallint tinyint bit time timestamp timestamptz datetime varbinary escape
"""
GRAMMAR: Final = frozenset(_GRAMMAR.split())
"""What may stand before '(' and is no function."""
