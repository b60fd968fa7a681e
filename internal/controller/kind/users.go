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
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/crossplane-contrib/provider-apiplatform/internal/connection"
)

// Users know how many managed resources, of all kinds that are set up, refer to a
// configuration.
type Users struct {
	mu    sync.Mutex
	count []func(context.Context, connection.Ref) (int, error)
}

func (u *Users) add(count func(context.Context, connection.Ref) (int, error)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count = append(u.count, count)
}

// Count the managed resources that refer to a configuration.
func (u *Users) Count(ctx context.Context, ref connection.Ref) (int, error) {
	u.mu.Lock()
	count := u.count
	u.mu.Unlock()
	total := 0
	for _, c := range count {
		n, err := c(ctx, ref)
		if err != nil {
			return 0, errors.Wrap(err, "cannot count the users of a provider config")
		}
		total += n
	}
	return total, nil
}
