# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Building the package fetches a part of Plotly's script, and does without it where that fails."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hockney.report import assets

ROOT = Path(__file__).parents[1]


@pytest.fixture
def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def registry(tmp_path: Path, hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The published archive, on a server of its own."""
    archive = tmp_path / f"registry/{hook.PACKAGE}/-/{hook.PACKAGE}-{hook.VERSION}.tgz"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as files:
        info = tarfile.TarInfo(hook.MEMBER)
        info.size = 6
        files.addfile(info, io.BytesIO(b"script"))
    digest = hashlib.sha512(archive.read_bytes()).digest()
    monkeypatch.setattr(hook, "SHA512", base64.b64encode(digest).decode())
    handler = partial(Quiet, directory=str(tmp_path / "registry"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setattr(hook, "REGISTRY", f"http://127.0.0.1:{server.server_address[1]}")
        yield archive
        server.shutdown()
        thread.join()


def built(hook: ModuleType, root: Path) -> list[str]:
    """What the build adds to the package."""
    (root / hook.TARGET).parent.mkdir(parents=True, exist_ok=True)
    data: dict[str, Any] = {"artifacts": []}
    hook.CustomBuildHook(str(root), {}, None, None, str(root), "wheel").initialize("standard", data)
    return data["artifacts"]


def test_the_published_part_becomes_a_part_of_the_package(hook: ModuleType, registry: Path, tmp_path: Path):
    assert built(hook, tmp_path) == [f"/{hook.TARGET}"]
    assert (tmp_path / hook.TARGET).read_bytes() == b"script"
    registry.unlink()
    assert built(hook, tmp_path) == [f"/{hook.TARGET}"]  # fetched once


def test_a_changed_archive_is_not_used(hook: ModuleType, registry: Path, tmp_path: Path):
    registry.write_bytes(registry.read_bytes() + b"\0")
    assert built(hook, tmp_path) == []
    assert not (tmp_path / hook.TARGET).exists()


def test_without_a_registry_the_package_is_built_without_it(hook: ModuleType, registry: Path, tmp_path: Path):
    registry.unlink()
    assert built(hook, tmp_path) == []
    hook.REGISTRY = "http://127.0.0.1:9"  # nobody listens
    assert built(hook, tmp_path) == []


def test_pages_contain_the_part_where_it_was_fetched(hook: ModuleType, registry: Path, tmp_path: Path):
    assert (ROOT / hook.TARGET).parent == Path(assets.__file__).parent  # where pages look for it
    part = tmp_path / hook.TARGET
    part.parent.mkdir(parents=True)
    complete = assets.script_file(part.parent)
    assert complete.name == "plotly.min.js" and complete.stat().st_size > 4_000_000
    built(hook, tmp_path)
    assert assets.script_file(part.parent) == part
