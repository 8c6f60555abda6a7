// Command end-with-parent becomes the program that its arguments name, which the kernel then ends together with the
// process that started it. Death signals survive exec, so the program itself stays as it is.
package main

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// parentVariable names the process that must not be outlived.
const parentVariable = "KS_CONTROL_PLANE_PARENT"

// init runs on the main thread, the one whose death signal exec keeps.
func init() {
	if err := becomeProgram(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {}

func becomeProgram(arguments []string) error {
	parent, err := strconv.Atoi(os.Getenv(parentVariable))
	if err != nil || len(arguments) == 0 {
		return fmt.Errorf("usage: %s=PID end-with-parent PROGRAM [ARGUMENT ...]", parentVariable)
	}
	if err := os.Unsetenv(parentVariable); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("asking for a death signal: %w", err)
	}
	if os.Getppid() != parent {
		return fmt.Errorf("process %d, which started this one, has ended", parent)
	}
	return fmt.Errorf("%s: %w", arguments[0], unix.Exec(arguments[0], arguments, os.Environ()))
}
