"""The stages of the chain, one a file, in the order in which a call meets them."""

from talaria.tools.chain import Stage
from talaria.tools.stages.approval import approval
from talaria.tools.stages.arguments import arguments
from talaria.tools.stages.breaker import breaker
from talaria.tools.stages.client import client
from talaria.tools.stages.fence import fence
from talaria.tools.stages.known import known
from talaria.tools.stages.limits import limits
from talaria.tools.stages.mask import mask
from talaria.tools.stages.once import once
from talaria.tools.stages.order import order
from talaria.tools.stages.permission import permission
from talaria.tools.stages.quota import quota
from talaria.tools.stages.retry import retry
from talaria.tools.stages.run import run
from talaria.tools.stages.timeout import timeout
from talaria.tools.stages.trim import trim

STAGES: tuple[Stage, ...] = (
    known,
    arguments,
    permission,
    limits,
    quota,
    approval,
    client,
    order,
    once,
    trim,
    mask,
    breaker,
    timeout,
    retry,
    fence,
    run,
)
