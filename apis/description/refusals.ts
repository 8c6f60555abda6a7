// What operations of all kinds have in common: who may ask, and what the request chain refuses.

/** For paths that ask the cluster who the caller is and what it may do. */
export const SIGNED_IN = [['bearer'], ['oauth']] as const;
export const OPEN_TO_ALL = [] as const;

/** Answers of the request chain, in front of every handler, as a Status. */
export const COMMON_ERRORS = {
  400: 'The request is not valid; each fault is named.',
  401: 'The credentials do not count.',
  403: 'The caller lacks the right.',
  405: 'The method is not served here.',
  429: 'Too many requests, or too many attempts.',
  500: 'Something failed inside; the message names the request.',
  503: 'Not possible at the moment.',
  504: 'It took too long.',
} as const;
