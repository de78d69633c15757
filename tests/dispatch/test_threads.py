"""First calls of several threads at once: functions learn the types that they serve from them."""

from __future__ import annotations

import subprocess
import sys

#: In a new process: elsewhere the functions have been called before.
FIRST_CALLS = """
import random, sys, threading
import numpy as np
import torch
import nestarray as na

sys.setswitchinterval(1e-6)  # a thread is interrupted wherever it can be
x = np.arange(1.0, 10.0).reshape(3, 3)
calls = {
    "add": lambda x: na.add(x, x),
    "add a number": lambda x: na.add(x, 2.0),
    "matmul": lambda x: na.matmul(x, x),
    "softmax": lambda x: na.softmax(x, axis=-1),
    "sort": lambda x: na.sort(x, axis=0, descending=True),
    "concat": lambda x: na.concat([x, x]),
    "reshape": lambda x: na.reshape(x, (-1,)),
    "where": lambda x: na.where(na.greater(x, 3.0), x, 0.0),
    "sum": lambda x: na.sum(x, axis=1),
    "operators": lambda x: (na.Container(x=x) * 2.0 + 1.0).x,
    "tree": lambda x: na.exp(na.Container(a={"b": x})).a.b,
    "normal": lambda x: na.random.normal(na.random.key(0), (3,)),
}
makers = (np.asarray, torch.from_numpy)
together = threading.Barrier(8)
found = []

def work(seed):
    order = random.Random(seed)
    together.wait()
    for _ in range(150):
        name, make = order.choice(list(calls)), order.choice(makers)
        given = make(x.astype(order.choice(["float32", "float64"])))
        try:
            found.append((name, type(given), na.to_backend(calls[name](given), "numpy")))
        except Exception as error:
            found.append((name, type(given), error))

threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == 8 * 150
wanted = {name: call(x) for name, call in calls.items()}
for name, kind, value in found:
    assert not isinstance(value, Exception), (name, kind, value)
    np.testing.assert_allclose(value, wanted[name], rtol=1e-5, err_msg=f"{name} {kind}")
"""


def test_functions_are_first_called_by_many_threads() -> None:
    run = subprocess.run(
        [sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
