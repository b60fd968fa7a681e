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

package subscriptionplan

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
)

func ptr[T any](v T) *T { return &v }

var expiry = time.Date(2030, 12, 31, 23, 59, 59, 0, time.UTC)

// contract: P2, P3, P4, S29
// case: G1, G6, G7
func TestCompare(t *testing.T) {
	type args struct {
		p        v1alpha1.SubscriptionPlanParameters
		got      gateway.SubscriptionPlan
		imported bool
	}
	type want struct {
		differs []string
		update  gateway.SubscriptionPlanWrite
		note    bool
	}
	gold := v1alpha1.SubscriptionPlanParameters{PlanName: "Gold"}
	at := gateway.SubscriptionPlan{ID: "id", PlanName: "Gold", StopOnQuotaReach: ptr(true), Status: "ACTIVE"}
	with := func(change func(*gateway.SubscriptionPlan)) gateway.SubscriptionPlan {
		out := at
		change(&out)
		return out
	}
	limit := v1alpha1.SubscriptionPlanParameters{PlanName: "Gold", ThrottleLimitCount: ptr(int64(5)), ThrottleLimitUnit: ptr(v1alpha1.ThrottleLimitUnitMin)}
	cases := map[string]struct {
		reason string
		args   args
		want   want
	}{
		"Fresh":   {reason: "A new plan has the gateway's defaults.", args: args{p: gold, got: at}, want: want{update: gateway.SubscriptionPlanWrite{PlanName: "Gold"}}},
		"Renamed": {reason: "A name can be changed.", args: args{p: gold, got: with(func(p *gateway.SubscriptionPlan) { p.PlanName = "Silver" })}, want: want{differs: []string{"spec.forProvider.planName"}, update: gateway.SubscriptionPlanWrite{PlanName: "Gold"}}},
		"StopTurnedOff": {
			reason: "Left out, stopping means true.",
			args:   args{p: gold, got: with(func(p *gateway.SubscriptionPlan) { p.StopOnQuotaReach = ptr(false) })},
			want:   want{differs: []string{"spec.forProvider.stopOnQuotaReach"}, update: gateway.SubscriptionPlanWrite{PlanName: "Gold", StopOnQuotaReach: ptr(true)}},
		},
		"StopImported": {
			reason: "An imported plan stays as it is.",
			args:   args{p: gold, imported: true, got: with(func(p *gateway.SubscriptionPlan) { p.StopOnQuotaReach = ptr(false) })},
			want:   want{update: gateway.SubscriptionPlanWrite{PlanName: "Gold"}},
		},
		"StopNotReported": {
			reason: "Not reported, stopping means true.",
			args: args{
				p:   v1alpha1.SubscriptionPlanParameters{PlanName: "Gold", StopOnQuotaReach: ptr(true)},
				got: with(func(p *gateway.SubscriptionPlan) { p.StopOnQuotaReach = nil }),
			},
			want: want{update: gateway.SubscriptionPlanWrite{PlanName: "Gold", StopOnQuotaReach: ptr(true)}},
		},
		"Inactive": {
			reason: "Left out, the status means ACTIVE.",
			args:   args{p: gold, got: with(func(p *gateway.SubscriptionPlan) { p.Status = "INACTIVE" })},
			want:   want{differs: []string{"spec.forProvider.status"}, update: gateway.SubscriptionPlanWrite{PlanName: "Gold", Status: "ACTIVE"}},
		},
		"InactiveImported": {
			reason: "An imported plan stays as it is.",
			args:   args{p: gold, imported: true, got: with(func(p *gateway.SubscriptionPlan) { p.Status = "INACTIVE" })},
			want:   want{update: gateway.SubscriptionPlanWrite{PlanName: "Gold"}},
		},
		"StatusInOtherLetters": {
			reason: "Letter case is no difference.",
			args:   args{p: gold, got: with(func(p *gateway.SubscriptionPlan) { p.Status = "active" })},
			want:   want{update: gateway.SubscriptionPlanWrite{PlanName: "Gold"}},
		},
		"UnknownStatus": {
			reason: "A status this build does not know is shown and left alone.",
			args:   args{p: gold, got: with(func(p *gateway.SubscriptionPlan) { p.Status = "SUSPENDED" })},
			want:   want{update: gateway.SubscriptionPlanWrite{PlanName: "Gold"}, note: true},
		},
		"LimitMissing": {
			reason: "A limit is set.",
			args:   args{p: limit, got: at},
			want: want{
				differs: []string{"spec.forProvider.throttleLimitCount", "spec.forProvider.throttleLimitUnit"},
				update:  gateway.SubscriptionPlanWrite{PlanName: "Gold", ThrottleLimitCount: ptr(int64(5)), ThrottleLimitUnit: "Min"},
			},
		},
		"LimitNotAskedFor": {
			reason: "A limit cannot be cleared, so that is not tried.",
			args: args{p: gold, got: with(func(p *gateway.SubscriptionPlan) {
				p.ThrottleLimitCount, p.ThrottleLimitUnit = ptr(int64(5)), "Min"
			})},
			want: want{update: gateway.SubscriptionPlanWrite{PlanName: "Gold"}, note: true},
		},
		"ExpiryInAnotherZone": {
			reason: "An expiry is an instant.",
			args: args{
				p:   v1alpha1.SubscriptionPlanParameters{PlanName: "Gold", ExpiryTime: &metav1.Time{Time: expiry}},
				got: with(func(p *gateway.SubscriptionPlan) { p.ExpiryTime = ptr(expiry.In(time.FixedZone("", 19800))) }),
			},
			want: want{update: gateway.SubscriptionPlanWrite{PlanName: "Gold", ExpiryTime: &expiry}},
		},
		"ExpiryNotAskedFor": {
			reason: "An expiry cannot be cleared, so that is not tried.",
			args:   args{p: gold, got: with(func(p *gateway.SubscriptionPlan) { p.ExpiryTime = &expiry })},
			want:   want{update: gateway.SubscriptionPlanWrite{PlanName: "Gold"}, note: true},
		},
		"BillingCleared": {
			reason: "An empty billing plan clears it.",
			args: args{
				p:   v1alpha1.SubscriptionPlanParameters{PlanName: "Gold", BillingPlan: ptr("")},
				got: with(func(p *gateway.SubscriptionPlan) { p.BillingPlan = "X" }),
			},
			want: want{differs: []string{"spec.forProvider.billingPlan"}, update: gateway.SubscriptionPlanWrite{PlanName: "Gold", BillingPlan: ptr("")}},
		},
		"BillingLeft": {
			reason: "A billing plan that is left out stays.",
			args:   args{p: gold, got: with(func(p *gateway.SubscriptionPlan) { p.BillingPlan = "X" })},
			want:   want{update: gateway.SubscriptionPlanWrite{PlanName: "Gold"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := compare(tc.args.p, &tc.args.got, tc.args.imported)
			if diff := cmp.Diff(tc.want, want{differs: a.differs, update: a.update, note: a.note != ""}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\ncompare(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// merge is what a gateway makes of an update.
func merge(p gateway.SubscriptionPlan, w gateway.SubscriptionPlanWrite) gateway.SubscriptionPlan {
	p.PlanName = w.PlanName
	if w.BillingPlan != nil {
		p.BillingPlan = *w.BillingPlan
	}
	if w.StopOnQuotaReach != nil {
		p.StopOnQuotaReach = w.StopOnQuotaReach
	}
	if w.ThrottleLimitCount != nil {
		p.ThrottleLimitCount, p.ThrottleLimitUnit = w.ThrottleLimitCount, w.ThrottleLimitUnit
	}
	if w.ExpiryTime != nil {
		p.ExpiryTime = w.ExpiryTime
	}
	if w.Status != "" {
		p.Status = w.Status
	}
	return p
}

// One update is enough, whatever was there before.
func TestOneUpdateIsEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bools := rapid.SampledFrom([]*bool{nil, ptr(true), ptr(false)})
		times := rapid.SampledFrom([]*time.Time{nil, ptr(expiry), ptr(expiry.Add(time.Hour).In(time.FixedZone("", 3600)))})
		p := v1alpha1.SubscriptionPlanParameters{
			PlanName:         rapid.SampledFrom([]string{"Gold", "Silver"}).Draw(t, "name"),
			BillingPlan:      rapid.SampledFrom([]*string{nil, ptr(""), ptr("X")}).Draw(t, "billing"),
			StopOnQuotaReach: bools.Draw(t, "stop"),
			Status:           rapid.SampledFrom([]*v1alpha1.SubscriptionPlanStatusValue{nil, ptr(v1alpha1.SubscriptionPlanActive), ptr(v1alpha1.SubscriptionPlanInactive)}).Draw(t, "status"),
		}
		if rapid.Bool().Draw(t, "limit") {
			p.ThrottleLimitCount, p.ThrottleLimitUnit = ptr(rapid.Int64Range(1, 1<<53).Draw(t, "count")), ptr(v1alpha1.ThrottleLimitUnitDay)
		}
		if at := times.Draw(t, "expiry"); at != nil {
			p.ExpiryTime = &metav1.Time{Time: *at}
		}
		got := gateway.SubscriptionPlan{
			PlanName:         rapid.SampledFrom([]string{"Gold", "Silver"}).Draw(t, "gotName"),
			BillingPlan:      rapid.SampledFrom([]string{"", "X", "Y"}).Draw(t, "gotBilling"),
			StopOnQuotaReach: bools.Draw(t, "gotStop"),
			Status:           rapid.SampledFrom([]string{"", "ACTIVE", "INACTIVE", "active", "SUSPENDED"}).Draw(t, "gotStatus"),
			ExpiryTime:       times.Draw(t, "gotExpiry"),
		}
		if rapid.Bool().Draw(t, "gotLimit") {
			got.ThrottleLimitCount, got.ThrottleLimitUnit = ptr(int64(7)), "Hour"
		}
		imported := rapid.Bool().Draw(t, "imported")
		a := compare(p, &got, imported)
		after := merge(got, a.update)
		if b := compare(p, &after, imported); len(b.differs) > 0 {
			t.Fatalf("still differs in %v after %+v", b.differs, a.update)
		}
		if len(a.differs) == 0 && got.Status != "SUSPENDED" {
			if b := compare(p, &after, imported); b.note != a.note {
				t.Fatalf("note changed from %q to %q", a.note, b.note)
			}
		}
	})
}

func TestWriteLosesNothing(t *testing.T) {
	p := v1alpha1.SubscriptionPlanParameters{
		PlanName: "Gold", BillingPlan: ptr("X"), StopOnQuotaReach: ptr(false),
		ThrottleLimitCount: ptr(int64(1 << 53)), ThrottleLimitUnit: ptr(v1alpha1.ThrottleLimitUnitMonth),
		ExpiryTime: &metav1.Time{Time: expiry}, Status: ptr(v1alpha1.SubscriptionPlanInactive),
	}
	for i := range reflect.ValueOf(p).NumField() {
		if reflect.ValueOf(p).Field(i).IsZero() {
			t.Fatalf("the test leaves out %s", reflect.TypeOf(p).Field(i).Name)
		}
	}
	want := gateway.SubscriptionPlanWrite{
		PlanName: "Gold", BillingPlan: ptr("X"), StopOnQuotaReach: ptr(false), ThrottleLimitCount: ptr(int64(1 << 53)),
		ThrottleLimitUnit: "Month", ExpiryTime: &expiry, Status: "INACTIVE",
	}
	if diff := cmp.Diff(want, write(p)); diff != "" {
		t.Errorf("write(...): -want, +got:\n%s", diff)
	}
}

func TestLateInitialize(t *testing.T) {
	got := &gateway.SubscriptionPlan{
		PlanName: "Gold", BillingPlan: "X", StopOnQuotaReach: ptr(false), ThrottleLimitCount: ptr(int64(5)), ThrottleLimitUnit: "Min",
		ExpiryTime: &expiry, Status: "INACTIVE",
	}
	p := v1alpha1.SubscriptionPlanParameters{PlanName: "Gold"}
	want := "billingPlan,stopOnQuotaReach,throttleLimitCount,throttleLimitUnit,expiryTime,status"
	if filled := strings.Join(lateInitialize(&p, got), ","); filled != want {
		t.Errorf("filled %s", filled)
	}
	if a := compare(p, got, false); len(a.differs) > 0 || a.note != "" {
		t.Errorf("differs after it was filled: %+v", a)
	}
	if filled := lateInitialize(&p, got); len(filled) > 0 {
		t.Errorf("filled again %v", filled)
	}

	odd := &gateway.SubscriptionPlan{PlanName: "Gold", ThrottleLimitCount: ptr(int64(5)), ThrottleLimitUnit: "Fortnight", Status: "SUSPENDED"}
	p = v1alpha1.SubscriptionPlanParameters{PlanName: "Gold"}
	if filled := lateInitialize(&p, odd); len(filled) > 0 {
		t.Errorf("filled %v, which admission refuses", filled)
	}
}
