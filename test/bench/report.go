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
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// none is the figure of whoever a row does not apply to.
func none() float64 { return math.NaN() }

// A goal is what a figure shall be.
type goal struct {
	// atMost or atLeast the limit; neither, and there is none.
	atMost, atLeast bool
	limit           float64
}

func atMost(limit float64) goal  { return goal{atMost: true, limit: limit} }
func atLeast(limit float64) goal { return goal{atLeast: true, limit: limit} }

func (g goal) String() string {
	switch {
	case g.atMost && g.limit == 0:
		return "0"
	case g.atMost:
		return "<= " + number(g.limit)
	case g.atLeast:
		return ">= " + number(g.limit)
	}
	return ""
}

// Verdicts.
const (
	reached    = "reached"
	notReached = "NOT REACHED"
)

// verdict on a figure; empty if there is nothing to judge.
func (g goal) verdict(figure float64) string {
	switch {
	case math.IsNaN(figure), !g.atMost && !g.atLeast:
		return ""
	case g.atMost && figure <= g.limit, g.atLeast && figure >= g.limit:
		return reached
	}
	return notReached
}

// A row is one figure of a scenario, for each of those who are compared.
type row struct {
	scenario, figure, unit  string
	provider, floor, direct float64
	goal                    goal
}

func (r row) verdict() string { return r.goal.verdict(r.provider) }

// A report is what a run has found out.
type report struct {
	n       int
	machine machine
	rows    []row
	// broken is what must not be, whatever the figures are.
	broken []string
	// notes are what does not fit into a row.
	notes []string
}

func (r *report) add(rows ...row) { r.rows = append(r.rows, rows...) }

func (r *report) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// missed are the goals that were not reached.
func (r *report) missed() []row {
	var missed []row
	for _, row := range r.rows {
		if row.verdict() == notReached {
			missed = append(missed, row)
		}
	}
	return missed
}

// number as it is read best.
func number(f float64) string {
	switch {
	case math.IsNaN(f):
		return "-"
	case f == math.Trunc(f) && math.Abs(f) < 1e9:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case math.Abs(f) >= 100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case math.Abs(f) >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}

// table writes the report for people.
func (r *report) table(out io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "N = %d, at %s, on %s\n\n", r.n, r.machine.commit, r.machine)
	slices.SortStableFunc(r.rows, func(a, b row) int { return strings.Compare(a.scenario, b.scenario) })
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "scenario\tfigure\tunit\tprovider\tfloor\tdirect\tgoal\tverdict")
	last := ""
	for _, row := range r.rows {
		scenario := row.scenario
		if scenario == last {
			scenario = ""
		}
		last = row.scenario
		fmt.Fprintln(t, strings.Join([]string{
			scenario, row.figure, row.unit, number(row.provider), number(row.floor), number(row.direct), row.goal.String(), row.verdict(),
		}, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	// Empty cells at the end of a line leave blanks behind.
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	fmt.Fprintln(out)
	for _, n := range r.notes {
		fmt.Fprintln(out, n)
	}
	return nil
}
