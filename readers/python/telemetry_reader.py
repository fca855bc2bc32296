#!/usr/bin/env python3
"""Watches what a running program records, from its journal; needs nothing but Python 3.8.

As a script:

    python3 telemetry_reader.py --telemetry_path .telemetry/journal/0199….journal
    python3 telemetry_reader.py --telemetry_path .telemetry --jsonl --follow

As a module:

    with Tap(path) as tap:
        for record in tap.look():
            print(record["type"], record["timestamp"])

It maps the journal read-only and follows each lane with a cursor of its own: the program neither waits for
it nor can tell that it is there. If it is too slow it is overrun, and `tap.missed` says by how much. With
--jsonl it prints the same bytes as `telemetry tail --jsonl`.
"""

import argparse
import json
import mmap
import os
import stat
import struct
import sys
import time
from datetime import datetime
from decimal import Decimal, localcontext

MAGIC = int.from_bytes(b"TLMJRNL\0", "little")
VERSION = 1
PAGE_BYTES = 4096
HEADER_BYTES = 4 * PAGE_BYTES
RING = 64  # words in front of a lane's ring
HEAD, TAIL, COMMITTED = 0, 16, 17
FRAME_WORDS = 2
GAP, EVENT, SPILL = 7, 8, 0xFE
LANE_BLOCK, NAMES_BLOCK, TALLIES_BLOCK = 1, 2, 3
NAME_BYTES_MAX = 1 << 20
SPILL_BYTES_MAX = 1 << 30
MASK = (1 << 64) - 1

STATUS = {1: "SUBMITTED", 2: "WAITING", 3: "RUNNING", 4: "FINISHED", 5: "ERROR", 6: "UNKNOWN", 7: "CANCELLED",
          8: "INTERRUPTED"}
ERROR_KIND = {1: "err", 2: "panic"}
LEVEL = {0: "off", 1: "lightweight", 2: "data", 3: "telemetry", 4: "full"}
USED, GENERATED, RESULT, METADATA, STDERR, NAME = 1, 2, 3, 4, 5, 13
FIELDS = range(1, 16)


class JournalError(Exception):
    """What is wrong with a journal file."""


class Raw(str):
    """JSON text that is put into a line as it is."""


# Checksums ---------------------------------------------------------------------------------------------


def _fold(left, right):
    product = left * right
    return (product >> 64) ^ (product & MASK)


def checksum(seed, words):
    """The checksum of these words under this seed."""
    total, salt = seed, 0xA0761D6478BD642F
    for index in range(0, len(words), 2):
        second = words[index + 1] if index + 1 < len(words) else 0
        total = (total + _fold(words[index] ^ salt, second ^ 0xE7037ED1A0B428DB)) & MASK
        salt = (salt + 0x9E3779B97F4A7C15) & MASK
    mixed = _fold(total ^ 0xA0761D6478BD642F, len(words) ^ 0x9E3779B97F4A7C15)
    return (mixed >> 32) ^ (mixed & 0xFFFFFFFF)


# The journal -------------------------------------------------------------------------------------------


class _Words:
    """Part of a journal, as 64-bit words."""

    def __init__(self, file, offset, length, shared):
        self.length = length // 8
        if shared:
            # A mapping must begin at a page of this machine.
            extra = offset % mmap.ALLOCATIONGRANULARITY
            self.memory = mmap.mmap(file.fileno(), length + extra, access=mmap.ACCESS_READ, offset=offset - extra)
            self.view = memoryview(self.memory)[extra:extra + length]
        else:
            file.seek(offset)
            self.memory = None
            self.view = memoryview(file.read(length))
        self.words = self.view.cast("Q")

    def close(self):
        self.words.release()
        self.view.release()
        if self.memory is not None:
            self.memory.close()


class _Cursor:
    """How far a reader is in one lane."""

    def __init__(self, expected=None):
        self.position = 0
        self.expected = expected
        self.before = self.seen = self.missed = 0
        self.is_lost = False

    def jump(self, position):
        self.position, self.is_lost = position, True

    def is_at(self, sequence):
        if self.expected is None:
            self.before = max(sequence - self.seen - self.missed, 0)
        else:
            self.missed += max(sequence - self.expected, 0)
        self.expected, self.is_lost = sequence, False


class Tap:
    """Follows the journal of a process; that of a process which is gone is read as it was left."""

    def __init__(self, path):
        self.path = path
        self._blocks = 0
        self._lanes, self._names, self._entries, self._parsed = [], [], [], {}
        self._mapped = []
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise JournalError(f"{path}: {error.strerror}") from error
        self._file = os.fdopen(descriptor, "rb", buffering=0)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self):
        not_a_journal = JournalError(f"{self.path} is not a journal, or its header is damaged")
        facts = os.fstat(self._file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size < HEADER_BYTES:
            raise not_a_journal
        header = _Words(self._file, 0, HEADER_BYTES, False)
        words = header.words
        if words[0] != MAGIC:
            raise not_a_journal
        if words[1] > VERSION:
            raise JournalError(
                f"{self.path} is a journal of version {words[1]}; this program reads version {VERSION}")
        if words[1] != VERSION or words[12] != checksum(VERSION, words[:12].tolist()):
            raise not_a_journal
        self.ring, self.slack = words[9], words[10]
        if self.ring & (self.ring - 1) or not 0 < self.ring <= 1 << 27 or self.slack != self.ring // 8:
            raise not_a_journal
        self.id = words[2] << 64 | words[3]
        self.pid, self._started = words[4] & 0xFFFFFFFF, words[5]
        self._is_shared = self._is_alive()
        self._header = self._map(0, HEADER_BYTES) if self._is_shared else header
        self._refresh()
        for lane in self._lanes:
            self._begin(lane)

    def _map(self, offset, length):
        words = _Words(self._file, offset, length, self._is_shared)
        self._mapped.append(words)
        return words

    def _is_alive(self):
        """Whether the process still runs, as far as the process table tells."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                fields = file.read().rpartition(b") ")[2].split()
            return fields[0] not in (b"Z", b"X") and int(fields[19]) == self._started
        except (OSError, IndexError, ValueError):
            return False

    @property
    def is_over(self):
        """Whether nothing can come any more; one more look then sees the last of it."""
        return not self._is_shared or os.fstat(self._file.fileno()).st_nlink == 0 or not self._is_alive()

    seen = property(lambda self: sum(cursor.seen for _, cursor in self._lanes))
    missed = property(lambda self: sum(cursor.missed for _, cursor in self._lanes))
    before = property(lambda self: sum(cursor.before for _, cursor in self._lanes))

    def close(self):
        """Lets go of the journal."""
        for words in self._mapped:
            words.close()
        self._mapped = []
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _refresh(self):
        """Meets the blocks and names that were added."""
        words = self._header.words
        count = min(words[16], HEADER_BYTES // 8 - 256)
        while self._blocks < count:
            entry = words[256 + self._blocks]
            kind, pages, first = entry & 0xFF, entry >> 8 & 0xFFFFFF, entry >> 32
            if kind not in (LANE_BLOCK, NAMES_BLOCK, TALLIES_BLOCK):
                break
            self._meet(kind, pages * PAGE_BYTES, first * PAGE_BYTES)
            self._blocks += 1
        for block in self._names:
            self._read_names(block)

    def _meet(self, kind, length, offset):
        if os.fstat(self._file.fileno()).st_size < offset + length:
            raise JournalError(
                f"{self.path} is truncated: it names a block that ends behind the end of the file")
        expected = -(-(RING + self.ring + self.slack) // 512) * PAGE_BYTES
        if length == 0 or kind == LANE_BLOCK and length != expected:
            raise JournalError(f"{self.path} is not a journal, or its header is damaged")
        if kind == LANE_BLOCK:
            # The first frame of a lane that is younger than the reader is number 0.
            self._lanes.append((self._map(offset, length).words, _Cursor(0)))
        elif kind == NAMES_BLOCK:
            self._names.append([self._map(offset, length), 0])

    def _read_names(self, block):
        memory, position = block
        words = memory.words
        while position + 2 <= memory.length:
            first = words[position]
            length, kind = first & 0xFFFFFFFF, first >> 32 & 0xFF
            end = position + 2 + -(-length // 8)
            if first == 0 or length > NAME_BYTES_MAX or end > memory.length:
                break
            if words[position + 1] != checksum(kind, words[position + 2:end].tolist()):
                break
            start = (position + 2) * 8
            self._entries.append((kind, bytes(memory.view[start:start + length])))
            position = end
        block[1] = position

    def name(self, number, kind):
        """The entry of the name table with this number, if it is of this kind."""
        if number not in self._parsed and number < len(self._entries):
            found, text = self._entries[number]
            try:
                entry = json.loads(text)
            except ValueError:
                entry = None
            self._parsed[number] = (found, entry if isinstance(entry, dict) else None)
        found, entry = self._parsed.get(number, (0, None))
        return entry if found == kind else None

    # Following a lane: see ARCHITECTURE.md, "The journal". The order of the loads below is that of the
    # statements; the processors that this runs on do not reorder loads across a call of the interpreter.

    def _oldest(self, words):
        tail, head = words[TAIL], words[HEAD]
        lap = head & ~(self.ring - 1)
        return min(lap, tail) if self._is_out_of_reach(lap, head) else tail

    def _is_out_of_reach(self, position, head):
        return (head - position & MASK) + self.slack <= self.ring

    def _begin(self, lane):
        words, cursor = lane
        cursor.expected = None
        for _ in range(16):
            cursor.jump(self._oldest(words))
            head = words[HEAD]
            if cursor.position == head:
                self._settle(words, cursor)
            else:
                frame = self._copy(words, cursor.position, head)
                if isinstance(frame, tuple):
                    cursor.is_at(frame[0])
            if not cursor.is_lost:
                break

    def _settle(self, words, cursor):
        position = cursor.position
        if not cursor.is_lost:
            return
        if position == 0:
            cursor.is_at(0)
        elif words[TAIL] == position:
            committed = words[COMMITTED]
            if words[HEAD] == position:
                cursor.is_at(committed)

    def _copy(self, words, position, end):
        """The frame at this position; "overrun" if it was overwritten, none if it is no frame."""
        frame = self._copy_unchecked(words, position, end)
        tail, head = words[TAIL], words[HEAD]
        is_behind = (position - tail & MASK) >> 63
        if self._is_out_of_reach(position, head) or not is_behind:
            return frame
        return "overrun"

    def _copy_unchecked(self, words, position, end):
        start = RING + (position & self.ring - 1)
        head, sequence = words[start], words[start + 1]
        length, kind = head >> 40, head >> 32 & 0xFF
        if not FRAME_WORDS <= length <= self.slack:
            return None
        offset = position & self.ring - 1
        step = self.ring - offset if offset + length >= self.ring else length
        if step > (end - position & MASK):
            return None
        payload = words[start + FRAME_WORDS:start + length].tolist()
        if checksum(sequence ^ kind << 56, payload) != head & 0xFFFFFFFF:
            return None
        return sequence, position + step & MASK, kind, payload

    def _follow(self, lane, index, found, frames_max):
        words, cursor = lane
        head = words[HEAD]
        for _ in range(frames_max):
            if cursor.position == head:
                head = words[HEAD]
                if cursor.position == head:
                    self._settle(words, cursor)
                    return
            frame = self._copy(words, cursor.position, head)
            if frame == "overrun":
                head = words[HEAD]
                cursor.jump(self._oldest(words))
            elif frame is None or cursor.expected is not None and frame[0] < cursor.expected:
                cursor.jump(head)
            else:
                sequence, following, kind, payload = frame
                cursor.is_at(sequence)
                cursor.seen += 1
                cursor.position, cursor.expected = following, sequence + 1 & MASK
                found.append((index, sequence, kind, payload))

    def skip_to_end(self):
        """Passes over everything that is there."""
        for words, cursor in self._lanes:
            cursor.jump(words[HEAD])
            cursor.expected = None
            self._settle(words, cursor)

    def look(self, frames_max=1 << 20):
        """What was recorded since the last look, in the order in which it happened, as dicts."""
        self._refresh()
        found = []
        for index, lane in enumerate(self._lanes):
            self._follow(lane, index, found, frames_max)
        self._refresh()
        clock = self._clock()
        records = []
        for lane, sequence, kind, payload in found:
            kind, payload = self._spilled(kind, payload)
            record = self._record(kind, payload)
            if record is not None:
                ticks, members = record
                records.append((_unix_ns(clock, ticks), lane, sequence, members))
        records.sort(key=lambda record: record[:3])
        return [_stamped(at, members) for at, _, _, members in records]

    def _clock(self):
        words = self._header.words
        count = min(words[17], 64)
        return [tuple(words[64 + index * 3:67 + index * 3]) for index in range(count)]

    def _spilled(self, kind, payload):
        """The record of a frame that names a spill file."""
        if kind != SPILL or len(payload) != 3:
            return kind, payload
        number, packed, length = payload
        path = f"{os.path.splitext(self.path)[0]}.spill-{number}"
        try:
            if length * 8 > SPILL_BYTES_MAX or os.stat(path).st_size != length * 8:
                return kind, payload
            with open(path, "rb") as file:
                words = struct.unpack(f"<{length}Q", file.read())
        except (OSError, struct.error):
            return kind, payload
        if checksum(number, words) != packed >> 32:
            return kind, payload
        return packed & 0xFF, list(words)

    # Records: see record.rs.

    def _record(self, kind, words):
        reader = {1: self._task_start, 2: self._task_end, 3: self._task_update, 4: self._workflow_start, 5: self._workflow_end,
                  GAP: self._gap, EVENT: self._event}.get(kind)
        try:
            return reader(words) if reader else None
        except IndexError:
            return None

    def _event(self, words):
        ticks, bits, packed = words[0], words[1], words[2]
        rest, flags, kind = words[3:], packed >> 40 & 0xFF, packed >> 32 & 0xFF
        ids = []
        for flag in (1, 2):
            high, low = (rest[0], rest[1]) if flags & flag else (0, 0)
            rest = rest[2:] if flags & flag else rest
            ids.append(_id(high, low))
        if kind == 1:
            value = struct.unpack("<d", struct.pack("<Q", bits))[0]
        elif kind in (2, 3):
            value = bits - (1 << 64) if kind == 2 and bits >> 63 else bits
        else:
            return None
        series = self.name(packed & 0xFFFFFFFF, 4) or {}
        labels = series.get("labels") or {}
        return ticks, {
            "type": "event", "timestamp": None, "category": series.get("category", ""),
            "name": series.get("name", ""), "kind": series.get("kind", ""), "value": value,
            "unit": series.get("unit"), "labels": {key: labels[key] for key in sorted(labels)},
            "task_id": ids[0], "workflow_id": ids[1]}

    def _task_start(self, words):
        packed = words[7]
        flags, task, level = packed >> 56, _id(words[0], words[1]), LEVEL.get(packed >> 48 & 0xFF)
        length = 9
        for flag, size in ((1, 2), (2, 1)):
            if flags & flag:
                words[length + size - 1]
                length += size
        if task is None or level is None:
            return None
        activity = self.name(packed & 0xFFFFFFFF, 2) or {}
        thread = self.name(words[8] & 0xFFFFFFFF, 3) or {}
        used = _object(words[length:], activity.get("keys", []), (USED,))
        return words[6], {
            "type": "task_start", "timestamp": None, "activity_id": activity.get("activity_id"),
            "task_id": task, "parent_task_id": _id(words[2], words[3]),
            "workflow_id": _id(words[4], words[5]), "depth": packed >> 32 & 0xFFFF, "level": level,
            "thread": thread.get("name"), "used": used}

    def _task_end(self, words):
        packed, task = words[3], _id(words[0], words[1])
        status = STATUS.get(packed & 0xFF)
        length = 4
        if packed >> 16 & 2:
            words[length]
            length += 1
        if task is None or status is None:
            return None
        activity = self.name(packed >> 32, 2) or {}
        items = words[length:]
        return words[2], {
            "type": "task_end", "timestamp": None, "activity_id": activity.get("activity_id"), "task_id": task,
            "status": status, "error_kind": ERROR_KIND.get(packed >> 8 & 0xFF), "stderr": _last(items, STDERR),
            "generated": _object(items, activity.get("keys", []), (GENERATED, RESULT))}

    def _task_update(self, words):
        task, packed, items = _id(words[0], words[1]), words[3], words[4:]
        if task is None:
            return None
        activity = self.name(packed & 0xFFFFFFFF, 2) or {}
        keys = activity.get("keys", [])
        return words[2], {
            "type": "task_update", "timestamp": None, "activity_id": activity.get("activity_id"),
            "task_id": task, "used": _object(items, keys, (USED,)),
            "generated": _object(items, keys, (GENERATED,))}

    def _workflow_start(self, words):
        workflow, ticks = _id(words[0], words[1]), words[6]
        if workflow is None:
            return None
        return ticks, {
            "type": "workflow_start", "timestamp": None, "workflow_id": workflow, "name": _last(words[7:], NAME),
            "parent_workflow_id": _id(words[2], words[3]), "parent_task_id": _id(words[4], words[5])}

    def _workflow_end(self, words):
        workflow, status = _id(words[0], words[1]), STATUS.get(words[3] & 0xFF)
        if workflow is None or status is None:
            return None
        return words[2], {
            "type": "workflow_end", "timestamp": None, "workflow_id": workflow, "status": status}

    def _gap(self, words):
        return words[0], {"type": "gap", "timestamp": None, "dropped": words[2]}


def _id(high, low):
    if high == 0 and low == 0:
        return None
    digits = f"{high:016x}{low:016x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _unix_ns(clock, ticks):
    """The unix time in nanoseconds of a tick."""
    if not clock:
        return min(ticks, (1 << 63) - 1)
    after = 0
    low, high = 0, len(clock)
    while low < high:
        middle = (low + high) // 2
        if clock[middle][0] <= ticks:
            low = middle + 1
        else:
            high = middle
    after = low
    start, unix_ns, rate = clock[max(after - 1, 0)]
    unix_ns -= (unix_ns >> 63) << 64
    nanos = (ticks - start) * rate >> 32
    if not -(1 << 63) <= nanos < 1 << 63:
        nanos = (1 << 63) - 1
    return max(min(unix_ns + nanos, (1 << 63) - 1), -(1 << 63))


def _stamped(unix_ns, members):
    microseconds = unix_ns // 1000
    sign = "-" if microseconds < 0 else ""
    whole, part = divmod(abs(microseconds), 1_000_000)
    members["timestamp"] = Raw(f"{sign}{whole}.{part:06}")
    return members


# Values: see value.rs and json.rs ----------------------------------------------------------------------


class _Bytes:
    """Bytes that are taken from the front; too few of them are an IndexError."""

    def __init__(self, data, position=0):
        self.data, self.position = data, position

    def take(self, length):
        end = self.position + length
        if end > len(self.data):
            raise IndexError
        taken = self.data[self.position:end]
        self.position = end
        return taken

    def peek(self):
        return self.data[self.position]

    def varint(self):
        number = 0
        for shift in range(0, 64, 7):
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return number & MASK
        raise IndexError

    def prefixed(self):
        return self.take(self.varint())


def _skip(source):
    """Passes over one value, however deep it is."""
    depth = 0
    while True:
        tag = source.take(1)[0]
        if tag in (0x0C, 0x0D):
            depth += 1
        elif tag in (0x00, 0x0E, 0x19):
            if tag:
                source.varint()
            if tag == 0x19:
                source.prefixed()
            depth -= 1
            if depth < 0:
                raise IndexError
        else:
            _skip_scalar(tag, source)
        if depth == 0:
            return


def _skip_scalar(tag, source):
    if tag in (1, 2, 3, 0x16, 0x18) or 0x40 <= tag <= 0x7F:
        return
    if tag in (4, 5):
        source.varint()
    elif tag in (6, 7, 8, 9):
        source.take({6: 16, 7: 16, 8: 4, 9: 8}[tag])
    elif tag in (0x0F, 0x10):
        source.varint()
        source.prefixed()
    elif tag in (0x0A, 0x0B, 0x11, 0x12, 0x13, 0x14, 0x15, 0x17, 0x1B):
        source.prefixed()
    elif tag == 0x1A:
        source.varint()
        source.prefixed()
        source.prefixed()
    elif 0x80 <= tag <= 0xBF:
        source.take(tag - 0x80)
    else:
        raise IndexError


def _items(words):
    """The items of a record: field, key, bytes of the value. Ends early at bytes that are no item."""
    source = _Bytes(struct.pack(f"<{len(words)}Q", *words))
    try:
        while True:
            field = source.take(1)[0]
            if field not in FIELDS:
                return
            key = None
            if field in (USED, GENERATED, METADATA):
                index = source.varint()
                key = index - 1
                if index == 0:
                    key = _text_of(_value(source))
            yield field, key, _value(source)
    except (IndexError, UnicodeDecodeError):
        return


def _value(source):
    start = source.position
    _skip(source)
    return source.data[start:source.position]


def _text_of(value):
    tag = value[0]
    source = _Bytes(value, 1)
    if tag == 0x0A:
        return source.prefixed().decode()
    if 0x80 <= tag <= 0xBF:
        return value[1:].decode()
    raise IndexError


def _object(words, keys, fields):
    members = []
    for field, key, value in _items(words):
        if field not in fields:
            continue
        text = value_json(value)
        if isinstance(key, int):
            key = keys[key] if key < len(keys) else f"arg_{key}"
        elif key is None and value[0] == 0x0D:
            if text.startswith("{") and text.endswith("}"):
                members.append(text[1:-1])
            continue
        elif key is None:
            key = "result"
        members.append(f"{quoted(key)}:{text}")
    return Raw("{" + ",".join(member for member in members if member) + "}")


def _last(words, wanted):
    found = None
    for field, _, value in _items(words):
        if field == wanted:
            found = Raw(value_json(value))
    return found


def value_json(value):
    """A value in its binary form as JSON text."""
    source = _Bytes(value)
    try:
        return _json(source, 0, False)
    except IndexError:
        return "null"


def _json(source, depth, in_key):
    tag = source.peek()
    if tag in (0x0C, 0x0D):
        if depth >= 100:
            _skip(source)
            return '{"$cut":"depth"}'
        return _container(source, depth + 1, in_key)
    return _scalar(source)


def _container(source, depth, in_key):
    is_map = source.take(1)[0] == 0x0D
    parts = []
    while True:
        tag = source.peek()
        if tag in (0x00, 0x0E, 0x19):
            source.take(1)
            if tag:
                cut = _cut_items(source, tag)
                parts.append(cut if is_map else "{" + cut + "}")
            break
        if not is_map:
            parts.append(_json(source, depth, in_key))
            continue
        key = _key(source, depth, in_key)
        ends = source.peek() in (0x00, 0x0E, 0x19)
        parts.append(f"{key}:{'null' if ends else _json(source, depth, in_key)}")
    return ("{%s}" if is_map else "[%s]") % ",".join(parts)


def _cut_items(source, tag):
    total = source.varint()
    name = source.prefixed() if tag == 0x19 else b""
    suffix = f',"type":{quoted(name)}' if name else ""
    return f'"$cut":{{"items":{total - 1 if total else "null"}{suffix}}}'


def _key(source, depth, in_key):
    tag = source.peek()
    text = _plain(source)
    if text is not None:
        return '"' + ("$" if text[:1] == b"$" else "") + quoted(text)[1:]
    if in_key and tag in (0x0C, 0x0D):
        _skip(source)
        return quoted('{"$cut":"depth"}')
    return quoted(_json(source, depth, True))


def _plain(source):
    """A value that is a plain JSON string; none, and nothing is taken, for others."""
    start = source.position
    tag = source.take(1)[0]
    if 0x80 <= tag <= 0xBF:
        return source.take(tag - 0x80)
    if tag in (0x0A, 0x11):
        return source.prefixed()
    if tag == 0x15:
        path = source.prefixed()
        try:
            path.decode()
            return path
        except UnicodeDecodeError:
            pass
    source.position = start
    return None


def _scalar(source):
    text = _plain(source)
    if text is not None:
        return quoted(text)
    tag = source.take(1)[0]
    if tag in (1, 2, 3):
        return ("null", "false", "true")[tag - 1]
    if 0x40 <= tag <= 0x7F:
        return str(tag - 0x40)
    if tag == 4:
        zigzag = source.varint()
        return str(zigzag >> 1 ^ -(zigzag & 1))
    if tag in (5, 6, 7):
        number = source.varint() if tag == 5 else int.from_bytes(source.take(16), "little", signed=tag == 6)
        return f'{{"$int":"{number}"}}'
    if tag == 8:
        return float_json(struct.unpack("<f", source.take(4))[0], single=True)
    if tag == 9:
        return float_json(struct.unpack("<d", source.take(8))[0])
    if tag == 0x16:
        return '{"$cut":"depth"}'
    if tag == 0x18:
        return '{"$cut":"record"}'
    if tag in (0x0F, 0x10):
        length, kept = source.varint(), source.prefixed()
        shown = f'"text","preview":{quoted(kept)}' if tag == 0x0F else f'"bytes","hex":"{kept.hex()}"'
        return f'{{"$cut":{{"bytes":{length},"type":{shown}}}}}'
    if tag == 0x1A:
        items, name, preview = source.varint(), source.prefixed(), source.prefixed()
        known = f'"items":{items - 1},' if items else ""
        return f'{{"$cut":{{{known}"type":{quoted(name)},"preview":{quoted(preview)}}}}}'
    payload = source.prefixed()
    if tag == 0x1B:
        return _file(payload)
    if tag == 0x0B:
        return f'{{"$bytes":"{payload.hex()}"}}'
    if tag == 0x12:
        return f'{{"$cut":{{"type":"text","preview":{quoted(payload)}}}}}'
    if tag == 0x15:
        return f'{{"$path":{quoted(payload)},"$hex":"{payload.hex()}"}}'
    if tag in (0x13, 0x14, 0x17):
        return f'{{"${ {0x13: "type", 0x14: "error", 0x17: "redacted"}[tag]}":{quoted(payload)}}}'
    raise IndexError


def _file(payload):
    source = _Bytes(payload)
    path, state = source.prefixed(), source.take(1)[0]
    shown = quoted(path)
    try:
        path.decode()
    except UnicodeDecodeError:
        shown += f',"hex":"{path.hex()}"'
    if state in (0, 1, 2):
        shown += f',"state":"{("missing", "no file", "unreadable")[state]}"'
    elif state == 3:
        length, zigzag = source.varint(), source.varint()
        modified = float(zigzag >> 1 ^ -(zigzag & 1)) / 1e9
        rest = payload[source.position:]
        digest = f',"sha256":"{rest.hex()}"' if len(rest) == 32 else ""
        shown += f',"bytes":{length},"modified":{float_json(modified)}{digest}'
    else:
        raise IndexError
    return f'{{"$file":{{"path":{shown}}}}}'


# JSON --------------------------------------------------------------------------------------------------

_ESCAPES = {byte: f"\\u{byte:04x}" for byte in [*range(0x20), 0x7F]}
_ESCAPES.update({ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"})


def quoted(text):
    """A text, or bytes that may not be UTF-8, as a JSON string."""
    if isinstance(text, (bytes, bytearray)):
        text = text.decode("utf-8", "replace")
    return f'"{text.translate(_ESCAPES)}"'


def float_json(number, single=False):
    """A float in the shortest form that reads back the same; an object for what JSON lacks."""
    if number != number:
        return '{"$float":"NaN"}'
    if number in (float("inf"), float("-inf")):
        return '{"$float":"%s"}' % ("Infinity" if number > 0 else "-Infinity")
    sign = "-" if struct.pack(">d", number)[0] >> 7 else ""
    if number == 0:
        return f"{sign}0.0"
    digits, exponent = _shortest_single(abs(number)) if single else _digits(repr(abs(number)))
    point, highest, lowest = len(digits) + exponent, 13 if single else 16, -6 if single else -5
    if exponent >= 0 and point <= highest:
        return f"{sign}{digits}{'0' * exponent}.0"
    if 0 < point <= highest:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if lowest < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+}"


def _digits(text):
    """The digits of a decimal number, without zeros at the ends, and its exponent."""
    _, digits, exponent = Decimal(text).as_tuple()
    text = "".join(map(str, digits))
    stripped = text.rstrip("0")
    return stripped, exponent + len(text) - len(stripped)


def _shortest_single(number):
    """The fewest digits that read back as this single-precision number; of several, the nearest."""
    exact = Decimal(number)
    with localcontext() as context:
        context.prec = 200
        for precision in range(1, 10):
            unit = Decimal(1).scaleb(exact.adjusted() - precision + 1)
            below = (exact // unit) * unit
            near = [text for text in (below, below + unit) if _reads_back(text, number)]
            if near:
                # Of two that are equally near, the even one.
                return _digits(str(min(near, key=lambda text: (abs(text - exact), text / unit % 2))))
    raise AssertionError("nine digits are enough for any single-precision number")


def _reads_back(text, number):
    try:
        return struct.unpack("<f", struct.pack("<f", float(text)))[0] == number
    except OverflowError:
        return False


def to_json(record):
    """A record as one line of JSON."""
    return "{" + ",".join(f'"{key}":{_member(value)}' for key, value in record.items()) + "}"


def _member(value):
    if value is None:
        return "null"
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, float):
        return float_json(value)
    if isinstance(value, int):
        return str(value) if value < 1 << 63 else f'{{"$int":"{value}"}}'
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(key)}:{quoted(text)}" for key, text in value.items()) + "}"
    return quoted(value)


# The script --------------------------------------------------------------------------------------------


def to_block(record):
    """A record as a block of lines."""
    seconds, _, part = record["timestamp"].partition(".")
    moment = datetime.fromtimestamp(int(seconds)).strftime("%Y-%m-%d %H:%M:%S")
    lines = [f"Timestamp: {moment}.{part}"]
    if record["type"] == "event":
        title = "Event"
        lines += [f"Category: {record['category']}", f"Event: {record['name']}", f"Value: {_shown(record['value'])}"]
        if record["unit"]:
            lines.append(f"Unit: {record['unit']}")
        lines += [f"{key}: {value}" for key, value in record["labels"].items()]
    else:
        title = record["type"].replace("_", " ").title()
        lines += [f"{key}: {value}" for key, value in record.items()
                  if key not in ("type", "timestamp") and value is not None]
    return "\n".join([f"=== Telemetry {title} ===", *map(_visible, lines), "=" * 27, ""])


def _shown(value):
    return f"{float_json(value)}" if isinstance(value, float) else str(value)


def _visible(text):
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def find(path):
    """The journal at a path: the file itself, or the newest in a folder."""
    if not os.path.isdir(path):
        return path
    for folder in (os.path.join(path, "journal"), path):
        if os.path.isdir(folder):
            found = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".journal")]
            if found:
                return max(found, key=os.path.getmtime)
    raise JournalError(f"there is no journal in {path}")


def main():
    parser = argparse.ArgumentParser(description="Shows what a program records, while it runs.")
    parser.add_argument("--telemetry_path", required=True, metavar="PATH", help="a journal, or its folder")
    parser.add_argument("--jsonl", action="store_true", help="one line of JSON a record")
    parser.add_argument("--follow", action="store_true", help="go on until the program ends")
    arguments = parser.parse_args()
    show = to_json if arguments.jsonl else to_block
    try:
        with Tap(find(arguments.telemetry_path)) as tap:
            while True:
                is_last = not arguments.follow or tap.is_over
                for record in tap.look():
                    sys.stdout.buffer.write(show(record).encode("utf-8", "replace") + b"\n")
                sys.stdout.buffer.flush()
                if is_last:
                    break
                time.sleep(0.01)
            if tap.missed:
                print(f"missed {tap.missed} records: they came faster than they were read", file=sys.stderr)
    except JournalError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read has enough; nothing may be written when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
