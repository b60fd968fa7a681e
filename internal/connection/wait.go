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

package connection

import "context"

type waitKey struct{}

// WithWait returns a context under which begin is called whenever somebody begins to wait
// for a gateway, and the function it returns once that is over. Waits may overlap.
func WithWait(ctx context.Context, begin func() (end func())) context.Context {
	return context.WithValue(ctx, waitKey{}, begin)
}

// waiting for a gateway from now on, until the function is called.
func waiting(ctx context.Context) (end func()) {
	if begin, ok := ctx.Value(waitKey{}).(func() func()); ok {
		return begin()
	}
	return func() {}
}
