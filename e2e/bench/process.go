package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server that runs.
type process struct {
	cmd     *exec.Cmd
	address string
	stderr  bytes.Buffer
}

// start runs a program with an address of its own in the environment, and returns when it takes connections.
func start(ctx context.Context, program string, env ...string) (*process, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &process{address: listener.Addr().String()}
	_ = listener.Close()
	_, port, _ := net.SplitHostPort(p.address)
	p.cmd = exec.CommandContext(ctx, program) //nolint:gosec // a program that was built here
	p.cmd.Env = append(append(os.Environ(), "PORT="+port), env...)
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	dialer := &net.Dialer{}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if conn, err := dialer.DialContext(ctx, "tcp", p.address); err == nil {
			return p, conn.Close()
		}
		time.Sleep(100 * time.Microsecond)
	}
	p.stop()
	return nil, fmt.Errorf("%s does not listen: %s", program, &p.stderr)
}

// stop ends it at once: what it would drain has been answered.
func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// cpu is the user and system time that it has used.
func (p *process) cpu() (time.Duration, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "stat"))
	if err != nil {
		return 0, err
	}
	// After the name, which is in parentheses, utime and stime are the 12th and 13th fields, in hundredths of a second.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	var ticks int
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// memory is its resident memory in bytes, now or at its most: VmRSS or VmHWM.
func (p *process) memory(which string) (int64, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, which+":"); ok {
			kilobytes, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kilobytes * 1024, err
		}
	}
	return 0, errors.New("the kernel does not tell the memory")
}
