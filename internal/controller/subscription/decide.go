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

package subscription

import (
	"fmt"
	"slices"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/target"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
)

// A problem is a reason why what the spec asks for cannot be in force, in the
// words of the condition Applied.
type problem struct {
	Reason  xpv2.ConditionReason
	Message string
}

func (p *problem) Error() string { return p.Message }

func problemf(reason xpv2.ConditionReason, format string, a ...any) *problem {
	return &problem{Reason: reason, Message: fmt.Sprintf(format, a...)}
}

// A wish is what a spec asks for, with its references followed.
type wish struct {
	// ExternalRefID, or empty.
	ExternalRefID string

	// APIID is the API's handle. If it is empty APIProblem says why.
	APIID      string
	APIProblem *problem

	ApplicationID         string
	BillingCustomerID     string
	BillingSubscriptionID string

	Plan planWish

	// Status, or empty to leave it as it is.
	Status string
}

// A planWish is the plan a spec asks for.
type planWish struct {
	// ID of the plan; empty for no plan.
	ID string

	// Choice is the name of the object a selector chose.
	Choice string

	// Problem says why the ID is not known. Pending is true if it will be known
	// once the object that is referred to is ready.
	Problem *problem
	Pending bool
}

// fields are the immutable fields of a wish, by their names in the spec.
func (w wish) fields() map[string]string {
	return map[string]string{
		fieldExternalRefID:         w.ExternalRefID,
		fieldAPIID:                 w.APIID,
		fieldApplicationID:         w.ApplicationID,
		fieldBillingCustomerID:     w.BillingCustomerID,
		fieldBillingSubscriptionID: w.BillingSubscriptionID,
	}
}

// Names of the fields that a baseline records.
const (
	fieldExternalRefID         = "externalRefId"
	fieldAPIID                 = "apiId"
	fieldApplicationID         = "applicationId"
	fieldBillingCustomerID     = "billingCustomerId"
	fieldBillingSubscriptionID = "billingSubscriptionId"
	fieldSubscriptionPlanID    = "subscriptionPlanId"
	fieldStatus                = "status"
)

func immutableFields() []string {
	return []string{fieldExternalRefID, fieldAPIID, fieldApplicationID, fieldBillingCustomerID, fieldBillingSubscriptionID}
}

// judgeIdentity tells whether a wish leaves the immutable fields of a deployed
// subscription as they are. A field may be given the value the gateway has for
// it, and one that was filled in from there may be absent again.
func judgeIdentity(b *record.Baseline, w wish, got *gateway.Subscription) *problem {
	reported := map[string]string{
		fieldExternalRefID:         got.ExternalRefID,
		fieldApplicationID:         strings.TrimSpace(got.ApplicationID),
		fieldBillingCustomerID:     got.BillingCustomerID,
		fieldBillingSubscriptionID: got.BillingSubscriptionID,
	}
	wanted := w.fields()
	for _, f := range immutableFields() {
		was, is := b.Fields[f], wanted[f]
		switch {
		case is == was:
		case f == fieldAPIID && is == "":
			// The reference cannot be followed; the API cannot have changed.
		case is == "" && slices.Contains(b.LateInitialized, f):
		case is != "" && was == "" && is == reported[f]:
		default:
			return problemf(v1alpha1.ReasonImmutableField,
				"spec.forProvider.%s cannot be changed from %q to %q once the subscription exists at the gateway; set it back, or delete this object and create another one", f, was, is)
		}
	}
	return nil
}

// judgeName tells whether an external-name, if there is one, names what is held.
func judgeName(b *record.Baseline, name string) *problem {
	if name == "" || name == b.ID {
		return nil
	}
	return problemf(v1alpha1.ReasonImmutableField,
		"the annotation crossplane.io/external-name cannot be changed from %q to %q: this object holds the former; set it back, or delete this object and create another one", b.ID, name)
}

// judgeImport tells whether the subscription with the given ID is the one a spec
// describes, so that it may be held: it is listed under the spec's API, belongs
// to the spec's application, and agrees in what else the spec gives and the
// gateway reports. Missing and mismatching give one text, so that nothing can be
// learnt about what others have.
func judgeImport(w wish, id string, listed []gateway.Subscription) (*gateway.Subscription, *problem) {
	i := slices.IndexFunc(listed, func(s gateway.Subscription) bool { return s.ID == id })
	if i >= 0 && describes(w, listed[i]) {
		return &listed[i], nil
	}
	return nil, problemf(v1alpha1.ReasonImmutableField,
		"API %q has no subscription %q that fits spec.forProvider; these must be those of the subscription that the annotation crossplane.io/external-name names: apiId, applicationId, and where given externalRefId, billingCustomerId and billingSubscriptionId", w.APIID, id)
}

// describes tells whether a wish describes a subscription on its API in all that
// cannot be changed.
func describes(w wish, s gateway.Subscription) bool {
	fits := func(wanted, reported string) bool { return wanted == "" || reported == "" || wanted == reported }
	return strings.TrimSpace(s.ApplicationID) == w.ApplicationID &&
		fits(w.ExternalRefID, s.ExternalRefID) &&
		fits(w.BillingCustomerID, s.BillingCustomerID) &&
		fits(w.BillingSubscriptionID, s.BillingSubscriptionID)
}

// judgeAttempt finds what an open attempt created, if its answer was lost. Only
// what was absent before, is listed under the attempt's API, equals what was
// asked for in every readable field, and is held by nobody else can be it. Where
// the gateway may have chosen the ID there can be several such, of which none is
// guessed at; and where it was not recorded what was there before, only the
// asked-for ID counts. What is older than the object that asked is no result of it,
// whatever its record says.
func judgeAttempt(a *record.Attempt, asked time.Time, listed []gateway.Subscription, inPlace bool, held func(id string) bool) (*gateway.Subscription, *problem) {
	equal := func(s gateway.Subscription) bool {
		return strings.TrimSpace(s.ApplicationID) == a.ApplicationID &&
			s.SubscriptionPlanID == a.PlanID &&
			s.BillingCustomerID == a.BillingCustomerID &&
			s.BillingSubscriptionID == a.BillingSubscriptionID &&
			!held(s.ID)
	}
	var candidates []*gateway.Subscription
	for i, s := range listed {
		switch {
		case !equal(s):
		case s.ID == a.AskedID:
			if a.AbsentBefore {
				return &listed[i], nil
			}
		case !inPlace && a.Known != nil && !wasKnown(a, s) && !isOlder(s, asked):
			candidates = append(candidates, &listed[i])
		}
	}
	switch len(candidates) {
	case 0:
		return nil, nil
	case 1:
		return candidates[0], nil
	}
	ids := make([]string, 0, len(candidates))
	for _, c := range candidates {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return nil, problemf(v1alpha1.ReasonAmbiguousAttempt,
		"the gateway's answer to a create was lost, and any of the subscriptions %s may be its result; name the right one in the annotation crossplane.io/external-name, or delete those that nobody needs", strings.Join(ids, ", "))
}

// mayBeResultOf tells whether what was found for one attempt may as well be the
// result of another one for the same API and application: only the ID that was asked
// for says whose it is.
func mayBeResultOf(other, a *record.Attempt, found string) bool {
	return other.Endpoint == a.Endpoint && (other.AskedID == found || found != a.AskedID)
}

// withoutResultsOf leaves out what was not there yet when later attempts were sent:
// it is no result of the given one, which could not take effect any more then.
func withoutResultsOf(later []*record.Attempt, a *record.Attempt, listed []gateway.Subscription) []gateway.Subscription {
	return slices.DeleteFunc(slices.Clone(listed), func(s gateway.Subscription) bool {
		return s.ID != a.AskedID && slices.ContainsFunc(later, func(o *record.Attempt) bool { return o.Known != nil && !wasKnown(o, s) })
	})
}

// wasKnown tells whether a subscription was there before an attempt: it is named
// in it, or it is not newer than the date that stands for too many names.
func wasKnown(a *record.Attempt, s gateway.Subscription) bool {
	if slices.Contains(a.Known, s.ID) {
		return true
	}
	if len(a.Known) != 1 {
		return false
	}
	newest, err := time.Parse(time.RFC3339Nano, a.Known[0])
	return err == nil && !s.CreatedAt.After(newest)
}

// isOlder tells whether a subscription was created before the object that may have
// asked for it, by more than the clocks of gateway and API server may differ. If it
// was after all, a create that is repeated meets its token.
func isOlder(s gateway.Subscription, asked time.Time) bool {
	const skew = 10 * time.Minute
	return !s.CreatedAt.IsZero() && s.CreatedAt.Before(asked.Add(-skew))
}

// An adoptionCase is what is known when a create was refused since something is
// there already.
type adoptionCase struct {
	Policy     v1alpha1.SubscriptionAdoptionPolicy
	Wish       wish
	AskedID    string
	Generation connection.Generation

	// AskedExists is true if the gateway has a subscription with the asked-for ID,
	// on whatever API.
	AskedExists bool

	// Listed are the subscriptions on the API.
	Listed []gateway.Subscription

	// Held tells whether somebody else holds an ID.
	Held func(id string) bool
}

// judgeAdoption tells which subscription may be adopted, and whether that has yet
// to be proved by a token that the gateway accepts for it. It returns nil if none
// may.
func judgeAdoption(c adoptionCase) (candidate *gateway.Subscription, needsProof bool) {
	if c.Policy == v1alpha1.SubscriptionAdoptNever {
		return nil, false
	}
	var ofApplication []*gateway.Subscription
	for i, s := range c.Listed {
		if strings.TrimSpace(s.ApplicationID) == c.Wish.ApplicationID {
			ofApplication = append(ofApplication, &c.Listed[i])
		}
	}
	for _, s := range ofApplication {
		if s.ID == c.AskedID && describes(c.Wish, *s) && !c.Held(s.ID) {
			return s, false
		}
	}
	if len(ofApplication) != 1 || !describes(c.Wish, *ofApplication[0]) || c.Held(ofApplication[0].ID) {
		return nil, false
	}
	only := ofApplication[0]
	switch c.Generation {
	case connection.GenerationLegacy:
		if c.Policy == v1alpha1.SubscriptionAdoptIfProven && len(c.Listed) > 1 {
			return nil, false
		}
		return only, false
	case connection.GenerationInPlace:
		// The token proves ownership only if it was the token that collided.
		if c.Wish.ExternalRefID != "" || c.AskedExists {
			return nil, false
		}
		return only, true
	case connection.GenerationUnknown:
	}
	return nil, false
}

// A tokenState is what is known of the token a spec asks for.
type tokenState int

const (
	// tokenUnmanaged: there is no token to apply, and none is missing.
	tokenUnmanaged tokenState = iota
	// tokenInForce: the token is the one that was last applied.
	tokenInForce
	// tokenChanged: the token is known to differ from the one last applied.
	tokenChanged
	// tokenUnknown: nothing is known of what was last applied.
	tokenUnknown
	// tokenMissing: there should be a token and there is none.
	tokenMissing
)

// A tokenCase is what is known of a token whose Secret is not the version that was
// last applied.
type tokenCase struct {
	// Deployed is true if the subscription is held. Generated is true if the
	// provider makes the token, and RotationAsked if a new one is asked for.
	Deployed, Generated, RotationAsked bool

	// Missing is true if the Secret holds no token, and Unreadable if that cannot be
	// told.
	Missing, Unreadable bool

	// Known is true if a token was applied here, be it with a create: that of an
	// import is its owner's.
	Known bool

	// Comparable is true if this process applied a token, and Equal if it was this.
	Comparable, Equal bool

	// Ignored is true if a gateway was sent another token before, and did not take it.
	Ignored bool
}

// judgeToken tells what is known of a token, and whether a new one is to be made.
func judgeToken(c tokenCase) (s tokenState, rotate bool) {
	switch {
	case c.Unreadable:
		return tokenMissing, false
	case c.RotationAsked && c.Deployed:
		return tokenChanged, true
	case c.RotationAsked:
		return tokenUnknown, true
	case c.Missing && !c.Generated:
		return tokenMissing, false
	case c.Missing && !c.Deployed:
		return tokenUnknown, true
	case c.Missing && !c.Known:
		// An import: its token was never known here.
		return tokenUnmanaged, false
	case c.Missing:
		return tokenChanged, true
	case !c.Comparable && c.Ignored:
		return tokenChanged, false
	case !c.Comparable:
		return tokenUnknown, false
	case c.Equal:
		return tokenInForce, false
	}
	return tokenChanged, false
}

// An updateCase is what is known of a deployed subscription that exists.
type updateCase struct {
	Wish     wish
	Observed gateway.Subscription

	// Moved is the problem with the external-name, if it does not name what is held.
	Moved *problem

	// Identity is the problem with the immutable fields, if there is one.
	Identity *problem

	Token        tokenState
	TokenProblem *problem

	// KnownStamp is the change stamp that was last accepted; zero if unknown.
	KnownStamp time.Time

	// PlanPendingFor is for how long the plan's ID has been awaited.
	PlanPendingFor time.Duration

	// Rewritten is true if a foreign write was answered less than ten minutes ago.
	Rewritten bool

	// Lost is true if the same was written several times in a row and did not last.
	Lost bool

	// Legacy is true if the gateway is known to change nothing but the status.
	// SentAlready is true if this very plan and token were sent to it before.
	Legacy, SentAlready bool
}

// An action is what is to be sent.
type action int

const (
	actionNone action = iota
	actionFull
	actionStatus
)

// An update is what is to be done about a deployed subscription.
type update struct {
	Action action

	// Problem says what of the spec is not in force and cannot be by this update.
	Problem *problem

	// Waiting is true if the problem passes by itself.
	Waiting bool

	// Foreign is true if somebody else wrote.
	Foreign bool

	// Contested is true if somebody else keeps writing.
	Contested bool
}

// Nothing tells whether there is nothing to be sent and nothing to complain about.
func (u update) Nothing() bool { return u.Action == actionNone && u.Problem == nil }

// planPatience is how long a restriction of access waits for a plan that is
// about to be known, so that both can go out as one.
const planPatience = 60 * time.Second

// judgeUpdate tells what is to be sent for a deployed subscription that exists.
// Whatever stands in the way of plan and token never stands in the way of the
// status: access is taken away first and complained about afterwards.
func judgeUpdate(c updateCase) update {
	statusDiffers := c.Wish.Status != "" && c.Wish.Status != c.Observed.Status
	lessAccess := c.Wish.Status != "" && c.Wish.Status != gateway.SubscriptionActive
	statusOnly := func(p *problem) update {
		u := update{Problem: p}
		if statusDiffers {
			u.Action = actionStatus
		}
		return u
	}

	if c.Moved != nil && !lessAccess {
		// It is in doubt which subscription is meant. Until that is settled access is
		// taken away, but not given.
		return update{Problem: c.Moved}
	}
	if p := blocker(c); p != nil {
		return statusOnly(p)
	}
	if c.Wish.Plan.Pending {
		if lessAccess && c.PlanPendingFor >= planPatience {
			return statusOnly(c.Wish.Plan.Problem)
		}
		return update{Problem: c.Wish.Plan.Problem, Waiting: true}
	}

	planDiffers := c.Wish.Plan.ID != c.Observed.SubscriptionPlanID
	tokenDiffers := c.Token == tokenChanged || c.Token == tokenUnknown && !c.Legacy

	if c.Legacy && (planDiffers || tokenDiffers) {
		if c.SentAlready {
			return statusOnly(legacyProblem(planDiffers, tokenDiffers))
		}
		return update{Action: actionFull}
	}
	if statusDiffers || planDiffers || tokenDiffers {
		if c.Lost && !(statusDiffers && lessAccess) {
			return update{Contested: true, Problem: problemf(v1alpha1.ReasonRefused,
				"the gateway, or somebody there, keeps changing what was written to %s; it is written again at most every ten minutes", strings.Join(differs(c.Wish, c.Observed), ", "))}
		}
		return update{Action: actionFull}
	}

	foreign := !c.KnownStamp.IsZero() && !sameStamp(c.KnownStamp, c.Observed.UpdatedAt)
	if foreign && !c.Legacy {
		if c.Rewritten {
			return update{Foreign: true, Contested: true}
		}
		return update{Action: actionFull, Foreign: true}
	}
	return update{}
}

// judgeWake tells whether a subscription that is left alone, since something in its
// spec was refused, is to be looked at for its status. Access is taken away in any
// case, but not given while that is of no use, or must not be.
func judgeWake(wanted, seen string, inVain bool) bool {
	return wanted != seen && (wanted != gateway.SubscriptionActive || !inVain)
}

// blocker is what keeps plan and token of a wish from being sent at all.
func blocker(c updateCase) *problem {
	switch {
	case c.Moved != nil:
		return c.Moved
	case c.Identity != nil:
		return c.Identity
	case c.Wish.APIProblem != nil && c.Wish.APIProblem.Reason != v1alpha1.ReasonAPIMissing:
		return c.Wish.APIProblem
	case c.Token == tokenMissing:
		return c.TokenProblem
	case !c.Wish.Plan.Pending:
		return c.Wish.Plan.Problem
	}
	return nil
}

// differs names the readable fields in which a subscription is not what a wish asks
// for.
func differs(w wish, s gateway.Subscription) []string {
	var d []string
	if w.Status != "" && w.Status != s.Status {
		d = append(d, fieldStatus)
	}
	if w.Plan.Problem == nil && w.Plan.ID != s.SubscriptionPlanID {
		d = append(d, fieldSubscriptionPlanID)
	}
	return d
}

// judgeAnswer tells what an update did not change although the gateway accepted it.
func judgeAnswer(g connection.Generation, planKept, tokenChanges bool) *problem {
	legacy := g == connection.GenerationLegacy
	switch {
	case legacy && (planKept || tokenChanges):
		return legacyProblem(planKept, tokenChanges)
	case planKept:
		return problemf(v1alpha1.ReasonRefused, "the gateway accepted another subscriptionPlanId and kept the one it had")
	}
	return nil
}

func legacyProblem(plan, token bool) *problem {
	what := "the token"
	switch {
	case plan && token:
		what = "the plan and the token"
	case plan:
		what = "the plan"
	}
	return problemf(v1alpha1.ReasonLegacyGateway,
		"this gateway cannot change %s of a subscription: it accepted the change and did nothing; upgrade the gateway, set the spec back, or delete this object and create another one, which gets another ID", what)
}

// sameStamp compares change stamps in milliseconds: gateways differ in what they
// keep beyond.
func sameStamp(a, b time.Time) bool {
	return a.Truncate(time.Millisecond).Equal(b.Truncate(time.Millisecond))
}

// judgeAbsence tells whether it proves anything that a subscription is not at the
// gateway which was asked. One that never held it has nothing to say, so nothing
// is created there, and nothing forgotten, until somebody confirms that it is the
// right one.
func judgeAbsence(b *record.Baseline, at target.Target) *problem {
	if at.Accepted || at.Recorded(b.Endpoint, b.GatewayID) {
		return nil
	}
	return problemf(v1alpha1.ReasonGatewayChanged,
		"subscription %q was held at %s and is not at %s, to which the provider config now leads; point the config back, or confirm the new gateway by setting the config's annotation apiplatform.crossplane.io/accept-gateway to %s", b.ID, b.Endpoint, at.Endpoint, at.Endpoint)
}
