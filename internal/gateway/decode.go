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
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// decodeObject reads an answer that must be one JSON object. Numbers keep their
// text, so that none loses precision.
func decodeObject(body []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, errors.New("the answer is empty")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, errors.New("the answer is not JSON" + looksLike(body))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the answer is not one JSON object")
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the answer is not a JSON object")
	}
	return m, nil
}

func looksLike(body []byte) string {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return " but looks like HTML; does the endpoint lead to the gateway?"
	}
	return ""
}

// fill copies decoded JSON into a struct by the json tags of its fields, and
// never fails: one field of an unexpected type in one object must not hide all
// others from the provider. Numbers become strings and strings numbers where
// that loses nothing; what cannot be converted is left unset, as is null.
func fill(dst any, src map[string]any) {
	assign(reflect.ValueOf(dst).Elem(), src)
}

func assign(dst reflect.Value, src any) bool {
	if src == nil {
		return false
	}
	switch dst.Interface().(type) {
	case time.Time:
		t, ok := parseTime(src)
		if ok {
			dst.Set(reflect.ValueOf(t))
		}
		return ok
	case Params:
		raw, err := json.Marshal(src)
		if err != nil {
			return false
		}
		dst.SetBytes(raw)
		return true
	}
	switch dst.Kind() {
	case reflect.Pointer:
		v := reflect.New(dst.Type().Elem())
		if !assign(v.Elem(), src) {
			return false
		}
		dst.Set(v)
		return true
	case reflect.String:
		s, ok := text(src)
		dst.SetString(s)
		return ok
	case reflect.Int64:
		n, ok := integer(src)
		dst.SetInt(n)
		return ok
	case reflect.Bool:
		b, ok := boolean(src)
		dst.SetBool(b)
		return ok
	case reflect.Struct:
		return assignStruct(dst, src)
	case reflect.Slice:
		list, ok := src.([]any)
		if !ok {
			return false
		}
		out := reflect.MakeSlice(dst.Type(), len(list), len(list))
		for i, item := range list {
			assign(out.Index(i), item)
		}
		dst.Set(out)
		return true
	case reflect.Map:
		m, ok := src.(map[string]any)
		if !ok {
			return false
		}
		out := reflect.MakeMapWithSize(dst.Type(), len(m))
		for k, item := range m {
			v := reflect.New(dst.Type().Elem()).Elem()
			assign(v, item)
			out.SetMapIndex(reflect.ValueOf(k), v)
		}
		dst.Set(out)
		return true
	default:
		return false
	}
}

func assignStruct(dst reflect.Value, src any) bool {
	m, ok := src.(map[string]any)
	if !ok {
		return false
	}
	for i := range dst.NumField() {
		name, _, _ := strings.Cut(dst.Type().Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		assign(dst.Field(i), m[name])
	}
	return true
}

// text accepts what has one obvious spelling; IDs have been seen as numbers.
func text(src any) (string, bool) {
	switch v := src.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	default:
		return "", false
	}
}

// integer accepts 1000000, 1e6, 1000000.0 and "1000000". Floating-point forms
// are exact up to 2^53; beyond that, and with a fraction, there is no value.
func integer(src any) (int64, bool) {
	s, ok := text(src)
	if !ok {
		return 0, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) > exact || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

func boolean(src any) (bool, bool) {
	s, ok := text(src)
	if !ok {
		return false, false
	}
	b, err := strconv.ParseBool(s)
	return b, err == nil
}

// parseTime accepts any precision and offset; a time without one is UTC.
func parseTime(src any) (time.Time, bool) {
	s, ok := src.(string)
	if !ok {
		return time.Time{}, false
	}
	for _, layout := range []string{
		time.RFC3339Nano,
		"2006-01-02T15:04:05.999999999Z0700",
		"2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02 15:04:05.999999999 -0700 MST",
		"2006-01-02T15:04:05.999999999",
		"2006-01-02 15:04:05.999999999",
	} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
