package hexcodes

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
)

type vectors struct {
	Positions []struct {
		Lat, Lng   float64
		Resolution int
		Code       *string
		Status     string
	}
	Texts []struct {
		Text       string
		Code       *string
		Lat, Lng   *float64
		Resolution *int
	}
	Batches []struct {
		Count, Resolution, Failed int
		Sha256                    string
	}
	Damaged []struct {
		File    string
		Cut     *int
		Flip    *int
		Replace []string
		Refusal string
	}
}

func load(t testing.TB) *Hexcodes {
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func table(t *testing.T) vectors {
	content, err := os.ReadFile("../../test/vectors/doors.json")
	if err != nil {
		t.Fatal(err)
	}
	var found vectors
	if err := json.Unmarshal(content, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPositions(t *testing.T) {
	h := load(t)
	errorsByStatus := map[string]error{"OK": nil, "NOT_FOUND": ErrOutsideCoverage, "INVALID_REQUEST": ErrNotACoordinate}
	rows := table(t).Positions
	if len(rows) < 100 {
		t.Fatal("too few rows")
	}
	for _, row := range rows {
		wanted := ""
		if row.Code != nil {
			wanted = *row.Code
		}
		code, err := h.Encode(row.Lat, row.Lng, row.Resolution)
		if code != wanted || !errors.Is(err, errorsByStatus[row.Status]) {
			t.Errorf("%v, %v: %q %v, not %q %s", row.Lat, row.Lng, code, err, wanted, row.Status)
		}
		many, err := h.EncodeBatch([]float64{row.Lat}, []float64{row.Lng}, row.Resolution)
		if err != nil || many[0] != wanted {
			t.Errorf("%v, %v in a batch: %v %v", row.Lat, row.Lng, many, err)
		}
	}
}

func TestTexts(t *testing.T) {
	h := load(t)
	for _, row := range table(t).Texts {
		found, ok := h.Decode(row.Text)
		if ok != (row.Code != nil) || ok != h.Check(row.Text) {
			t.Errorf("%q: %v", row.Text, ok)
		} else if ok && (found.Code != *row.Code || found.Lat != *row.Lat || found.Lng != *row.Lng || found.Resolution != *row.Resolution) {
			t.Errorf("%q: %v", row.Text, found)
		}
	}
}

func TestBatches(t *testing.T) {
	h := load(t)
	for _, row := range table(t).Batches {
		lats, lngs := make([]float64, row.Count), make([]float64, row.Count)
		for i := range lats {
			lats[i] = 8 + float64(i*7919%150001)/10000
			lngs[i] = 102 + float64(i*104729%80021)/10000
		}
		before := h.Calls
		codes, err := h.EncodeBatch(lats, lngs, row.Resolution)
		if err != nil {
			t.Fatal(err)
		}
		if calls := (row.Count + 4095) / 4096; h.Calls-before != calls {
			t.Errorf("%d calls for %d points, not %d", h.Calls-before, row.Count, calls)
		}
		sum := sha256.Sum256([]byte(strings.Join(codes, "\n") + "\n"))
		if hex.EncodeToString(sum[:]) != row.Sha256 {
			t.Errorf("%d points at resolution %d: other codes", row.Count, row.Resolution)
		}
	}
	if _, err := h.EncodeBatch([]float64{1}, nil, 9); err == nil {
		t.Error("slices of different lengths are taken")
	}
	if _, err := h.EncodeBatch(nil, nil, 16); !errors.Is(err, ErrBadResolution) {
		t.Error("resolution 16 is taken")
	}
}

func TestDamagedFiles(t *testing.T) {
	for _, row := range table(t).Damaged {
		files := map[string][]byte{"kernel": kernelFile, "index": indexFile, "reach": reachFile}
		content := append([]byte{}, files[row.File]...)
		if row.Cut != nil {
			content = content[:*row.Cut]
		}
		if row.Flip != nil {
			content[*row.Flip] ^= 1
		}
		if row.Replace != nil {
			content = []byte(strings.Replace(string(content), row.Replace[0], row.Replace[1], 1))
		}
		files[row.File] = content
		h, err := From(files["kernel"], files["index"], files["reach"])
		if err == nil {
			h.Close()
		}
		if err == nil || !strings.Contains(err.Error(), row.Refusal) {
			t.Errorf("%v: %v", row, err)
		}
	}
}

func TestAChangedByteOfAnEmbeddedFile(t *testing.T) {
	for _, file := range [][]byte{kernelFile, indexFile, reachFile} {
		at := len(file) / 2
		file[at] ^= 1
		if _, err := New(); err == nil || !strings.Contains(err.Error(), "was changed") {
			t.Error(err)
		}
		file[at] ^= 1
	}
}

// Answers of the library that test/conformance/go.test.ts has written: f64 pairs and records of 20 bytes.
func TestAnswersOfTheLibrary(t *testing.T) {
	folder := os.Getenv("HEXCODES_ANSWERS")
	if folder == "" {
		t.Skip("HEXCODES_ANSWERS names no folder")
	}
	points, err := os.ReadFile(folder + "/points")
	if err != nil {
		t.Fatal(err)
	}
	records, err := os.ReadFile(folder + "/records")
	if err != nil {
		t.Fatal(err)
	}
	lats, lngs := make([]float64, len(points)/16), make([]float64, len(points)/16)
	for i := range lats {
		lats[i] = math.Float64frombits(binary.LittleEndian.Uint64(points[16*i:]))
		lngs[i] = math.Float64frombits(binary.LittleEndian.Uint64(points[16*i+8:]))
	}
	codes, err := load(t).EncodeBatch(lats, lngs, DefaultResolution)
	if err != nil {
		t.Fatal(err)
	}
	different := 0
	for i, code := range codes {
		if code != textOf(records[20*i:20*i+20]) {
			different++
		}
	}
	t.Logf("%d points", len(codes))
	if different > 0 || len(codes) == 0 {
		t.Errorf("%d of %d codes differ", different, len(codes))
	}
}

func BenchmarkEncodeBatch(b *testing.B) {
	h := load(b)
	lats, lngs := make([]float64, 40960), make([]float64, 40960)
	for i := range lats {
		lats[i], lngs[i] = 20.8+0.4*float64(i)/40960, 105.5+0.5*float64(i*7919%40960)/40960
	}
	b.Run("batch", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			_, _ = h.EncodeBatch(lats, lngs, DefaultResolution)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/40960, "ns/point")
	})
	b.Run("kernel", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			for n := 0; n < 10; n++ {
				h.call("encodeBatch", 4096, DefaultResolution)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/40960, "ns/point")
	})
}
