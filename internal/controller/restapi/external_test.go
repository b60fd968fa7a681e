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

package restapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/apis/gateway/v1alpha1"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/kind"
	"github.com/crossplane-contrib/provider-apiplatform/internal/controller/target"
	"github.com/crossplane-contrib/provider-apiplatform/internal/emulator"
	"github.com/crossplane-contrib/provider-apiplatform/internal/gateway"
	"github.com/crossplane-contrib/provider-apiplatform/internal/metrics"
	"github.com/crossplane-contrib/provider-apiplatform/internal/record"
	"github.com/crossplane-contrib/provider-apiplatform/test/passtest"
)

func ptr[T any](v T) *T { return &v }

// managedBooks is a managed resource named books.
func managedBooks(change ...func(*v1alpha1.RestApi)) *v1alpha1.RestApi {
	mg := &v1alpha1.RestApi{
		ObjectMeta: metav1.ObjectMeta{Name: "books", Namespace: "team-a", UID: "uid-books", Generation: 1},
		Spec: v1alpha1.RestApiSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{ManagementPolicies: xpv2.ManagementPolicies{xpv2.ManagementActionAll}},
			AdoptionPolicy:      v1alpha1.RestApiAdoptionNever,
			ForProvider: v1alpha1.RestApiParameters{
				DisplayName: "Books",
				Version:     "v1.0",
				Context:     "/books/$version",
				Upstream:    v1alpha1.RestApiUpstreams{Main: v1alpha1.Upstream{URL: ptr("http://books.example.org:80/x")}},
				Policies: []v1alpha1.Policy{{
					Name: "rate", Version: ptr("v1"),
					Params: &runtime.RawExtension{Raw: []byte(`{"b":2.0,"a":1e3,"list":[],"template":"{{ env \"X\" }}"}`)},
				}},
				Operations: []v1alpha1.Operation{
					{Method: ptr(v1alpha1.HTTPMethod("GET")), Path: ptr("/b/{id}")},
					{Method: ptr(v1alpha1.HTTPMethod("GET")), Path: ptr("/a")},
				},
				Labels: map[string]string{"team": "a"},
			},
		},
	}
	for _, c := range change {
		c(mg)
	}
	return mg
}

func preset(handle string) func(*v1alpha1.RestApi) {
	return func(mg *v1alpha1.RestApi) { meta.SetExternalName(mg, handle) }
}

func only(actions ...xpv2.ManagementAction) func(*v1alpha1.RestApi) {
	return func(mg *v1alpha1.RestApi) { mg.Spec.ManagementPolicies = actions }
}

type bench struct {
	*passtest.Bench

	t       passtest.Tester
	memory  *memory
	metrics *metrics.Metrics
	at      target.Target
}

func newBench(t passtest.Tester, objects ...client.Object) *bench {
	t.Helper()
	return newBenchAt(t, emulator.Options{}, objects...)
}

func newBenchAt(t passtest.Tester, o emulator.Options, objects ...client.Object) *bench {
	t.Helper()
	b := passtest.New(t, o, []passtest.Index{{Of: &v1alpha1.RestApi{}, Field: indexHolds, Extract: heldHandles}}, objects...)
	return &bench{
		Bench: b, t: t, memory: &memory{}, metrics: metrics.New("test"),
		at: target.Target{Endpoint: b.Client.Endpoint().String(), Timeout: 5 * time.Second},
	}
}

func (b *bench) external(p managed.ManagementPoliciesChecker) *external {
	return &external{
		api: passtest.Each{Client: b.Client}, at: b.at, kube: b.Kube, policies: p, events: b.Events,
		cluster: "cluster-1", now: b.Now, poll: time.Minute, metrics: b.metrics, memory: b.memory,
	}
}

// pass runs one pass and returns the managed resource as it is stored afterwards.
func (b *bench) pass(mg *v1alpha1.RestApi) (*v1alpha1.RestApi, error) {
	b.t.Helper()
	err := passtest.Pass(b.t, b.Bench, v1alpha1.RestApiGroupVersionKind, mg, passtest.Connect[*v1alpha1.RestApi](func(p managed.ManagementPoliciesChecker) managed.TypedExternalClient[*v1alpha1.RestApi] {
		return b.external(p)
	}))
	return b.get(mg), err
}

// settle runs passes until one succeeds in leaving things as they are.
func (b *bench) settle(mg *v1alpha1.RestApi) *v1alpha1.RestApi {
	b.t.Helper()
	for range 6 {
		before := b.Gateway.Writes()
		got, err := b.pass(mg)
		if err == nil && b.Gateway.Writes() == before {
			return got
		}
	}
	b.t.Fatal("does not settle")
	return nil
}

func (b *bench) get(mg *v1alpha1.RestApi) *v1alpha1.RestApi {
	b.t.Helper()
	out := &v1alpha1.RestApi{}
	if err := b.Kube.Get(b.t.Context(), client.ObjectKeyFromObject(mg), out); err != nil {
		if kerrors.IsNotFound(err) {
			return nil
		}
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) edit(mg *v1alpha1.RestApi, change func(*v1alpha1.RestApi)) {
	b.t.Helper()
	got := b.get(mg)
	change(got)
	got.Generation++
	if err := b.Kube.Update(b.t.Context(), got); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) delete(mg *v1alpha1.RestApi) {
	b.t.Helper()
	if err := b.Kube.Delete(b.t.Context(), b.get(mg)); err != nil {
		b.t.Fatal(err)
	}
}

// lost has the answer to a create get lost. It may have created something.
func (b *bench) lost(mg *v1alpha1.RestApi, f emulator.Fault) {
	b.t.Helper()
	b.FailCreate(b.t, f, func() error {
		_, err := b.pass(mg)
		return err
	})
}

// gone runs passes until the managed resource is gone.
func (b *bench) gone(mg *v1alpha1.RestApi) {
	b.t.Helper()
	for range 4 {
		if got, _ := b.pass(mg); got == nil {
			return
		}
		b.Advance(time.Minute)
	}
	b.t.Fatal("is not deleted")
}

func ready(t *testing.T, mg *v1alpha1.RestApi) {
	t.Helper()
	for _, c := range []xpv2.ConditionType{xpv2.TypeReady, xpv2.TypeSynced, v1alpha1.TypeApplied} {
		if got := mg.Status.GetCondition(c); got.Status != corev1.ConditionTrue {
			t.Errorf("%s is %s: %s %s", c, got.Status, got.Reason, got.Message)
		}
	}
	if !mg.Status.Deployed {
		t.Error("not deployed")
	}
}

func refusedFor(t *testing.T, mg *v1alpha1.RestApi, err error, reason xpv2.ConditionReason) {
	t.Helper()
	if !kind.IsRefusal(err) {
		t.Errorf("not a refusal: %v", err)
	}
	got := mg.Status.GetCondition(v1alpha1.TypeApplied)
	if got.Status != corev1.ConditionFalse || got.Reason != reason {
		t.Errorf("Applied is %s: %s %s", got.Status, got.Reason, got.Message)
	}
	if got := mg.Status.GetCondition(xpv2.TypeReady); got.Status == corev1.ConditionTrue {
		t.Error("Ready")
	}
}

func (b *bench) owner(handle string) string {
	a, ok := b.Gateway.API(handle)
	if !ok {
		return "there is no API"
	}
	return a.Annotations[v1alpha1.AnnotationOwner]
}

func contextOf(a emulator.API) any {
	s, _ := a.Document["spec"].(map[string]any)
	return s["context"]
}

const mine = "cluster-1/team-a/books"

// A straightforward create is one POST, after which nothing is written.
//
// contract: R1, R4, A10
func TestCreateThenIdle(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)

	got, err := b.pass(mg)
	if err != nil {
		t.Fatal(err)
	}
	if meta.GetExternalName(got) != "books" {
		t.Errorf("external-name %q", meta.GetExternalName(got))
	}
	if base, err := record.ReadBaseline(got); err != nil || base == nil || base.ID != "books" || base.Endpoint != b.at.Endpoint {
		t.Errorf("baseline %+v, %v", base, err)
	}
	want := &record.Attempt{Version: 1, AskedID: "books", AbsentBefore: true, Endpoint: b.at.Endpoint}
	if a, err := record.ReadAttempt(got); err != nil || !cmp.Equal(want, a) {
		t.Errorf("attempt %+v, %v", a, err)
	}
	for range 10 {
		if got, err = b.pass(mg); err != nil {
			t.Fatal(err)
		}
		ready(t, got)
	}
	if n := b.Gateway.Writes(); n != 1 {
		t.Errorf("%d writes, want 1", n)
	}
	if o := b.owner("books"); o != mine {
		t.Errorf("owner %q", o)
	}
	at := got.Status.AtProvider
	if at.ID != "books" || at.Context != "/books/v1.0" || at.State != "deployed" || at.Origin != v1alpha1.OriginCreated || at.Endpoint != b.at.Endpoint {
		t.Errorf("atProvider %+v", at)
	}
}

// What Kubernetes is told about an object is not passed on to the gateway.
//
// contract: R3
func TestObjectMetadataStaysHere(t *testing.T) {
	mg := managedBooks(func(mg *v1alpha1.RestApi) {
		mg.Labels, mg.Annotations = map[string]string{"here": "only"}, map[string]string{"here": "only"}
		mg.Spec.ForProvider.Annotations = map[string]string{"there": "too"}
	})
	b := newBench(t, mg)
	ready(t, b.settle(mg))
	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Labels["late"], mg.Annotations["late"] = "label", "annotation" })
	ready(t, b.settle(mg))
	a, _ := b.Gateway.API("books")
	m, _ := a.Document["metadata"].(map[string]any)
	want := map[string]any{
		"name": "books", "labels": map[string]any{"team": "a"},
		"annotations": map[string]any{"there": "too", v1alpha1.AnnotationOwner: mine},
	}
	if diff := cmp.Diff(want, m); diff != "" || b.Gateway.Writes() != 1 {
		t.Errorf("%d writes; metadata: -want, +got:\n%s", b.Gateway.Writes(), diff)
	}
}

// A create whose answer is lost is found again by its mark: there is one API, and
// it is held.
//
// case: D1, D3, D6, D8
func TestLostAnswer(t *testing.T) {
	faults := map[string]emulator.Fault{
		"Cut":       emulator.Cut().After(),
		"Status500": emulator.Status(http.StatusInternalServerError, "Failed to create configuration").After(),
		"EmptyBody": emulator.EmptyBody().After(),
		"HTML":      emulator.HTML(http.StatusOK).After(),
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			mg := managedBooks()
			b := newBench(t, mg)
			b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodPost}, f))
			if _, err := b.pass(mg); err == nil || kind.IsRefusal(err) {
				t.Fatalf("error %v", err)
			}
			ready(t, b.settle(mg))
			if n := len(b.Gateway.APIs()); n != 1 {
				t.Errorf("%d APIs", n)
			}
			if n := b.Gateway.Count(emulator.Match{Method: http.MethodPost}); n != 1 {
				t.Errorf("%d POSTs", n)
			}
			b.delete(mg)
			b.gone(mg)
			if n := len(b.Gateway.APIs()); n != 0 {
				t.Errorf("%d APIs left behind", n)
			}
		})
	}
}

// What is found of a create whose process ended before the answer came is held, and to
// the runtime that create is over: its mark waits for nobody. So it is where what was
// held is created again.
//
// contract: S11
// case: D1
func TestProcessEndsDuringCreate(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	dies := func() *v1alpha1.RestApi {
		t.Helper()
		b.lost(mg, emulator.Cut().After())
		// Who is dead notes no failure.
		b.edit(mg, func(mg *v1alpha1.RestApi) {
			meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalCreateFailed, meta.AnnotationKeyExternalCreateSucceeded)
		})
		return b.settle(mg)
	}
	got := dies()
	ready(t, got)
	if meta.ExternalCreateIncomplete(got) {
		t.Errorf("pending: %v", got.GetAnnotations())
	}
	b.Gateway.DeleteAPI("books")
	b.Advance(time.Minute)
	got = dies()
	ready(t, got)
	if meta.ExternalCreateIncomplete(got) {
		t.Errorf("created again and pending: %v", got.GetAnnotations())
	}
}

// Another handle that is asked for while it is open what a create came to does not make
// that forgotten: what it made is held, also where it takes effect late, and nothing
// is created under the other handle. Where it made nothing the other handle is what is
// asked for.
//
// contract: S33, R1
func TestHandleChangedWhileOpen(t *testing.T) {
	cases := map[string]struct {
		fault emulator.Fault
		// late is whether the create is carried out after that, and stranger whether somebody
		// else takes the handle.
		late, stranger bool
		wants          []string
		deleted        []string
	}{
		"Made":     {fault: emulator.Cut().After(), wants: []string{"books"}},
		"MadeLate": {fault: emulator.Cut().Before(), late: true, wants: []string{"books"}},
		"NotMade":  {fault: emulator.Cut().Before(), wants: []string{"novels"}},
		"Stranger": {fault: emulator.Cut().Before(), stranger: true, wants: []string{"books", "novels"}, deleted: []string{"books"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := managedBooks()
			b := newBench(t, mg)
			b.lost(mg, tc.fault)
			b.edit(mg, func(mg *v1alpha1.RestApi) { meta.SetExternalName(mg, "novels") })
			handles := func() []string {
				var out []string
				for _, a := range b.Gateway.APIs() {
					out = append(out, a.Handle)
				}
				slices.Sort(out)
				return out
			}
			if tc.late || tc.stranger {
				if _, err := b.pass(mg); err == nil {
					t.Fatal("the other handle is not waited with")
				}
				b.Gateway.AddAPI("books")
			}
			if tc.late {
				b.mark("books", mine)
			}
			if !tc.late && !slices.Equal(tc.wants, []string{"books"}) {
				_, _ = b.pass(mg)
				b.Advance(b.at.Timeout + 31*time.Second)
			}
			ready(t, b.settle(mg))
			if got := handles(); !slices.Equal(got, tc.wants) {
				t.Errorf("at the gateway: %v, want %v", got, tc.wants)
			}
			b.delete(mg)
			b.gone(mg)
			if got := handles(); !slices.Equal(got, tc.deleted) {
				t.Errorf("left behind: %v, want %v", got, tc.deleted)
			}
		})
	}
}

// A 409 on our own API, because the read before it was stale, is no conflict.
//
// case: D5
func TestConflictWithOurselves(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	e := b.external(managed.NewManagementPoliciesResolver(true, mg.Spec.ManagementPolicies))
	work := b.get(mg)
	if _, err := e.Observe(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	if _, err := e.CreateRestAPI(t.Context(), e.found.want); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Create(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	if base, _ := record.ReadBaseline(work); base == nil {
		t.Error("not recorded")
	}
}

// Deleted while the answer to a create is outstanding, an object waits until the
// create must be over, also where the API vanished and was about to be created again.
//
// contract: S33
func TestDeletedWhileOpen(t *testing.T) {
	for name, again := range map[string]bool{"Created": false, "CreatedAgain": true} {
		t.Run(name, func(t *testing.T) {
			mg := managedBooks()
			b := newBench(t, mg)
			if again {
				b.Gateway.DeleteAPI(b.settle(mg).Status.AtProvider.ID)
			}
			b.lost(mg, emulator.Cut().Before())
			b.delete(mg)
			if got, err := b.pass(mg); got == nil || err == nil {
				t.Fatalf("gone too early: %v", err)
			}
			b.Advance(b.at.Timeout + 31*time.Second)
			b.gone(mg)
		})
	}
}

// What a later create is answered says nothing about an earlier one, which may still be
// carried out.
//
// contract: S33
func TestRefusedWhileOpen(t *testing.T) {
	for name, status := range map[string]int{"Unauthorized": http.StatusUnauthorized, "Invalid": http.StatusBadRequest} {
		t.Run(name, func(t *testing.T) {
			mg := managedBooks()
			b := newBench(t, mg)
			for _, f := range []emulator.Fault{emulator.Cut().Before(), emulator.Status(status, "no")} {
				b.lost(mg, f)
			}
			b.delete(mg)
			if got, _ := b.pass(mg); got == nil {
				t.Fatal("gone too early")
			}
			b.Gateway.AddAPI("books") // The first one is carried out late.
			b.mark("books", mine)
			b.Advance(b.at.Timeout + 31*time.Second)
			b.gone(mg)
			if n := len(b.Gateway.APIs()); n != 0 {
				t.Errorf("%d APIs left behind", n)
			}
		})
	}
}

// A record that names what no URL can carry keeps no object from its deletion.
//
// contract: S32
func TestDeletedWithAnUnusableRecord(t *testing.T) {
	for _, id := range []string{".", "..", "a b", " "} {
		mg := managedBooks()
		b := newBench(t, mg)
		b.edit(mg, func(stored *v1alpha1.RestApi) {
			stored.Finalizers = []string{managed.FinalizerName}
			record.WriteBaseline(stored, record.Baseline{ID: id, Endpoint: b.at.Endpoint})
		})
		got, err := b.pass(mg)
		refusedFor(t, got, err, v1alpha1.ReasonRefused)
		b.delete(mg)
		b.gone(mg)
	}
}

// What is under the handle is left alone, unless it was asked for.
//
// contract: R1, R2
func TestTaken(t *testing.T) {
	cases := map[string]struct {
		reason string
		mg     *v1alpha1.RestApi
		mark   string
		taken  bool
		origin v1alpha1.Origin
	}{
		"Handmade":         {reason: "Nobody asked for it.", mg: managedBooks()},
		"HandmadePreset":   {reason: "It was named.", mg: managedBooks(preset("books")), taken: true, origin: v1alpha1.OriginImported},
		"HandmadeTakeover": {reason: "The policy says so.", mg: managedBooks(func(mg *v1alpha1.RestApi) { mg.Spec.AdoptionPolicy = v1alpha1.RestApiAdoptionTakeover }), taken: true, origin: v1alpha1.OriginAdopted},
		"ForeignPreset":    {reason: "It is another's.", mg: managedBooks(preset("books")), mark: "cluster-2/x/books"},
		"ForeignTakeover":  {reason: "The policy says so.", mg: managedBooks(func(mg *v1alpha1.RestApi) { mg.Spec.AdoptionPolicy = v1alpha1.RestApiAdoptionTakeover }), mark: "cluster-2/x/books", taken: true, origin: v1alpha1.OriginAdopted},
		"OursOfOld":        {reason: "It bears our mark.", mg: managedBooks(), mark: mine, taken: true},
		"UpdateOnly": {
			reason: "Taking over is an update where no create is allowed.",
			mg:     managedBooks(preset("books"), only(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate)), taken: true, origin: v1alpha1.OriginImported,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tc.mg)
			b.Gateway.AddAPI("books")
			if tc.mark != "" {
				b.mark("books", tc.mark)
			}
			before, _ := b.Gateway.API("books")
			if !tc.taken {
				got, err := b.pass(tc.mg)
				refusedFor(t, got, err, v1alpha1.ReasonConflict)
				if name := meta.GetExternalName(got); name != meta.GetExternalName(tc.mg) {
					t.Errorf("external-name %q although nothing is held", name)
				}
				if strings.Contains(got.Status.GetCondition(v1alpha1.TypeApplied).Message, "cluster-2") || got.Status.AtProvider.ID != "" {
					t.Error("tells about the other's")
				}
				b.delete(tc.mg)
				b.gone(tc.mg)
				if after, _ := b.Gateway.API("books"); !cmp.Equal(before, after) || b.Gateway.Writes() != 0 {
					t.Errorf("\n%s\n-before, +after:\n%s", tc.reason, cmp.Diff(before, after))
				}
				return
			}
			got := b.settle(tc.mg)
			ready(t, got)
			if o := b.owner("books"); o != mine {
				t.Errorf("\n%s\nowner %q", tc.reason, o)
			}
			if tc.origin != "" && got.Status.AtProvider.Origin != tc.origin {
				t.Errorf("origin %q, want %q", got.Status.AtProvider.Origin, tc.origin)
			}
			if n := passtest.Counted(t, b.metrics, "apiplatform_adoptions_total", "RestApi"); n != float64(len(b.Events.With("Adopted"))) || n == 0 && tc.origin == v1alpha1.OriginAdopted {
				t.Errorf("%v adoptions are counted", n)
			}
			if n := b.Gateway.Count(emulator.Match{Method: http.MethodPost}); n != 0 {
				t.Errorf("%d POSTs", n)
			}
		})
	}
}

// mark an API by hand.
func (b *bench) mark(handle, owner string) {
	b.t.Helper()
	_, doc := b.Gateway.Do(http.MethodGet, "/rest-apis/"+handle, nil)
	m, _ := doc["metadata"].(map[string]any)
	m["annotations"] = map[string]any{v1alpha1.AnnotationOwner: owner}
	if owner == "" {
		delete(m, "annotations")
	}
	if status, _ := b.Gateway.Do(http.MethodPut, "/rest-apis/"+handle, doc); status != http.StatusOK {
		b.t.Fatal("cannot mark")
	}
}

// A takeover does not rob another object of this cluster.
//
// contract: A5
func TestTakeoverRobsNobodyHere(t *testing.T) {
	mg := managedBooks()
	thief := managedBooks(preset("books"), func(mg *v1alpha1.RestApi) {
		mg.Namespace, mg.UID = "team-b", "uid-thief"
		mg.Spec.AdoptionPolicy = v1alpha1.RestApiAdoptionTakeover
	})
	b := newBench(t, mg, thief)
	b.settle(mg)
	got, err := b.pass(thief)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	if o := b.owner("books"); o != mine {
		t.Errorf("owner %q", o)
	}
	b.delete(thief)
	b.gone(thief)
	ready(t, b.settle(mg))

	again := managedBooks(preset("books"), func(mg *v1alpha1.RestApi) {
		mg.Namespace, mg.UID = "team-b", "uid-heir"
		mg.Spec.AdoptionPolicy = v1alpha1.RestApiAdoptionTakeover
	})
	b.edit(mg, only(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate))
	b.delete(mg)
	b.gone(mg)
	if err := b.Kube.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	ready(t, b.settle(again))
}

// An API that is gone for the moment is created again by who held it, and not by
// whoever asks for its handle meanwhile.
//
// contract: R2, A5
func TestHandleOfGoneAPI(t *testing.T) {
	mg := managedBooks()
	mg.CreationTimestamp.Time = time.Unix(1000, 0)
	thief := managedBooks(preset("books"), func(mg *v1alpha1.RestApi) {
		mg.Namespace, mg.UID = "team-b", "uid-thief"
		mg.CreationTimestamp.Time = time.Unix(500, 0)
		mg.Spec.AdoptionPolicy = v1alpha1.RestApiAdoptionTakeover
	})
	b := newBench(t, mg, thief)
	b.settle(mg)
	if status, _ := b.Gateway.Do(http.MethodDelete, "/rest-apis/books", nil); status != http.StatusOK {
		t.Fatal("cannot delete it by hand")
	}
	got, err := b.pass(thief)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	ready(t, b.settle(mg))
	if o := b.owner("books"); o != mine {
		t.Errorf("owner %q", o)
	}

	// A record that anybody typed reserves nothing from who was there first.
	squatter := managedBooks(func(mg *v1alpha1.RestApi) {
		mg.Name, mg.UID = "squatter", "uid-squatter"
		mg.CreationTimestamp.Time = time.Unix(2000, 0)
		record.WriteBaseline(mg, record.Baseline{ID: "films", Endpoint: b.at.Endpoint})
	})
	films := managedBooks(preset("films"), func(mg *v1alpha1.RestApi) {
		mg.Name, mg.UID, mg.Spec.ForProvider.DisplayName = "films", "uid-films", "Films"
		mg.CreationTimestamp.Time = time.Unix(1500, 0)
	})
	for _, o := range []*v1alpha1.RestApi{squatter, films} {
		if err := b.Kube.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	ready(t, b.settle(films))
}

// displayName and version are unique, and the gateway compares them first.
//
// contract: R1, R5
func TestNameClash(t *testing.T) {
	mg := managedBooks(func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.DisplayName = "other" })
	b := newBench(t, mg)
	b.Gateway.AddAPI("other")
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	if m := got.Status.GetCondition(v1alpha1.TypeApplied).Message; m != nameTaken {
		t.Errorf("message %q", m)
	}
	if holds(got) {
		t.Error("may hold something")
	}
	if name := meta.GetExternalName(got); name != "" {
		t.Errorf("external-name %q before there is an API", name)
	}
	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.DisplayName = "Books" })
	got = b.settle(mg)
	ready(t, got)
	if name := meta.GetExternalName(got); name != "books" {
		t.Errorf("external-name %q", name)
	}
}

// What the gateway complains about is in the condition, by field of the spec.
//
// contract: R5
// case: H1
func TestRefused(t *testing.T) {
	mg := managedBooks(func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Context = "no-slash" })
	b := newBench(t, mg)
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonRefused)
	if m := got.Status.GetCondition(v1alpha1.TypeApplied).Message; !strings.Contains(m, "spec.forProvider.context") {
		t.Errorf("message %q", m)
	}
	if holds(got) {
		t.Error("may hold something")
	}
	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Context = "/books" })
	ready(t, b.settle(mg))

	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Context = "no-slash" })
	got, err = b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonRefused)
	if !got.Status.Deployed {
		t.Error("not deployed any more")
	}
}

// A configuration that denies template expressions lets none to the gateway, neither with
// a create nor with an update, and leaves alone what is there.
func TestExpressionsDenied(t *testing.T) {
	const where = "spec.forProvider.policies[0].params.template"
	expression := managedBooks().Spec.ForProvider.Policies
	plain := func(mg *v1alpha1.RestApi) {
		mg.Spec.ForProvider.Policies[0].Params.Raw = []byte(`{"template":"{ { env"}`)
	}
	escaped := func(mg *v1alpha1.RestApi) {
		mg.Spec.ForProvider.Policies[0].Params.Raw = []byte(`{"template":"\u007b\u007b env \"X\" }}"}`)
	}
	denied := func(b *bench, mg *v1alpha1.RestApi) {
		t.Helper()
		before := b.Gateway.Writes()
		got, err := b.pass(mg)
		refusedFor(t, got, err, v1alpha1.ReasonRefused)
		if m := got.Status.GetCondition(v1alpha1.TypeApplied).Message; !strings.HasPrefix(m, where) || !strings.Contains(m, "spec.templateExpressions") {
			t.Errorf("message %q", m)
		}
		if n := b.Gateway.Writes() - before; n != 0 {
			t.Errorf("%d writes at the gateway", n)
		}
	}

	mg := managedBooks()
	clock := time.Now()
	b := newBenchAt(t, emulator.Options{Now: func() time.Time { return clock }}, mg)
	b.at.ExpressionsDenied = true
	denied(b, mg)
	b.edit(mg, escaped)
	denied(b, mg)
	b.edit(mg, plain)
	ready(t, b.settle(mg))
	b.edit(mg, escaped)
	denied(b, mg)

	b.at.ExpressionsDenied = false
	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Policies = expression })
	ready(t, b.settle(mg))
	b.at.ExpressionsDenied = true
	writes := b.Gateway.Writes()
	ready(t, b.settle(mg))
	if n := b.Gateway.Writes() - writes; n != 0 {
		t.Errorf("%d writes for what is in force", n)
	}
	// Whatever would be written has the expression in it.
	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Context = "/elsewhere" })
	denied(b, mg)
	clock = clock.Add(time.Minute)
	_, doc := b.Gateway.Do(http.MethodGet, "/rest-apis/books", nil)
	b.Gateway.Do(http.MethodPut, "/rest-apis/books", doc)
	e := b.external(managed.NewManagementPoliciesResolver(true, mg.Spec.ManagementPolicies))
	if now, err := e.guard(t.Context(), b.get(mg)); !now || err != nil {
		t.Errorf("written by others: %t, %v", now, err)
	}
	denied(b, mg)
	if now, err := e.guard(t.Context(), b.get(mg)); now || err != nil {
		t.Errorf("nothing new: %t, %v", now, err)
	}
	if err := b.Kube.Delete(t.Context(), mg); err != nil {
		t.Fatal(err)
	}
	if _, err := b.pass(mg); err != nil {
		t.Errorf("it is not deleted: %v", err)
	}
	if n := len(b.Gateway.APIs()); n != 0 {
		t.Errorf("there are %d APIs", n)
	}
}

// What is taken over, and what is created again, is written too.
func TestExpressionsDeniedOfOthers(t *testing.T) {
	for name, policies := range map[string][]xpv2.ManagementAction{
		"Create": {xpv2.ManagementActionAll},
		"Update": {xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate},
	} {
		t.Run("TakeOver"+name, func(t *testing.T) {
			mg := managedBooks(preset("library"), only(policies...), func(mg *v1alpha1.RestApi) { mg.Spec.AdoptionPolicy = v1alpha1.RestApiAdoptionTakeover })
			b := newBench(t, mg)
			b.at.ExpressionsDenied = true
			b.Gateway.AddAPI("library")
			before := b.Gateway.Writes()
			got, err := b.pass(mg)
			refusedFor(t, got, err, v1alpha1.ReasonRefused)
			if n := b.Gateway.Writes() - before; n != 0 {
				t.Errorf("%d writes at the gateway", n)
			}
		})
	}
	mg := managedBooks()
	b := newBench(t, mg)
	b.settle(mg)
	b.at.ExpressionsDenied = true
	b.Gateway.DeleteAPI("books")
	before := b.Gateway.Writes()
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonRefused)
	if n := b.Gateway.Writes() - before; n != 0 {
		t.Errorf("%d writes at the gateway", n)
	}
}

// Who only looks passes nothing on.
func TestExpressionsObserved(t *testing.T) {
	mg := managedBooks(preset("library"), only(xpv2.ManagementActionObserve))
	b := newBench(t, mg)
	b.at.ExpressionsDenied = true
	b.Gateway.AddAPI("library")
	got, err := b.pass(mg)
	if err != nil || got.Status.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		t.Errorf("%v, conditions %+v", err, got.Status.Conditions)
	}
}

func TestExpressionIn(t *testing.T) {
	const expression = "{{ env `X` }}"
	params := func(raw string) gateway.RestAPISpec {
		return gateway.RestAPISpec{Policies: []gateway.Policy{{Params: gateway.Params(raw)}}}
	}
	cases := map[string]struct {
		reason string
		spec   gateway.RestAPISpec
		got    *gateway.RestAPI
		want   string
	}{
		"None":      {reason: "Single braces are part of paths.", spec: gateway.RestAPISpec{Context: "/{a}", Operations: []gateway.Operation{{Path: "/{b}/{c}"}}}},
		"Name":      {reason: "Any text is evaluated.", spec: gateway.RestAPISpec{DisplayName: expression}, want: "spec.forProvider.displayName"},
		"Bare":      {reason: "An expression that does not end is one, if a broken one.", spec: gateway.RestAPISpec{Version: "a{{"}, want: "spec.forProvider.version"},
		"Plan":      {reason: "The names of plans are evaluated too.", spec: gateway.RestAPISpec{SubscriptionPlans: []string{"gold", expression}}, want: "the plan name \"{{ env `X` }}\""},
		"PlanThere": {reason: "What is there is not brought there.", spec: gateway.RestAPISpec{SubscriptionPlans: []string{expression}}, got: &gateway.RestAPI{Spec: gateway.RestAPISpec{SubscriptionPlans: []string{expression}}}},
		"Nested":    {reason: "So is what is deep inside.", spec: gateway.RestAPISpec{UpstreamDefinitions: []gateway.UpstreamDefinition{{Upstreams: []gateway.UpstreamTarget{{}, {URL: "http://" + expression}}}}}, want: "spec.forProvider.upstreamDefinitions[0].upstreams[1].url"},
		"Params":    {reason: "Params have keys of any kind.", spec: params(`{"a.b":[{"c":"\u007b{"}]}`), want: `spec.forProvider.policies[0].params["a.b"][0].c`},
		"Key":       {reason: "Keys are not evaluated.", spec: params(`{"{{ a }}":"b"}`)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := expressionIn(tc.spec, tc.got)
			if err != nil || got != tc.want {
				t.Errorf("%s expressionIn(...): got %q, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

// contract: R2, R4, S30
func TestDrift(t *testing.T) {
	cases := map[string]func(b *bench){
		"Spec": func(b *bench) {
			_, doc := b.Gateway.Do(http.MethodGet, "/rest-apis/books", nil)
			s, _ := doc["spec"].(map[string]any)
			s["context"] = "/evil"
			b.Gateway.Do(http.MethodPut, "/rest-apis/books", doc)
		},
		"Mark":    func(b *bench) { b.mark("books", "") },
		"Deleted": func(b *bench) { b.Gateway.DeleteAPI("books") },
	}
	for name, drift := range cases {
		t.Run(name, func(t *testing.T) {
			mg := managedBooks()
			b := newBench(t, mg)
			b.settle(mg)
			want, _ := b.Gateway.API("books")
			drift(b)
			ready(t, b.settle(mg))
			got, _ := b.Gateway.API("books")
			if diff := cmp.Diff(want.Annotations, got.Annotations); diff != "" || !cmp.Equal(contextOf(want), contextOf(got)) {
				t.Errorf("not set back: %v %s", contextOf(got), diff)
			}
		})
	}
}

func TestUndeployed(t *testing.T) {
	mg := managedBooks(func(mg *v1alpha1.RestApi) {
		mg.Spec.ForProvider.DeploymentState = ptr(v1alpha1.DeploymentStateUndeployed)
	})
	b := newBench(t, mg)
	got := b.settle(mg)
	ready(t, got)
	if got.Status.AtProvider.State != "undeployed" {
		t.Errorf("state %q", got.Status.AtProvider.State)
	}
}

// A foreign mark on what is held is a conflict, and is not deleted.
//
// contract: R2
func TestMarkOfAnother(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	b.settle(mg)
	b.mark("books", "cluster-2/x/y")
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	if got.Status.AtProvider.ID != "" || got.Status.Deployed {
		t.Error("references still lead to the other's")
	}
	b.delete(mg)
	b.gone(mg)
	if o := b.owner("books"); o != "cluster-2/x/y" {
		t.Errorf("owner %q", o)
	}
}

// Also where only status told what is held, which a conflict empties: what another
// marked is not taken over the next time.
//
// contract: R1, R2
func TestMarkOfAnotherWithoutRecord(t *testing.T) {
	mg := managedBooks(preset("library"), func(mg *v1alpha1.RestApi) { mg.Spec.AdoptionPolicy = v1alpha1.RestApiAdoptionTakeover })
	b := newBench(t, mg)
	b.settle(mg)
	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Annotations = nil })
	b.mark("library", "cluster-2/x/y")
	for range 3 {
		got, err := b.pass(mg)
		refusedFor(t, got, err, v1alpha1.ReasonConflict)
	}
	if o := b.owner("library"); o != "cluster-2/x/y" || len(b.Gateway.APIs()) != 1 {
		t.Errorf("owner %q, %d APIs", o, len(b.Gateway.APIs()))
	}
	b.mark("library", "")
	ready(t, b.settle(mg))
}

// contract: R1
func TestHandleIsImmutable(t *testing.T) {
	mg := managedBooks(preset("library"))
	b := newBench(t, mg)
	ready(t, b.settle(mg))
	b.edit(mg, preset("other"))
	b.Gateway.ResetJournal()
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonImmutableField)
	if n := len(b.Gateway.Requests(emulator.Match{})); n != 0 {
		t.Errorf("%d requests", n)
	}
	b.edit(mg, func(mg *v1alpha1.RestApi) { delete(mg.Annotations, meta.AnnotationKeyExternalName) })
	got = b.settle(mg)
	ready(t, got)
	if meta.GetExternalName(got) != "library" {
		t.Errorf("external-name %q is not restored", meta.GetExternalName(got))
	}
	b.edit(mg, preset("other"))
	b.delete(mg)
	b.gone(mg)
	if n := len(b.Gateway.APIs()); n != 0 {
		t.Error("left behind")
	}
}

// contract: R6
func TestDeleteSaysWhatVanishes(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	b.settle(mg)
	for _, token := range []string{"token-1", "token-2"} {
		if _, ok := b.Gateway.AddSubscription(emulator.Subscription{APIHandle: "books"}, token); !ok {
			t.Fatal("cannot subscribe")
		}
	}
	b.delete(mg)
	b.gone(mg)
	if got := b.Events.With("DeletesSubscriptions"); len(got) != 1 || !strings.Contains(got[0], "2 subscriptions") {
		t.Errorf("events %q", got)
	}
	if n := len(b.Gateway.APIs()); n != 0 {
		t.Error("left behind")
	}
}

// case: E8
func TestDeleteLosesItsAnswer(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	b.settle(mg)
	b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodDelete}, emulator.Cut().After()))
	b.delete(mg)
	b.gone(mg)
}

// contract: S31
// case: F11
func TestUnreadableIsNotAbsent(t *testing.T) {
	faults := map[string]emulator.Fault{
		"403":      emulator.Denied(http.StatusForbidden),
		"404HTML":  emulator.HTML(http.StatusNotFound),
		"500":      emulator.Status(http.StatusInternalServerError, "boom"),
		"Redirect": emulator.Redirect("http://example.org"),
		"Cut":      emulator.Cut().Before(),
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			mg := managedBooks()
			b := newBench(t, mg)
			b.settle(mg)
			b.Gateway.ResetJournal()
			remove := b.Gateway.Inject(emulator.Always(emulator.Match{}, f))
			got, err := b.pass(mg)
			if err == nil || kind.IsRefusal(err) {
				t.Errorf("error %v", err)
			}
			if got.Status.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue || got.Status.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionFalse {
				t.Errorf("conditions %+v", got.Status.Conditions)
			}
			b.delete(mg)
			if got, _ := b.pass(mg); got == nil {
				t.Error("the finalizer was dropped")
			}
			if b.Gateway.Writes() != 0 {
				t.Error("written")
			}
			remove()
			b.gone(mg)
		})
	}
}

// contract: S34
func TestManagementPolicies(t *testing.T) {
	observe := only(xpv2.ManagementActionObserve)
	t.Run("ObserveOnlyAbsent", func(t *testing.T) {
		mg := managedBooks(observe)
		b := newBench(t, mg)
		got, _ := b.pass(mg)
		if got.Status.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue || b.Gateway.Writes() != 0 {
			t.Error("ready, or written")
		}
	})
	t.Run("ObserveOnlyDrifted", func(t *testing.T) {
		mg := managedBooks(observe, preset("library"))
		b := newBench(t, mg)
		b.Gateway.AddAPI("library")
		got, err := b.pass(mg)
		if err != nil {
			t.Fatal(err)
		}
		c := got.Status.GetCondition(v1alpha1.TypeDrifted)
		if got.Status.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue || c.Status != corev1.ConditionTrue || !strings.Contains(c.Message, "spec.context") {
			t.Errorf("conditions %+v", got.Status.Conditions)
		}
		if strings.Contains(c.Message, "owner") {
			t.Error("misses a mark it could not set")
		}
		if got.Status.AtProvider.ID != "library" || got.Status.Deployed || b.Gateway.Writes() != 0 {
			t.Errorf("status %+v", got.Status)
		}
		b.edit(mg, only(xpv2.ManagementActionAll))
		ready(t, b.settle(mg))
		if o := b.owner("library"); o != mine {
			t.Errorf("owner %q", o)
		}
	})
	t.Run("ObserveOnlyForeign", func(t *testing.T) {
		mg := managedBooks(observe, preset("library"))
		b := newBench(t, mg)
		b.Gateway.AddAPI("library")
		b.mark("library", "cluster-2/x/y")
		got, _ := b.pass(mg)
		if got.Status.AtProvider.ID != "" || got.Status.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			t.Errorf("status %+v", got.Status)
		}
	})
	t.Run("NoCreate", func(t *testing.T) {
		mg := managedBooks(only(xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate))
		b := newBench(t, mg)
		got, err := b.pass(mg)
		if err != nil || b.Gateway.Writes() != 0 {
			t.Errorf("error %v, %d writes", err, b.Gateway.Writes())
		}
		if c := got.Status.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "managementPolicies") {
			t.Errorf("Ready %+v", c)
		}
	})
	t.Run("NoUpdate", func(t *testing.T) {
		mg := managedBooks(only(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionDelete))
		b := newBench(t, mg)
		b.settle(mg)
		b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Context = "/new" })
		got, err := b.pass(mg)
		if err != nil || b.Gateway.Writes() != 1 {
			t.Errorf("error %v, %d writes", err, b.Gateway.Writes())
		}
		if c := got.Status.GetCondition(v1alpha1.TypeDrifted); c.Status != corev1.ConditionTrue {
			t.Errorf("Drifted %+v", c)
		}
	})
	t.Run("NoDelete", func(t *testing.T) {
		mg := managedBooks(only(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate))
		b := newBench(t, mg)
		b.settle(mg)
		b.delete(mg)
		b.gone(mg)
		if len(b.Gateway.APIs()) != 1 {
			t.Error("deleted")
		}
	})
	t.Run("ObserveAndDelete", func(t *testing.T) {
		mg := managedBooks(preset("library"), only(xpv2.ManagementActionObserve, xpv2.ManagementActionDelete))
		b := newBench(t, mg)
		b.Gateway.AddAPI("library")
		b.settle(mg)
		b.delete(mg)
		b.gone(mg)
		if len(b.Gateway.APIs()) != 0 {
			t.Error("left behind")
		}
	})
}

// contract: S36
func TestOtherGateway(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	got := b.settle(mg)
	base, _ := record.ReadBaseline(got)
	base.Endpoint = "https://former.example.org/api/management/v1"
	record.WriteBaseline(got, *base)
	if err := b.Kube.Update(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	// It is the same gateway under another name.
	got = b.settle(mg)
	ready(t, got)
	if base, _ := record.ReadBaseline(got); base.Endpoint != b.at.Endpoint {
		t.Error("the record is not refreshed")
	}

	base.Endpoint = "https://former.example.org/api/management/v1"
	record.WriteBaseline(got, *base)
	if err := b.Kube.Update(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	b.Gateway.DeleteAPI("books")
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonGatewayChanged)
	b.at.Accepted = true
	ready(t, b.settle(mg))
}

// Whose API bears a foreign mark for a while does not lose it to a copy of its records.
//
// contract: R2, S12, A5
func TestForeignMarkThenThief(t *testing.T) {
	mg := managedBooks()
	mg.CreationTimestamp.Time = time.Unix(1000, 0)
	b := newBench(t, mg)
	held := b.settle(mg)
	b.mark("books", "cluster-2/x/books")
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonConflict)
	thief := managedBooks(func(mg *v1alpha1.RestApi) {
		mg.Namespace, mg.UID, mg.Annotations = "team-b", "uid-thief", held.Annotations
		mg.CreationTimestamp.Time = time.Unix(2000, 0)
	})
	if err := b.Kube.Create(t.Context(), thief); err != nil {
		t.Fatal(err)
	}
	b.memory = &memory{} // The provider was restarted.
	b.mark("books", "")
	if _, err := b.pass(thief); err == nil {
		t.Error("the thief is not refused")
	}
	ready(t, b.settle(mg))
}

// An outage that hides which gateway it is by now is not taken for readiness.
//
// contract: A1, S36
func TestUnidentifiedGateway(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	b.at.GatewayID = b.Gateway.GatewayID()
	ready(t, b.settle(mg))
	b.Gateway.DeleteAPI("books")
	b.Gateway.Inject(emulator.FailOnce(emulator.Match{Method: http.MethodGet, Kind: emulator.SubscriptionPlans}, emulator.Status(http.StatusInternalServerError, "no")))
	got, err := b.pass(mg)
	if err == nil || got.GetCondition(v1alpha1.TypeApplied).Status != corev1.ConditionUnknown {
		t.Errorf("Applied is %+v: %v", got.GetCondition(v1alpha1.TypeApplied), err)
	}
	ready(t, b.settle(mg))
}

// What a gateway lacks that was replaced under its address is not created there.
//
// contract: S36
func TestReplacedGateway(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	b.Gateway.AddPlan("Gold")
	b.at.GatewayID = b.Gateway.GatewayID()
	ready(t, b.settle(mg))
	b.Gateway.SetGatewayID("another")
	b.Gateway.DeleteAPI("books")
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonGatewayChanged)
	b.at.Accepted = true
	ready(t, b.settle(mg))
}

// What is deleted where its gateway goes by another name is gone once it is not there
// any more.
//
// contract: S32, S33
func TestDeletedUnderAnotherName(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	ready(t, b.settle(mg))
	b.at.Endpoint = "http://another-name"
	b.delete(mg)
	b.gone(mg)
	if n := len(b.Gateway.APIs()); n != 0 {
		t.Errorf("%d are left behind", n)
	}
}

// contract: S17
func TestNewerRecord(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	b.settle(mg)
	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Annotations[v1alpha1.AnnotationBaseline] = `{"v":2,"id":"books"}` })
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonNewerBaseline)
	b.delete(mg)
	if got, _ := b.pass(mg); got == nil || len(b.Gateway.APIs()) != 1 {
		t.Error("deleted")
	}
}

func plan(name, at, planName string) *v1alpha1.SubscriptionPlan {
	p := &v1alpha1.SubscriptionPlan{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "team-a"}}
	p.Spec.ForProvider.PlanName = planName
	if at != "" {
		p.Status.AtProvider = v1alpha1.SubscriptionPlanObservation{ID: "id-" + name, PlanName: planName, Endpoint: at}
	}
	return p
}

// contract: S25
// case: W17
func TestPlanReferences(t *testing.T) {
	mg := managedBooks(func(mg *v1alpha1.RestApi) {
		mg.Spec.ForProvider.SubscriptionPlans = []v1alpha1.PlanName{"Silver"}
		mg.Spec.ForProvider.SubscriptionPlanRefs = []v1alpha1.Reference{{Name: "gold"}}
	})
	b := newBench(t, mg)
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonPlanMissing)

	p := plan("gold", "", "Gold")
	if err := b.Kube.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	got, err = b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonPlanPending)

	p.Status = plan("gold", b.at.Endpoint, "Gold").Status
	if err := b.Kube.Status().Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	got = b.settle(mg)
	ready(t, got)
	if diff := cmp.Diff([]string{"Gold", "Silver"}, got.Status.AtProvider.SubscriptionPlans); diff != "" {
		t.Errorf("plans: -want, +got:\n%s", diff)
	}

	// A plan that goes leaves the API as it is; what else is asked for is applied.
	if err := b.Kube.Delete(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Context = "/new" })
	got = b.settle(mg)
	if a, _ := b.Gateway.API("books"); contextOf(a) != "/new" || !cmp.Equal([]string{"Gold", "Silver"}, a.SubscriptionPlans) {
		t.Errorf("API %+v", a)
	}
	if c := got.Status.GetCondition(v1alpha1.TypeApplied); c.Reason != v1alpha1.ReasonPlanMissing {
		t.Errorf("Applied %+v", c)
	}

	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.SubscriptionPlanRefs = nil })
	ready(t, b.settle(mg))
	if a, _ := b.Gateway.API("books"); !cmp.Equal([]string{"Silver"}, a.SubscriptionPlans) {
		t.Errorf("plans %v", a.SubscriptionPlans)
	}
}

// case: G11
func TestGatewayThatChangesWhatIsWritten(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	b.settle(mg)
	b.Gateway.Inject(emulator.Always(emulator.Match{Method: http.MethodGet, Kind: emulator.RestAPIs}, emulator.Rewrite(func(o map[string]any) {
		s, _ := o["spec"].(map[string]any)
		s["context"] = "/always-this"
	})))
	b.Gateway.ResetJournal()
	var got *v1alpha1.RestApi
	var err error
	for range 8 {
		got, err = b.pass(mg)
	}
	refusedFor(t, got, err, v1alpha1.ReasonRefused)
	if c := got.Status.GetCondition(v1alpha1.TypeContested); c.Status != corev1.ConditionTrue || !strings.Contains(c.Message, "spec.context") {
		t.Errorf("Contested %+v", c)
	}
	if n := b.Gateway.Writes(); n != 3 {
		t.Errorf("%d writes", n)
	}
	b.Gateway.ClearFaults()
	ready(t, b.settle(mg))
}

func TestGuard(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	b.Gateway.AddAPI("books")
	got, _ := b.pass(mg)
	e := b.external(managed.NewManagementPoliciesResolver(true, mg.Spec.ManagementPolicies))
	if now, err := e.guard(t.Context(), got); now || err != nil {
		t.Errorf("still taken: %t, %v", now, err)
	}
	b.Gateway.DeleteAPI("books")
	if now, err := e.guard(t.Context(), got); !now || err != nil {
		t.Errorf("free: %t, %v", now, err)
	}

	b.settle(mg)
	b.edit(mg, func(mg *v1alpha1.RestApi) { mg.Spec.ForProvider.Context = "no-slash" })
	got, _ = b.pass(mg)
	if now, err := e.guard(t.Context(), got); now || err != nil {
		t.Errorf("nothing new: %t, %v", now, err)
	}
	b.Gateway.DeleteAPI("books")
	if now, err := e.guard(t.Context(), got); !now || err != nil {
		t.Errorf("gone: %t, %v", now, err)
	}
}

// What is deleted there again and again is created again, but not for ever at
// once.
//
// contract: S30
func TestVanishes(t *testing.T) {
	mg := managedBooks()
	b := newBench(t, mg)
	b.settle(mg)
	for range 3 {
		b.Gateway.DeleteAPI("books")
		ready(t, b.settle(mg))
	}
	b.Gateway.DeleteAPI("books")
	got, err := b.pass(mg)
	refusedFor(t, got, err, v1alpha1.ReasonRefused)
	if c := got.Status.GetCondition(v1alpha1.TypeContested); !strings.Contains(c.Message, "control plane") || len(b.Gateway.APIs()) != 0 {
		t.Errorf("Contested %+v", c)
	}
	e := b.external(managed.NewManagementPoliciesResolver(true, mg.Spec.ManagementPolicies))
	if now, err := e.guard(t.Context(), got); now || err != nil {
		t.Errorf("guard: %t, %v", now, err)
	}
	b.Advance(11 * time.Minute)
	got = b.settle(mg)
	ready(t, got)
	if got.Status.GetCondition(v1alpha1.TypeContested).Status == corev1.ConditionTrue {
		t.Error("still contested")
	}
	if n := len(b.Events.With("Recreated")); n != 4 {
		t.Errorf("%d events", n)
	}
}

// What is taken away from the annotations of an object, or overwritten there, is put
// back, and deletion deletes what was held.
//
// contract: R1, S17, A11
func TestRecordTakenAway(t *testing.T) {
	nope := record.Baseline{ID: "nope"}
	for name, change := range map[string]func(*v1alpha1.RestApi){
		"All":         func(mg *v1alpha1.RestApi) { mg.Annotations = nil },
		"Overwritten": func(mg *v1alpha1.RestApi) { record.WriteBaseline(mg, nope) },
	} {
		t.Run(name, func(t *testing.T) {
			mg := managedBooks(preset("chosen"))
			b := newBench(t, mg)
			b.settle(mg)
			writes := b.Gateway.Writes()
			b.edit(mg, change)
			got := b.settle(mg)
			ready(t, got)
			if is, err := record.ReadBaseline(got); err != nil || is == nil || is.ID != "chosen" || meta.GetExternalName(got) != "chosen" {
				t.Errorf("not put back: %v", got.Annotations)
			}
			if n := b.Gateway.Writes() - writes; n != 0 {
				t.Errorf("%d writes at the gateway", n)
			}
			b.edit(mg, change)
			b.delete(mg)
			b.gone(mg)
			if n := len(b.Gateway.APIs()); n != 0 {
				t.Error("the API was left behind")
			}
		})
	}
}
