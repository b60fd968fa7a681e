{{- define "provider-apiplatform.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- /* A release that is called like the chart does not get the name twice. */ -}}
{{- define "provider-apiplatform.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" }}
{{- else if contains (include "provider-apiplatform.name" .) .Release.Name }}
{{- .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "provider-apiplatform.name" .) | trunc 53 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "provider-apiplatform.selectorLabels" -}}
app.kubernetes.io/name: {{ include "provider-apiplatform.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "provider-apiplatform.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "provider-apiplatform.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: provider-apiplatform
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "provider-apiplatform.serviceAccountName" -}}
{{- default (include "provider-apiplatform.fullname" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "provider-apiplatform.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default (printf "v%s" .Chart.AppVersion) .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "provider-apiplatform.leaseNamespace" -}}
{{- default .Release.Namespace .Values.provider.leaderElectionNamespace }}
{{- end }}

{{- define "provider-apiplatform.lease" -}}
{{- default (include "provider-apiplatform.fullname" .) .Values.provider.leaderElectionId }}
{{- end }}

{{- /* The flags of the provider, from what is set under provider. A new one needs no
change here. */ -}}
{{- define "provider-apiplatform.args" -}}
{{- $lease := dict "leaderElectionNamespace" (include "provider-apiplatform.leaseNamespace" .) "leaderElectionId" (include "provider-apiplatform.lease" .) }}
{{- $flags := mergeOverwrite (deepCopy .Values.provider) $lease }}
{{- if not .Values.provider.leaderElection }}{{ $flags = omit $flags "leaderElectionNamespace" "leaderElectionId" }}{{ end }}
{{- range $name, $value := $flags }}
{{- if kindIs "slice" $value }}{{ $value = join "," $value }}{{ end }}
{{- /* A large number would be written with an exponent. */}}
{{- if kindIs "float64" $value }}{{ $value = int64 $value }}{{ end }}
{{- if ne (toString $value) "" }}
- {{ printf "--%s=%v" (kebabcase $name) $value | quote }}
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- /* The port of an address, or nothing where nothing is served. */ -}}
{{- define "provider-apiplatform.port" -}}
{{- if ne . "0" }}{{ splitList ":" . | last }}{{ end }}
{{- end }}

{{- define "provider-apiplatform.isLoopback" -}}
{{- if regexMatch `^(127\.|localhost:|\[::1\])` . }}true{{ end }}
{{- end }}

{{- /* Whether other pods can read metrics. */ -}}
{{- define "provider-apiplatform.servesMetrics" -}}
{{- with .Values.provider.metricsBindAddress }}{{ if and (ne . "0") (not (include "provider-apiplatform.isLoopback" .)) }}true{{ end }}{{ end }}
{{- end }}

{{- /* What the schema cannot say, since it is about several values. */ -}}
{{- define "provider-apiplatform.check" -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) }}
{{- fail "serviceAccount.create is false, so serviceAccount.name must name the one that the provider has: it may read every Secret, so it is none that other pods have too" }}
{{- end }}
{{- if and (ne .Values.provider.metricsBindAddress "0") (eq (include "provider-apiplatform.port" .Values.provider.metricsBindAddress) (include "provider-apiplatform.port" .Values.provider.healthProbeBindAddress)) }}
{{- fail "provider.metricsBindAddress and provider.healthProbeBindAddress have the same port" }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (not .Values.provider.leaderElection) }}
{{- fail "replicas is more than 1, so provider.leaderElection must be true: otherwise all of them work at once" }}
{{- end }}
{{- if include "provider-apiplatform.isLoopback" .Values.provider.healthProbeBindAddress }}
{{- fail "provider.healthProbeBindAddress is a loopback address, which the kubelet cannot reach: give it as :PORT, or as \"0\" to go without probes" }}
{{- end }}
{{- if and .Values.metrics.podMonitor.enabled (not (include "provider-apiplatform.servesMetrics" .)) }}
{{- fail "metrics.podMonitor.enabled is true, but provider.metricsBindAddress lets nobody read metrics: give it as :PORT" }}
{{- end }}
{{- with .Values.networkPolicy }}
{{- if and .enabled (not .gateways) (not .extraEgress) }}
{{- fail "networkPolicy.enabled is true, but there are neither networkPolicy.gateways nor networkPolicy.extraEgress: the provider could not reach any gateway" }}
{{- end }}
{{- end }}
{{- end }}
