package hexcodes

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const (
	pageBytes = 65536
	maxIndex  = 64 << 20
	reachRows = 16 * 401
)

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

// compiled holds the machine code of every kernel, so that a second New compiles nothing.
var compiled = wazero.NewCompilationCache()

// Hexcodes is a kernel with its boundaries. It is free to use from any number of goroutines: each call takes an instance of the kernel from a
// pool, at most one for each processor that Go uses (GOMAXPROCS when it was made), some 6 MB each. More calls than instances wait.
type Hexcodes struct {
	ctx     context.Context
	runtime wazero.Runtime
	kernel  wazero.CompiledModule
	masks   []byte
	file    []byte
	index   indexMeta

	mutex  sync.Mutex
	given  sync.Cond
	idle   []*instance
	all    []*instance
	made   int
	most   int
	closed bool
}

// instance is one kernel with memory of its own; it serves one goroutine at a time.
type instance struct {
	ctx    context.Context
	memory api.Memory
	module api.Module
	// Addresses of its areas.
	input, output, textIn, reach, index uint32

	useReach, useIndex, encodeBatch, encodeOne, decodeBatch, readText, regionOf, locateBatch, unitOf, borderOf, neighbourOf api.Function

	stack    [4]uint64
	calls    atomic.Int64
	isBroken bool
}

// indexMeta is what the index file says of itself.
type indexMeta struct {
	Units []struct {
		Name  string
		Admin int
	}
	Bands [][2]*float64
	// Whether the units are the provinces before July 2025.
	areFormer bool
}

func (m *indexMeta) findFormer() {
	merged := map[string]int{}
	for admin, unit := range AdminUnits {
		for _, name := range unit.Merged {
			merged[name] = admin
		}
	}
	m.areFormer = len(m.Units) == len(merged)
	for _, unit := range m.Units {
		if admin, ok := merged[unit.Name]; !ok || admin != unit.Admin {
			m.areFormer = false
		}
	}
}

func (m *indexMeta) shareAt(metres int) float64 {
	for _, band := range m.Bands {
		if (band[0] == nil || float64(metres) < *band[0]) && band[1] != nil {
			return *band[1]
		}
	}
	return math.NaN()
}

// From makes a Hexcodes of three files of one build. The error says which of them cannot be used, and why.
func From(kernel, index, reach []byte) (*Hexcodes, error) {
	ctx := context.Background()
	h := &Hexcodes{
		ctx: ctx, runtime: wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(compiled)),
		file: index, most: runtime.GOMAXPROCS(0),
	}
	h.given.L = &h.mutex
	if err := h.load(kernel, reach); err != nil {
		_ = h.runtime.Close(ctx)
		return nil, err
	}
	return h, nil
}

func (h *Hexcodes) load(kernel, reach []byte) (err error) {
	if h.kernel, err = h.runtime.CompileModule(h.ctx, kernel); err != nil {
		return refused("kernel", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	masks, maskFault := masksOf(reach)
	h.masks = masks
	first, err := h.instantiate(maskFault)
	if err != nil {
		return err
	}
	at, size := int(binary.LittleEndian.Uint32(h.file[48:])), int(binary.LittleEndian.Uint32(h.file[52:]))
	if at > len(h.file) || size > len(h.file)-at || json.Unmarshal(h.file[at:at+size], &h.index) != nil {
		return refused("boundary index", "what it says of itself is damaged")
	}
	h.index.findFormer()
	h.idle, h.all, h.made = []*instance{first}, []*instance{first}, 1
	return nil
}

// Calls says how many calls of the kernel there were so far: a batch makes one for 4,096 points.
func (h *Hexcodes) Calls() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	calls := int64(0)
	for _, k := range h.all {
		calls += k.calls.Load()
	}
	return int(calls)
}

// Close waits for the calls under way and frees the memory. A call after it panics.
func (h *Hexcodes) Close() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.closed = true
	for len(h.idle) < h.made {
		h.given.Wait()
	}
	h.idle, h.made = nil, 0
	_ = h.runtime.Close(h.ctx)
}

// take gives an instance to one call.
func (h *Hexcodes) take() *instance {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for {
		if h.closed {
			panic("hexcodes: a call after Close")
		}
		if last := len(h.idle) - 1; last >= 0 {
			k := h.idle[last]
			h.idle = h.idle[:last]
			return k
		}
		if h.made < h.most {
			h.made++
			h.mutex.Unlock()
			k, err := h.instantiate(nil)
			h.mutex.Lock()
			if err == nil {
				h.all = append(h.all, k)
				return k
			}
			h.made--
			if h.made == 0 {
				panic(fmt.Sprintf("hexcodes: no further instance: %v", err))
			}
			// There is no memory for more.
			h.most = h.made
		}
		h.given.Wait()
	}
}

// give takes an instance back; one that has trapped is freed.
func (h *Hexcodes) give(k *instance) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if k.isBroken {
		h.made--
		_ = k.module.Close(h.ctx)
	} else {
		h.idle = append(h.idle, k)
	}
	if h.closed {
		h.given.Broadcast()
	} else {
		h.given.Signal()
	}
}

// instantiate makes an instance with the boundaries; maskFault, why the reach file cannot be used, comes after faults of the kernel.
func (h *Hexcodes) instantiate(maskFault error) (*instance, error) {
	module, err := h.runtime.InstantiateModule(h.ctx, h.kernel, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, refused("kernel", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	k := &instance{ctx: h.ctx, module: module}
	if err := k.load(h, maskFault); err != nil {
		_ = module.Close(h.ctx)
		return nil, err
	}
	return k, nil
}

func (k *instance) load(h *Hexcodes, maskFault error) error {
	if version := k.module.ExportedGlobal("ABI_VERSION"); version != nil && version.Get() != abiVersion {
		return refused("kernel", fmt.Sprintf("it has version %d of the kernel's interface, this build reads %d", version.Get(), abiVersion))
	}
	if k.memory = k.module.ExportedMemory("memory"); k.memory == nil {
		return refused("kernel", "it has no export memory")
	}
	var version, count, size uint32
	for name, at := range map[string]*uint32{
		"ABI_VERSION": &version, "CAPACITY": &count, "RECORD_BYTES": &size, "INPUT": &k.input, "OUTPUT": &k.output, "TEXT_IN": &k.textIn,
		"REACH": &k.reach, "INDEX": &k.index,
	} {
		global := k.module.ExportedGlobal(name)
		if global == nil {
			return refused("kernel", "it has no export "+name)
		}
		*at = uint32(global.Get())
	}
	for _, each := range []struct {
		name, types string
		call        *api.Function
	}{
		{"useReach", ">i32", &k.useReach}, {"useIndex", "i32>i32", &k.useIndex}, {"encodeBatch", "i32 i32>i32", &k.encodeBatch},
		{"encodeOne", "f64 f64 i32>i32", &k.encodeOne}, {"decodeBatch", "i32>i32", &k.decodeBatch}, {"readText", "i32>i32", &k.readText},
		{"regionOf", "f64 f64>i32", &k.regionOf}, {"locateBatch", "i32>", &k.locateBatch}, {"unitOf", "f64 f64>i32", &k.unitOf},
		{"borderOf", "f64 f64>i32", &k.borderOf}, {"neighbourOf", "f64 f64>i32", &k.neighbourOf},
	} {
		call := k.module.ExportedFunction(each.name)
		if call == nil {
			return refused("kernel", "it has no export "+each.name)
		}
		if typesOf(call.Definition()) != each.types {
			return refused("kernel", "it is of another build")
		}
		*each.call = call
	}
	if count != capacity || size != recordBytes {
		return refused("kernel", "it is of another build")
	}
	if maskFault != nil {
		return maskFault
	}
	k.memory.Write(k.reach, h.masks)
	if k.call(k.useReach) != 0 {
		return refused("reach", "a row names a province beyond the 34")
	}
	if len(h.file) > maxIndex {
		return refused("boundary index", "it is larger than 64 MiB")
	}
	if missing := int64(k.index) + int64(len(h.file)) - int64(k.memory.Size()); missing > 0 {
		if _, ok := k.memory.Grow(uint32((missing + pageBytes - 1) / pageBytes)); !ok {
			return refused("boundary index", "there is no memory for it")
		}
	}
	k.memory.Write(k.index, h.file)
	if refusal := k.call(k.useIndex, uint64(len(h.file))); refusal != 0 {
		return refused("boundary index", refusals[min(int(refusal), len(refusals)-1)])
	}
	return nil
}

// decode reads a text of at most 64 units.
func (k *instance) decode(units []uint16) (Decoded, bool) {
	area := k.bytes(k.textIn, 2*maxTextUnits)
	for i, unit := range units {
		binary.LittleEndian.PutUint16(area[2*i:], unit)
	}
	if k.call(k.readText, uint64(len(units))) != 0 {
		return Decoded{}, false
	}
	answer := k.bytes(k.output, 32+recordBytes)
	return Decoded{
		Lat:        math.Float64frombits(binary.LittleEndian.Uint64(answer)),
		Lng:        math.Float64frombits(binary.LittleEndian.Uint64(answer[8:])),
		Cell:       binary.LittleEndian.Uint64(answer[16:]),
		Resolution: int(answer[24]),
		Code:       textOf(answer[32:]),
	}, true
}

// putCode stores a code as a record of INPUT: its bytes where they fit, else its canonical text; "!", which is not a code, for no hexcode.
func (k *instance) putCode(record []byte, text string) {
	if len(text) > 0 && len(text) < recordBytes && strings.IndexByte(text, 0) < 0 {
		clear(record[copy(record, text):])
		bytes := binary.LittleEndian.Uint64(record) | binary.LittleEndian.Uint64(record[8:]) | uint64(binary.LittleEndian.Uint32(record[16:]))
		if bytes&0x8080808080808080 == 0 {
			return
		}
	}
	clear(record)
	record[0] = '!'
	if units, ok := unitsOf(text); ok {
		if found, ok := k.decode(units); ok {
			copy(record, found.Code)
		}
	}
}

// call calls an export; the kernel never traps on data.
func (k *instance) call(function api.Function, parameters ...uint64) uint32 {
	k.calls.Add(1)
	copy(k.stack[:], parameters)
	if err := function.CallWithStack(k.ctx, k.stack[:]); err != nil {
		k.isBroken = true
		panic(fmt.Sprintf("hexcodes: %s trapped: %v", function.Definition().Name(), err))
	}
	return uint32(k.stack[0])
}

// bytes is a view of the memory.
func (k *instance) bytes(at uint32, size int) []byte {
	view, ok := k.memory.Read(at, uint32(size))
	if !ok {
		panic("hexcodes: an area lies outside the memory")
	}
	return view
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
