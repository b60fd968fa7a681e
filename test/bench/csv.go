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

package main

import (
	"encoding/csv"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// csvName of the file with all that was measured so far.
const csvName = "all.csv"

// Columns of that file.
const (
	columnN = iota
	columnDate
	columnCommit
	columnCPU
	columnCores
	columnGo
	columnLoad
	columnScenario
	columnFigure
	columnUnit
	columnProvider
	columnFloor
	columnDirect
	columnGoal
	columnVerdict
	columns
)

func header() []string {
	return []string{"n", "date", "commit", "cpu", "cores", "go", "load", "scenario", "figure", "unit", "provider", "floor", "direct", "goal", "verdict"}
}

// records of the report.
func (r *report) records() [][]string {
	all := make([][]string, 0, len(r.rows))
	for _, row := range r.rows {
		all = append(all, []string{
			strconv.Itoa(r.n), r.machine.date, r.machine.commit, r.machine.cpu, strconv.Itoa(r.machine.cores), r.machine.version, r.machine.load,
			row.scenario, row.figure, row.unit, exact(row.provider), exact(row.floor), exact(row.direct), row.goal.String(), row.verdict(),
		})
	}
	return all
}

// exact figure; empty if there is none.
func exact(f float64) string {
	if math.IsNaN(f) {
		return ""
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// merge what was measured into what was before. What has the same N, date and machine
// is replaced. Both come without a header.
func merge(before, now [][]string) [][]string {
	same := func(a []string) bool {
		return len(now) > 0 && slices.Equal(a[columnN:columnDate+1], now[0][columnN:columnDate+1]) && slices.Equal(a[columnCPU:columnCores+1], now[0][columnCPU:columnCores+1])
	}
	all := append(slices.DeleteFunc(slices.Clone(before), same), now...)
	slices.SortStableFunc(all, func(a, b []string) int {
		if c := size(a) - size(b); c != 0 {
			return c
		}
		return slices.Compare(a[columnDate:columnDate+1], b[columnDate:columnDate+1])
	})
	return all
}

// size is the N of a record.
func size(record []string) int {
	n, err := strconv.Atoi(record[columnN])
	if err != nil {
		return 0
	}
	return n
}

// save the report in a folder, and return all that is there now.
func (r *report) save(dir string) ([][]string, error) {
	path := filepath.Join(dir, csvName)
	before, err := load(path)
	if err != nil {
		return nil, err
	}
	all := merge(before, r.records())
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // It is documentation.
		return nil, errors.Wrap(err, "cannot create the folder of the figures")
	}
	f, err := os.Create(path) //nolint:gosec // Whoever runs a benchmark says where to.
	if err != nil {
		return nil, errors.Wrap(err, "cannot write the figures")
	}
	err = csv.NewWriter(f).WriteAll(append([][]string{header()}, all...))
	return all, errors.Wrap(errors.Join(err, f.Close()), "cannot write the figures")
}

// load what was measured before; nothing if there is no such file.
func load(path string) ([][]string, error) {
	f, err := os.Open(path) //nolint:gosec // Whoever runs a benchmark says where to.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the figures of before")
	}
	defer f.Close() //nolint:errcheck // Only read.
	r := csv.NewReader(f)
	r.FieldsPerRecord = columns
	all, err := r.ReadAll()
	if err != nil {
		return nil, errors.Wrap(err, "cannot read the figures of before")
	}
	if len(all) == 0 || !slices.Equal(all[0], header()) {
		return nil, errors.Errorf("%s has other columns: move it away", path)
	}
	return all[1:], nil
}
