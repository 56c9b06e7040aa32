package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// print writes the figures in Markdown: a line for each load, with what each program costs under it.
func (b *bench) print(out io.Writer) {
	fmt.Fprint(out, "\n| request | protocol | at a time | floor, µs | usual, µs | function, µs | times the floor | times less than usual | router and function, µs "+
		"| function: requests/s | p50, µs | p99, µs | memory, MiB | allocations |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	byLoad := map[string]map[string]*Figure{}
	for _, f := range b.figures {
		load := fmt.Sprintf("| %s | %s | %d |", f.Body, f.Protocol, f.Concurrency)
		if byLoad[load] == nil {
			byLoad[load] = map[string]*Figure{}
		}
		byLoad[load][f.Program] = f
	}
	cpu := func(f *Figure) string {
		if f == nil {
			return ""
		}
		return fmt.Sprintf("%.0f", f.CPU)
	}
	for _, f := range b.figures {
		if f.Program != "function" {
			continue
		}
		load := fmt.Sprintf("| %s | %s | %d |", f.Body, f.Protocol, f.Concurrency)
		of, less := byLoad[load], ""
		if f.Usual > 0 {
			less = fmt.Sprintf("%.1f", f.Usual)
		}
		allocations := ""
		if f.Allocations > 0 {
			allocations = strconv.Itoa(f.Allocations)
		}
		fmt.Fprintf(out, "%s %s | %s | %s | %.1f | %s | %s | %.0f | %.0f | %.0f | %.0f | %s |\n", load, cpu(of["floor"]), cpu(of["usual"]), cpu(f),
			f.Floor, less, cpu(of["router and function"]), f.PerSecond, f.P50, f.P99, f.Memory, allocations)
	}
	if len(b.starts) == 0 {
		return
	}
	fmt.Fprint(out, "\n| function | start to first answer, ms | memory then, MiB | program, MB | its image layer, MB |\n|---|---|---|---|---|\n")
	for _, s := range b.starts {
		fmt.Fprintf(out, "| %s | %.1f | %.1f | %.1f | %.1f |\n", s.Program, s.FirstAnswer, s.Memory, s.Size, s.Layer)
	}
}

// bound is what the ratios of a program's figures must keep: those of which the request's name begins so.
type bound struct {
	Body    string  `json:"body"`
	Program string  `json:"program"`
	Floor   float64 `json:"timesTheFloorAtMost"`
	Usual   float64 `json:"timesLessThanUsualAtLeast"`
}

// check holds the ratios against the bounds in a file. Every bound must have something that it binds.
func (b *bench) check(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var bounds []bound
	if err := json.Unmarshal(data, &bounds); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var failures []string
	for _, bound := range bounds {
		found := false
		for _, f := range b.figures {
			if f.Program != bound.Program || !strings.HasPrefix(f.Body, bound.Body) || f.Usual == 0 {
				continue
			}
			found = true
			if bound.Floor > 0 && f.Floor > bound.Floor {
				failures = append(failures, fmt.Sprintf("%s of %s costs %.2f times the floor: at most %.2f", f.Program, f.Body, f.Floor, bound.Floor))
			}
			if f.Usual < bound.Usual {
				failures = append(failures, fmt.Sprintf("%s of %s costs %.2f times less than usual: at least %.2f", f.Program, f.Body, f.Usual, bound.Usual))
			}
		}
		if !found && strings.Contains(bound.Body, b.only) {
			failures = append(failures, fmt.Sprintf("nothing was measured of %s of %s", bound.Program, bound.Body))
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("%d ratios are out of bounds:\n%s", len(failures), strings.Join(failures, "\n"))
	}
	return nil
}
