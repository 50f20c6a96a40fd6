"""What can go wrong in a day: incidents with their alerts, their errors, a wrong first guess and the root cause."""

from typing import Final

import msgspec

from talaria.demo.records import Level, Severity

SERVICES: Final = ("payment-gateway", "order-service", "库存服务", "user-auth", "search-api", "物流追踪")
NOTES: Final = "oncall-notes"
"""The log that the people on call write: first guesses, and root causes once they are confirmed."""


class Symptom(msgspec.Struct, frozen=True, gc=False):
    """An alert that an incident sets off, once or several times."""

    service: str
    severity: Severity
    title: str


class Scenario(msgspec.Struct, frozen=True, gc=False):
    """An incident. The first symptom is where it began; `code` is the word that tells its cause from others."""

    symptoms: tuple[Symptom, ...]
    errors: tuple[tuple[str, str], ...]
    guess: str
    cause: str
    code: str


INCIDENTS: Final = (
    Scenario(
        (
            Symptom("payment-gateway", "critical", "支付成功率低于 95%"),
            Symptom("payment-gateway", "warning", "p99 latency above 3 s"),
            Symptom("order-service", "critical", "订单创建失败率高于 5%"),
        ),
        (
            ("payment-gateway", "HikariPool-1: connection is not available, request timed out after 30000 ms"),
            ("order-service", "调用 payment-gateway 超时: POST /v2/charge 504 Gateway Timeout"),
        ),
        "渠道侧 bank channel 抖动",
        "release 2.31.0 leaks database connections, HikariPool exhausted; rolled back to 2.30.4",
        "HikariPool",
    ),
    Scenario(
        (
            Symptom("user-auth", "critical", "TLS handshake failures above 50/min"),
            Symptom("user-auth", "warning", "登录成功率低于 99%"),
            Symptom("search-api", "warning", "upstream user-auth unavailable, serving anonymous results"),
        ),
        (
            ("user-auth", "tls: certificate has expired (CN=auth.internal, x509 error 10)"),
            ("search-api", "token introspection failed: user-auth 连接被重置"),
        ),
        "the load balancer drops connections",
        "内部证书 auth.internal 过期 (x509), cert-manager 续期任务被暂停; certificate renewed by hand",
        "x509",
    ),
    Scenario(
        (
            Symptom("库存服务", "critical", "库存扣减队列积压超过 10000"),
            Symptom("库存服务", "warning", "consumer lag above 120 s"),
            Symptom("order-service", "warning", "库存预占超时"),
            Symptom("物流追踪", "info", "发货单生成延迟"),
        ),
        (
            ("库存服务", "OOMKilled: container stock-consumer exceeded 512Mi, restart #{n}"),
            ("order-service", "reserve stock failed: deadline exceeded (库存服务, 2000 ms)"),
        ),
        "a slow query on the stock table",
        "大促导入任务一次读入全部 SKU, stock-consumer 反复 OOMKilled; memory limit raised, import now in batches",
        "OOMKilled",
    ),
    Scenario(
        (
            Symptom("search-api", "critical", "5xx rate above 10%"),
            Symptom("search-api", "warning", "搜索 p99 延迟高于 2 s"),
        ),
        (
            (
                "search-api",
                "elasticsearch: cluster_block_exception, index [goods-v7] read-only, disk watermark exceeded",
            ),
        ),
        "爬虫流量 crawler traffic",
        "goods-v7 节点磁盘写满, disk watermark 触发只读; old indices deleted, block lifted",
        "watermark",
    ),
    Scenario(
        (
            Symptom("物流追踪", "critical", "轨迹推送失败率高于 20%"),
            Symptom("物流追踪", "warning", "carrier callback queue above 5000"),
            Symptom("order-service", "info", "发货通知延迟"),
        ),
        (("物流追踪", "carrier webhook rejected: HTTP 429 Too Many Requests (顺丰 callback, attempt {n})"),),
        "DNS 解析超时",
        "retry storm: a config change set backoff to 0, the carrier answered 429; backoff restored to 30 s",
        "429",
    ),
)

FLAPPING: Final = (
    Symptom("search-api", "warning", "CPU usage above 85% (pod search-api-{n})"),
    Symptom("物流追踪", "info", "心跳丢失: tracker-{n}"),
    Symptom("user-auth", "warning", "redis replica lag above 5 s (replica-{n})"),
)

NOISE: Final[tuple[tuple[Severity, str], ...]] = (
    ("info", "定时任务 daily-settlement 执行超过 10 min"),
    ("info", "deployment finished, 3/3 replicas ready"),
    ("info", "证书将在 21 天后过期"),
    ("info", "autoscaled from {n} replicas"),
    ("warning", "disk usage above 80% on node-{n}"),
    ("warning", "GC pause above 500 ms"),
    ("warning", "慢查询: {n} ms"),
    ("warning", "健康检查失败 1 次, 已恢复"),
)

LINES: Final[tuple[tuple[Level, str], ...]] = (
    ("INFO", "GET /healthz 200 {n} ms"),
    ("INFO", "用户请求处理完成, trace={n}"),
    ("INFO", "cache refreshed, {n} entries"),
    ("WARN", "重试第 1 次: connection reset by peer"),
    ("WARN", "response took {n} ms, above the budget of 800 ms"),
    ("ERROR", "unhandled exception: NullPointerException at Handler.java:{n}"),
    ("ERROR", "参数校验失败: 手机号格式错误 (user {n})"),
    ("ERROR", "write failed: broken pipe"),
)

CHATTER: Final = (
    "交接班: 无遗留问题, all green",
    "夜班值守开始, pager 已切换",
    "changed the silence of staging alerts to 2 h",
    "周会纪要已更新",
)
