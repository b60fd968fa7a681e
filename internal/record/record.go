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

// Package record reads and writes what a managed resource remembers of itself in
// annotations: what it asked a gateway to create, and what it holds there.
// Annotations survive a restore that drops status, and unlike status they are
// stored when a create fails. Their names and fields are permanent.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
)

// Version of the records this build writes and understands.
const Version = 1

// ErrNewer means that a record was written by a later version of the provider.
// What it says is not understood, so nothing may be written because of it.
var ErrNewer = errors.New("this object was last handled by a newer version of the provider; run that version or a later one")

// An Outcome says what is known of the answer to a create.
type Outcome string

// The outcomes.
const (
	// Open means that the create may have succeeded.
	Open Outcome = "open"
	// Refused means that the create is known to have created nothing.
	Refused Outcome = "refused"
)

// An Attempt is what a managed resource asked a gateway to create. It is stored
// before the request is made.
type Attempt struct {
	Version int `json:"v"`
	// AskedID is the ID, or for kinds whose ID the gateway picks the unique name,
	// that was asked for.
	AskedID string `json:"askedId,omitempty"`
	// Preset is whether the user asked for that ID.
	Preset bool `json:"preset,omitempty"`
	// AbsentBefore is whether nothing had that ID before the first request.
	AbsentBefore bool `json:"absentBefore,omitempty"`
	// Endpoint that was asked.
	Endpoint string `json:"endpoint,omitempty"`

	APIID                 string `json:"apiId,omitempty"`
	ApplicationID         string `json:"applicationId,omitempty"`
	PlanID                string `json:"planId,omitempty"`
	BillingCustomerID     string `json:"billingCustomerId,omitempty"`
	BillingSubscriptionID string `json:"billingSubscriptionId,omitempty"`
	// Known are the IDs that were there before and look like it. It is nil, and not
	// empty, where the gateway was known not to choose IDs.
	Known []string `json:"known,omitzero"`

	Outcome Outcome `json:"outcome,omitempty"`
	// Conflict stands for all that could make a create succeed which was refused since
	// something was there already.
	Conflict string `json:"conflict,omitempty"`
}

// A Baseline is what a managed resource holds at a gateway.
type Baseline struct {
	Version int `json:"v"`
	// ID at the gateway: what GET, PUT and DELETE take.
	ID string `json:"id"`
	// Endpoint and GatewayID of the gateway that holds it.
	Endpoint  string `json:"endpoint,omitempty"`
	GatewayID string `json:"gatewayId,omitempty"`

	APIInternalID string `json:"apiInternalId,omitempty"`
	// Fields are the immutable ones, by name.
	Fields map[string]string `json:"fields,omitempty"`
	// LateInitialized are the fields that were filled in from the gateway.
	LateInitialized []string `json:"lateInitialized,omitempty"`
	PlanChoice      string   `json:"planChoice,omitempty"`
}

// ReadAttempt returns the attempt of an object, or nil if it has none that can
// be read.
func ReadAttempt(o metav1.Object) (*Attempt, error) {
	a := &Attempt{}
	ok, err := read(o, v1alpha1.AnnotationCreateAttempt, a)
	if !ok || err != nil {
		return nil, err
	}
	return a, nil
}

// ReadBaseline returns the baseline of an object, or nil if it has none that can
// be read.
func ReadBaseline(o metav1.Object) (*Baseline, error) {
	b := &Baseline{}
	ok, err := read(o, v1alpha1.AnnotationBaseline, b)
	if !ok || err != nil {
		return nil, err
	}
	if b.ID == "" {
		return nil, nil //nolint:nilnil // Garbled is as good as absent.
	}
	return b, nil
}

// MayHold tells whether an object may hold something at a gateway: it recorded so,
// or a create of its own may have succeeded. What a later version recorded counts.
func MayHold(o metav1.Object) bool {
	b, err := ReadBaseline(o)
	if err != nil || b != nil {
		return true
	}
	a, err := ReadAttempt(o)
	return err != nil || a != nil && a.Outcome == Open
}

// Vouch returns what status has to say so that it vouches for the attempt of an object:
// nothing if it has none.
func Vouch(o metav1.Object) *v1alpha1.CreateAttempt {
	a, err := ReadAttempt(o)
	if err != nil || a == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(o.GetAnnotations()[v1alpha1.AnnotationCreateAttempt]))
	v := &v1alpha1.CreateAttempt{Endpoint: a.Endpoint, Digest: hex.EncodeToString(sum[:8])}
	if a.AbsentBefore {
		v.ID = a.AskedID
	}
	if a.Known != nil {
		v.APIID, v.ApplicationID = a.APIID, a.ApplicationID
	}
	return v
}

// near is how far the creation of an object may be, by the clock of its gateway, from
// when it was about to be asked for for the last time.
const near = 10 * time.Minute

// Near tells whether what was created at a time can be what was sent then. Where either
// time is not known nothing is ruled out.
func Near(v *v1alpha1.CreateAttempt, created time.Time) bool {
	return v != nil && (v.Time == nil || created.IsZero() || created.Sub(v.Time.Time).Abs() <= near)
}

// LastSent is when the create that an object attempted was last about to be sent, as status
// vouches for it, or where it does not, as the runtime noted, which a backup keeps.
func LastSent(o metav1.Object, status *v1alpha1.CreateAttempt) *v1alpha1.CreateAttempt {
	if ReadVouched(o, status) != nil {
		return status
	}
	noted := &v1alpha1.CreateAttempt{}
	if t := meta.GetExternalCreatePending(o); !t.IsZero() {
		noted.Time = new(metav1.NewTime(t))
	}
	return noted
}

// Stale tells whether what status vouches for was asked so long ago that whoever asked has
// found by now what came of it, be it by another name of the gateway.
func Stale(v *v1alpha1.CreateAttempt, now time.Time) bool {
	return v != nil && v.Time != nil && now.Sub(v.Time.Time) > time.Hour
}

// ReadVouched returns the attempt of an object if it is open and status vouches for it,
// or else nil.
func ReadVouched(o metav1.Object, status *v1alpha1.CreateAttempt) *Attempt {
	a, err := ReadAttempt(o)
	if err != nil || a == nil || a.Outcome != Open || status == nil {
		return nil
	}
	if v := Vouch(o); status.Endpoint != v.Endpoint || status.Digest != v.Digest {
		return nil
	}
	return a
}

func read(o metav1.Object, key string, into any) (bool, error) {
	raw, ok := o.GetAnnotations()[key]
	if !ok {
		return false, nil
	}
	var version struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal([]byte(raw), &version); err != nil || version.V < 1 {
		return false, nil //nolint:nilerr // Garbled is as good as absent.
	}
	if version.V > Version {
		return false, ErrNewer
	}
	return json.Unmarshal([]byte(raw), into) == nil, nil
}

// WriteAttempt into the annotations of an object, in memory. Equal attempts are
// written byte for byte alike.
func WriteAttempt(o metav1.Object, a Attempt) {
	a.Version = Version
	write(o, v1alpha1.AnnotationCreateAttempt, a)
}

// WriteBaseline into the annotations of an object, in memory. Equal baselines
// are written byte for byte alike.
func WriteBaseline(o metav1.Object, b Baseline) {
	b.Version = Version
	write(o, v1alpha1.AnnotationBaseline, b)
}

func write(o metav1.Object, key string, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		// Texts, lists and maps of texts, numbers and booleans always encode.
		panic(err)
	}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = string(raw)
	o.SetAnnotations(annotations)
}
