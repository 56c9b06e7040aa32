package main

import (
	"os"
	"testing"
)

func TestFilesAreUpToDate(t *testing.T) {
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is not what the registry of functions makes: run make generate", name)
		}
	}
}
