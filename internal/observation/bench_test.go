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

package observation

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

// What it costs to read a list of ten thousand objects, each of which somebody looks at,
// beyond reading it: when none changed, and when all did.
func BenchmarkRefresh(b *testing.B) {
	for name, changed := range map[string]int{"Unchanged": 0, "Changed": 1} {
		b.Run(name, func(b *testing.B) {
			const many = 10_000
			lists := [2][]thing{make([]thing, many), make([]thing, many)}
			for n := range many {
				id := fmt.Sprintf("018f3b5e-7c1a-7000-8000-%012d", n)
				lists[0][n], lists[1][n] = thing{ID: id}, thing{ID: id, Value: changed}
			}
			k, woken := 0, 0
			clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
			r := New(Source[thing]{
				List: func(context.Context) ([]thing, error) { return lists[k%2], nil },
				ID:   func(x *thing) string { return x.ID },
				Same: func(a, b *thing) bool { return *a == *b },
			}, Options{
				Interval: interval,
				Clock:    clock,
				Random:   func() float64 { return 0 },
				Wake:     func(_ Cause, who []types.NamespacedName) { woken += len(who) },
			})
			for n := range many {
				if _, err := r.Get(b.Context(), types.NamespacedName{Namespace: "team", Name: fmt.Sprint(n)}, lists[0][n].ID, Need{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				k++
				clock.SetTime(clock.Now().Add(interval))
				r.Refresh(b.Context())
			}
			if (woken > 0) != (changed > 0) {
				b.Errorf("%d were woken", woken)
			}
		})
	}
}
