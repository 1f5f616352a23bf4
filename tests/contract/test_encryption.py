"""Contract of an encrypted Neo4j: what is trusted, and one clear line for what is not.

The server is one of its own (a start takes seconds), because it must refuse plain connections.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from regraph_kg.errors import StoreError
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests import install
from tests.contract.plans import plan
from tests.neo4j_server import prepared, running
from tests.requirement import require

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("encryption")]

CONF = """\
server.bolt.tls_level=REQUIRED
dbms.ssl.policy.bolt.enabled=true
dbms.ssl.policy.bolt.base_directory={folder}
dbms.ssl.policy.bolt.private_key=private.key
dbms.ssl.policy.bolt.public_certificate=public.crt
dbms.ssl.policy.bolt.client_auth=NONE
"""


def certificate(folder: Path) -> Path:
    """A self-signed certificate for 127.0.0.1, its key beside it."""
    folder.mkdir()
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    name = ["-subj", "/CN=tests", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    files = ["-keyout", "private.key", "-out", "public.crt"]
    command = ["openssl", "req", "-x509", *key, *name, *files]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "public.crt"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Settings, Path]]:
    """Settings of a running server that wants TLS, and its certificate."""
    reason = install.neo4j_missing()
    if reason is not None:
        require("neo4j", reason)
    if shutil.which("openssl") is None:
        require("neo4j", "openssl is not on PATH (it makes the certificate)")
    folder = tmp_path_factory.mktemp("encrypted")
    ca = certificate(folder / "certificates")
    settings = at(prepared(folder, more_conf=CONF.format(folder=ca.parent)), "bolt+ssc")
    with running(settings):
        yield settings, ca


@pytest.fixture
def encrypted(server: tuple[Settings, Path], monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of that server, whose certificate this process trusts."""
    settings, ca = server
    monkeypatch.setenv("SSL_CERT_FILE", str(ca))
    return settings


def at(settings: Settings, scheme: str) -> Settings:
    """The same server by another URI."""
    uri = f"{scheme}://{settings.store.partition('://')[2]}"
    return settings.model_copy(update={"store": uri})


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_trusted_certificate_and_one_that_is_not_checked_both_connect(
    scheme: str, encrypted: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_store(at(encrypted, f"{scheme}+s"))) as store:
        assert store.merge([plan(code=f"// {scheme}")]).added == 1
        assert store.stats().trajectories >= 1
    monkeypatch.delenv("SSL_CERT_FILE")
    with closing(open_store(at(encrypted, f"{scheme}+ssc"))) as store:
        assert store.stats().trajectories >= 1


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_certificate_that_nobody_vouches_for_is_one_line(
    scheme: str, encrypted: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate(tmp_path / "stranger")))
    with pytest.raises(StoreError, match=r"not trusted .*SSL_CERT_FILE") as caught:
        open_store(at(encrypted, f"{scheme}+s"))
    assert "\n" not in str(caught.value)


def test_a_certificate_for_another_name_is_one_line(encrypted: Settings) -> None:
    other = encrypted.store.replace("127.0.0.1", "localhost").replace("+ssc", "+s")
    with pytest.raises(StoreError, match=r"not trusted \(.*localhost.*REGRAPH_STORE\)"):
        open_store(encrypted.model_copy(update={"store": other}))


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_plain_connection_is_refused_with_the_way_to_an_encrypted_one(
    scheme: str, encrypted: Settings
) -> None:
    with pytest.raises(StoreError, match=r"if it wants TLS, say neo4j\+s://"):
        open_store(at(encrypted, scheme))


def test_an_encrypted_connection_to_a_plain_server_is_one_line(neo4j_settings: Settings) -> None:
    with pytest.raises(StoreError, match=r"no TLS there .*has no \+s"):
        open_store(at(neo4j_settings, "bolt+s"))
