"""A server of Python's grpcio that behaves as the name in a request says."""

import collections
import concurrent.futures

import grpc

from wire import read, write

calls = collections.Counter()
told = collections.defaultdict(list)


def say_hello(request, context):
    name = read(request)
    mood, _, value = name.partition(":")
    if mood == "told":
        return write(f"{calls[value]} {','.join(told[value])}")
    metadata = dict(context.invocation_metadata())
    calls[name] += 1
    told[name].append(metadata.get("grpc-previous-rpc-attempts", "-"))
    before = calls[name] - 1
    if mood == "unavailable" and before < int(value):
        context.abort(grpc.StatusCode.UNAVAILABLE, "restarting")
    if mood == "pushback" and before < 1:
        context.set_trailing_metadata((("grpc-retry-pushback-ms", value),))
        context.abort(grpc.StatusCode.UNAVAILABLE, "busy")
    if mood == "late" and before < 1:
        # The head goes out before the failure is known.
        context.send_initial_metadata((("x-head", "sent"),))
        context.abort(grpc.StatusCode.UNAVAILABLE, "too late")
    if mood == "invalid":
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no")
    return write(f"hello after {before}")


def main():
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=4)
    server = grpc.server(pool)
    handler = grpc.unary_unary_rpc_method_handler(say_hello)
    methods = grpc.method_handlers_generic_handler("greeter.v1.Greeter", {"SayHello": handler})
    server.add_generic_rpc_handlers((methods,))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination(timeout=120)


main()
