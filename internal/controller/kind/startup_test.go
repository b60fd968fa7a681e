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
	"errors"
	"testing"
)

// While one is being added the end waits, and after the end none is added.
func TestStartup(t *testing.T) {
	s := &Startup{}
	adding, added, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	wrong := errors.New("wrong")
	go func() {
		if err := s.Do(func() error { close(adding); <-added; return wrong }); !errors.Is(err, wrong) {
			t.Errorf("Do(): want the error of what was called, got %v", err)
		}
	}()
	<-adding
	go func() { s.End(); close(ended) }()
	select {
	case <-ended:
		t.Error("it ended while a controller was being added")
	default:
	}
	close(added)
	<-ended
	if err := s.Do(func() error { t.Error("a controller was added after the end"); return nil }); err != nil {
		t.Errorf("Do() after the end: %v", err)
	}
}
