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

package kind

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
)

// Users know how many managed resources, of all kinds, refer to a configuration.
type Users struct {
	mu    sync.Mutex
	count map[schema.GroupKind]func(context.Context, connection.Ref) (int, error)
}

// set how the managed resources of a kind are counted.
func (u *Users) set(of schema.GroupKind, count func(context.Context, connection.Ref) (int, error)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.count == nil {
		u.count = map[schema.GroupKind]func(context.Context, connection.Ref) (int, error){}
	}
	u.count[of] = count
}

// Count the managed resources that refer to a configuration.
func (u *Users) Count(ctx context.Context, ref connection.Ref) (int, error) {
	u.mu.Lock()
	counts := slices.Collect(maps.Values(u.count))
	u.mu.Unlock()
	total := 0
	for _, count := range counts {
		n, err := count(ctx, ref)
		if err != nil {
			return 0, errors.Wrap(err, "cannot count the users of a provider config")
		}
		total += n
	}
	return total, nil
}

// usersLive counts the managed resources of this kind that refer to a
// configuration by asking the API server. It is how they are counted until the
// kind's controller, and with it the index, is there: a configuration must not go
// in that time. Without a CRD there are none.
func (k *Kind[T]) usersLive(live client.Reader) func(context.Context, connection.Ref) (int, error) {
	return func(ctx context.Context, ref connection.Ref) (int, error) {
		l := k.NewList()
		if err := live.List(ctx, l); err != nil {
			if meta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
				return 0, nil
			}
			return 0, err
		}
		n := 0
		for _, item := range l.GetItems() {
			if mg, ok := item.(T); ok && ConfigOf(mg) == ref {
				n++
			}
		}
		return n, nil
	}
}

// usersIndexed counts them by the index, and copies none of them for that.
func (k *Kind[T]) usersIndexed(cache client.Reader) func(context.Context, connection.Ref) (int, error) {
	return func(ctx context.Context, ref connection.Ref) (int, error) {
		l := k.NewList()
		err := cache.List(ctx, l, client.MatchingFields{IndexConfig: configKey(ref)}, client.UnsafeDisableDeepCopy)
		return len(l.GetItems()), err
	}
}
