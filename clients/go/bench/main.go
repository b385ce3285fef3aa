// What a point costs beside uber/h3-go, which gives the cell alone: CPU of this process, the subjects in turns.
// `go run .` in this folder, with a compiler of C for h3-go.
package main

import (
	"fmt"
	"math/rand"
	"slices"
	"syscall"

	"github.com/uber/h3-go/v4"
	"hexcodes"
)

const (
	points = 200_000
	rounds = 15
)

func cpuNs() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	h := must(hexcodes.New())
	random := rand.New(rand.NewSource(5))
	lats, lngs := make([]float64, points), make([]float64, points)
	for n := 0; n < points; {
		lats[n], lngs[n] = 8.3+15*random.Float64(), 102.2+7.3*random.Float64()
		if _, err := h.Encode(lats[n], lngs[n], 13); err == nil {
			n++
		}
	}
	codes := must(h.EncodeBatch(lats, lngs, 13))
	cells := make([]h3.Cell, points)
	for n := range cells {
		cells[n] = h3.LatLngToCell(h3.NewLatLng(lats[n], lngs[n]), 13)
	}
	each := func(call func(n int)) func() {
		return func() {
			for n := range points {
				call(n)
			}
		}
	}
	subjects := []struct {
		name string
		run  func()
	}{
		{"EncodeBatch", func() { must(h.EncodeBatch(lats, lngs, 13)) }},
		{"DecodeBatch", func() { h.DecodeBatch(codes) }},
		{"Encode, one", each(func(n int) { must(h.Encode(lats[n], lngs[n], 13)) })},
		{"Decode, one", each(func(n int) { h.Decode(codes[n]) })},
		{"h3: LatLngToCell", each(func(n int) { h3.LatLngToCell(h3.NewLatLng(lats[n], lngs[n]), 13) })},
		{"h3: LatLngToCell, its text", each(func(n int) { _ = h3.LatLngToCell(h3.NewLatLng(lats[n], lngs[n]), 13).String() })},
		{"h3: CellToLatLng", each(func(n int) { _ = cells[n].LatLng() })},
	}
	costs := make([][]int64, len(subjects))
	for range rounds {
		for i, subject := range subjects {
			before := cpuNs()
			subject.run()
			costs[i] = append(costs[i], (cpuNs()-before)/points)
		}
	}
	for i, subject := range subjects {
		slices.Sort(costs[i])
		fmt.Printf("%-28s least %5d  median %5d ns of CPU a point\n", subject.name, costs[i][0], costs[i][rounds/2])
	}
}
