/** `secure` is the TLS listener, `insecure` the one in plain HTTP; so in the configuration, in logs and in metrics. */
export type ListenerName = 'secure' | 'insecure';
