// Vehicles that POST at an interval over one kept connection each, by Go's net/http. Arguments: address, key, interval
// in ms, vehicles, rounds, 1 for HTTP/1.1 or 2 for what the server chooses. Prints one line for each failure, then the
// count of answers.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	base, key := os.Args[1], os.Args[2]
	every, _ := strconv.Atoi(os.Args[3])
	vehicles, _ := strconv.Atoi(os.Args[4])
	rounds, _ := strconv.Atoi(os.Args[5])
	interval := time.Duration(every) * time.Millisecond
	var done atomic.Int64
	var all sync.WaitGroup
	for i := 0; i < vehicles; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxConnsPerHost: 1}
			if os.Args[6] == "2" {
				transport.ForceAttemptHTTP2 = true
			} else {
				transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
			}
			client := &http.Client{Transport: transport}
			body, want := `{"lat":21.0288,"lng":105.8525}`, 200
			if i%4 == 3 {
				body, want = `{"lat":0,"lng":0}`, 404
			}
			time.Sleep(interval * time.Duration(i) / time.Duration(vehicles))
			next := time.Now()
			ended := next
			for k := 0; k < rounds; k++ {
				request, _ := http.NewRequest("POST", base+"/v1/hexcodes/encode", strings.NewReader(body))
				request.Header.Set("X-API-Key", key)
				request.Header.Set("Content-Type", "application/json")
				sent := time.Now()
				rested := sent.Sub(ended)
				fail := func(what any) {
					fmt.Printf("report %d: %v, %.2f s after the one before, ended after %.2f s\n", k+1, what, rested.Seconds(), time.Since(sent).Seconds())
				}
				answer, err := client.Do(request)
				if err != nil {
					fail(err)
				} else {
					io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
					if answer.StatusCode != want {
						fail(fmt.Sprint("status ", answer.StatusCode))
					}
					done.Add(1)
				}
				ended = time.Now()
				next = next.Add(interval)
				time.Sleep(time.Until(next))
			}
		}(i)
	}
	all.Wait()
	fmt.Println(done.Load())
}
