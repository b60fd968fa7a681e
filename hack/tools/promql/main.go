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

// Command promql says what Prometheus makes of rules and expressions, for the test of
// cluster/monitoring. It is a module of its own so that what Prometheus depends on does not
// choose versions for the provider.
//
// It reads a question from standard input and writes the answer to standard output, both
// as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

type question struct {
	// Rules are the text of a file of rules. Optional.
	Rules string `json:"rules"`
	// Expressions to parse.
	Expressions []string `json:"expressions"`
}

type answer struct {
	// Problems with the rules.
	Problems []string `json:"problems"`
	// Expressions in the order they were asked for.
	Expressions []expression `json:"expressions"`
}

type expression struct {
	// Error is why it is no expression, if it is none.
	Error string `json:"error,omitempty"`
	// Uses are all uses of metrics and labels in it.
	Uses []use `json:"uses"`
	// Yields are the labels of its result.
	Yields use `json:"yields"`
}

// A use of labels, which some of the metrics have to have. A result that has all labels of
// some metrics names those metrics.
type use struct {
	Metrics []string `json:"metrics"`
	Labels  []string `json:"labels"`
}

func (u use) and(other use) use {
	return use{Metrics: append(slices.Clone(u.Metrics), other.Metrics...), Labels: append(slices.Clone(u.Labels), other.Labels...)}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "promql:", err)
		os.Exit(1)
	}
}

func run() error {
	var q question
	if err := json.NewDecoder(os.Stdin).Decode(&q); err != nil {
		return fmt.Errorf("cannot read the question: %w", err)
	}
	p := parser.NewParser(parser.Options{})
	a := answer{Problems: []string{}, Expressions: []expression{}}
	if q.Rules != "" {
		_, errs := rulefmt.Parse([]byte(q.Rules), false, model.LegacyValidation, p, slog.New(slog.DiscardHandler))
		for _, err := range errs {
			a.Problems = append(a.Problems, err.Error())
		}
	}
	for _, text := range q.Expressions {
		a.Expressions = append(a.Expressions, analyse(p, text))
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}

func analyse(p parser.Parser, text string) expression {
	e, err := p.ParseExpr(text)
	if err != nil {
		return expression{Error: err.Error()}
	}
	out := expression{Uses: []use{}, Yields: yields(e)}
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			u := use{Metrics: []string{nameOf(n)}}
			for _, m := range n.LabelMatchers {
				if m.Name != model.MetricNameLabel {
					u.Labels = append(u.Labels, m.Name)
				}
			}
			out.Uses = append(out.Uses, u)
		case *parser.AggregateExpr:
			out.Uses = append(out.Uses, use{Metrics: metricsOf(n.Expr), Labels: n.Grouping})
		case *parser.BinaryExpr:
			if m := n.VectorMatching; m != nil {
				out.Uses = append(out.Uses, use{Metrics: metricsOf(n), Labels: append(slices.Clone(m.MatchingLabels), m.Include...)})
			}
		}
		return nil
	})
	return out
}

// nameOf a metric, or "" if a selector names none for certain.
func nameOf(s *parser.VectorSelector) string {
	for _, m := range s.LabelMatchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return m.Value
		}
	}
	return ""
}

func metricsOf(e parser.Node) []string {
	var out []string
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			out = append(out, nameOf(s))
		}
		return nil
	})
	return out
}

// yields are the labels that a result can have.
func yields(e parser.Expr) use {
	switch e := e.(type) {
	case *parser.VectorSelector:
		return use{Metrics: []string{nameOf(e)}}
	case *parser.MatrixSelector:
		return yields(e.VectorSelector)
	case *parser.SubqueryExpr:
		return yields(e.Expr)
	case *parser.ParenExpr:
		return yields(e.Expr)
	case *parser.UnaryExpr:
		return yields(e.Expr)
	case *parser.StepInvariantExpr:
		return yields(e.Expr)
	case *parser.AggregateExpr:
		if e.Without || slices.Contains([]parser.ItemType{parser.TOPK, parser.BOTTOMK}, e.Op) {
			return yields(e.Expr)
		}
		return use{Labels: e.Grouping}
	case *parser.Call:
		return called(e)
	case *parser.BinaryExpr:
		return matched(e)
	}
	return use{}
}

func called(c *parser.Call) use {
	switch c.Func.Name {
	case "absent", "absent_over_time", "scalar", "vector", "time":
		return use{}
	}
	out := use{}
	for _, arg := range c.Args {
		out = out.and(yields(arg))
	}
	return out
}

func matched(b *parser.BinaryExpr) use {
	left, right := yields(b.LHS), yields(b.RHS)
	m := b.VectorMatching
	switch {
	case m == nil, b.Op == parser.LOR:
		return left.and(right)
	case b.Op.IsSetOperator():
		return left
	case m.Card == parser.CardOneToMany:
		return right.and(use{Labels: m.Include})
	case m.Card == parser.CardManyToOne:
		return left.and(use{Labels: m.Include})
	case m.On && !b.Op.IsComparisonOperator():
		return use{Labels: m.MatchingLabels}
	}
	return left
}
