"""Permission: the tool may be called by this principal."""

from talaria.tools.chain import CallContext, Proceed, ToolOutcome


async def permission(context: CallContext, proceed: Proceed) -> ToolOutcome:
    """Refuse a tool that takes a role which the principal does not have."""
    role = context.tool.permission
    if role and role not in context.run.principal.roles:
        return ToolOutcome(
            f"Not run: '{context.tool.name}' takes the role '{role}', which this user has not.", "refused"
        )
    return await proceed(context)
