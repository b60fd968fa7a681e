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

package xpkg

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// spdxDocument is what our documents have of SPDX 2.3
// (https://spdx.github.io/spdx-spec/v2.3/), and nothing else.
type spdxDocument struct {
	SPDXVersion       string `json:"spdxVersion"`
	DataLicense       string `json:"dataLicense"`
	SPDXID            string `json:"SPDXID"`
	Name              string `json:"name"`
	DocumentNamespace string `json:"documentNamespace"`
	CreationInfo      struct {
		Creators []string `json:"creators"`
		Created  string   `json:"created"`
	} `json:"creationInfo"`
	Packages      []spdxPackage      `json:"packages"`
	Relationships []spdxRelationship `json:"relationships"`
}

type spdxPackage struct {
	SPDXID                string `json:"SPDXID"`
	Name                  string `json:"name"`
	VersionInfo           string `json:"versionInfo"`
	PackageFileName       string `json:"packageFileName"`
	Supplier              string `json:"supplier"`
	DownloadLocation      string `json:"downloadLocation"`
	FilesAnalyzed         *bool  `json:"filesAnalyzed"`
	SourceInfo            string `json:"sourceInfo"`
	LicenseConcluded      string `json:"licenseConcluded"`
	LicenseDeclared       string `json:"licenseDeclared"`
	LicenseComments       string `json:"licenseComments"`
	CopyrightText         string `json:"copyrightText"`
	Summary               string `json:"summary"`
	PrimaryPackagePurpose string `json:"primaryPackagePurpose"`
	Checksums             []struct {
		Algorithm     string `json:"algorithm"`
		ChecksumValue string `json:"checksumValue"`
	} `json:"checksums"`
	ExternalRefs []struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	} `json:"externalRefs"`
}

type spdxRelationship struct {
	From string `json:"spdxElementId"`
	To   string `json:"relatedSpdxElement"`
	Type string `json:"relationshipType"`
}

var (
	spdxID = regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`)
	goPURL = regexp.MustCompile(`^pkg:golang/[A-Za-z0-9._~/-]+@[A-Za-z0-9._%-]+$`)
)

// TestSBOM has a valid SPDX document beside each package in which something runs, which
// names each module that is in it, and nothing else.
func TestSBOM(t *testing.T) {
	for name, p := range packages(t) {
		if !p.runs {
			continue
		}
		for file := range p.files(name) {
			t.Run(file, func(t *testing.T) {
				img := readImage(t, filepath.Join(built, file))
				program := strings.TrimPrefix(img.config.Config.Entrypoint[0], "/")
				binary := img.files()[program].content
				info, err := buildinfo.Read(bytes.NewReader(binary))
				if err != nil {
					t.Fatal(err)
				}
				content, err := os.ReadFile(filepath.Join(built, strings.TrimSuffix(file, ".xpkg")+".spdx.json"))
				if err != nil {
					t.Fatal(err)
				}
				doc := &spdxDocument{}
				d := json.NewDecoder(bytes.NewReader(content))
				d.DisallowUnknownFields()
				if err := d.Decode(doc); err != nil {
					t.Fatal(err)
				}
				validateSPDX(t, doc)

				main := doc.Packages[0]
				if main.Name != name || main.VersionInfo != version || main.PackageFileName != program || main.LicenseDeclared != "Apache-2.0" ||
					main.DownloadLocation != "git+https://github.com/crossplane-contrib/provider-apiplatform@"+revision {
					t.Errorf("it is about %+v", main)
				}
				if len(main.Checksums) != 1 || main.Checksums[0].Algorithm != "SHA256" || "sha256:"+main.Checksums[0].ChecksumValue != digest(binary) {
					t.Errorf("it is about what has the checksums %v, but the binary in the package has %s", main.Checksums, digest(binary))
				}
				want := []string{"stdlib " + strings.TrimPrefix(info.GoVersion, "go")}
				for _, m := range info.Deps {
					if m.Replace != nil {
						m = m.Replace
					}
					want = append(want, m.Path+" "+m.Version)
				}
				var got []string
				for _, p := range doc.Packages[1:] {
					got = append(got, p.Name+" "+p.VersionInfo)
					if !slices.Contains(doc.Relationships, spdxRelationship{main.SPDXID, p.SPDXID, "DEPENDS_ON"}) {
						t.Errorf("nothing depends on %s", p.Name)
					}
				}
				slices.Sort(want)
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("modules (-in the binary, +in the document):\n%s", diff)
				}
			})
		}
	}
}

// validateSPDX holds a document against the rules of SPDX 2.3 for what it has in it.
func validateSPDX(t *testing.T, doc *spdxDocument) {
	t.Helper()
	if doc.SPDXVersion != "SPDX-2.3" || doc.DataLicense != "CC0-1.0" || doc.SPDXID != "SPDXRef-DOCUMENT" || doc.Name == "" {
		t.Errorf("it is %s, %s, %s, named %q", doc.SPDXVersion, doc.DataLicense, doc.SPDXID, doc.Name)
	}
	if u, err := url.Parse(doc.DocumentNamespace); err != nil || !u.IsAbs() || u.Fragment != "" {
		t.Errorf("its namespace %q is no absolute URI without a fragment (%v)", doc.DocumentNamespace, err)
	}
	if created, err := time.Parse("2006-01-02T15:04:05Z", doc.CreationInfo.Created); err != nil || !created.Equal(sourceDate) {
		t.Errorf("it was created %s (%v), want %s", doc.CreationInfo.Created, err, sourceDate)
	}
	for _, c := range doc.CreationInfo.Creators {
		if !strings.HasPrefix(c, "Tool: ") {
			t.Errorf("its creator is %q, want a tool", c)
		}
	}
	if len(doc.CreationInfo.Creators) == 0 || len(doc.Packages) == 0 {
		t.Fatal("it has no creators, or no packages")
	}

	ids := map[string]bool{doc.SPDXID: true}
	for _, p := range doc.Packages {
		if !spdxID.MatchString(p.SPDXID) || ids[p.SPDXID] {
			t.Errorf("the ID %q of %s is not valid, or not its own", p.SPDXID, p.Name)
		}
		ids[p.SPDXID] = true
		if p.Name == "" || p.VersionInfo == "" || p.DownloadLocation == "" || p.LicenseConcluded == "" || p.CopyrightText == "" || p.Supplier != "NOASSERTION" {
			t.Errorf("something is not said of %+v", p)
		}
		// If it were true, or missing, its files would have to be listed.
		if p.FilesAnalyzed == nil || *p.FilesAnalyzed {
			t.Errorf("%s is said to have its files listed", p.Name)
		}
		if !slices.Contains([]string{"NOASSERTION", "Apache-2.0"}, p.LicenseDeclared) || !slices.Contains([]string{"APPLICATION", "LIBRARY"}, p.PrimaryPackagePurpose) {
			t.Errorf("%s is of license %q and purpose %q", p.Name, p.LicenseDeclared, p.PrimaryPackagePurpose)
		}
		if len(p.ExternalRefs) != 1 || p.ExternalRefs[0].Category != "PACKAGE-MANAGER" || p.ExternalRefs[0].Type != "purl" || !goPURL.MatchString(p.ExternalRefs[0].Locator) {
			t.Errorf("%s is referred to by %+v, want the URL of a Go package", p.Name, p.ExternalRefs)
		}
	}
	described := 0
	for _, r := range doc.Relationships {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("%s %s %s is about something that is not there", r.From, r.Type, r.To)
		}
		if r.Type == "DESCRIBES" {
			described++
			if r.From != doc.SPDXID || r.To != doc.Packages[0].SPDXID {
				t.Errorf("%s describes %s", r.From, r.To)
			}
		}
	}
	if described != 1 {
		t.Errorf("it describes %d packages, want one", described)
	}
}
