"""The vault of one tenant: a key for each class of content, and attachments of its own (chapter 4, §4.13)."""
from labsupport.outside.attachments import Attachments
from labsupport.outside.keys import Keys


class TenantVault:
    """What *tenant* keeps for its logs: keys named tenant/class in *keys*, and *attachments* that no other tenant shares.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Keys(f"{folder.name}/keys.db", root=bytes(32), clock=lambda: 5) as keys:
    ...     vault = TenantVault("clinic-a", keys, Attachments(f"{folder.name}/a", key=bytes(32)))
    ...     name, version, sealed = vault.seal("prompt", b"hi", "here")
    ...     name, vault.open(name, version, sealed, "here")
    ('clinic-a/prompt', b'hi')
    >>> folder.cleanup()

    A text that names the key of another tenant is refused with ValueError, before any key is looked at.
    """

    def __init__(self, tenant: str, keys: Keys, attachments: Attachments) -> None:
        self.tenant, self.keys, self.attachments = tenant, keys, attachments

    def seal(self, kind: str, data: bytes, where: str) -> tuple[str, int, str]:
        """*data* under the tenant's newest key for *kind*: the key's name, its version, and the text."""
        name = f"{self.tenant}/{kind}"
        return (name, *self.keys.seal(name, data, where))

    def open(self, name: str, version: int, sealed: str, where: str) -> bytes:
        """What was sealed. KeyMissingError, SealError as in `Keys`."""
        if not name.startswith(f"{self.tenant}/"):
            raise ValueError(f"this was sealed for another tenant than {self.tenant!r}")
        return self.keys.open(name, version, sealed, where)

    def keep(self, data: bytes) -> str:
        """A reference to *data*."""
        return self.attachments.put(data)

    def get(self, ref: str) -> bytes:
        """What a reference stands for. Errors as in `Attachments`."""
        return self.attachments.get(ref)

    def has(self, kind: str, name: str, version: int = 0) -> bool:
        """Whether the key, or the attachment, *name* is there."""
        return self.keys.has(name, version) if kind == "key" else name in self.attachments.refs()
