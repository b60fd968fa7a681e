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

package gateway

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter bounds what a gateway may ask for with Retry-After, so that an
// absurd value does not silence the provider for ever.
const MaxRetryAfter = 10 * time.Minute

// ParseRetryAfter reads a Retry-After header: seconds (also as 1e3 or 1.5) or an
// HTTP date, which is taken relative to now. What is negative or past counts as
// zero, and nothing exceeds MaxRetryAfter. It returns false if the header is
// absent or means nothing.
func ParseRetryAfter(header string, now time.Time) (time.Duration, bool) {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0, false
	}
	if strings.ContainsRune("+-.0123456789", rune(header[0])) {
		seconds, err := strconv.ParseFloat(header, 64)
		switch {
		case err != nil && !errors.Is(err, strconv.ErrRange):
			return 0, false
		case seconds <= 0:
			return 0, true
		case seconds >= MaxRetryAfter.Seconds():
			return MaxRetryAfter, true
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(now), 0), MaxRetryAfter), true
}
