from __future__ import annotations

import os
import signal
from threading import Thread

import pytest

from ppro.compute.interrupts import CtrlC


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_waits_until_it_is_asked_for() -> None:
    with CtrlC() as ctrl_c:
        ctrl_c.check()
        press()
        with pytest.raises(KeyboardInterrupt):
            ctrl_c.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_one_does_not_wait() -> None:
    def press_twice() -> None:
        with CtrlC():
            press()
            press()

    with pytest.raises(KeyboardInterrupt):
        press_twice()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_somebody_else_stays() -> None:
    calls: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    try:
        with CtrlC() as ctrl_c:
            press()
            ctrl_c.check()
        assert calls == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_are_left_alone() -> None:
    def work() -> None:
        with CtrlC() as ctrl_c:
            ctrl_c.check()

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
