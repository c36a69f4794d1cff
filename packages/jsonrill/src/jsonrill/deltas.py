import copy


def apply_delta(previous, delta):
    value = copy.deepcopy(previous)
    for op, pointer, *rest in delta:
        steps = [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]
        if not steps:
            if op == "set":
                value = copy.deepcopy(rest[0])
            elif op == "append":
                value += rest[0]
            else:
                value = None
            continue
        at = value
        for s in steps[:-1]:
            at = at[int(s)] if isinstance(at, list) else at[s]
        k = steps[-1]
        k = int(k) if isinstance(at, list) else k
        if op == "set":
            if isinstance(at, list) and k == len(at):
                at.append(copy.deepcopy(rest[0]))
            else:
                at[k] = copy.deepcopy(rest[0])
        elif op == "append":
            at[k] += rest[0]
        elif op == "remove":
            del at[k]
    return value
