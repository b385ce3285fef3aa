// Package hexcodes turns positions in Viet Nam into short codes and back, in this process: the kernel of the service in WebAssembly, by
// wazero, without cgo, network or child process. Every answer is byte for byte that of the service (docs/kernel-abi.md).
//
// Code: Apache-2.0. The boundaries inside: ODbL-1.0 (data/LICENSE). Contains information from OpenStreetMap, © OpenStreetMap contributors,
// ODbL 1.0.
package hexcodes

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"unicode/utf16"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// DefaultResolution is that of the service: edges of about 4 m.
const DefaultResolution = 13

const (
	abiVersion   = 1
	capacity     = 4096
	recordBytes  = 20
	maxTextUnits = 64
	pageBytes    = 65536
	maxIndex     = 64 << 20
	reachRows    = 16 * 401
)

// Why a position has no code.
var (
	ErrOutsideCoverage = errors.New("in no province of Viet Nam nor its sea")
	ErrNotACoordinate  = errors.New("not a position in degrees (lat -90 to 90, lng -180 to 180)")
	ErrBadResolution   = errors.New("a resolution is an integer from 0 to 15")
)

//go:embed data/kernel.wasm
var kernelFile []byte

//go:embed data/index.bin
var indexFile []byte

//go:embed data/reach.bin
var reachFile []byte

//go:embed data/SHA256SUMS
var sums string

var refusals = []string{
	"accepted",
	"the file is cut short, or its size is not the one it states",
	"this is not a boundary index",
	"the file has another format version than this build reads",
	"the checksum does not match: the file is damaged",
	"a number of the header is impossible",
	"the arcs do not follow the grammar",
	"the lines do not close: some row of the map ends inside a unit",
	"the index needs more than 64 MiB of memory",
}

// Decoded is the content of a hexcode.
type Decoded struct {
	// Centre of the cell, degrees.
	Lat, Lng float64
	// H3 resolution, 0 to 15.
	Resolution int
	// Canonical text.
	Code string
	// H3 cell.
	Cell uint64
}

// Hexcodes is a kernel with its boundaries. It serves one goroutine at a time: each makes its own, or they take turns.
type Hexcodes struct {
	// Calls of the kernel so far: one for 4,096 points.
	Calls   int
	ctx     context.Context
	runtime wazero.Runtime
	memory  api.Memory
	calls   map[string]api.Function
	at      map[string]uint32
	stack   [4]uint64
}

// New makes an instance with the boundaries of this package, which must be as they were packed.
func New() (*Hexcodes, error) {
	for name, file := range map[string][]byte{"kernel.wasm": kernelFile, "index.bin": indexFile, "reach.bin": reachFile} {
		sum := sha256.Sum256(file)
		if !strings.Contains(sums, hex.EncodeToString(sum[:])+"  "+name) {
			return nil, fmt.Errorf("%s of the package was changed after it was packed", name)
		}
	}
	return From(kernelFile, indexFile, reachFile)
}

// From makes an instance of three files of one build. The error says which of them cannot be used, and why.
func From(kernel, index, reach []byte) (*Hexcodes, error) {
	ctx := context.Background()
	h := &Hexcodes{ctx: ctx, runtime: wazero.NewRuntime(ctx), calls: map[string]api.Function{}, at: map[string]uint32{}}
	if err := h.load(kernel, index, reach); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// Close frees the memory of the instance.
func (h *Hexcodes) Close() { _ = h.runtime.Close(h.ctx) }

func (h *Hexcodes) load(kernel, index, reach []byte) error {
	module, err := h.runtime.Instantiate(h.ctx, kernel)
	if err != nil {
		return refused("kernel", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	if version := module.ExportedGlobal("ABI_VERSION"); version != nil && version.Get() != abiVersion {
		return refused("kernel", fmt.Sprintf("it has version %d of the kernel's interface, this build reads %d", version.Get(), abiVersion))
	}
	if h.memory = module.ExportedMemory("memory"); h.memory == nil {
		return refused("kernel", "it has no export memory")
	}
	for _, name := range []string{"ABI_VERSION", "CAPACITY", "RECORD_BYTES", "INPUT", "OUTPUT", "RESOLUTIONS", "TEXT_IN", "REACH", "INDEX"} {
		global := module.ExportedGlobal(name)
		if global == nil {
			return refused("kernel", "it has no export "+name)
		}
		h.at[name] = uint32(global.Get())
	}
	for name, types := range map[string]string{
		"useReach": ">i32", "useIndex": "i32>i32", "encodeBatch": "i32 i32>i32", "encodeOne": "f64 f64 i32>i32", "decodeBatch": "i32>i32", "readText": "i32>i32",
	} {
		call := module.ExportedFunction(name)
		if call == nil {
			return refused("kernel", "it has no export "+name)
		}
		if typesOf(call.Definition()) != types {
			return refused("kernel", "it is of another build")
		}
		h.calls[name] = call
	}
	if h.at["CAPACITY"] != capacity || h.at["RECORD_BYTES"] != recordBytes {
		return refused("kernel", "it is of another build")
	}
	masks, err := masksOf(reach)
	if err != nil {
		return err
	}
	h.memory.Write(h.at["REACH"], masks)
	if h.call("useReach") != 0 {
		return refused("reach", "a row names a province beyond the 34")
	}
	if len(index) > maxIndex {
		return refused("boundary index", "it is larger than 64 MiB")
	}
	if missing := int64(h.at["INDEX"]) + int64(len(index)) - int64(h.memory.Size()); missing > 0 {
		h.memory.Grow(uint32((missing + pageBytes - 1) / pageBytes))
	}
	h.memory.Write(h.at["INDEX"], index)
	if refusal := h.call("useIndex", uint64(len(index))); refusal != 0 {
		return refused("boundary index", refusals[min(int(refusal), len(refusals)-1)])
	}
	return nil
}

// Encode gives the hexcode of a position in degrees (WGS 84) at a resolution from 0 to 15.
// The error is ErrOutsideCoverage, ErrNotACoordinate or ErrBadResolution, with the values.
func (h *Hexcodes) Encode(lat, lng float64, resolution int) (string, error) {
	if resolution < 0 || resolution > 15 {
		return "", fmt.Errorf("%w, not %d", ErrBadResolution, resolution)
	}
	status := h.call("encodeOne", math.Float64bits(lat), math.Float64bits(lng), uint64(resolution))
	switch status {
	case 0:
		return textOf(h.bytes("OUTPUT", 0, recordBytes)), nil
	case 1:
		return "", fmt.Errorf("%w: lat %v, lng %v", ErrOutsideCoverage, lat, lng)
	default:
		return "", fmt.Errorf("%w: lat %v, lng %v", ErrNotACoordinate, lat, lng)
	}
}

// EncodeBatch gives the hexcode of each position, empty where it has none, one call of the kernel for 4,096.
// The error is ErrBadResolution, or that of slices of different lengths; never that of a position.
func (h *Hexcodes) EncodeBatch(lats, lngs []float64, resolution int) ([]string, error) {
	if resolution < 0 || resolution > 15 {
		return nil, fmt.Errorf("%w, not %d", ErrBadResolution, resolution)
	}
	if len(lats) != len(lngs) {
		return nil, fmt.Errorf("lngs has as many positions as lats: %d, not %d", len(lngs), len(lats))
	}
	codes := make([]string, len(lats))
	for from := 0; from < len(lats); from += capacity {
		count := min(capacity, len(lats)-from)
		points := h.bytes("INPUT", 0, 16*count)
		for i := 0; i < count; i++ {
			binary.LittleEndian.PutUint64(points[16*i:], math.Float64bits(lats[from+i]))
			binary.LittleEndian.PutUint64(points[16*i+8:], math.Float64bits(lngs[from+i]))
		}
		h.call("encodeBatch", uint64(count), uint64(resolution))
		// One text holds all codes of a call: a string for each would be an allocation for each.
		records := string(h.bytes("OUTPUT", 0, recordBytes*count))
		for i := 0; i < count; i++ {
			at := recordBytes * i
			end := at
			for end < at+recordBytes-1 && records[end] != 0 {
				end++
			}
			codes[from+i] = records[at:end]
		}
	}
	return codes, nil
}

// Decode reads a hexcode in any spelling that docs/code-format.md allows; false for any other text. It never corrects one.
func (h *Hexcodes) Decode(text string) (Decoded, bool) {
	if !h.read(text) {
		return Decoded{}, false
	}
	answer := h.bytes("OUTPUT", 0, 32+recordBytes)
	return Decoded{
		Lat:        math.Float64frombits(binary.LittleEndian.Uint64(answer)),
		Lng:        math.Float64frombits(binary.LittleEndian.Uint64(answer[8:])),
		Cell:       binary.LittleEndian.Uint64(answer[16:]),
		Resolution: int(answer[24]),
		Code:       textOf(answer[32:]),
	}, true
}

// Check says whether Decode would accept a text.
func (h *Hexcodes) Check(text string) bool { return h.read(text) }

func (h *Hexcodes) read(text string) bool {
	// No character has more bytes of UTF-8 than three times its units.
	if len(text) > 3*maxTextUnits {
		return false
	}
	units := utf16.Encode([]rune(text))
	if len(units) > maxTextUnits {
		return false
	}
	area := h.bytes("TEXT_IN", 0, 2*maxTextUnits)
	for i, unit := range units {
		binary.LittleEndian.PutUint16(area[2*i:], unit)
	}
	return h.call("readText", uint64(len(units))) == 0
}

// call calls an export; the kernel never traps on data.
func (h *Hexcodes) call(name string, parameters ...uint64) uint32 {
	h.Calls++
	copy(h.stack[:], parameters)
	if err := h.calls[name].CallWithStack(h.ctx, h.stack[:]); err != nil {
		panic(fmt.Sprintf("hexcodes: %s trapped: %v", name, err))
	}
	return uint32(h.stack[0])
}

// bytes is a view of an area.
func (h *Hexcodes) bytes(area string, offset, size int) []byte {
	view, ok := h.memory.Read(h.at[area]+uint32(offset), uint32(size))
	if !ok {
		panic("hexcodes: " + area + " lies outside the memory")
	}
	return view
}

func textOf(record []byte) string {
	text := record[:recordBytes-1]
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	return string(text)
}

func typesOf(function api.FunctionDefinition) string {
	names := func(types []api.ValueType) string {
		words := make([]string, len(types))
		for i, each := range types {
			words[i] = api.ValueTypeName(each)
		}
		return strings.Join(words, " ")
	}
	return names(function.ParamTypes()) + ">" + names(function.ResultTypes())
}

// masksOf gives the table of a reach file (docs/kernel-abi.md).
func masksOf(reach []byte) ([]byte, error) {
	if len(reach) < 16 || string(reach[:4]) != "HXRE" {
		return nil, refused("reach", "this is not a reach file")
	}
	if binary.LittleEndian.Uint32(reach[4:]) != 1 {
		return nil, refused("reach", "the file has another format version than this build reads")
	}
	rows := reach[16:]
	if uint64(len(rows)) != 10*uint64(binary.LittleEndian.Uint32(reach[8:])) {
		return nil, refused("reach", "the file is cut short or too long")
	}
	if crc32.ChecksumIEEE(rows) != binary.LittleEndian.Uint32(reach[12:]) {
		return nil, refused("reach", "the checksum does not match: the file is damaged")
	}
	masks := make([]byte, 8*reachRows)
	last := -1
	for ; len(rows) > 0; rows = rows[10:] {
		row, mask := int(binary.LittleEndian.Uint16(rows)), binary.LittleEndian.Uint64(rows[2:])
		head, pair := row/401, row%401
		if row <= last || row >= reachRows || pair == 400 || (pair > 0 && (head == 0 || head == 6 || head == 11)) {
			return nil, refused("reach", fmt.Sprintf("row %d is impossible or out of order", row))
		}
		if mask == 0 || mask>>34 != 0 {
			return nil, refused("reach", fmt.Sprintf("row %d names no province or one beyond the 34", row))
		}
		binary.LittleEndian.PutUint64(masks[8*row:], mask)
		last = row
	}
	return masks, nil
}

func refused(what, reason string) error {
	return fmt.Errorf("The %s cannot be used: %s", what, reason)
}
