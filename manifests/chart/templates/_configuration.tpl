{{- define "ks-apiserver.setByChart" -}}
apiVersion: "config.{{ .Values.platform }}.io/v1alpha1"
kind: APIServerConfiguration
platform:
  name: "{{ .Values.platform }}"
oauth:
  issuer: {{ include "ks-apiserver.issuer" . | toJson }}
listeners:
  secure:
    port: 9443
    {{- if include "ks-apiserver.tlsSecret" . }}
    certFile: /etc/ks-apiserver-tls/tls.crt
    keyFile: /etc/ks-apiserver-tls/tls.key
    {{- if .Values.certificates.hasCA }}
    caFile: /etc/ks-apiserver-tls/ca.crt
    {{- end }}
    {{- end }}
  insecure:
    enabled: {{ .Values.plainHTTP | toJson }}
    {{- if .Values.plainHTTP }}
    port: 9090
    {{- end }}
gateway:
  impersonation: {{ .Values.impersonation.callers | toJson }}
{{- end }}
