"""What this process may use of the machine: cores, and the instructions that int8 models gain from.

In: the files in which Linux tells it (quota, affinity, /proc/cpuinfo). Out: a number of cores, names of CPU
flags. It stands apart because the runtime's own default counts the host's cores: in a container with a quota of
two it would start dozens of threads that wait for one another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

INT8_FLAGS: Final = ("avx2", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8", "asimddp", "i8mm")
"""CPU flags that decide how fast, and on old ones how exactly, int8 products are computed."""


def usable_cores(cgroup_root: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")) -> int:
    """Return the cores that this process may use: the lesser of its affinity and its cgroup's quota, at least 1.

    A quota of 2.5 cores counts as 2: threads over the quota only make one another wait.
    """
    limits = [_count_affine_cores(), *_read_quotas(cgroup_root, membership)]
    return max(1, int(min(limits)))


def read_cpu_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> tuple[str, ...]:
    """Return those of `INT8_FLAGS` that the CPU has; empty where the system does not tell."""
    try:
        found = re.search(r"^(?:flags|Features)\s*:(.*)$", cpuinfo.read_text(), re.MULTILINE)
    except OSError:
        return ()
    present = found[1].split() if found else []
    return tuple(flag for flag in INT8_FLAGS if flag in present)


def _count_affine_cores() -> int:
    """Return how many cores this process is allowed on, or where the system has no affinity, how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_quotas(cgroup_root: Path, membership: Path) -> Iterator[float]:
    """Yield the quotas, in cores, of this process's cgroup and of all above it: the least one binds."""
    for folder in _list_cgroups(cgroup_root, membership):
        quota = _read_quota(folder)
        if quota is not None:
            yield quota


def _list_cgroups(cgroup_root: Path, membership: Path) -> Iterator[Path]:
    """Yield the folders of this process's cgroups, v2 and v1, up to the root.

    Inside a container the path in `membership` may be the host's, and the root already its own cgroup.
    """
    yield cgroup_root
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        own = PurePosixPath(path.lstrip("/"))
        yield from (cgroup_root / controllers / folder for folder in (own, *own.parents))


def _read_quota(folder: Path) -> float | None:
    """Return the quota set in one cgroup (v2: `cpu.max`, v1: `cpu.cfs_*`) in cores, or None where none is."""
    try:
        quota, period = (folder / "cpu.max").read_text().split()
    except OSError:
        try:
            quota = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return None
    return None if quota in ("max", "-1") else int(quota) / int(period)
