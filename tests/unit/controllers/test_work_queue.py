"""Keys are worked on one at a time each, again when asked for meanwhile, and never lost."""

import asyncio

import pytest

from compozy.controllers.work_queue import WorkQueue

pytestmark = pytest.mark.unit


def test_a_key_is_worked_on_by_one_task_at_a_time_and_again_when_asked_for_meanwhile():
    async def scenario():
        started, gate, done = [], asyncio.Event(), []

        async def work(key):
            started.append(key)
            await gate.wait()
            done.append(key)

        queue = WorkQueue("test", work, 4)
        for _ in range(3):
            queue.add("a")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert started == ["a"]
        gate.set()
        await queue.until_quiet(0.0, 5.0)
        assert done == ["a", "a"]
        await queue.close()

    asyncio.run(scenario())


def test_a_failing_key_is_tried_again():
    async def scenario():
        tries = []

        async def work(key):
            tries.append(key)
            if len(tries) == 1:
                raise ValueError("once")

        queue = WorkQueue("test", work, 1)
        queue.add("a")
        while len(tries) < 2:
            await asyncio.sleep(0.01)
        await queue.close()
        return tries

    assert asyncio.run(asyncio.wait_for(scenario(), 10)) == ["a", "a"]


def test_later_is_overtaken_by_now():
    async def scenario():
        done = []

        async def work(key):
            done.append(key)

        queue = WorkQueue("test", work, 1)
        queue.add_later("a", 3600)
        queue.add("a")
        await queue.until_quiet(0.0, 5.0)
        await queue.close()
        return done

    assert asyncio.run(scenario()) == ["a"]


def test_whoever_waits_for_quiet_waits_no_longer_than_said():
    async def scenario():
        async def work(_):
            await asyncio.sleep(3600)

        queue = WorkQueue("test", work, 1)
        queue.add("a")
        await asyncio.sleep(0)
        await queue.until_quiet(0.0, 0.01)
        assert not queue.is_idle
        await queue.close()

    asyncio.run(asyncio.wait_for(scenario(), 10))
