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

package promises

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// headed is a heading that is the number of a promise, and nothing else: its
// anchor must not change when its text does.
var headed = regexp.MustCompile(`^### (` + number + `)$`)

// promised are the numbers of the promises in a document, and what is wrong with
// it.
func promised(document string) ([]string, []error) {
	var numbers []string
	var wrong []error
	fenced := false
	lines := strings.Split(document, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || !strings.HasPrefix(line, "###") {
			continue
		}
		match := headed.FindStringSubmatch(line)
		switch {
		case match == nil:
			wrong = append(wrong, fmt.Errorf("line %d: %q should be the number of a promise alone, such as %q", i+1, line, "### S12"))
		case slices.Contains(numbers, match[1]):
			wrong = append(wrong, fmt.Errorf("line %d: %s is promised twice", i+1, match[1]))
		case !says(lines[i+1:]):
			wrong = append(wrong, fmt.Errorf("line %d: %s promises nothing", i+1, match[1]))
		default:
			numbers = append(numbers, match[1])
		}
	}
	return numbers, wrong
}

// says tells whether there is text before the next heading.
func says(lines []string) bool {
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "#"):
			return false
		case strings.TrimSpace(line) != "":
			return true
		}
	}
	return false
}

// compare what is promised with what tests name.
func compare(numbers []string, named []naming) []error {
	var wrong []error
	proved, skipped := map[string]bool{}, map[string]string{}
	for _, n := range named {
		if n.word != "contract" {
			continue
		}
		for _, p := range n.numbers {
			if !slices.Contains(numbers, p) {
				wrong = append(wrong, fmt.Errorf("%s: %s names %s, which is not promised", n.at, n.test, p))
			}
			if n.proves {
				proved[p] = true
			} else {
				skipped[p] = n.test
			}
		}
	}
	for _, p := range numbers {
		switch {
		case proved[p]:
		case skipped[p] != "":
			wrong = append(wrong, fmt.Errorf("%s is named only by tests that may not run, such as %s", p, skipped[p]))
		default:
			wrong = append(wrong, fmt.Errorf("no test names %s", p))
		}
	}
	return wrong
}
