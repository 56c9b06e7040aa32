package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// allocations asks the Go benchmarks of the functions, which say what is allocated between a request and its answer.
func (b *bench) allocations(ctx context.Context) error {
	progress("allocations")
	cmd := exec.CommandContext(ctx, "go", "test", "./functions", "-run", "^$", "-bench", "^BenchmarkOperations$", "-benchmem", "-benchtime", "300x")
	cmd.Dir, cmd.Stderr = "..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("the benchmarks of the functions: %w: %s", err, out)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(bytes.TrimSpace(out))) {
		fields := strings.Fields(line)
		name, ok := strings.CutPrefix(line, "BenchmarkOperations/")
		if !ok || fields[len(fields)-1] != "allocs/op" {
			continue
		}
		name, _, _ = strings.Cut(strings.Fields(name)[0], "-") // the number of processors, if there are more than one
		if counts[name], err = strconv.Atoi(fields[len(fields)-2]); err != nil {
			return err
		}
	}
	if counts["floor"] == 0 {
		return fmt.Errorf("the benchmarks of the functions do not tell what is allocated: %s", out)
	}
	for _, f := range b.figures {
		// AggregateStatus, 100 clusters is AggregateStatus100 there.
		name := strings.NewReplacer(", 3 clusters", "", ", ", "", " clusters", "").Replace(f.Body)
		if n, ok := counts[name]; ok && f.Program == "function" {
			f.Allocations = n - counts["floor"]
		}
	}
	return nil
}
