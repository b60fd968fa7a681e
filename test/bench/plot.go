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
	"math"
	"path/filepath"
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// Figures that are drawn.
const (
	figureRequests = "gateway requests, direct without its limit"
	figureRSS      = "memory after settling"
)

// A picture is of a figure against N.
type picture struct {
	file, figure, label string
	// least is drawn for what is less: there is no nought on a logarithmic scale.
	least float64
}

func pictures() []picture {
	return []picture{
		{"requests.svg", figureRequests, "gateway requests / min", 0.1},
		{"memory.svg", figureRSS, "memory (MiB)", 1},
	}
}

// A point of a picture.
type point struct{ n, y float64 }

// series of a figure against N, in ascending order, from records that are: for each N
// what was measured last.
func series(records [][]string, figure string, column int) []point {
	var points []point
	for _, r := range records {
		y, err := strconv.ParseFloat(r[column], 64)
		if r[columnFigure] != figure || err != nil {
			continue
		}
		p := point{float64(size(r)), y}
		if last := len(points) - 1; last >= 0 && points[last].n == p.n {
			points[last] = p
			continue
		}
		points = append(points, p)
	}
	return points
}

// draw all pictures into a folder.
func draw(records [][]string, dir string) error {
	for _, p := range pictures() {
		if err := p.draw(records, dir); err != nil {
			return errors.Wrapf(err, "cannot draw %s", p.file)
		}
	}
	return nil
}

// decades are the powers of ten that a range lies between: a logarithmic scale leaves
// room for those anyway.
func decades(from, to float64) (least, most float64) {
	least, most = math.Pow(10, math.Floor(math.Log10(from))), math.Pow(10, math.Ceil(math.Log10(to)))
	if least == most {
		// One N alone has no range.
		return least / 10, most * 10
	}
	return least, most
}

// powers of ten that are within a range. Those of the library go beyond it, which
// leaves a hole in the picture.
func powers(from, to float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Round(math.Log10(from)); e <= math.Round(math.Log10(to)); e++ {
		v := math.Pow(10, e)
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)})
	}
	return ticks
}

func (p picture) draw(records [][]string, dir string) error {
	g := plot.New()
	g.X.Label.Text, g.Y.Label.Text = "subscriptions (N)", p.label
	g.X.Scale, g.Y.Scale = plot.LogScale{}, plot.LogScale{}
	g.X.Tick.Marker, g.Y.Tick.Marker = plot.TickerFunc(powers), plot.TickerFunc(powers)
	g.Legend.Top, g.Legend.Left = true, true
	g.Add(plotter.NewGrid())
	drawn := 0
	for i, of := range []struct {
		name   string
		column int
	}{{"provider", columnProvider}, {"direct", columnDirect}} {
		points := plotter.XYs{}
		for _, at := range series(records, p.figure, of.column) {
			points = append(points, plotter.XY{X: at.n, Y: max(at.y, p.least)})
		}
		if len(points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, dots.Color, dots.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
		g.Add(line, dots)
		g.Legend.Add(of.name, line, dots)
		drawn++
	}
	if drawn == 0 {
		return nil
	}
	g.X.Min, g.X.Max = decades(g.X.Min, g.X.Max)
	g.Y.Min, g.Y.Max = decades(g.Y.Min, g.Y.Max)
	// For the legend.
	g.Y.Max *= 10
	return g.Save(16*vg.Centimeter, 10*vg.Centimeter, filepath.Join(dir, p.file))
}
