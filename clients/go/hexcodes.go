// Package hexcodes turns positions in Viet Nam into short codes and back, in this process: the kernel of the service in WebAssembly, by
// wazero, without cgo, network or child process. Every answer is byte for byte that of the service (docs/kernel-abi.md).
//
// A *Hexcodes is free to use from any number of goroutines: it holds a pool of instances of the kernel, compiled once.
//
// Code: Apache-2.0. The boundaries inside: ODbL-1.0 (data/LICENSE). Contains information from OpenStreetMap, © OpenStreetMap contributors,
// ODbL 1.0.
package hexcodes

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
)

// DefaultResolution is that of the service: edges of about 4 m.
const DefaultResolution = 13

const (
	abiVersion   = 1
	capacity     = 4096
	recordBytes  = 20
	maxTextUnits = 64
	outside      = 255
	noBorder     = 65535
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

// Position is the answer of DecodeBatch to one text.
type Position struct {
	// Centre of the cell, degrees; NaN where the text is not a hexcode.
	Lat, Lng float64
	// H3 resolution, 0 to 15; -1 where the text is not a hexcode.
	Resolution int
}

// Certainty says how sure the province of a position is.
type Certainty struct {
	// Whole metres to the nearest border between two provinces; -1 beyond 5 km.
	BorderM int
	// The share of positions so far from a border whose province is right, 0 to 1; NaN where the boundaries have no shares.
	Share float64
	// Admin code of the province behind that border; empty beyond 5 km, and where sea or foreign land lies before it.
	Neighbour string
}

// New makes a Hexcodes with the boundaries of this package, which must be as they were packed. It takes some 60 ms of CPU the first time and
// a few after that: make one and keep it.
func New() (*Hexcodes, error) {
	for name, file := range map[string][]byte{"kernel.wasm": kernelFile, "index.bin": indexFile, "reach.bin": reachFile} {
		sum := sha256.Sum256(file)
		if !strings.Contains(sums, hex.EncodeToString(sum[:])+"  "+name) {
			return nil, fmt.Errorf("%s of the package was changed after it was packed", name)
		}
	}
	return From(kernelFile, indexFile, reachFile)
}

// Encode gives the hexcode of a position in degrees (WGS 84) at a resolution from 0 to 15.
// The error is ErrOutsideCoverage, ErrNotACoordinate or ErrBadResolution, with the values.
func (h *Hexcodes) Encode(lat, lng float64, resolution int) (string, error) {
	if resolution < 0 || resolution > 15 {
		return "", fmt.Errorf("%w, not %d", ErrBadResolution, resolution)
	}
	k := h.take()
	defer h.give(k)
	switch k.call(k.encodeOne, math.Float64bits(lat), math.Float64bits(lng), uint64(resolution)) {
	case 0:
		return textOf(k.bytes(k.output, recordBytes)), nil
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
	codes := make([]string, len(lats))
	err := h.batches(lats, lngs, func(k *instance, from, count int) {
		k.call(k.encodeBatch, uint64(count), uint64(resolution))
		// One text holds all codes of a call: a string for each would be an allocation for each.
		records := string(k.bytes(k.output, recordBytes*count))
		for i := 0; i < count; i++ {
			at := recordBytes * i
			end := at
			for end < at+recordBytes-1 && records[end] != 0 {
				end++
			}
			codes[from+i] = records[at:end]
		}
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

// batches hands the positions to the kernel, 4,096 at a time.
func (h *Hexcodes) batches(lats, lngs []float64, answer func(k *instance, from, count int)) error {
	if len(lats) != len(lngs) {
		return fmt.Errorf("lngs has as many positions as lats: %d, not %d", len(lngs), len(lats))
	}
	k := h.take()
	defer h.give(k)
	for from := 0; from < len(lats); from += capacity {
		count := min(capacity, len(lats)-from)
		points := k.bytes(k.input, 16*count)
		for i := 0; i < count; i++ {
			binary.LittleEndian.PutUint64(points[16*i:], math.Float64bits(lats[from+i]))
			binary.LittleEndian.PutUint64(points[16*i+8:], math.Float64bits(lngs[from+i]))
		}
		answer(k, from, count)
	}
	return nil
}

// Decode reads a hexcode in any spelling that docs/code-format.md allows; false for any other text. It never corrects one.
func (h *Hexcodes) Decode(text string) (Decoded, bool) {
	units, ok := unitsOf(text)
	if !ok {
		return Decoded{}, false
	}
	k := h.take()
	defer h.give(k)
	return k.decode(units)
}

// Check says whether Decode would accept a text.
func (h *Hexcodes) Check(text string) bool {
	_, ok := h.Decode(text)
	return ok
}

// DecodeBatch gives the position of each text, read as Decode does, one call of the kernel for 4,096 codes of at most 19 bytes.
func (h *Hexcodes) DecodeBatch(texts []string) []Position {
	positions := make([]Position, len(texts))
	k := h.take()
	defer h.give(k)
	for from := 0; from < len(texts); from += capacity {
		count := min(capacity, len(texts)-from)
		records := k.bytes(k.input, recordBytes*count)
		for i, text := range texts[from : from+count] {
			k.putCode(records[recordBytes*i:recordBytes*(i+1)], text)
		}
		k.call(k.decodeBatch, uint64(count))
		answers := k.bytes(k.output, 18*count)
		for i := 0; i < count; i++ {
			resolution := int(answers[16*count+i])
			if answers[17*count+i] != 0 {
				resolution = -1
			}
			positions[from+i] = Position{
				Lat:        math.Float64frombits(binary.LittleEndian.Uint64(answers[16*i:])),
				Lng:        math.Float64frombits(binary.LittleEndian.Uint64(answers[16*i+8:])),
				Resolution: resolution,
			}
		}
	}
	return positions
}

// Province gives the admin code of the province that holds a position in degrees; empty outside.
func (h *Hexcodes) Province(lat, lng float64) string {
	k := h.take()
	defer h.give(k)
	return codeOf(k.call(k.regionOf, math.Float64bits(lat), math.Float64bits(lng)))
}

// Provinces gives the admin code of the province of each position, empty outside. The error is that of slices of different lengths.
func (h *Hexcodes) Provinces(lats, lngs []float64) ([]string, error) {
	codes := make([]string, len(lats))
	err := h.batches(lats, lngs, func(k *instance, from, count int) {
		k.call(k.locateBatch, uint64(count))
		for i, admin := range k.bytes(k.output, count) {
			codes[from+i] = codeOf(uint32(admin))
		}
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}

// FormerProvince gives the province of a position before July 2025, named as in AdminUnit.Merged; empty outside, and everywhere with boundaries
// that lack those provinces.
func (h *Hexcodes) FormerProvince(lat, lng float64) string {
	k := h.take()
	defer h.give(k)
	unit := k.call(k.unitOf, math.Float64bits(lat), math.Float64bits(lng))
	if int(unit) >= len(h.index.Units) || !h.index.areFormer {
		return ""
	}
	return h.index.Units[unit].Name
}

// Certainty says how sure the province of a position in degrees is, and which other one it may be; false outside.
func (h *Hexcodes) Certainty(lat, lng float64) (Certainty, bool) {
	k := h.take()
	defer h.give(k)
	at := []uint64{math.Float64bits(lat), math.Float64bits(lng)}
	if k.call(k.regionOf, at...) == outside {
		return Certainty{}, false
	}
	metres := int(k.call(k.borderOf, at...))
	found := Certainty{BorderM: metres, Share: h.index.shareAt(metres), Neighbour: codeOf(k.call(k.neighbourOf, at...))}
	if metres == noBorder {
		found.BorderM = -1
	}
	return found, true
}

func codeOf(admin uint32) string {
	if admin >= uint32(len(AdminUnits)) {
		return ""
	}
	return AdminUnits[admin].Code
}

// unitsOf gives a text as UTF-16; false where it is longer than any hexcode.
func unitsOf(text string) ([]uint16, bool) {
	// No character has more bytes of UTF-8 than three times its units.
	if len(text) > 3*maxTextUnits {
		return nil, false
	}
	units := utf16.Encode([]rune(text))
	return units, len(units) <= maxTextUnits
}

func textOf(record []byte) string {
	text := record[:recordBytes-1]
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	return string(text)
}
