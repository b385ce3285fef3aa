"""Loads kernel.wasm with its index and reach into wasmtime, and owns the addresses of its memory.

docs/kernel-abi.md says what each call reads and writes. A kernel is of one thread; the compiled module serves all threads.
"""

from __future__ import annotations

import ctypes
import json
import math
import struct
import zlib
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import wasmtime

from ._errors import HexcodesError

OK, OUTSIDE_COVERAGE, NOT_A_COORDINATE, INVALID_HEXCODE = range(4)
ABI_VERSION = 1
#: In place of an admin number or unit where there is none.
NONE = 255
#: A distance to a border beyond 5 km.
FAR = 65535
#: As a batch's resolution: each point its own.
EACH_ITS_OWN = 255
#: Longer texts are not hexcodes, in UTF-16 units.
MAX_TEXT_UNITS = 64
CAPACITY = 4096
RECORD_BYTES = 20

_PAGE_BYTES = 65536
_MAX_INDEX_BYTES = 64 << 20
_REACH_ROWS = 16 * 401
_REFUSALS = (
    "accepted",
    "the file is cut short, or its size is not the one it states",
    "this is not a boundary index",
    "the file has another format version than this build reads",
    "the checksum does not match: the file is damaged",
    "a number of the header is impossible",
    "the arcs do not follow the grammar",
    "the lines do not close: some row of the map ends inside a unit",
    "the index needs more than 64 MiB of memory",
)

#: The calls that are used: types of parameters, type of the result.
_CALLS = {
    "useReach": ("", "i32"),
    "useIndex": ("i32", "i32"),
    "encodeBatch": ("i32 i32", "i32"),
    "encodeCells": ("i32 i32", "i32"),
    "encodeOne": ("f64 f64 i32", "i32"),
    "decodeBatch": ("i32", "i32"),
    "readText": ("i32", "i32"),
    "readAscii": ("i32", "i32"),
    "regionOf": ("f64 f64", "i32"),
    "unitOf": ("f64 f64", "i32"),
    "locateBatch": ("i32", ""),
    "unitBatch": ("i32", ""),
    "borderOf": ("f64 f64", "i32"),
    "neighbourOf": ("f64 f64", "i32"),
    "borderBatch": ("i32", ""),
    "pack": ("i64 i32", "i32"),
}
_SINGLE = ("encodeOne", "readText", "readAscii", "regionOf", "unitOf", "borderOf", "neighbourOf", "pack")
_AREAS = ("INPUT", "OUTPUT", "RESOLUTIONS", "TEXT_IN", "REACH", "INDEX")


class Decoded(NamedTuple):
    """The content of a hexcode."""

    #: Centre of the cell, degrees.
    lat: float
    lng: float
    #: H3 resolution, 0 to 15.
    resolution: int
    #: Province of the position that the code was made from, which may not be that of the centre.
    admin_code: str
    #: Canonical text.
    hexcodes: str
    #: H3 cell.
    cell: int


#: What readAscii answers: degrees, cell, resolution, admin number and whether the text is canonical, as its canonical record at
#: _READ_RECORD is.
_READ = struct.Struct("<ddQBB?")
_READ_RECORD = 32
#: A text of ASCII and, in the slot after it, its length.
_TEXT = struct.Struct(f"<{MAX_TEXT_UNITS}sI12x")
put_text, get_read = _TEXT.pack_into, _READ.unpack_from
#: A position and a resolution, in the slots of encodeOne.
put_position = struct.Struct("<d8xd8xi12x").pack_into


class Compiled(NamedTuple):
    """A compiled kernel; it serves many threads."""

    engine: wasmtime.Engine
    module: wasmtime.Module


def compile_kernel(wasm: bytes) -> Compiled:
    """Compiles a kernel. Raises HexcodesError BAD_DATA for bytes that are not a module."""
    config = wasmtime.Config()
    # One thread is enough for 60 KiB, and no thread of a compiler can be lost by a fork.
    config.parallel_compilation = False
    try:
        engine = wasmtime.Engine(config)
        return Compiled(engine, wasmtime.Module(engine, bytes(wasm)))
    except (wasmtime.WasmtimeError, wasmtime.Trap) as error:
        raise _unusable(str(error).splitlines()[0]) from None


class Kernel:
    """One instance with its index and reach in use. Fill a view, call, read a view; every call overwrites the answers before it."""

    def __init__(self, compiled: Compiled, index: bytes, reach: bytes) -> None:
        """Raises HexcodesError BAD_DATA with the file that cannot be used, and why."""
        #: Calls of the module so far: one a batch of at most CAPACITY points.
        self.calls = 0
        self._store = wasmtime.Store(compiled.engine)
        try:
            exports: Any = wasmtime.Instance(self._store, compiled.module, []).exports(self._store)
        except (wasmtime.WasmtimeError, wasmtime.Trap) as error:
            raise _unusable(str(error).splitlines()[0]) from None
        self._require(exports)
        self._exports = {name: self._export(name, exports[name]) for name in _CALLS}
        at = {name: exports[name].value(self._store) for name in _AREAS}
        memory = exports["memory"]

        masks = _masks_of(bytes(reach))
        memory.write(self._store, masks, at["REACH"])
        if self.call("useReach") != 0:
            raise _refused("reach", "a row names a province beyond the 34")
        index = bytes(index)
        if len(index) > _MAX_INDEX_BYTES:
            raise _refused("boundary index", "it is larger than 64 MiB")
        missing = at["INDEX"] + len(index) - memory.data_len(self._store)
        if missing > 0:
            memory.grow(self._store, -(-missing // _PAGE_BYTES))
        if index:
            memory.write(self._store, index, at["INDEX"])
        refusal = self.call("useIndex", len(index))
        if refusal != 0:
            raise _refused("boundary index", _REFUSALS[refusal] if refusal < len(_REFUSALS) else f"refusal {refusal}")

        # Nothing grows the memory from here on, so this address stays.
        size = memory.data_len(self._store)
        address = ctypes.addressof(memory.data_ptr(self._store).contents)
        self._memory = (ctypes.c_ubyte * size).from_address(address)
        #: The whole memory, as bytes.
        self.bytes = memoryview(self._memory).cast("B")
        self.input_at, self.output_at = at["INPUT"], at["OUTPUT"]
        self.text_at, self.resolutions_at = at["TEXT_IN"], at["RESOLUTIONS"]
        self._units, self.bands = _description_of(index)
        self._views: Any = None
        text, output = address + self.text_at, address + self.output_at
        self._canonical = (ctypes.c_char * RECORD_BYTES).from_address(output)
        one = self._exports["encodeOne"]
        #: For Hexcodes.encode: `put_position` packs into the first, and the second is called with the third. Then the fourth is 0, unless
        #: the kernel trapped, and the value of the last is the code, empty where there is none.
        self.encoding = memoryview(one.slots).cast("B"), one.invoke, one.arguments, one.trap, self._canonical
        given, answer = ((ctypes.c_ubyte * size).from_address(at) for size, at in ((_TEXT.size, text), (_READ.size, output)))
        slot = (ctypes.c_ubyte * _SLOT_BYTES).from_buffer(given, MAX_TEXT_UNITS)
        read = self._export("readAscii", exports["readAscii"], slot)
        #: For Hexcodes.decode of ASCII in the same way: `put_text` packs into the first, `get_read` unpacks the fifth, NaN first for no
        #: code, and the value of the last is the canonical text.
        canonical = (ctypes.c_char * RECORD_BYTES).from_address(output + _READ_RECORD)
        self.decoding = memoryview(given).cast("B"), read.invoke, read.arguments, read.trap, memoryview(answer).cast("B"), canonical

    def read_beyond_ascii(self, text: str) -> int:
        """The status of readText, with its answer where `decoding` has it."""
        units = text[: MAX_TEXT_UNITS + 1].encode("utf-16-le", "surrogatepass")
        self.bytes[self.text_at : self.text_at + len(units)] = units
        return self.call("readText", len(units) >> 1)

    def encode_one(self, lat: float, lng: float, resolution: int) -> str:
        """The code of a position, and an empty text where it has none."""
        self.call("encodeOne", lat, lng, resolution)
        return self._canonical.value.decode("ascii")

    def call(self, name: str, *parameters: Any) -> int:
        """Calls an export. Counts the call."""
        self.calls += 1
        export = self._exports[name]
        export.layout.pack_into(export.slots, 0, *parameters)
        if export.invoke(*export.arguments) or export.trap:
            raise RuntimeError("the kernel trapped")
        return export.answer.value

    def pack(self, cell: int, admin: int) -> Optional[str]:
        """The code of an H3 cell within a province by its number; None if `decode_one` would accept none."""
        return None if self.call("pack", cell, admin) else self._canonical.value.decode("ascii")

    def certainty_at(self, metres: float) -> Optional[float]:
        """The share of right provinces at an answer of borderOf; None where the index has none."""
        return next((share for below, share in self.bands if metres < below), None)

    @property
    def views(self) -> Any:
        """The areas as NumPy arrays, made when first asked for: single calls need no NumPy."""
        if self._views is None:
            from ._views import Views

            self._views = Views(self)
        return self._views

    @property
    def units(self) -> Optional[List[Dict[str, Any]]]:
        """The units of the index by number: name and admin number; None where its description is damaged."""
        return self._units

    def _require(self, exports: Any) -> None:
        found = dict(exports.items())
        version = found.get("ABI_VERSION")
        if isinstance(version, wasmtime.Global) and version.value(self._store) != ABI_VERSION:
            raise _unusable(f"it has version {version.value(self._store)} of the kernel's interface, this build reads {ABI_VERSION}")
        if not isinstance(found.get("memory"), wasmtime.Memory):
            raise _unusable("it has no export memory")
        for name in ("ABI_VERSION", "CAPACITY", "RECORD_BYTES", *_AREAS):
            if not isinstance(found.get(name), wasmtime.Global):
                raise _unusable(f"it has no export {name}")
        for name, (parameters, result) in _CALLS.items():
            function = found.get(name)
            if not isinstance(function, wasmtime.Func):
                raise _unusable(f"it has no export {name}")
            kind = function.type(self._store)
            if [str(each) for each in kind.params] != parameters.split() or [str(each) for each in kind.results] != result.split():
                raise _unusable("it is of another build")
        sizes = (found["CAPACITY"].value(self._store), found["RECORD_BYTES"].value(self._store))
        if sizes != (CAPACITY, RECORD_BYTES):
            raise _unusable("it is of another build")

    def _export(self, name: str, function: Any, slots: Any = None) -> Export:
        """An export, by wasmtime's C interface where this release of wasmtime has it: 0.3 instead of 40 us a call."""
        parameters, results = (types.split() for types in _CALLS[name])
        layout = struct.Struct("<" + "".join(f"{_CODES[each]}{_SLOT_BYTES - struct.calcsize(_CODES[each])}x" for each in parameters))
        if slots is None:
            slots = (ctypes.c_ubyte * max(_SLOT_BYTES, layout.size))()
        answer = ctypes.c_uint32.from_buffer(slots) if results else ctypes.c_uint32()
        try:
            invoke, arguments, trap = _direct(self._store, function, slots, name in _SINGLE)
        except (AttributeError, ImportError, TypeError):
            arguments, trap = (), ctypes.c_uint64()

            def invoke() -> None:
                answer.value = function(self._store, *layout.unpack_from(slots)) or 0

        return Export(layout, slots, invoke, arguments, trap, answer)


class Export(NamedTuple):
    """A call of the module as wasmtime's C interface has it."""

    #: Of the parameters in their slots.
    layout: struct.Struct
    slots: Any
    #: Called with the arguments, it returns an error or None.
    invoke: Callable[..., Any]
    arguments: Tuple[Any, ...]
    #: The address of a trap after the call, else 0.
    trap: ctypes.c_uint64
    #: The result after the call: the first slot.
    answer: ctypes.c_uint32


#: Types of WebAssembly as struct has them.
_CODES = {"i32": "i", "i64": "q", "f64": "d"}
_SLOT_BYTES = 16


def _direct(store: Any, function: Any, slots: Any, is_short: bool) -> Tuple[Any, Tuple[Any, ...], ctypes.c_uint64]:
    """is_short: the interpreter's lock is held during the call, which takes 0.1 us of work."""
    from wasmtime import _bindings as c

    if ctypes.sizeof(c.wasmtime_val_raw_t) != _SLOT_BYTES:
        raise TypeError("values of another size")
    address: Any = ctypes.cast(getattr(c, "_wasmtime_func_call_unchecked"), ctypes.c_void_p).value
    invoke: Any = (ctypes.PYFUNCTYPE if is_short else ctypes.CFUNCTYPE)(ctypes.c_void_p)(address)
    trap = ctypes.c_uint64()
    # Arguments in the form in which ctypes passes them on, and a function without types of parameters: nothing is converted in a call.
    context = ctypes.c_void_p.from_param(ctypes.cast(store._context(), ctypes.c_void_p).value)
    count = ctypes.c_size_t.from_param(ctypes.sizeof(slots) // _SLOT_BYTES)
    return invoke, (context, ctypes.byref(function._func), ctypes.byref(slots), count, ctypes.byref(trap)), trap


def _masks_of(reach: bytes) -> bytes:
    """The table of a reach file (docs/kernel-abi.md): 16 x 401 masks of 64 bits."""
    if len(reach) < 16 or reach[:4] != b"HXRE":
        raise _refused("reach", "this is not a reach file")
    version, count, checksum = struct.unpack_from("<III", reach, 4)
    if version != 1:
        raise _refused("reach", "the file has another format version than this build reads")
    if len(reach) != 16 + 10 * count:
        raise _refused("reach", "the file is cut short or too long")
    if zlib.crc32(reach[16:]) != checksum:
        raise _refused("reach", "the checksum does not match: the file is damaged")
    masks = [0] * _REACH_ROWS
    last = -1
    for row, mask in struct.iter_unpack("<HQ", reach[16:]):
        head, pair = divmod(row, 401)
        if row <= last or row >= _REACH_ROWS or pair == 400 or (pair > 0 and head in (0, 6, 11)):
            raise _refused("reach", f"row {row} is impossible or out of order")
        if mask == 0 or mask >> 34:
            raise _refused("reach", f"row {row} names no province or one beyond the 34")
        masks[row] = mask
        last = row
    return struct.pack(f"<{_REACH_ROWS}Q", *masks)


#: Metres that a distance to a border is below, infinity for the last, and the share of positions whose province is right, 0 to 1.
Bands = List[Tuple[float, float]]


def _description_of(index: bytes) -> Tuple[Optional[List[Dict[str, Any]]], Bands]:
    """The units of an index, and its bands where somebody has measured them."""
    at, size = struct.unpack_from("<II", index, 48)
    try:
        found = json.loads(index[at : at + size].decode("utf-8"))
        bands = [(math.inf if below is None else float(below), float(share)) for below, share in found.get("bands", [])]
        return [{"name": str(unit["name"]), "admin": int(unit["admin"])} for unit in found["units"]], bands
    except (ValueError, KeyError, TypeError):
        return None, []


def _unusable(reason: str) -> HexcodesError:
    return _refused("kernel", reason)


def _refused(what: str, reason: str) -> HexcodesError:
    return HexcodesError("BAD_DATA", f"The {what} cannot be used: {reason}")
