package multicall

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// parentVariable holds the PID of the process with which the program exits.
// If it is unset, the programs behave as their originals.
const parentVariable = "KS_CONTROL_PLANE_PARENT"

// init runs on the main thread. The kernel keeps the death signal per thread:
// set on another thread, it would be lost when that thread exits.
func init() {
	value := os.Getenv(parentVariable)
	if value == "" {
		return
	}
	_ = os.Unsetenv(parentVariable)
	parent, err := strconv.Atoi(value)
	if err != nil {
		return
	}
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	if os.Getppid() != parent {
		os.Exit(1) // the parent died before the signal was asked for
	}
}
