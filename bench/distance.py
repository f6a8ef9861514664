"""An API server that is farther away: a way to it on which everything takes a while longer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import yaml

_AT_ONCE = 64 * 1024


@asynccontextmanager
async def distant(kubeconfig: Path, seconds: float, directory: Path) -> AsyncIterator[Path]:
    """A kubeconfig for the same API server, with a round trip that is `seconds` longer."""
    config = yaml.safe_load(kubeconfig.read_text("utf-8"))
    (cluster,) = config["clusters"]
    near = urlsplit(cluster["cluster"]["server"])

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)  # opening a connection is a round trip of its own
        upstream = await asyncio.open_connection(near.hostname, near.port)
        await asyncio.gather(_late(reader, upstream[1], seconds / 2), _late(upstream[0], writer, seconds / 2))

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        cluster["cluster"]["server"] = near._replace(netloc=f"{near.hostname}:{port}").geturl()
        far = directory / "distant.kubeconfig"
        far.write_text(yaml.safe_dump(config), "utf-8")
        yield far


async def _late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Carries one direction to its end, each piece as late as the others: what follows is not held up twice."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def deliver() -> None:
        while True:
            due, piece = await pieces.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            if not piece:
                break
            writer.write(piece)
        writer.close()

    delivering = asyncio.create_task(deliver())
    piece = b"-"
    while piece:
        piece = b""
        with suppress(OSError):
            piece = await reader.read(_AT_ONCE)
        pieces.put_nowait((loop.time() + seconds, piece))
    await delivering
