/*
Copyright 2026 The Crossplane Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Command xpkg builds Crossplane packages with an embedded runtime, and pushes them.
// The bytes of a package depend on nothing but what goes into it: no clock, no
// user, no path of this machine.
//
//	xpkg build --meta crossplane.yaml [--objects DIR] [--examples DIR] [--binary FILE] --out DIR
//	xpkg push REGISTRY/REPOSITORY:TAG FILE.xpkg…
//
// crossplane xpkg build takes the runtime's image as it is; making it without a
// container engine, and so that two builds give one digest, is what this is for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "xpkg:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "build":
			return build(ctx, args[1:])
		case "push":
			if len(args) < 3 {
				break
			}
			return push(ctx, args[1], args[2:])
		}
	}
	return errors.New("usage: xpkg build --meta FILE … | xpkg push REGISTRY/REPOSITORY:TAG FILE…")
}

// build writes a package, and beside it what its binary consists of.
func build(ctx context.Context, args []string) error {
	var meta, binary, license, version, revision, out string
	var objects, examples []string
	flags := flag.NewFlagSet("xpkg build", flag.ContinueOnError)
	flags.StringVar(&meta, "meta", "", "the package's crossplane.yaml")
	flags.StringVar(&binary, "binary", "", "what runs when the package is installed, if anything does: a static Go binary")
	flags.StringVar(&license, "license", "LICENSE", "the project's license, which goes where the binary goes")
	flags.StringVar(&version, "version", "unknown", "the package's version")
	flags.StringVar(&revision, "revision", "unknown", "the commit it is built from")
	flags.StringVar(&out, "out", ".", "where to write to")
	flags.Func("objects", "a folder with what the package installs; can be given several times", appendTo(&objects))
	flags.Func("examples", "a folder with examples; can be given several times", appendTo(&examples))
	if err := flags.Parse(args); err != nil {
		return err
	}
	if meta == "" || flags.NArg() > 0 {
		return errors.New("usage: xpkg build --meta FILE …; see xpkg build --help")
	}
	created, err := sourceDate()
	if err != nil {
		return err
	}

	c, err := readContents(meta, objects, examples)
	if err != nil {
		return err
	}
	c.version, c.revision, c.created = version, revision, created

	file := c.name
	var r *runtime
	if binary != "" {
		if r, err = readRuntime(ctx, binary, license); err != nil {
			return err
		}
		file += "-" + r.arch
	}
	img, err := packageImage(c, r)
	if err != nil {
		return err
	}
	if err := writePackage(img, filepath.Join(out, file+".xpkg")); err != nil {
		return err
	}
	if r == nil {
		return nil
	}
	return writeSBOM(c, r, filepath.Join(out, file+".spdx.json"))
}

func appendTo(values *[]string) func(string) error {
	return func(value string) error {
		*values = append(*values, value)
		return nil
	}
}

// sourceDate is the time that everything in a package has: that of its source, as
// reproducible-builds.org has it.
func sourceDate() (time.Time, error) {
	v := os.Getenv("SOURCE_DATE_EPOCH")
	if v == "" {
		return time.Time{}, errors.New("SOURCE_DATE_EPOCH is not set; set it to the time of the commit: git log -1 --format=%ct")
	}
	seconds, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, which is not a number of seconds since 1970", v)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
