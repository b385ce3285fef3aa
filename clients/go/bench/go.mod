module hexcodes/bench

go 1.25.0

require (
	github.com/uber/h3-go/v4 v4.1.0
	hexcodes v0.0.0
)

require (
	github.com/tetratelabs/wazero v1.12.0 // indirect
	golang.org/x/sys v0.44.0 // indirect
)

replace hexcodes => ../
