// Positions in, hexcodes out, in the same order, by the stream of docs/stream.md.
//
//	go run . KEY ws://node-1:8080/v1/hexcodes/stream [ws://node-2:8080/…] < positions.csv
//
// Standard input has a line `lat,lng` in degrees for each position; standard output gets a line for each, empty for a
// position without a code. A lost connection is opened again, at the next address.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"math/rand"
	"net/http"
	"os"
	"time"

	"github.com/coder/websocket"
)

type frame struct {
	seq   uint32
	bytes []byte
}

// encode calls emit once for each frame that next returns, in order, with the records of its answer.
func encode(key string, urls []string, next func() []byte, emit func(records []byte)) error {
	var unanswered []frame
	var seq uint32
	header := http.Header{"Authorization": {"Bearer " + key}}
	options := &websocket.DialOptions{Subprotocols: []string{"hexcodes.v1.binary"}, HTTPHeader: header, HTTPClient: &http.Client{
		// Key and positions go to no address that was not named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for failed, at := 0, 0; ; at++ {
		err := func() error {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			dialing, stop := context.WithTimeout(ctx, 10*time.Second)
			defer stop()
			socket, response, err := websocket.Dial(dialing, urls[at%len(urls)], options)
			if err != nil {
				if response != nil && response.StatusCode >= 300 && response.StatusCode < 404 {
					log.Fatal(err)
				}
				return err
			}
			defer socket.CloseNow()
			socket.SetReadLimit(1 << 22)
			var ready struct{ Window int }
			if _, text, err := socket.Read(dialing); err != nil {
				return err
			} else if err := json.Unmarshal(text, &ready); err != nil {
				return err
			}
			for _, each := range unanswered {
				if err := socket.Write(ctx, websocket.MessageBinary, each.bytes); err != nil {
					return err
				}
			}
			for isOpen := true; ; {
				for isOpen && len(unanswered) < ready.Window {
					positions := next()
					if isOpen = positions != nil; !isOpen {
						break
					}
					bytes := make([]byte, 16, 16+len(positions))
					copy(bytes, []byte{1, 1, 13, 0})
					binary.LittleEndian.PutUint32(bytes[4:], seq)
					binary.LittleEndian.PutUint32(bytes[8:], uint32(len(positions)/16))
					unanswered = append(unanswered, frame{seq, append(bytes, positions...)})
					seq++
					if err := socket.Write(ctx, websocket.MessageBinary, unanswered[len(unanswered)-1].bytes); err != nil {
						return err
					}
				}
				if len(unanswered) == 0 {
					return nil
				}
				waiting, stop := context.WithTimeout(ctx, time.Minute)
				_, answer, err := socket.Read(waiting)
				stop()
				if err != nil {
					return err
				}
				if answer[2] == 2 || answer[2] == 3 {
					return fmt.Errorf("over a limit: every unanswered frame is sent again")
				}
				if answer[2] != 0 || binary.LittleEndian.Uint32(answer[4:]) != unanswered[0].seq {
					log.Fatalf("frame status %d", answer[2])
				}
				unanswered, failed = unanswered[1:], 0
				emit(answer[16:])
			}
		}()
		if err == nil {
			return nil
		}
		switch websocket.CloseStatus(err) {
		case 1003, 1009, 4001, 4002, 4003: // connecting again would not help
			return err
		}
		if failed++; failed > 20 {
			return err
		}
		pause := math.Min(1, 0.1*math.Pow(2, float64(failed))) * (0.5 + rand.Float64()/2)
		time.Sleep(time.Duration(pause * float64(time.Second)))
	}
}

func main() {
	lines, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	next := func() []byte {
		var positions []byte
		for count := 0; count < 4096 && lines.Scan(); count++ {
			var lat, lng float64
			if _, err := fmt.Sscanf(lines.Text(), "%g,%g", &lat, &lng); err != nil {
				log.Fatal(err)
			}
			positions = binary.LittleEndian.AppendUint64(positions, math.Float64bits(lat))
			positions = binary.LittleEndian.AppendUint64(positions, math.Float64bits(lng))
		}
		return positions
	}
	emit := func(records []byte) {
		for ; len(records) > 0; records = records[20:] {
			fmt.Fprintf(out, "%s\n", bytes.TrimRight(records[:19], "\x00"))
		}
	}
	if err := encode(os.Args[1], os.Args[2:], next, emit); err != nil {
		log.Fatal(err)
	}
}
