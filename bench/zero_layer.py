"""Copies a GGUF model and zeroes the weights of one layer in the copy, for bench/quality_faults.py."""
import re
import shutil
import struct

SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
STRING, ARRAY = 8, 9


def tensors(file):
    """(name, first byte) of each tensor, by place, and the size of the file."""
    read = lambda form: struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))[0]
    text = lambda: file.read(read("Q")).decode()

    def skip(kind):
        if kind == STRING:
            text()
        elif kind == ARRAY:
            of, count = read("I"), read("Q")
            for _ in range(count):
                skip(of)
        else:
            file.seek(SCALARS[kind], 1)
        return None

    if file.read(4) != b"GGUF":
        raise ValueError("no GGUF file")
    read("I")
    count, pairs = read("Q"), read("Q")
    alignment = 32
    for _ in range(pairs):
        name, kind = text(), read("I")
        if name == "general.alignment":
            alignment = read("I")
        else:
            skip(kind)
    found = []
    for _ in range(count):
        name = text()
        for _ in range(read("I")):
            read("Q")
        read("I")
        found.append((read("Q"), name))
    start = -(-file.tell() // alignment) * alignment
    size = file.seek(0, 2)
    return sorted((start + at, name) for at, name in found), size


def zero_layer(model, out, layer):
    """How many tensors were zeroed."""
    shutil.copyfile(model, out)
    with open(out, "r+b") as file:
        places, size = tensors(file)
        ends = [at for at, _ in places[1:]] + [size]
        chosen = [(at, end) for (at, name), end in zip(places, ends) if re.match(rf"blk\.{layer}\.", name)]
        for at, end in chosen:
            file.seek(at)
            file.write(bytes(end - at))
    return len(chosen)
