"""grpcio's client with its own retryPolicy, before our tonic server."""

import json
import sys
import time

import grpc

from wire import read, write

CONFIG = {
    "methodConfig": [
        {
            "name": [{"service": "greeter.v1.Greeter"}],
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.01s",
                "maxBackoff": "0.02s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ]
}


def main():
    options = [("grpc.service_config", json.dumps(CONFIG)), ("grpc.enable_retries", 1)]
    with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}", options) as channel:
        method = channel.unary_unary("/greeter.v1.Greeter/SayHello")

        def say(name, timeout=5.0):
            return read(method(write(name), timeout=timeout))

        def fails(name, timeout=5.0):
            try:
                say(name, timeout)
            except grpc.RpcError as error:
                return error.code()
            raise AssertionError(f"{name} did not fail")

        # What our handler saw: its own attempts, and the deadline within the time of the call.
        assert say("unavailable:2") == "hello after 2", "three attempts"
        counts, left = say("told:unavailable:2").split(" ")
        assert counts == "-,1,2", counts
        assert all(0 < int(ms) <= 5000 for ms in left.split(",")), left
        print("grpcio's repeats arrive: previous attempts", counts, "deadlines in ms", left)

        began = time.monotonic()
        assert say("pushback:300") == "hello after 1"
        took = time.monotonic() - began
        assert took >= 0.3, took
        assert fails("pushback:-1") == grpc.StatusCode.UNAVAILABLE
        print(f"our pushback is obeyed: {took:.2f} s for 0.3, and none after -1")

        began = time.monotonic()
        assert fails("hang", timeout=0.3) == grpc.StatusCode.DEADLINE_EXCEEDED
        assert time.monotonic() - began < 2
        print("a handler that hangs ends with DEADLINE_EXCEEDED")


main()
