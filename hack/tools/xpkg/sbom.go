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

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

const (
	unknown    = "NOASSERTION"
	document   = common.ElementID("DOCUMENT")
	theRuntime = common.ElementID("Runtime")
)

// notInID is what an SPDX identifier cannot have in it.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// writeSBOM writes what a runtime is made of: the modules that the go command linked
// into the binary, and its standard library.
func writeSBOM(c *contents, r *runtime, path string) error {
	sum := sha256.Sum256(r.binary)
	digest := hex.EncodeToString(sum[:])
	location := unknown
	if c.revision != "unknown" {
		location = "git+" + c.source + "@" + c.revision
	}
	doc := &spdx.Document{
		SPDXVersion:    spdx.Version,
		DataLicense:    spdx.DataLicense,
		SPDXIdentifier: document,
		DocumentName:   c.name + "-" + c.version + "-linux-" + r.arch,
		// As unique as the binary, and the same whenever that is.
		DocumentNamespace: c.source + "/spdx/" + url.PathEscape(c.name+"-"+c.version) + "-" + r.arch + "-" + digest,
		CreationInfo: &spdx.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "provider-apiplatform-xpkg"}},
			Created:  c.created.Format(time.RFC3339),
		},
		Packages: []*spdx.Package{{
			PackageName:               c.name,
			PackageSPDXIdentifier:     theRuntime,
			PackageVersion:            c.version,
			PackageFileName:           r.name,
			PackageChecksums:          []common.Checksum{{Algorithm: common.SHA256, Value: digest}},
			PackageSupplier:           &common.Supplier{Supplier: unknown},
			PackageDownloadLocation:   location,
			PackageLicenseConcluded:   unknown,
			PackageLicenseDeclared:    c.license,
			PackageCopyrightText:      unknown,
			PackageSummary:            c.description,
			PrimaryPackagePurpose:     "APPLICATION",
			PackageExternalReferences: []*spdx.PackageExternalReference{purl(r.build.Main.Path, c.version)},
		}},
		Relationships: []*spdx.Relationship{{
			RefA: common.MakeDocElementID("", string(document)), RefB: common.MakeDocElementID("", string(theRuntime)), Relationship: common.TypeRelationshipDescribe,
		}},
	}
	ids := map[common.ElementID]string{}
	for _, m := range append([]*debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(r.build.GoVersion, "go")}}, r.build.Deps...) {
		m = effective(m)
		id := common.ElementID("Go-" + notInID.ReplaceAllString(m.Path+"-"+m.Version, "-"))
		if other, ok := ids[id]; ok {
			return fmt.Errorf("cannot tell the modules %s and %s apart in %s: both are %s", other, m.Path, path, id)
		}
		ids[id] = m.Path
		p := &spdx.Package{
			PackageName:               m.Path,
			PackageSPDXIdentifier:     id,
			PackageVersion:            m.Version,
			PackageSupplier:           &common.Supplier{Supplier: unknown},
			PackageDownloadLocation:   unknown,
			PackageLicenseConcluded:   unknown,
			PackageLicenseDeclared:    unknown,
			PackageCopyrightText:      unknown,
			PrimaryPackagePurpose:     "LIBRARY",
			PackageExternalReferences: []*spdx.PackageExternalReference{purl(m.Path, m.Version)},
		}
		if m.Sum != "" {
			// Not the checksum of an archive, so it is none to SPDX.
			p.PackageSourceInfo = "checksum in go.sum: " + m.Sum
			p.PackageLicenseComments = "the texts are in the image, in /licenses/" + m.Path + "@" + m.Version
		}
		doc.Packages = append(doc.Packages, p)
		doc.Relationships = append(doc.Relationships, &spdx.Relationship{
			RefA: common.MakeDocElementID("", string(theRuntime)), RefB: common.MakeDocElementID("", string(id)), Relationship: common.TypeRelationshipDependsOn,
		})
	}
	var b bytes.Buffer
	if err := json.Write(doc, &b, json.Indent("  "), json.EscapeHTML(false)); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// purl names a Go module for who looks for what is known of it.
func purl(path, version string) *spdx.PackageExternalReference {
	return &spdx.PackageExternalReference{
		Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL,
		Locator: "pkg:golang/" + path + "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B"),
	}
}
