"""The two messages of greeter.proto: one string each, below 128 bytes."""


def read(message):
    return message[2:].decode() if message else ""


def write(text):
    data = text.encode()
    return bytes([10, len(data)]) + data
