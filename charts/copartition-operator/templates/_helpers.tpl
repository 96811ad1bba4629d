{{- define "copartition.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "copartition.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "copartition.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "copartition.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- /* Of what is cluster-wide: releases in two namespaces may have one name. */}}
{{- define "copartition.clustername" -}}
{{- printf "%s:%s" .Release.Namespace (include "copartition.fullname" .) }}
{{- end }}

{{- define "copartition.selector" -}}
app.kubernetes.io/name: {{ include "copartition.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "copartition.labels" -}}
{{ include "copartition.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: copartition-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "copartition.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- /* As --installation: the whole name of the Lease with the rule of src/controller/run.rs. */}}
{{- define "copartition.lease" -}}
{{- $name := "copartition-operator" }}
{{- if and .Values.installation (ne .Values.installation .Release.Namespace) }}
{{- printf "%s-%s" $name .Values.installation }}
{{- else }}
{{- $name }}
{{- end }}
{{- end }}

{{- /* A file with objects, whose text stays as it is: labels, and for definitions the keep policy, go into each metadata. */}}
{{- define "copartition.file" -}}
{{- $head := printf "\nmetadata:\n%s  labels:\n%s" .annotations (include "copartition.labels" .root | indent 4) }}
{{- .root.Files.Get .path | replace "\nmetadata:" $head }}
{{- end }}

{{- define "copartition.subject" -}}
- kind: ServiceAccount
  name: copartition-operator
  namespace: {{ .Release.Namespace }}
{{- end }}

{{- /* A role and its binding in one namespace. */}}
{{- define "copartition.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels:
    {{- include "copartition.labels" .root | nindent 4 }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels:
    {{- include "copartition.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}
subjects:
  {{- include "copartition.subject" .root | nindent 2 }}
{{- end }}
