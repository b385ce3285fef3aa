package hexcodes

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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
	content, err := os.ReadFile("testdata/doors.json")
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
		before := h.Calls()
		codes, err := h.EncodeBatch(lats, lngs, row.Resolution)
		if err != nil {
			t.Fatal(err)
		}
		if calls := (row.Count + 4095) / 4096; h.Calls()-before != calls {
			t.Errorf("%d calls for %d points, not %d", h.Calls()-before, row.Count, calls)
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

// One value, many goroutines: more than there are instances, every method, each answer that of one goroutine alone.
func TestManyGoroutines(t *testing.T) {
	h := load(t)
	const goroutines, positions = 32, 500
	lats, lngs := make([]float64, positions), make([]float64, positions)
	for i := range lats {
		lats[i], lngs[i] = 9+12*float64(i)/positions, 103+6*float64(i*211%positions)/positions
	}
	codes, err := h.EncodeBatch(lats, lngs, 12)
	if err != nil {
		t.Fatal(err)
	}
	provinces, err := h.Provinces(lats, lngs)
	if err != nil {
		t.Fatal(err)
	}
	places := h.DecodeBatch(codes)
	var group sync.WaitGroup
	for n := 0; n < goroutines; n++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := n % 7; i < positions; i += 7 {
				code, _ := h.Encode(lats[i], lngs[i], 12)
				found, ok := h.Decode(codes[i])
				if code != codes[i] || ok != (code != "") || (ok && found.Lat != places[i].Lat) || h.Province(lats[i], lngs[i]) != provinces[i] {
					t.Errorf("%v, %v: %q, not %q", lats[i], lngs[i], code, codes[i])
				}
				if _, ok := h.Certainty(lats[i], lngs[i]); ok != (provinces[i] != "") {
					t.Errorf("%v, %v: certainty %v", lats[i], lngs[i], ok)
				}
			}
			again, err := h.EncodeBatch(lats, lngs, 12)
			if err != nil || strings.Join(again, " ") != strings.Join(codes, " ") {
				t.Error("a batch has other codes", err)
			}
			if h.Suggest("HN-6GHP4-B3RFR", &Near{21.03, 105.85}, 1)[0].Code != "HN-6GHP4-83RFR" {
				t.Error("another suggestion")
			}
		}()
	}
	group.Wait()
	if len(h.all) > runtime.GOMAXPROCS(0) {
		t.Errorf("%d instances", len(h.all))
	}
}

// Close waits for calls under way, and a call after it says so.
func TestClose(t *testing.T) {
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	lats, lngs := make([]float64, 100_000), make([]float64, 100_000)
	done := make(chan error, 1)
	before := h.Calls()
	go func() {
		_, err := h.EncodeBatch(lats, lngs, 9)
		done <- err
	}()
	for h.Calls() == before {
		runtime.Gosched()
	}
	h.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	defer func() {
		if text, ok := recover().(string); !ok || !strings.Contains(text, "after Close") {
			t.Error(text)
		}
	}()
	h.Check("HN")
	t.Error("a call after Close")
}

func TestDecodeBatch(t *testing.T) {
	h := load(t)
	var texts []string
	for _, row := range table(t).Texts {
		texts = append(texts, row.Text)
	}
	for _, row := range table(t).Positions {
		if row.Code != nil {
			texts = append(texts, *row.Code)
		}
	}
	texts = append(texts, "", "\x00", "HN-6GHP4-83RFR\x00", strings.Repeat("x", 300), "\xff\xfe", "hn 6ghp4 83rfr with more after it")
	for len(texts) < 3*capacity {
		texts = append(texts, texts...)
	}
	for i, place := range h.DecodeBatch(texts) {
		found, ok := h.Decode(texts[i])
		if !ok {
			if place.Resolution != -1 || !math.IsNaN(place.Lat) || !math.IsNaN(place.Lng) {
				t.Fatalf("%q: %v", texts[i], place)
			}
		} else if place != (Position{found.Lat, found.Lng, found.Resolution}) {
			t.Fatalf("%q: %v, not %v", texts[i], place, found)
		}
	}
}

// The folder is copied by its users: nothing of it may reach outside.
func TestTheFolderStandsAlone(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), `"..`+`/`) {
			t.Errorf("%s reads outside of its folder", file)
		}
	}
}

// Answers of the library to questions one by one, which test/conformance/go-java.test.ts has written.
func TestSuggestionsAndProvincesOfTheLibrary(t *testing.T) {
	folder := os.Getenv("HEXCODES_ANSWERS")
	if folder == "" {
		t.Skip("HEXCODES_ANSWERS names no folder")
	}
	content, err := os.ReadFile(folder + "/answers.json")
	if err != nil {
		t.Fatal(err)
	}
	var answers struct {
		Provinces []struct {
			Lat, Lng         float64
			Province, Former *string
			BorderM          *int
			Certainty        *float64
			Neighbour        *string
		}
		Suggestions []struct {
			Text  string
			Near  []float64
			Limit int
			Found []struct {
				Hexcodes, Slip string
				DistanceM      *float64 `json:"distance_m"`
			}
		}
		AdminUnits []struct {
			Code, Name  string
			MergedUnits []string
		}
	}
	if err := json.Unmarshal(content, &answers); err != nil {
		t.Fatal(err)
	}
	h := load(t)
	text := func(given *string) string {
		if given == nil {
			return ""
		}
		return *given
	}
	for _, row := range answers.Provinces {
		if province := h.Province(row.Lat, row.Lng); province != text(row.Province) {
			t.Errorf("%v: %s", row, province)
		}
		if former := h.FormerProvince(row.Lat, row.Lng); former != text(row.Former) {
			t.Errorf("%v: %s", row, former)
		}
		found, ok := h.Certainty(row.Lat, row.Lng)
		wanted := -1
		if row.BorderM != nil {
			wanted = *row.BorderM
		}
		if ok != (row.Province != nil) || (ok && (found.BorderM != wanted || found.Share != *row.Certainty || found.Neighbour != text(row.Neighbour))) {
			t.Errorf("%v: %v %v", row, found, ok)
		}
	}
	for _, row := range answers.Suggestions {
		var near *Near
		if row.Near != nil {
			near = &Near{row.Near[0], row.Near[1]}
		}
		found := h.Suggest(row.Text, near, row.Limit)
		same := len(found) == len(row.Found)
		for i := 0; same && i < len(found); i++ {
			wanted := row.Found[i]
			same = found[i].Code == wanted.Hexcodes && string(found[i].Slip) == wanted.Slip &&
				(wanted.DistanceM == nil) == math.IsNaN(found[i].DistanceM) &&
				(wanted.DistanceM == nil || math.Abs(found[i].DistanceM-*wanted.DistanceM) < 1e-6)
		}
		if !same {
			t.Errorf("%q near %v: %v, not %v", row.Text, row.Near, found, row.Found)
		}
	}
	for i, unit := range AdminUnits {
		wanted := answers.AdminUnits[i]
		if unit.Code != wanted.Code || unit.Name != wanted.Name || strings.Join(unit.Merged, ",") != strings.Join(wanted.MergedUnits, ",") {
			t.Errorf("%v, not %v", unit, wanted)
		}
	}
	for _, near := range []Near{{105.85, 21.03}, {math.NaN(), 105.85}, {21.03, math.Inf(1)}} {
		if found := h.Suggest("HN-6GHP4-B3RFR", &near, 10); found != nil {
			t.Errorf("near %v: %v", near, found)
		}
	}
	others, err := os.ReadFile(folder + "/other-index")
	if err != nil {
		t.Fatal(err)
	}
	other, err := From(kernelFile, others, reachFile)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if other.Province(21.03, 105.85) == "" || other.FormerProvince(21.03, 105.85) != "" {
		t.Errorf("a province before 2025 of boundaries that lack them: %q", other.FormerProvince(21.03, 105.85))
	}
	t.Logf("%d provinces, %d texts", len(answers.Provinces), len(answers.Suggestions))
}

// Answers of the library that test/conformance/go-java.test.ts has written: f64 pairs and records of 20 bytes.
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
		k := h.take()
		defer h.give(k)
		for i := 0; i < b.N; i++ {
			for n := 0; n < 10; n++ {
				k.call(k.encodeBatch, 4096, DefaultResolution)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/40960, "ns/point")
	})
}

func BenchmarkDecodeBatch(b *testing.B) {
	h := load(b)
	lats, lngs := make([]float64, 40960), make([]float64, 40960)
	for i := range lats {
		lats[i], lngs[i] = 20.8+0.4*float64(i)/40960, 105.5+0.5*float64(i*7919%40960)/40960
	}
	codes, _ := h.EncodeBatch(lats, lngs, DefaultResolution)
	b.Run("batch", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			_ = h.DecodeBatch(codes)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/40960, "ns/point")
	})
	b.Run("kernel", func(b *testing.B) {
		_ = h.DecodeBatch(codes[:4096])
		k := h.take()
		defer h.give(k)
		for i := 0; i < b.N; i++ {
			for n := 0; n < 10; n++ {
				k.call(k.decodeBatch, 4096)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/40960, "ns/point")
	})
}

func BenchmarkEncode(b *testing.B) {
	h := load(b)
	b.Run("one", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			_, _ = h.Encode(21.0288, 105.8525, DefaultResolution)
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				_, _ = h.Encode(21.0288, 105.8525, DefaultResolution)
			}
		})
	})
}
