{{/* The namespace of the release. It is part of names and of expressions of policies, so it must be a DNS label. */}}
{{- define "ks-apiserver.namespace" -}}
{{- if not (regexMatch "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" .Release.Namespace) -}}
{{- fail (printf "the namespace %q is not a DNS label" .Release.Namespace) -}}
{{- end -}}
{{- .Release.Namespace -}}
{{- end -}}

{{/* DNS name of the Service, which is always in the serving certificate. */}}
{{- define "ks-apiserver.serviceName" -}}
ks-apiserver.{{ include "ks-apiserver.namespace" . }}.svc
{{- end -}}

{{- define "ks-apiserver.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "ks-apiserver.issuer" -}}
{{- if .Values.issuer -}}
{{ .Values.issuer }}
{{- else if and .Values.ingress.enabled .Values.ingress.host -}}
https://{{ .Values.ingress.host }}/oauth
{{- else if and .Values.route.enabled .Values.route.host -}}
https://{{ .Values.route.host }}/oauth
{{- else -}}
https://{{ include "ks-apiserver.serviceName" . }}/oauth
{{- end -}}
{{- end -}}

{{/* Host name of the issuer. */}}
{{- define "ks-apiserver.host" -}}
{{- (urlParse (include "ks-apiserver.issuer" .)).hostname -}}
{{- end -}}

{{/* The Secret with the serving certificate. Empty: the server issues its own. */}}
{{- define "ks-apiserver.tlsSecret" -}}
{{- with .Values.certificates -}}
{{- if .secretName -}}
{{ .secretName }}
{{- else if .issuerRef -}}
ks-apiserver-tls
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The configuration file: the value `configuration`, with the options that the chart sets. */}}
{{- define "ks-apiserver.configuration" -}}
{{- $set := include "ks-apiserver.setByChart" . | fromYaml -}}
{{- mustMergeOverwrite (deepCopy .Values.configuration) $set | toYaml -}}
{{- end -}}
