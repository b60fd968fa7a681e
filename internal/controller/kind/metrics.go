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
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// A persistent runnable starts again after it failed. The runtime's recorder of
// state metrics ends with an error when it cannot list once, and an error ends
// the process: metrics are not worth that.
type persistent struct {
	manager.Runnable

	log   logging.Logger
	pause time.Duration
}

// Start the runnable again and again, until the context is done.
func (p persistent) Start(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if err := p.Runnable.Start(ctx); err != nil && ctx.Err() == nil {
			p.log.Info("Recording state metrics failed and is tried again", "error", err)
		}
		timer.Reset(p.pause)
	}
}
