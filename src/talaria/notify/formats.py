"""The formats, by the names they have in the configuration."""

from talaria.notify import dingtalk, feishu, slack, standard, wecom
from talaria.notify.post import Format

FORMATS: dict[str, Format] = {
    "json": standard.FORMAT,
    "feishu": feishu.FORMAT,
    "dingtalk": dingtalk.FORMAT,
    "wecom": wecom.FORMAT,
    "slack": slack.FORMAT,
}
