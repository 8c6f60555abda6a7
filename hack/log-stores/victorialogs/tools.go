//go:build tools

// Package tools names the program that is built unchanged, so that go.mod keeps what it needs.
package tools

import _ "github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-logs"
