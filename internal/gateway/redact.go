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
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage bounds, in characters, what of a gateway's message is kept.
const maxMessage = 512

// shortSecret is the length in bytes below which a secret is only redacted where
// it stands alone: a token of one letter would else erase every such letter.
const shortSecret = 4

// redactor removes secrets from text, in every form in which a server might
// give them back.
type redactor struct {
	forms []string // Longest first, so that no form leaves a part of a longer one.
}

func newRedactor(secrets ...string) redactor {
	seen := map[string]bool{}
	add := func(form string) {
		if form != "" && form != redacted {
			seen[form] = true
		}
	}
	for _, s := range secrets {
		for _, v := range []string{s, strings.TrimSpace(s)} {
			if v == "" {
				continue
			}
			for _, form := range spellings(v) {
				add(form)
				// A server that quotes what it got escapes it once more.
				add(strings.Trim(strconv.Quote(form), `"`))
			}
		}
	}
	forms := make([]string, 0, len(seen))
	for form := range seen {
		forms = append(forms, form)
	}
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return redactor{forms: forms}
}

// spellings returns a value as it is, with what is no UTF-8 replaced byte by byte or
// run by run, JSON-escaped, URL-escaped, in base64, and as the hexadecimal SHA-256
// under which gateways store tokens.
func spellings(v string) []string {
	forms := []string{v, string([]rune(v)), strings.ToValidUTF8(v, "\uFFFD"), url.QueryEscape(v), url.PathEscape(v)}
	if quoted, err := json.Marshal(v); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		forms = append(forms, enc.EncodeToString([]byte(v)))
	}
	sum := sha256.Sum256([]byte(v))
	lower := hex.EncodeToString(sum[:])
	return append(forms, lower, strings.ToUpper(lower))
}

func (r redactor) redact(text string) string {
	for _, form := range r.forms {
		if len(form) >= shortSecret {
			text = strings.ReplaceAll(text, form, redacted)
			continue
		}
		text = replaceWord(text, form)
	}
	return text
}

// replaceWord redacts a short form where neither neighbour is a letter or digit.
func replaceWord(text, form string) string {
	var out strings.Builder
	last := rune(-1)
	for len(text) > 0 {
		if strings.HasPrefix(text, form) && !isWord(last) {
			next, _ := utf8.DecodeRuneInString(text[len(form):])
			if len(text) == len(form) || !isWord(next) {
				out.WriteString(redacted)
				text, last = text[len(form):], ']'
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(text)
		out.WriteString(text[:size])
		text, last = text[size:], r
	}
	return out.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// ephemeral lists what differs between equal failures, or names an object that
// is none of the caller's business.
func ephemeral() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?i)\s*[\[({]?\b(?:correlation|request|trace)[-_ ]?id['"]?\s*[:= ]\s*['"]?[A-Za-z0-9._-]+['"]?[\])}]?`),
		regexp.MustCompile(`\s*\((?:ID|UUID): [^)]*\)`),
		regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+(?:Z|[+-]\d\d:?\d\d)?(?: m=[+-]\S+)?`),
		regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}:\d+->`),
		regexp.MustCompile(`\[[0-9a-fA-F:]+\]:\d+->`),
	}
}

// clean makes a server's text fit for a message: redacted, on one line, bounded,
// and equal between equal failures.
func (r redactor) clean(text string, volatile []*regexp.Regexp) string {
	text = r.redact(text)
	for _, re := range volatile {
		text = re.ReplaceAllString(text, "")
	}
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.IsSpace(c) {
			return ' '
		}
		if !unicode.IsGraphic(c) {
			return -1
		}
		return c
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	// Once more: the folding may have completed a secret that held line breaks.
	text = r.redact(text)
	if utf8.RuneCountInString(text) <= maxMessage {
		return text
	}
	return string([]rune(text)[:maxMessage-1]) + "…"
}
