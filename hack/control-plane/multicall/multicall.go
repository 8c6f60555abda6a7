// Package multicall runs one of the programs of a binary: the name under which
// the binary is called selects the program. It adds one behaviour: the program
// exits together with the process that started it.
package multicall

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // the API server and the controllers know time zones

	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of client-go
	_ "k8s.io/component-base/metrics/prometheus/version"  // metric with the version
)

// Main runs the program out of a map of file names to main functions, which
// return the exit code.
func Main(programs map[string]func() int) {
	name := filepath.Base(os.Args[0])
	program, known := programs[name]
	if !known {
		fmt.Fprintf(os.Stderr, "%s: call this binary as one of %s\n", name, strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
		os.Exit(2)
	}
	os.Exit(program())
}
