"""How many cores this process may use (C35), read from fake system files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proxy.nli.cpu import read_cpu_flags, usable_cores


@pytest.fixture(autouse=True)
def _sixteen_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the process be allowed on sixteen cores, whatever machine the test runs on."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text + "\n")


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("max 100000", 16), ("200000 100000", 2), ("250000 100000", 2), ("50000 100000", 1), ("6400000 100000", 16)],
)
def test_quota_of_a_container(tmp_path: Path, quota: str, cores: int) -> None:
    """C35: inside a container its own cgroup is the root; threads follow `cpu.max`, rounded down, at least one."""
    write(tmp_path, cpu__max=quota)
    assert usable_cores(tmp_path, tmp_path / "none") == cores


def test_affinity_under_the_quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C35: the lesser of quota and affinity counts."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    write(tmp_path, cpu__max="200000 100000")
    assert usable_cores(tmp_path, tmp_path / "none") == 1


def test_quota_above_the_own_cgroup(tmp_path: Path) -> None:
    """A service's cgroup is bound by those above it too: the least quota counts."""
    write(tmp_path / "system.slice" / "proxy.service", cpu__max="800000 100000")
    write(tmp_path / "system.slice", cpu__max="300000 100000")
    write(tmp_path, membership="0::/system.slice/proxy.service")
    assert usable_cores(tmp_path, tmp_path / "membership") == 3


@pytest.mark.parametrize(("quota", "cores"), [("400000", 4), ("-1", 16)])
def test_quota_of_version_one(tmp_path: Path, quota: str, cores: int) -> None:
    """Under cgroup v1 the quota is in the cpu controller's tree, beside other controllers that have none."""
    write(tmp_path, membership="5:memory:/pod\n4:cpu,cpuacct:/pod\n1:name=systemd:/pod\n0::/pod")
    write(tmp_path / "cpu,cpuacct" / "pod", cpu__cfs_quota_us=quota, cpu__cfs_period_us="100000")
    assert usable_cores(tmp_path, tmp_path / "membership") == cores


def test_no_cgroup_at_all(tmp_path: Path) -> None:
    """Without the files, affinity alone counts."""
    assert usable_cores(tmp_path / "none", tmp_path / "none") == 16


def test_no_affinity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Systems without affinity (macOS) count all cores."""
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    assert usable_cores(tmp_path, tmp_path / "none") == 12


@pytest.mark.parametrize(
    ("line", "flags"),
    [
        ("flags\t\t: fpu avx2 avx512f avx512_vnni", ("avx2", "avx512f", "avx512_vnni")),
        ("Features\t: fp asimddp i8mm", ("asimddp", "i8mm")),
        ("flags\t\t: fpu sse2", ()),
        ("model name\t: avx2", ()),
    ],
)
def test_cpu_flags(tmp_path: Path, line: str, flags: tuple[str, ...]) -> None:
    """Only flags that matter are named, on x86 and Arm."""
    write(tmp_path, cpuinfo=f"processor\t: 0\n{line}\n\nprocessor\t: 1\n{line}")
    assert read_cpu_flags(tmp_path / "cpuinfo") == flags


def test_cpu_flags_where_the_system_does_not_tell(tmp_path: Path) -> None:
    """No file, no flags, no error."""
    assert read_cpu_flags(tmp_path / "none") == ()
