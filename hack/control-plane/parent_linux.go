package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// parentVariable names the process that must not be outlived. Without it the
// programs behave as their originals do.
const parentVariable = "KS_CONTROL_PLANE_PARENT"

// init runs on the main thread, and the kernel keeps the death signal for each
// thread: set from another one, it would be lost when that thread ends.
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
