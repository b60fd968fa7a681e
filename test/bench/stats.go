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
	"slices"
	"time"
)

// percentile is the smallest of the durations that is not exceeded by this share of
// them. Of none it is zero.
func percentile(of []time.Duration, share float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	i := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// longest of the durations; zero if there is none.
func longest(of []time.Duration) time.Duration {
	if len(of) == 0 {
		return 0
	}
	return slices.Max(of)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// perMinute is how many there are in a minute if there were n in this time.
func perMinute(n int, in time.Duration) float64 { return float64(n) / in.Minutes() }

// ratio of two figures; not a number if there is nothing to compare with.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
