"""What a skill's files say of it. Pure."""

from talaria.core.errors import InvalidRequest
from talaria.core.skills import Skill
from talaria.skills.files import Entries, digest_of
from talaria.skills.skill_file import FILE, SkillFile, read_skill_file


def read_skill(entries: Entries, name: str) -> tuple[Skill, SkillFile]:
    """Return the skill that files are, which must be called `name`, and its SKILL.md.

    Raises:
        InvalidRequest: its SKILL.md breaks the specification, or has another name.
    """
    said = read_skill_file(entries[FILE].data)
    if said.name != name:
        raise InvalidRequest(f"{FILE} says that its name is '{said.name}', not '{name[:80]}'; they must be the same")
    return Skill(said.name, said.description, digest_of(entries), said.allowed_tools, said.compatibility), said
